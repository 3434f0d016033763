"""The questions of the soak, of every kind, and what is seen of each that it came to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

from local_react import Agent, LlamaModel, Network, Session, calculator, current_time, tool
from local_react.core import Call, Event, Run
from local_react.documents import Library
from local_react.errors import ContextFull
from local_react.history import History
from local_react.protocol import written
from local_react.tools.base import AnyTool
from local_react.tools.documents import make_documents
from local_react.tools.wikipedia import make_wikipedia

TOWNS: Final = ("Oslo", "Lima", "Cairo", "Hanoi", "Quito", "Perth")
_NAMES: Final = 97
"""Tools of different names that are offered one after the other."""


@dataclass
class Mix:
    """One of all that a process has which is asked for days."""

    model: LlamaModel
    folder: Path
    network: Network = field(default_factory=lambda: Network("deny"))
    history: History = field(default_factory=History)
    library: Library = field(default_factory=Library)
    hung: list[threading.Event] = field(default_factory=list)
    """What tools that hang wait for."""

    def __post_init__(self) -> None:
        """Index a few documents, and offer the tools."""
        for town in TOWNS:
            text = f"The harbour of {town} was built by engineer number {len(town) * 111}.\n"
            (self.folder / f"{town}.txt").write_text(text * 3)
        self.library.add([self.folder], workers=1)
        # Under other names they have no examples in the prompt, which take long to read.
        documents, wikipedia = make_documents(self.library)[0], make_wikipedia(self.network)[0]
        tools = {"time": current_time, "documents": documents, "encyclopedia": wikipedia}
        self.agent = Agent(
            self.model,
            [*(replace(tool, name=name) for name, tool in tools.items()), *self._own_tools()],
            max_steps=2,
            thought_tokens=12,
            action_tokens=24,
            observation_tokens=200,
        )
        self.session = Session(self.agent)

    def _own_tools(self) -> list[AnyTool]:
        @tool
        def fails(text: str) -> str:
            """Weigh a parcel."""
            raise ValueError(f"no scales for {text}")

        @tool
        def hangs() -> str:
            """Wait for a ship."""
            self.hung.append(threading.Event())
            self.hung[-1].wait(60)
            return "it came"

        return [fails, hangs]

    def keep(self, run: Run) -> None:
        """Keep a run, and read it again."""
        assert self.history.run(self.history.add(run)) == run


Kind: TypeAlias = Callable[[Mix, int, Random], str]
"""Asks the question of that number; returns what is wrong, or nothing."""


def ran(events: Iterator[Event]) -> Run:
    """Return the run that the events lead to."""
    *_, run = events
    assert isinstance(run, Run)
    return run


def called(mix: Mix, question: str, wanted: Call, **changes: Any) -> Run:
    """Return the run of a question whose first reply is a call."""
    agent = replace(mix.agent, **changes)
    return ran(agent.stream(question, given=[written("I look.", wanted)]))


def _sum(mix: Mix, number: int, dice: Random) -> str:
    one, other = dice.randint(100, 999), dice.randint(100, 999)
    run = replace(mix.agent, tools=[calculator]).run(f"What is {one} * {other}?")
    mix.keep(run)
    return _unless(run.steps[0].observation == str(one * other), run)


def _time(mix: Mix, number: int, dice: Random) -> str:
    run = called(mix, f"What time is it, {number}?", Call("time", {"place": "Oslo"}))
    return _unless(":" in (run.steps[0].observation or ""), run)


def _documents(mix: Mix, number: int, dice: Random) -> str:
    town = dice.choice(TOWNS)
    wanted = Call("documents", {"query": f"harbour of {town}"})
    run = called(mix, f"Who built the harbour of {town}, {number}?", wanted)
    mix.keep(run)
    return _unless(str(len(town) * 111) in (run.steps[0].observation or ""), run)


def _wikipedia(mix: Mix, number: int, dice: Random) -> str:
    run = called(mix, f"Who was it, {number}?", Call("encyclopedia", {"title": f"Ship {number}"}))
    return _unless("switched off" in (run.steps[0].observation or ""), run)


def _failing(mix: Mix, number: int, dice: Random) -> str:
    run = called(mix, f"How heavy is parcel {number}?", Call("fails", {"text": str(number)}))
    return _unless(f"no scales for {number}" in (run.steps[0].observation or ""), run)


def _hanging(mix: Mix, number: int, dice: Random) -> str:
    run = called(mix, f"When comes ship {number}?", Call("hangs", {}), timeout=0.2)
    for event in mix.hung:
        event.set()
    mix.hung.clear()
    return _unless(run.stop_reason == "timeout", run)


def _votes(mix: Mix, number: int, dice: Random) -> str:
    votes: Any = dice.choice(["auto", 2, 3])
    run = replace(mix.agent, votes=votes).run(f"How many legs has animal {number}?")
    mix.keep(run)
    return _unless(len(run.votes) in ((0, 4) if votes == "auto" else (votes,)), run)


def _session(mix: Mix, number: int, dice: Random) -> str:
    session = Session(mix.agent)
    for question in (f"Where is {dice.choice(TOWNS)}?", "And who lives there?"):
        ran(session.ask(question))
    if session.turns:
        ran(session.again())
    if session.turns:
        session.undo()
    return _unless(len(session.turns) < 3, session.turns)


def _conversation(mix: Mix, number: int, dice: Random) -> str:
    if len(mix.session.turns) >= 20:
        mix.session.clear()
    run = ran(mix.session.ask(f"What is it that floats, {number}?"))
    return _unless(run.question in [turn.question for turn in mix.session.turns], run)


def _timed(mix: Mix, number: int, dice: Random) -> str:
    agent = replace(mix.agent, timeout=dice.uniform(0.05, 0.5), thought_tokens=200)
    run = agent.run(f"Tell me all about the number {number}.")
    return _unless(run.seconds < 30, run)


def _abandoned(mix: Mix, number: int, dice: Random) -> str:
    votes: Any = dice.choice([1, "auto", 3])
    agent = replace(mix.agent, votes=votes, thought_tokens=100)
    with closing(agent.stream(f"How many miles is it to town {number}?")) as events:
        seen = list(islice(events, dice.randint(1, 20)))
    return _unless(bool(seen), seen)


def _cancelled(mix: Mix, number: int, dice: Random) -> str:
    cancel = threading.Event()
    agent = replace(mix.agent, thought_tokens=300)
    seen = []
    for event in agent.stream(f"Tell me about day {number}.", cancel):
        seen.append(event)
        if len(seen) == 4:
            cancel.set()
    run = seen[-1]
    return _unless(isinstance(run, Run) and run.stop_reason == "interrupted", run)


def _too_long(mix: Mix, number: int, dice: Random) -> str:
    try:
        mix.agent.run(f"{number} " + "words " * 9000)
    except ContextFull as error:
        return _unless(str(error).count("\n") == 0, error)
    return "a question longer than the window was taken"


def _other_tools(mix: Mix, number: int, dice: Random) -> str:
    name = f"look_{number % _NAMES}"

    @tool(name=name)
    def look(text: str) -> str:
        """Look something up."""
        return text

    return _unless(Agent(mix.model, [look, calculator]).tools[0].name == name, name)


KINDS: Final[Sequence[tuple[str, Kind]]] = (
    ("a sum", _sum),
    ("the time", _time),
    ("documents", _documents),
    ("Wikipedia offline", _wikipedia),
    ("a tool that fails", _failing),
    ("a tool that hangs", _hanging),
    ("votes", _votes),
    ("a session", _session),
    ("a conversation", _conversation),
    ("a limit of time", _timed),
    ("left half way", _abandoned),
    ("cancelled", _cancelled),
    ("too long a question", _too_long),
    ("other tools", _other_tools),
)


def _unless(right: bool, seen: object) -> str:
    return "" if right else " ".join(f"it came to {seen}".split())[:300]
