"""One reply that is being written, and whoever wants it."""

from __future__ import annotations

import codecs
from threading import get_ident
from time import monotonic
from typing import TYPE_CHECKING

from local_react.backends.llama.decoding import Picker
from local_react.backends.llama.vocabulary import Vocabulary
from local_react.backends.sampling import Logits
from local_react.core import Sampling
from local_react.gbnf import forced_beginning

if TYPE_CHECKING:
    from local_react.backends.llama.context import LlamaContext

_RESERVE = 128
"""Cells of the cache that a reply is expected to need when it is begun, if it may be that
long. One that needs more, where there are none, waits for another to end."""


class Reply:
    """One reply that is being written, at most `most` tokens of it.

    It is read for and written to by one thread at a time: the one that leads.
    """

    def __init__(
        self,
        context: LlamaContext,
        picker: Picker,
        *,
        number: int = 0,
        most: int | None = None,
        beginning: str = "",
    ) -> None:
        self.context = context
        context.thread = get_ident()
        self.number = number
        self.begun = False
        self.entered = monotonic()
        """Since when it is wanted."""
        self._picker = picker
        self._left = most
        self._beginning = beginning
        self._forced: list[int] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of its model."""
        return self.context.model.vocabulary

    @property
    def shared(self) -> int:
        """How many of its tokens have cells that others may use as well."""
        return self.context.shared if self.context.slot else self.context.fixed

    @property
    def cells(self) -> int:
        """Cells of the cache that it needs for itself, beside what it may share."""
        expected = _RESERVE if self._left is None else min(self._left, _RESERVE)
        return len(self.context.tokens) - self.shared + expected

    def begin(self) -> None:
        """Write what the reply has to begin with, to be read in one batch with the end of
        the prompt. Once; later there is nothing."""
        beginning, self._beginning, self.begun = self._beginning, "", True
        if not beginning or self.is_over():
            return
        # But for the last token, which might be another one together with what comes.
        tokens = self.vocabulary.tokenize(beginning)[:-1]
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
        if token is None or not self._wants(token):
            return None
        self.context.has_written(token)
        if self._left is not None:
            self._left -= 1
        tokens, self._forced = [*self._forced, token], []
        return self._decoder.decode(b"".join(map(self._bytes_of, tokens)))

    def close(self) -> None:
        """Free what the reply holds, and take back what nobody has seen of it."""
        self._picker.close()
        forced, self._forced = self._forced, []
        if forced:
            self.context.take_back(len(forced))

    def _wants(self, token: int) -> bool:
        return True

    def _bytes_of(self, token: int) -> bytes:
        return self.vocabulary.piece(token)


class Thoughts(Reply):
    """What a model thinks before it replies: it is over at once where the model neither
    has begun to think nor begins with the opening mark."""

    def __init__(
        self, context: LlamaContext, picker: Picker, *, most: int, opening: int | None
    ) -> None:
        super().__init__(context, picker, most=most)
        self._opening = opening
        """The mark that has to come first; None where it is there."""

    def _wants(self, token: int) -> bool:
        expected, self._opening = self._opening, None
        return expected in (None, token)

    def _bytes_of(self, token: int) -> bytes:
        return self.vocabulary.bytes_of(token, special=True)


def reply_of(
    context: LlamaContext,
    grammar: str | None,
    sampling: Sampling,
    *,
    number: int = 0,
    most: int | None = None,
) -> Reply:
    """Return a context's reply under a grammar.

    Raises GrammarError where that does not compile, and ModelError where the model is
    closed.
    """
    picker = Picker(context.model.grammars, grammar, sampling)
    beginning = forced_beginning(grammar) if grammar else ""
    return Reply(context, picker, number=number, most=most, beginning=beginning)


class Consumer:
    """Whoever wants some replies together. All of them are asking, or none is.

    `asking`, `reading`, `gone`, `since` and `thread` belong to the desk; what was written,
    and the error, to the thread that leads as long as `reading`, else to the consumer's.
    """

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        """Those that are not at their ends."""
        self.written: list[tuple[int, str]] = []
        self.error: Exception | None = None
        self.asking = False
        self.reading = False
        """It is in the batch that is being read."""
        self.gone = False
        self.since = monotonic()
        """When it was last given something, or came."""
        self.thread = get_ident()
        """Which asked last."""

    @property
    def has_answer(self) -> bool:
        """True once there is something to give it, or nothing more to come."""
        return bool(self.written or self.error is not None or not self.replies)

    def end_those_over(self) -> None:
        """End the replies of which no more may be written."""
        for reply in [reply for reply in self.replies if reply.is_over()]:
            self.end(reply)

    def write(self, reply: Reply, logits: Logits) -> None:
        """Write the next token of a reply. What goes wrong is this consumer's alone."""
        try:
            piece = reply.next_piece(logits)
            if piece is None:
                self.end(reply)
            else:
                self.written.append((reply.number, piece))
        except Exception as error:  # noqa: BLE001 - raised where it belongs
            self.error = error

    def take(self) -> list[tuple[int, str]]:
        """Return what was written, nothing at the end of all replies; raise its error."""
        if self.error is not None:
            raise self.error
        written, self.written = self.written, []
        return written

    def end(self, reply: Reply) -> None:
        """End one reply."""
        self.replies.remove(reply)
        reply.close()

    def close(self) -> None:
        """End all."""
        while self.replies:
            self.replies[-1].close()  # twice, if Ctrl-C comes now, which does no harm
            self.replies.pop()
