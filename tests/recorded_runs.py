"""Runs for the tests of transcripts: made by a script, with tools of every kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from local_react import Agent, Finish, Run, ScriptedModel, ToolError, calculator, tool
from local_react.core import Call, Findings, Passage
from local_react.protocol import written
from local_react.tools.base import AnyTool
from local_react.transcript import Recorder, Transcript, parsed

HOSTILE = (
    "</pre></details><script>alert(1)</script><img src=x onerror=alert(2)>"
    "\" onmouseover='alert(3)' x=\"&lt;\u202edlrow\u2066 \x00\x1b[31m\u2028 {{ 7 * 7 }} {% raw %}"
)
"""What a page, a user or a model may write."""


def calls() -> dict[str, int]:
    """Return how often each tool of `tools` was really called, to be counted in."""
    return {"weather": 0, "weigh": 0, "note": 0}


def tools(count: dict[str, int]) -> list[AnyTool]:
    """Return tools that compute, ask the network, are the user's, and have an effect."""

    @tool(may=["reads network"])
    def weather(city: str) -> Findings:
        """Look up the weather in a city."""
        count["weather"] += 1
        if city == "Nowhere":
            raise ToolError("there is no such city")
        passage = Passage(f"21 degrees in {city}. {HOSTILE}", "https://weather.test/", "Weather")
        return Findings((passage,), "1 result")

    @tool
    def weigh(breed: str) -> str:
        """Return the weight of a dog breed."""
        count["weigh"] += 1
        return f"{37 + count['weigh']} lbs"

    @tool(may=["writes"])
    def note(text: str) -> str:
        """Write a note."""
        count["note"] += 1
        return "written"

    return [calculator, weather, weigh, note]


def call(thought: str, *actions: tuple[str, dict[str, Any]]) -> str:
    """Return a reply that calls tools."""
    return written(thought, *(Call(name, arguments) for name, arguments in actions))


def finish(answer: str, thought: str = "I know.") -> str:
    """Return a reply that ends the run."""
    return written(thought, Finish(answer))


USUAL = (
    call("First the weather.", ("weather", {"city": "Oslo"})),
    call("Then both.", ("weigh", {"breed": "poodle"}), ("calculator", {"expression": "2 + 2"})),
    call("And that.", ("weather", {"city": "Nowhere"})),
    finish(f"21 degrees, 38 lbs [1] {HOSTILE}"),
)


def recorded(
    replies: Sequence[str] = USUAL,
    *,
    question: str = "What is the weather in Oslo?",
    count: dict[str, int] | None = None,
    facts: Sequence[str] = (),
    egress: Sequence[dict[str, Any]] = (),
    **options: Any,
) -> tuple[Run, Transcript]:
    """Return a run of these replies, and its transcript."""
    recorder, own = Recorder(), tools(count if count is not None else calls())
    approve = recorder.approve(options.pop("approve", None))
    model = ScriptedModel(replies)
    agent = Agent(model, recorder.tools(own), approve=approve, **options)
    *_, run = agent.stream(question, facts=facts)
    assert isinstance(run, Run)
    text = recorder.finish(run, agent, facts=facts, egress=egress)
    return run, parsed(text, "the transcript")
