"""Has the model write its steps, each within its share of the context."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeAlias

from local_react import loose, protocol
from local_react.aside import Deadline
from local_react.budget import Budget, Share
from local_react.core import (
    Action,
    Context,
    Malformed,
    Model,
    Sampling,
    Source,
    Step,
    Text,
    Usage,
)
from local_react.guards import goes_round, without_repeats
from local_react.tools.base import AnyTool

Actions: TypeAlias = Sequence[Action]
Observed: TypeAlias = tuple[str | None, tuple[Source, ...]]
"""What the model is shown of what an Action gave, None of an answer; and its sources."""


@dataclass
class Writer:
    """Has one run's steps written, and holds what the one under way has come to."""

    model: Model
    context: Context
    budget: Budget
    sampling: Sampling
    deadline: Deadline
    goes_on: bool = False
    """Whether there is more in its context than this run."""
    text: str = ""
    """The reply so far; what the model thinks before it is no part of it."""
    replies: int = 0
    """How many were begun."""
    rounds: int = 0
    """How many texts were broken off because they repeated themselves."""
    cut: bool = False
    """Whether the answer of the reply was cut off, and closed for the model."""
    beside: Usage = field(default=Usage())
    """What was read outside of its context, for its first reply."""
    _unread: bool = False
    """Whether the reply before was no step, and the model was told so."""
    _started: float = 0.0
    _before: Usage = field(default=Usage())

    def write(
        self,
        tools: Sequence[AnyTool],
        *,
        last: bool,
        beginning: str = "",
        must_call: bool = False,
    ) -> Generator[Text, None, Actions]:
        """Have one reply written, whose Thought begins as it is told and which may have to
        call a tool, and return its Actions. A Thought that spends its tokens
        or goes round in circles is closed, and the Action follows."""
        context = self.context
        self._begin()
        most = self.budget.thinking(context.room, last=last)
        yield from _shown(context.think(most, self.sampling.seed))
        share = self.budget.share(context.room, last=last)
        ended = yield from self._reply(
            protocol.step_grammar(tools, beginning, must_call=must_call), share, hurries=not last
        )
        close = protocol.closing(self.text)
        closes = not ended and not protocol.in_action(self.text)
        if closes and self.model.count(close) < context.room:
            context.force(close)
            self.text += close
            yield Text(close)
            late = self.deadline.is_near
            grammar = protocol.action_grammar([] if late else tools, must_call=must_call)
            ended = yield from self._reply(grammar, share)
        if not ended and protocol.in_finish(self.text):
            whole = protocol.closed(self.text)
            self.text, self.cut = whole, whole != self.text
        if ended and not self.deadline.is_set():
            self.text = loose.mended(self.text, tools, again=last or self._unread)
        actions = protocol.parse(self.text)[1]
        self._unread = isinstance(actions[0], Malformed)
        return actions

    def give(self, text: str) -> Generator[Text, None, Actions]:
        """Put a reply into the model's mouth, and return its Actions."""
        self._begin()
        self.text = text
        self.context.force(text)
        yield Text(text)
        return protocol.parse(text)[1]

    def _begin(self) -> None:
        self.text, self.cut = "", False
        self._started, self._before = perf_counter(), self.context.usage
        self.replies += 1

    def _reply(
        self, grammar: str, share: Share, *, hurries: bool = False
    ) -> Generator[Text, None, bool]:
        """Let the model write under the grammar as far as its share goes, or, if it hurries,
        its time; return whether it came to an end by itself."""
        before = len(self.text)
        for piece in self.context.generate(grammar, self.sampling):
            self.text += piece
            yield Text(piece)
            if self.context.room <= share.floor(self.text) or (hurries and self.deadline.is_near):
                return False
            if "\n" in piece and protocol.calls_again(self.text):
                self.text = protocol.whole_calls(self.text)
                return True
            if goes_round(self.text[before:]):
                self.rounds += 1
                if protocol.in_action(self.text):
                    self.text = protocol.whole_calls(without_repeats(self.text))
                return False
        return True

    def finished(self, actions: Actions, observed: Sequence[Observed]) -> list[Step]:
        """Return the steps of the reply that was written, one for each Action that
        something came of; none is under way then."""
        thought, usage = protocol.parse(self.text)[0], self.context.usage - self._before
        seconds = perf_counter() - self._started
        if self.replies == 1:
            usage += self.beside
        self.text = ""
        return [
            Step(
                thought=thought if number == 0 else "",
                action=action,
                observation=observation,
                sources=sources,
                usage=usage if number == 0 else Usage(),
                seconds=seconds if number == 0 else 0.0,
                reply=self.replies,
            )
            for number, (action, (observation, sources)) in enumerate(
                zip(actions, observed, strict=False)
            )
        ]


def _shown(thinking: Iterator[str]) -> Iterator[Text]:
    """Yield what the model thinks; its reply then begins on a line of its own."""
    piece = "\n"
    for piece in thinking:
        yield Text(piece)
    if not piece.endswith("\n"):
        yield Text("\n")
