"""One growing chat with a LlamaModel, and many of them at once."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING

from local_react.backends.llama.decoding import Picker
from local_react.core import Message, Request, Sampling, Usage
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
        """Return True once the context was cancelled."""
        return self._cancel is not None and self._cancel.is_set()

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
                "shorten it, or give a larger --ctx-size"
            )
        self._tokens += tokens

    def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
        """Yield the assistant's reply, one string a token."""
        return (piece for _, piece in self.model.generate_many([Request(self, grammar, sampling)]))

    def fork(self, count: int) -> list[LlamaContext]:
        """Return so many contexts that go on from here, sharing what was read."""
        model = self.model
        with model.lock:
            model.check_open()
            slot = model.engine.read_but_last(self)
            forks = [
                LlamaContext(model, list(self._tokens), fixed=self.fixed, cancel=self._cancel)
                for _ in range(count)
            ]
            if slot is not None:
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
        opening, closing = (model.vocabulary.tokenize(mark, trusted=True) for mark in marks)
        opened = self._tokens[-len(opening) - 1 :]
        thinking = marks[0] in model.vocabulary.text_of(opened)
        with model.lock:
            sampling = replace(_FREELY, seed=seed)
            picker = Picker(model.grammars, None, sampling, besides=(opening[0], closing[0]))
        ending = model.vocabulary.tokenize(f"\n{marks[1]}\n\n", trusted=True)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = ""
        try:
            for _ in range(min(most, self.room - len(ending) - 1)):
                with model.lock:
                    token = model.next_token(self, picker)
                    if token is None or not (thinking or [token] == opening):
                        break
                    self.has_written(token)
                    piece = decoder.decode(model.vocabulary.bytes_of(token, special=True))
                thinking, text = True, text + piece
                yield piece
                if marks[1] in text:
                    self.force("\n\n")
                    return
        finally:
            with model.lock:
                picker.close()
        if thinking and not self.stopped():
            self._take(ending[: self.room])
