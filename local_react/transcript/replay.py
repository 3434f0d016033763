"""A run made again from its transcript alone: its tools give what they gave.

Nothing is sent, read or changed by it, as there is nothing that could: the tools are made of
the transcript, which holds their descriptions and what they gave, and no function. A call that
was not recorded is carried out where the tool only computes and is one of our own, and else
is an error that the model is told.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from local_react.acting import Approve
from local_react.agent import Agent
from local_react.core import Event, Model, Sampling
from local_react.errors import UsageError
from local_react.session import Session
from local_react.tools.base import AnyTool
from local_react.transcript.lines import Told, Transcript
from local_react.transcript.recalled import Recorded, ReplayedTool, no_function
from local_react.transcript.record import SETTINGS, Recorder, fingerprints


@dataclass(frozen=True, slots=True)
class Changes:
    """What is to be another in a branch of a run; without any it is a replay."""

    start: int = 1
    """The step that the model writes first; what stands before it is given."""
    question: str | None = None
    system: str | None = None
    observation: str | None = None
    """What the step before `start` observes."""
    temperature: float | None = None
    seed: int | None = None


class Replay:
    """A run that is to be made again, or to branch, with a model.

    `builtin` are our own tools as they are now, and `recorder` notes what the new run is made
    of. Raises UsageError where the transcript cannot be replayed, or the changes cannot be
    made to it.
    """

    def __init__(
        self,
        transcript: Transcript,
        model: Model,
        *,
        builtin: Sequence[AnyTool] = (),
        changes: Changes | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        refuse_redacted(transcript)
        self._transcript, self._changes = transcript, changes or Changes()
        self.start, self._given = _given(transcript.steps, self._changes.start)
        asked = self._changes.question
        self.question = str(transcript.head["question"]) if asked is None else asked
        recorded = Recorded(transcript)
        if self._changes.observation is not None:
            self._observe(recorded, self._changes.observation)
        try:
            self.facts = [str(fact) for fact in transcript.head["facts"]]
            tools = [self._tool(told, recorded, builtin) for told in transcript.head["tools"]]
            noting = recorder or Recorder()
            approve = noting.approve(recorded.approve)
            self.agent = self._agent(model, noting.tools(tools), approve)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(
                "the transcript cannot be replayed: it does not say how it was made "
                f"({type(error).__name__} {error})"
            ) from error

    def stream(self) -> Generator[Event, None, None]:
        """Yield the run as it happens, as `Agent.stream` does."""
        if (earlier := self._transcript.earlier) is None:
            return self.agent.stream(self.question, facts=self.facts, given=self._given)
        session = Session(self.agent, earlier)
        return session.ask(self.question, facts=self.facts, given=self._given)

    @property
    def reads_otherwise(self) -> bool:
        """Whether this version of local_react puts the recorded question in other words, or
        has another grammar: then another run is to be expected."""
        if self._changes.question is not None:
            return False
        head = self._transcript.head
        agent = replace(self.agent, system=head["system"])
        now = fingerprints(agent, head["question"], self.facts)
        return any(head.get(name) != value for name, value in now.items())

    def _agent(self, model: Model, tools: Sequence[AnyTool], approve: Approve | None) -> Agent:
        head, changes = self._transcript.head, self._changes
        settings = head["settings"]
        wanted = {"temperature": changes.temperature, "seed": changes.seed}
        chosen = {name: value for name, value in wanted.items() if value is not None}
        return Agent(
            model,
            tools,
            system=head["system"] if changes.system is None else changes.system,
            approve=approve if settings["approve"] else None,
            sampling=_sampling({**settings["sampling"], **chosen}),
            **{name: settings[name] for name in SETTINGS},
        )

    def _tool(self, told: Told, recorded: Recorded, builtin: Sequence[AnyTool]) -> AnyTool:
        ours = next((tool for tool in builtin if _is_same(tool, told)), None)
        suits, offer = _always(told["suits"]), _always(told["offer"])
        if self._changes.question is not None:
            # What was recorded tells of the recorded question alone.
            suits = ours.suits if ours else None
            offer = ours.offer if ours and not ours.may else None
        return ReplayedTool(
            name=told["name"],
            description=told["description"],
            function=no_function,
            arguments=BaseModel,
            may=frozenset(told["may"]),
            own_words=told["own_words"],
            suits=suits,
            offer=offer,
            offered=told["offered"],
            told=told["schema"],
            recorded=recorded,
            computing=ours if ours and not ours.may else None,
        )

    def _observe(self, recorded: Recorded, text: str) -> None:
        """Have the step before the start observe a text. Raises UsageError where it cannot."""
        if self.start < 2:
            raise UsageError("there is no step before step 1: an observation needs a later one")
        action = self._transcript.steps[self.start - 2]["action"]
        if "tool" not in action or not recorded.knows(action["tool"], action["arguments"]):
            raise UsageError(
                f"step {self.start - 1} called no tool, so that it can observe nothing else: "
                "branch behind one that did"
            )
        recorded.put(action["tool"], action["arguments"], text)


def refuse_redacted(transcript: Transcript) -> None:
    """Raise UsageError where what was said was taken out of a transcript."""
    if transcript.is_redacted:
        raise UsageError("a redacted transcript cannot be replayed: what was said is gone")


def _sampling(told: dict[str, Any]) -> Sampling:
    try:
        return Sampling(**told)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _given(steps: Sequence[Told], start: int) -> tuple[int, list[str]]:
    """Return the step with which the reply begins that holds a step, and the texts of the
    replies before it. Raises UsageError where there is no such step."""
    if start == 1:
        return 1, []
    if not 1 < start <= len(steps):
        raise UsageError(f"the run has steps 1 to {len(steps)}: there is no step {start}")
    reply = steps[start - 1]["reply"]
    before = [step for step in steps if step["reply"] < reply]
    return len(before) + 1, [step["text"] for step in before if step["text"]]


def _is_same(tool: AnyTool, told: Told) -> bool:
    """Return whether a tool is the one that was recorded, as far as the model can see."""
    return (tool.name, tool.description, tool.schema) == (
        told["name"],
        told["description"],
        told["schema"],
    )


def _always(told: Any) -> Callable[[str], Any] | None:
    return None if told is None else lambda _: told
