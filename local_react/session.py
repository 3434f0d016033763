"""A session: a conversation, whose later questions know the earlier ones.

The chat of a session only grows, in token ids, so that a turn costs its own tokens. It is
begun anew, with the latest turns and the beginnings of what their tools gave, where it has
outgrown the window and where another agent goes on with it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from inspect import GEN_CLOSED, getgeneratorstate
from itertools import groupby
from threading import Event as Flag
from threading import RLock
from typing import Final
from weakref import ref

from local_react import protocol
from local_react.agent import Agent
from local_react.answers import asked_in
from local_react.aside import Deadline
from local_react.budget import Begun
from local_react.choosing import is_computed, is_reckoning, refers_back
from local_react.clipping import clip
from local_react.core import Call, Context, Event, Finish, Run, Sampling
from local_react.errors import ContextFull, UsageError
from local_react.voting import varied


@dataclass(frozen=True, slots=True)
class _Chat:
    """A chat with the model, and which turns of the session it knows."""

    begun: Begun
    first: int
    end: int


class Session:
    """A conversation with an agent, which may be exchanged between its turns.

    `turns` are the runs so far that gave an answer; those of an earlier session can be given.
    It is at one question at a time, whichever thread asks: until the run of that has ended, or
    is dropped, all but `stop` raises UsageError.
    """

    def __init__(self, agent: Agent, turns: Sequence[Run] = ()) -> None:
        self.turns = [turn for turn in turns if turn.answer]
        self._agent = agent
        self._stop = Deadline(Flag(), None)
        self._lock = RLock()
        self._under_way: Callable[[], Generator[Event, None, None] | None] = _nothing
        """Returns the run that was begun last, or None once that is over."""
        self._tries = 0
        """How often the last question was put again."""
        self._chats: list[_Chat | None] = [None] * (len(self.turns) + 1)
        """The chat before each turn, as far as `undo` is likely to need it, and the one now."""

    @property
    def agent(self) -> Agent:
        """Who answers."""
        return self._agent

    @agent.setter
    def agent(self, agent: Agent) -> None:
        with self._between_runs():
            self._agent = agent
            self._chats = [None] * (len(self.turns) + 1)

    @contextmanager
    def _between_runs(self) -> Iterator[None]:
        """Have the session alone within the block. Raises UsageError while a run is under
        way: what would be changed is what that goes by."""
        with self._lock:
            run = self._under_way()
            if run is not None and getgeneratorstate(run) != GEN_CLOSED:
                raise UsageError(
                    "the session is at another question: ask once that is answered, or in "
                    "another session"
                )
            yield

    @property
    def left(self) -> int:
        """How many of the turns, the oldest, the model does not know any more."""
        chat = self._chats[-1]
        return chat.first if chat else 0

    @property
    def room(self) -> int:
        """Tokens that are left of the window."""
        chat = self._chats[-1]
        return chat.begun[0].room if chat else self.agent.model.context_size

    def ask(
        self,
        question: str,
        *,
        sampling: Sampling | None = None,
        facts: Sequence[str] = (),
        given: Sequence[str] = (),
    ) -> Generator[Event, None, None]:
        """Yield the run of the next question as it happens, as `Agent.stream` does, and keep
        it as a turn where it gave an answer. A word problem that stands for itself is put
        without the turns before it, as often as the agent's votes want.

        Raises UsageError where the question is empty, and ContextFull, which is one, where it
        is too long for the context.
        """
        if not question.strip():
            raise UsageError("the question is empty: ask something")
        with self._between_runs():
            self._stop.begin(self.agent.timeout)
            self._tries = 0
            agent = replace(self.agent, sampling=sampling) if sampling else self.agent
            run = self._kept(*self._begun(agent, question, facts, given))
            self._under_way = ref(run)
            return run

    def _begun(
        self, agent: Agent, question: str, facts: Sequence[str], given: Sequence[str]
    ) -> tuple[Generator[Event, None, None], _Chat | None]:
        """Return the run of a question, and the chat after it. Raises ContextFull."""
        if self._stands_alone(question):
            return agent.stream(question, self._stop, facts=facts, given=given), self._chats[-1]
        chat = self._chat(question, facts)
        earlier = [step for turn in self.turns[chat.first :] for step in turn.steps]
        loop = agent.loop(agent.tools, earlier=earlier)
        events = loop.stream(question, self._stop, given=given, begun=chat.begun)
        return events, replace(chat, end=chat.end + 1)

    def opened(self, question: str, facts: Sequence[str] = ()) -> Begun:
        """Return the context that a run of the question would begin with, and its budget.
        Raises ContextFull."""
        if self._stands_alone(question):
            return self.agent.opened(question, facts)
        return self._chat(question, facts).begun

    def _stands_alone(self, question: str) -> bool:
        """Return whether it is a word problem that does not speak of what was said. A bare sum
        is the calculator's, wherever it stands."""
        if not is_reckoning(question) or is_computed(self.agent.tools, question):
            return False
        return not (self.turns and refers_back(asked_in(question)))

    def again(self, *, facts: Sequence[str] = ()) -> Generator[Event, None, None]:
        """Put the last question once more, with some chance in the answer, instead of its
        turn. Raises UsageError where there is none."""
        with self._between_runs():
            question, tries = self.undo().question, self._tries + 1
            events = self.ask(question, sampling=varied(self.agent.sampling, tries), facts=facts)
            self._tries = tries
            return events

    def undo(self) -> Run:
        """Take the last turn back and return it. Raises UsageError where there is none."""
        with self._between_runs():
            if not self.turns:
                raise UsageError("there is nothing to take back yet: ask something")
            self._chats.pop()
            return self.turns.pop()

    def clear(self) -> None:
        """Begin anew, without any turn."""
        with self._between_runs():
            self.turns, self._chats = [], [None]

    def stop(self) -> None:
        """End the run under way, from any thread, with what there is."""
        self._stop.set()

    def _kept(
        self, events: Generator[Event, None, None], chat: _Chat | None
    ) -> Generator[Event, None, None]:
        try:
            for event in events:
                self._keep(event, chat)
                yield event
        except KeyboardInterrupt as pressed:  # it is the run's to hear
            event = events.throw(pressed)
            self._keep(event, chat)
            yield event

    def _keep(self, event: Event, chat: _Chat | None) -> None:
        if not isinstance(event, Run):
            return
        if event.answer:
            self.turns.append(event)
            self._chats.append(chat)
            # Each holds all its tokens, and its place in the model's cache.
            self._chats[:-_CHATS] = [None] * len(self._chats[:-_CHATS])
        self._under_way = _nothing

    def _chat(self, question: str, facts: Sequence[str]) -> _Chat:
        """Return the chat in which the question stands, which is begun anew where there is
        none or it has no room. Raises ContextFull."""
        chat = self._chats[-1]
        grown = self._grown(chat, question, facts) if chat else None
        if grown:
            return grown
        for first in range(self._first(), len(self.turns)):
            if chat := self._anew(first, question, facts):
                return chat
        return _Chat(self._opened(question, facts), len(self.turns), len(self.turns))

    def _grown(self, chat: _Chat, question: str, facts: Sequence[str]) -> _Chat | None:
        """Return the chat with the question, None where it has no room for it. The chat
        itself stays, for `undo`."""
        [context] = chat.begun[0].fork(1)
        return self._asked(replace(chat, begun=(context, chat.begun[1])), question, facts)

    def _anew(self, first: int, question: str, facts: Sequence[str]) -> _Chat | None:
        """Return a new chat that knows the turns from this one on, with the question."""
        try:
            context, budget = self._opened(self.turns[first].question)
            self._answer(context, self.turns[first])
        except ContextFull:
            return None
        return self._asked(_Chat((context, budget), first, first + 1), question, facts)

    def _asked(self, chat: _Chat, question: str, facts: Sequence[str]) -> _Chat | None:
        """Put the turns that a chat does not know yet to it, and the question; return None
        where there is no room for a good answer then."""
        context, budget = chat.begun
        try:
            for turn in self.turns[chat.end :]:
                context.append(protocol.asking(turn.question))
                self._answer(context, turn)
            context.append(protocol.asking(question, facts=facts))
        except ContextFull:
            return None
        least = budget.step + budget.reserve(last=False)
        if context.room < least + self.agent.model.context_size // _LEFT:
            return None
        return replace(chat, end=len(self.turns))

    def _opened(self, question: str, facts: Sequence[str] = ()) -> Begun:
        loop = self.agent.loop(self.agent.tools)
        return loop.opened(question, self._stop, facts=facts, reckons=False)

    def _answer(self, context: Context, turn: Run) -> None:
        """Have the model know that it answered a question so. Raises ContextFull."""
        for reply, observations in self._exchanges(turn):
            context.force(reply)
            if observations:
                context.append(protocol.observation(*observations))

    def _exchanges(self, turn: Run) -> Iterator[tuple[str, list[str]]]:
        """Yield the replies of a turn, and the beginnings of what they were given."""
        count = self.agent.model.count
        for _, group in groupby(turn.steps, key=lambda step: step.reply):
            steps = [step for step in group if isinstance(step.action, Call)]
            calls = [step.action for step in steps if isinstance(step.action, Call)]
            if calls:
                seen = [clip(step.observation or "", _OF_A_RESULT, count) for step in steps]
                yield protocol.written(steps[0].thought, *calls), seen
        last = turn.steps[-1].thought if turn.steps else ""
        yield protocol.written(last, Finish(turn.answer)), []

    def _first(self) -> int:
        """Return the first of the latest turns that take half the window at most."""
        left = self.agent.model.context_size // 2
        for number in range(len(self.turns) - 1, -1, -1):
            turn = self.turns[number]
            texts = [turn.question]
            for reply, observations in self._exchanges(turn):
                texts += [reply, *observations]
            left -= sum(self.agent.model.count(text) + _OF_A_MESSAGE for text in texts)
            if left < 0:
                return number + 1
        return 0


def _nothing() -> None:
    """Return no run: none is under way."""


_CHATS: Final = 8
"""The chats that are kept: the one now, and those before the latest turns."""
_LEFT: Final = 8
"""A turn is begun where one part in so many of the window is left for it."""
_OF_A_RESULT: Final = 200
"""Tokens of what a tool gave in an earlier turn, where the chat is begun anew."""
_OF_A_MESSAGE: Final = 8
"""Tokens around a message, about."""
