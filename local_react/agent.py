"""Agent: answers questions, by one run of the loop or by the votes of several."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event as Flag
from time import perf_counter
from typing import Literal

from local_react import protocol
from local_react.acting import Approve
from local_react.answers import kind_of
from local_react.aside import Aside, Deadline, let_go
from local_react.budget import Begun, Limits
from local_react.choosing import fitting, is_computed, is_reckoning
from local_react.core import Call, Event, Model, Run, Sampling, Step, StopReason
from local_react.errors import ContextFull, UsageError
from local_react.loop import Loop, Tools
from local_react.tools.base import Tool
from local_react.voting import (
    BACKED,
    MOST_VOTES,
    Ballot,
    ballots,
    is_settled,
    joined,
    rounds,
    varied,
)


@dataclass(frozen=True)
class Agent:
    """Answers questions with a model and tools.

    `max_steps` counts the last step too, in which only Finish is possible, so that a
    run ends with the best answer there is. A Thought is closed after `thought_tokens`
    tokens, and an Action after `action_tokens`; a model that always thinks before it
    replies may do so for `thinking_tokens`, and an Observation is cut, with a note, to
    `observation_tokens`. Each is less where the context window has no room for it.

    `approve`, given a call of a tool that has an effect, or with `approve_every` any call,
    returns whether it may run, or the call that may instead. Without it such a tool does not
    run any more once text from outside has entered a run, nor, once the user's files
    have been read, one that sends its arguments out, of which `approve` is asked then too.

    `system` is what the model is to keep to with every question. A question takes `timeout`
    seconds at most: after three quarters of them the run comes to its last step, and what
    there is by their end is its answer. Tools then run in threads of their own, in which one
    that is still busy by the end is left behind.

    Any number of threads may ask at the same time: their replies are written together. A tool
    may ask the agent, too, which then cannot call that same tool.

    With `votes` above 1 a question whose answers can be compared (a number, yes or no, a
    few words) is answered by so many runs, and the Run tells how many agree, unless a tool
    can compute it as it stands; with "auto" it is a question that brings its own numbers
    which is asked in two ways, and more runs follow only while they disagree, and any other
    is backed by reasoning where its run comes to no end. A run that has looked outside, or
    called a tool that does more than compute, is not repeated.

    Raises UsageError where two tools share a name or a limit is out of its range, and
    GrammarError, naming tool and parameter, where a schema makes no grammar.
    """

    model: Model
    tools: Tools = ()
    max_steps: int = 8
    thought_tokens: int = 400
    action_tokens: int = 800
    thinking_tokens: int = 1024
    observation_tokens: int = 1500
    sampling: Sampling = field(default=Sampling())
    approve: Approve | None = None
    approve_every: bool = False
    votes: int | Literal["auto"] = 1
    system: str = ""
    timeout: float | None = None

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                option = name.replace("_", "-")
                raise UsageError(f"--{option} must be {least} or more, not {getattr(self, name)}")
        if self.timeout is not None and not self.timeout > 0:
            raise UsageError(f"--timeout must be above 0 seconds, not {self.timeout:g}")
        if self.votes != "auto" and not 1 <= self.votes <= MOST_VOTES:
            raise UsageError(f"--votes must be auto or 1 to {MOST_VOTES}, not {self.votes}")
        if stray := [tool for tool in self.tools if not isinstance(tool, Tool)]:
            raise UsageError(f"{stray[0]!r} is no tool: put @tool before the function")
        names = [tool.name for tool in self.tools]
        if twice := {name for name in names if names.count(name) > 1}:
            raise UsageError(f"two tools are named {sorted(twice)[0]}: rename one")
        protocol.check(self.model, self.tools)

    def run(self, question: str, cancel: Flag | None = None) -> Run:
        """Answer the question and return the whole run. Setting `cancel`, from another
        thread, ends it at once, with what there is.

        Raises UsageError where the question is empty, and ContextFull, which is one,
        where it is too long for the context.
        """
        *_, run = self.stream(question, cancel)
        assert isinstance(run, Run)
        return run

    def stream(
        self,
        question: str,
        cancel: Flag | None = None,
        *,
        facts: Sequence[str] = (),
        given: Sequence[str] = (),
    ) -> Generator[Event, None, None]:
        """Yield the run as it happens: pieces of Text, each finished Step, and at last
        the Run. Where `cancel` is set, or Ctrl-C is pressed, that comes at once, with
        what the unfinished step has written as the last of its steps; after it Ctrl-C
        goes on as KeyboardInterrupt. Of several runs the first is the one that is seen.

        The model is told the `facts` with the question, and its first replies are those that
        are `given`, each in the format of protocol.py, as far as they are.

        Raises UsageError and ContextFull as `run` does.
        """
        if not question.strip():
            raise UsageError("the question is empty: ask something")
        asked = _Asked(
            question, self.offered(question), facts, given, Deadline(cancel or Flag(), self.timeout)
        )
        wanted = self._rounds(question)
        if wanted == (1,):
            return self._stream(asked)
        return self._voted(asked, wanted)

    def opened(self, question: str, facts: Sequence[str] = ()) -> Begun:
        """Return the context that a run of the question begins with, and its budget. Raises
        ContextFull where the question is too long for it."""
        return self.loop(self.offered(question)).opened(question, Flag(), facts=facts)

    def offered(self, question: str) -> Tools:
        """Return the tools that the question is put to the model with."""
        return fitting(self.tools, question)

    def _rounds(self, question: str) -> Sequence[int]:
        """Return how many runs of the question there are to be in all after each round."""
        if kind_of(question) == "text" or is_computed(self.tools, question):
            return (1,)
        return rounds(self.votes, reckons=is_reckoning(question))

    @property
    def limits(self) -> Limits:
        """The most tokens that each part of a step may take."""
        return Limits(
            thinking=self.thinking_tokens,
            thought=self.thought_tokens,
            action=self.action_tokens,
            observation=self.observation_tokens,
        )

    def loop(
        self, tools: Tools, sampling: Sampling | None = None, *, earlier: Sequence[Step] = ()
    ) -> Loop:
        """Return the loop that asks once, with these tools, after earlier steps."""
        return Loop(
            model=self.model,
            tools=tools,
            limits=self.limits,
            max_steps=self.max_steps,
            sampling=sampling or self.sampling,
            approve=self.approve,
            approve_every=self.approve_every,
            system=self.system,
            earlier=earlier,
        )

    def _stream(self, asked: _Asked) -> Generator[Event, None, None]:
        loop = self.loop(asked.tools)
        return loop.stream(asked.question, asked.stop, facts=asked.facts, given=asked.given)

    def _voted(self, asked: _Asked, wanted: Sequence[int]) -> Generator[Event, None, None]:
        """Yield the first run as it happens, and at last what most of the runs say, of which
        there are so many in all after each round."""
        question, tools, stop = asked.question, asked.tools, asked.stop
        started, runs, pressed = perf_counter(), list[Run](), False
        kind, backed = kind_of(question), wanted == BACKED
        beside = list[Aside[Run]]()
        try:
            for last in wanted:
                cast = ballots(len(runs), last, tools=bool(tools))
                # The first run is the one that is seen; the others go on beside it.
                beside = [
                    Aside(partial(self._vote, asked, one), "vote")
                    for one in (cast if runs else cast[1:])
                ]
                if not runs:
                    first, pressed = yield from _followed(self._stream(asked))
                    runs.append(first)
                    if first.stop_reason == "interrupted":
                        break
                    # To reason about it repeats nothing.
                    if not backed and _did_more_than_compute(first, tools):
                        break
                for one in beside:
                    runs.append(one.awaited())
                if stop.is_near or stop.is_set() or is_settled(runs, kind):
                    break
        except KeyboardInterrupt:
            pressed = True
        finally:
            stop.set()
            let_go(beside)  # within a token: the model may be closed next
        runs = runs or [self._without_answer(question, "interrupted")]
        voted = joined(runs, kind, tools=bool(tools), least=2 if backed else 1)
        yield replace(voted, seconds=perf_counter() - started)
        if pressed:
            raise KeyboardInterrupt

    def _vote(self, asked: _Asked, ballot: Ballot) -> Run:
        """Return one more run, in which nothing but computing is done."""
        own = [tool for tool in asked.tools if not tool.may] if ballot.way == "tools" else []
        sampling = varied(self.sampling, ballot.number) if ballot.varied else self.sampling
        try:
            loop = self.loop(own, sampling)
            *_, run = loop.stream(asked.question, asked.stop, facts=asked.facts)
        except ContextFull:  # its examples may be longer than those of the first run
            return self._without_answer(asked.question, "context")
        assert isinstance(run, Run)
        return run

    def _without_answer(self, question: str, reason: StopReason) -> Run:
        return Run(question, (), "", reason, self.model.name)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, and how it is put."""

    question: str
    tools: Tools
    facts: Sequence[str]
    given: Sequence[str]
    stop: Deadline


def _followed(events: Generator[Event, None, None]) -> Generator[Event, None, tuple[Run, bool]]:
    """Yield the events of a run but the last, the Run, which is returned, and whether Ctrl-C
    was pressed: wherever it comes, it is the run's to hear, and makes its Run come at once."""
    event: Event | None = None
    pressed = False
    try:
        for event in events:
            if not isinstance(event, Run):
                yield event
    except KeyboardInterrupt as error:
        event, pressed = event if isinstance(event, Run) else events.throw(error), True
    assert isinstance(event, Run)
    return event, pressed


def _did_more_than_compute(run: Run, tools: Tools) -> bool:
    """Return whether a run is not to be repeated: what looks outside is not sent out again,
    and what has an effect must not have it twice."""
    called = {step.action.tool for step in run.steps if isinstance(step.action, Call)}
    return any(tool.may for tool in tools if tool.name in called)


_LEAST = {
    "max_steps": 1,
    "thought_tokens": 1,
    "action_tokens": 1,
    "thinking_tokens": 0,
    "observation_tokens": 1,
}
"""The least that each limit may be."""
