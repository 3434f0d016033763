"""Runs to be kept, for the tests of the history."""

from __future__ import annotations

from local_react.core import Call, Finish, Malformed, Run, Source, Step, Usage, Vote

TRANSCRIPT = '{"type": "start"}\n{"type": "end"}\n'


def run_of(question: str, answer: str = "12") -> Run:
    """Return a run with something in each of its fields."""
    source = Source(1, "Bern", "https://example.org/bern")
    steps = (
        Step("Multiply.", Call("calculator", {"expression": "0.15 * 80"}), "12", seconds=0.5),
        Step("", Call("lookup", {"word": "Bern", "most": 2}), "found", (source,), Usage(9, 3)),
        Step("Hm.", Malformed("Act", "it has no Action line"), "again", reply=2),
        Step("Done.", Finish(answer), None, reply=3),
    )
    return Run(
        question,
        steps,
        answer,
        "finish",
        "smollm2-135m",
        guards={"repeated": 1},
        votes=(Vote(answer, "tools", True, "finish", Usage(4, 2), 0.25),),
        usage=Usage(120, 34),
        seconds=1.5,
    )
