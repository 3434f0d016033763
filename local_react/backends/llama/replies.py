"""Replies that are written at the same time: each under its own grammar, one batch for
the next token of all."""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from local_react.backends.llama.context import LlamaContext
from local_react.backends.llama.decoding import Picker
from local_react.backends.llama.engine import Reader
from local_react.backends.sampling import Logits
from local_react.core import Request
from local_react.errors import UsageError
from local_react.gbnf import forced_beginning

if TYPE_CHECKING:
    from local_react.backends.llama.model import LlamaModel

_RESERVE = 128
"""Cells of the cache that a reply is expected to need when it is begun, if it may be that
long. One that needs more, where there are none, waits for another to end."""


class Replies:
    """The replies to some requests. Iterating over it raises UsageError where two of them
    share a context, and GrammarError, before a token is chosen."""

    def __init__(self, model: LlamaModel, requests: Sequence[Request]) -> None:
        self._model = model
        self._requests = requests
        self._active: dict[Reader, _Reply] = {}
        self._waiting: deque[_Reply] = deque()

    def __iter__(self) -> Iterator[tuple[int, str]]:
        model = self._model
        if len({request.context for request in self._requests}) < len(self._requests):
            raise UsageError("two requests share a context: fork it")
        try:
            with model.lock:
                model.check_open()
                for number, request in enumerate(self._requests):
                    self._waiting.append(_Reply(model, number, request))
            while self._active or self._waiting:
                # Held for one token: another thread's contexts have places of their own.
                with model.lock:
                    model.check_open()
                    written = self._advance()
                yield from written
        finally:
            with model.lock:
                self._close()

    def _advance(self) -> list[tuple[int, str]]:
        """Read one batch and choose the tokens that can be chosen; return their text."""
        if self._waiting:
            self._admit()
        for reply in [reply for reply in self._active.values() if reply.is_over()]:
            self._end(reply)
        progress = self._model.engine.read(list(self._active))
        written = []
        for context, logits in progress.ready:
            reply = self._active[context]
            piece = reply.next_piece(logits)
            if piece is None:
                self._end(reply)
            else:
                written.append((reply.number, piece))
        for context in progress.parked:
            self._waiting.appendleft(self._active.pop(context))
        return written

    def _admit(self) -> None:
        """Begin waiting replies while there should be cells for them."""
        room = self._model.context_size - sum(reply.cells for reply in self._active.values())
        while self._waiting and (not self._active or self._waiting[0].cells <= room):
            if len(self._active) >= self._model.most_replies:
                return
            reply = self._waiting.popleft()
            room -= reply.cells
            self._active[reply.context] = reply
            reply.begin()

    def _end(self, reply: _Reply) -> None:
        reply.close()
        del self._active[reply.context]

    def _close(self) -> None:
        for reply in (*self._active.values(), *self._waiting):
            reply.close()
        self._active.clear()
        self._waiting.clear()


class _Reply:
    """One reply that is being written."""

    def __init__(self, model: LlamaModel, number: int, request: Request) -> None:
        if not isinstance(request.context, LlamaContext) or request.context.model is not model:
            raise UsageError("a request is for a context of another model: ask that one")
        self.number = number
        self.context = request.context
        self._vocabulary = model.vocabulary
        self._left = request.most
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._picker = Picker(model.grammars, request.grammar, request.sampling)
        self._beginning = forced_beginning(request.grammar) if request.grammar else ""
        self._forced: list[int] = []

    @property
    def cells(self) -> int:
        """Cells of the cache that it needs for itself, beside what it may share."""
        expected = _RESERVE if self._left is None else min(self._left, _RESERVE)
        shared = self.context.shared if self.context.slot else self.context.fixed
        return len(self.context.tokens) - shared + expected

    def begin(self) -> None:
        """Write what the reply has to begin with, to be read in one batch with the end of
        the prompt. Once; later there is nothing."""
        beginning, self._beginning = self._beginning, ""
        if not beginning or self.is_over():
            return
        # But for the last token, which might be another one together with what comes.
        tokens = self._vocabulary.tokenize(beginning)[:-1]
        most = self.context.room if self._left is None else min(self.context.room, self._left)
        if len(tokens) < most:
            self._forced = self._picker.begin(tokens)
            self.context.has_to_write(self._forced)
            if self._left is not None:
                self._left -= len(self._forced)

    def is_over(self) -> bool:
        """Return True where no more may be written."""
        return self.context.room <= 0 or self._left == 0 or self.context.stopped()

    def next_piece(self, logits: Logits) -> str | None:
        """Choose the next token and return its text, behind what the reply had to begin
        with if it is the first; return None where the reply ends."""
        token = self._picker.pick(logits)
        if token is None:
            return None
        self.context.has_written(token)
        if self._left is not None:
            self._left -= 1
        tokens, self._forced = [*self._forced, token], []
        return self._decoder.decode(b"".join(map(self._vocabulary.piece, tokens)))

    def close(self) -> None:
        """Free what the reply holds, and take back what nobody has seen of it."""
        self._picker.close()
        if self._forced:
            self.context.take_back(len(self._forced))
            self._forced = []
