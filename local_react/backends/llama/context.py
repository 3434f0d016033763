"""One growing chat with a LlamaModel, and many of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from threading import Event, get_ident
from typing import TYPE_CHECKING

from local_react.backends.llama.decoding import Picker
from local_react.backends.llama.engine import Ready
from local_react.backends.llama.replies import Reply, Thoughts, reply_of
from local_react.backends.sampling import log_probabilities
from local_react.core import Message, Sampling, Usage
from local_react.errors import ContextFull

if TYPE_CHECKING:
    from local_react.backends.llama.model import LlamaModel
    from local_react.backends.llama.slots import Slot

_FREELY = Sampling(temperature=0.6, top_p=0.95)
"""As the makers of thinking models advise: greedy, they go round in circles."""


class LlamaContext:
    """One growing chat. Its token ids are kept: nothing is tokenised twice, nor, while
    it has its place in the cache, evaluated twice. The first `fixed` tokens are the same
    in every run."""

    def __init__(
        self, model: LlamaModel, tokens: list[int], *, fixed: int, cancel: Event | None
    ) -> None:
        self.model = model
        self._tokens = tokens
        self._cancel = cancel
        self.fixed = fixed
        self.shared = fixed
        """How many tokens have cells of the cache that others use as well."""
        self.slot: Slot | None = None
        self.let_go = False
        """Nothing more is wanted of the batch under way."""
        self.thread = get_ident()
        """Which wanted its last reply."""
        self._usage = Usage()

    @property
    def tokens(self) -> Sequence[int]:
        """The token ids so far."""
        return self._tokens

    @property
    def usage(self) -> Usage:
        """Tokens evaluated and generated for this context so far."""
        return self._usage

    @property
    def room(self) -> int:
        """Tokens that still fit into the context window."""
        return self.model.context_size - len(self._tokens)

    def stopped(self) -> bool:
        """Return True once the context was cancelled, or is let go of."""
        return self.let_go or (self._cancel is not None and self._cancel.is_set())

    def has_read(self, count: int) -> None:
        """Count tokens that were evaluated for this context."""
        self._usage += Usage(evaluated=count)

    def has_to_write(self, tokens: Sequence[int]) -> None:
        """Append tokens that nobody had to choose."""
        self._tokens += tokens

    def take_back(self, count: int) -> None:
        """Take the last tokens back, read or not."""
        del self._tokens[-count:]
        if self.slot is not None and self.slot.length > len(self._tokens):
            self.slot.length, self.slot.unsure = len(self._tokens), True

    def has_written(self, token: int) -> None:
        """Append a token that the model chose."""
        self._tokens.append(token)
        self._usage += Usage(generated=1)

    def force(self, text: str) -> None:
        """Append text to the assistant's unfinished reply."""
        self._take(self.model.vocabulary.tokenize(text))

    def append(self, message: Message) -> None:
        """Close the assistant's reply, add a message, and open the next reply."""
        segments = self.model.template.next_turn(message)
        self._take(self.model.vocabulary.tokens_of(segments))

    def _take(self, tokens: Sequence[int]) -> None:
        if len(tokens) > self.room:
            raise ContextFull(
                f"the text is {len(tokens)} tokens and the context has room for {self.room}: "
                f"shorten it{self.model.or_larger}"
            )
        self._tokens += tokens

    def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
        """Yield the assistant's reply, one string a token."""

        def begun() -> Iterator[Reply]:
            self.model.check_open()
            yield reply_of(self, grammar, sampling)

        with closing(self.model.desk.pieces(self.model, begun)) as pieces:
            for _, piece in pieces:
                yield piece

    def weigh(self, options: Sequence[str]) -> list[float]:
        """Return the log-probability, without a grammar, of the first token of each text as
        what comes next."""
        model = self.model
        with model.desk.visit(model):
            model.check_open()
            ready: Ready = []
            while not ready and not self.stopped():
                ready = model.engine.read([self])
            firsts = [model.vocabulary.tokenize(option)[0] for option in options]
            return log_probabilities(ready[0][1], firsts) if ready else [0.0] * len(firsts)

    def fork(self, count: int) -> list[LlamaContext]:
        """Return so many contexts that go on from here, sharing what was read."""
        model = self.model
        with model.desk.visit(model):
            model.check_open()
            slot = model.engine.read_but_last(self)
            forks = [
                LlamaContext(model, list(self._tokens), fixed=self.fixed, cancel=self._cancel)
                for _ in range(count)
            ]
            if slot is not None:
                self.shared = slot.length
                for fork in forks:
                    model.engine.branch(fork, slot)
                    fork.shared = slot.length
        return forks

    def think(self, most: int, seed: int = 0) -> Iterator[str]:
        """Yield what a model that always thinks writes before its reply. Which one does
        is seen from what it does: its template opens the mark, or it writes it itself."""
        model = self.model
        marks = model.thinking_marks
        if marks is None:
            return
        [first], [last] = (model.vocabulary.tokenize(mark, trusted=True) for mark in marks)
        opened = self._tokens[-2:]
        thinking = marks[0] in model.vocabulary.text_of(opened)
        ending = model.vocabulary.tokenize(f"\n{marks[1]}\n\n", trusted=True)
        most = max(0, min(most, self.room - len(ending) - 1))

        def begun() -> Iterator[Reply]:
            model.check_open()
            sampling = replace(_FREELY, seed=seed)
            picker = Picker(model.grammars, None, sampling, besides=(first, last))
            yield Thoughts(self, picker, most=most, opening=None if thinking else first)

        text = ""
        with closing(model.desk.pieces(model, begun)) as pieces:
            for _, piece in pieces:
                thinking, text = True, text + piece
                yield piece
                if marks[1] in text:
                    break
        if marks[1] in text:
            self.force("\n\n")
        elif thinking and not self.stopped():
            self._take(ending[: self.room])
