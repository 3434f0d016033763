"""Has the model write its steps, each within its share of the context."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from local_react import protocol
from local_react.budget import Budget, Share
from local_react.core import Action, Call, Context, Model, Sampling, Source, Step, Text, Usage
from local_react.guards import goes_round
from local_react.tools.base import AnyTool


@dataclass
class Writer:
    """Has one run's steps written, and holds what the one under way has come to."""

    model: Model
    context: Context
    budget: Budget
    sampling: Sampling
    text: str = ""
    """The reply so far; what the model thinks before it is no part of it."""
    _started: float = 0.0
    _before: Usage = field(default=Usage())

    def write(self, tools: Sequence[AnyTool], *, last: bool) -> Generator[Text, None, Action]:
        """Have one step written and return its Action. A Thought that spends its tokens
        or goes round in circles is closed, and the Action follows."""
        context = self.context
        self.text, self._started, self._before = "", perf_counter(), context.usage
        most = self.budget.thinking(context.room, last=last)
        yield from _shown(context.think(most, self.sampling.seed))
        share = self.budget.share(context.room, last=last)
        ended = yield from self._reply(protocol.step_grammar(tools), share)
        close = protocol.closing(self.text)
        closes = not ended and not protocol.in_action(self.text)
        if closes and self.model.count(close) < context.room:
            context.force(close)
            self.text += close
            yield Text(close)
            yield from self._reply(protocol.action_grammar(tools), share)
        return protocol.parse(self.text)[1]

    def give(self, thought: str, call: Call) -> Generator[Text, None, Action]:
        """Put a step into the model's mouth, and return its Action."""
        self._started, self._before = perf_counter(), self.context.usage
        self.text = protocol.written(thought, call)
        self.context.force(self.text)
        yield Text(self.text)
        return call

    def _reply(self, grammar: str, share: Share) -> Generator[Text, None, bool]:
        """Let the model write under the grammar as far as its share goes; return whether
        it came to an end by itself."""
        before = len(self.text)
        for piece in self.context.generate(grammar, self.sampling):
            self.text += piece
            yield Text(piece)
            spent = self.context.room <= share.floor(self.text)
            if spent or goes_round(self.text[before:]):
                return False
        return True

    def finished(
        self, action: Action, observation: str | None, sources: tuple[Source, ...] = ()
    ) -> Step:
        """Return the step that was written, with its Action and what came of it; none is
        under way then."""
        step = Step(
            thought=protocol.parse(self.text)[0],
            action=action,
            observation=observation,
            sources=sources,
            usage=self.context.usage - self._before,
            seconds=perf_counter() - self._started,
        )
        self.text = ""
        return step


def _shown(thinking: Iterator[str]) -> Iterator[Text]:
    """Yield what the model thinks; its reply then begins on a line of its own."""
    piece = "\n"
    for piece in thinking:
        yield Text(piece)
    if not piece.endswith("\n"):
        yield Text("\n")
