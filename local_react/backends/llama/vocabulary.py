"""Text and tokens. Only trusted text is read for control tokens."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from threading import RLock
from typing import Any, Literal, TypeAlias

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from local_react.backends.chat_template import Segment
from local_react.errors import ContextFull, ModelError

Kind: TypeAlias = Literal["text", "end", "control"]

_PIECE = 256
"""Bytes of buffer for one token's text, which is mostly far shorter."""
_TAG = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")
"""What templates mark turns with."""


class Vocabulary:
    """The tokens of one model."""

    def __init__(self, model: Any) -> None:
        self._native = llama_cpp.llama_model_get_vocab(model)
        self._lock = RLock()
        """For native calls of threads that have no other: the memory must not go meanwhile."""
        self._marks: frozenset[str] = frozenset()
        self._marked = re.compile("")
        # What was asked once is not asked again: these are needed at every token.
        self._bytes: dict[int, bytes] = {}
        self._kinds: dict[int, Kind] = {}
        self._texts: dict[int, str] = {}
        self.size: int = llama_cpp.llama_vocab_n_tokens(self.native)
        self.bos: int = llama_cpp.llama_vocab_bos(self.native)
        self.eos: int = llama_cpp.llama_vocab_eos(self.native)
        self.adds_bos: bool = llama_cpp.llama_vocab_get_add_bos(self.native) and self.bos >= 0

    @property
    def native(self) -> Any:
        """The native vocabulary. Raises ModelError once the model is closed."""
        if self._native is None:
            raise ModelError("the model is closed: load it again")
        return self._native

    def close(self) -> None:
        """Forget the native vocabulary, whose memory is about to be freed."""
        with self._lock:
            self._native = None

    def tokenize(self, text: str, *, trusted: bool = False) -> list[int]:
        """Return token ids, without a begin-of-text token. What marks turns does so in trusted
        text alone.

        Raises ContextFull where the text is too long to be tokenised at all.
        """
        # A lone surrogate has no bytes: it becomes "?" rather than an error.
        data = text.encode("utf-8", "replace")
        if trusted:
            return self._ids(data, special=True)
        text = data.decode()
        tokens = self._cut(text)
        while found := {mark for token in {*tokens} if (mark := self._mark(token))} - self._marks:
            self._guard(found)
            tokens = self._cut(text)
        return tokens

    def guard(self, trusted: Iterable[str]) -> None:
        """Have nothing in untrusted text be read as what marks the turns in these texts, be it
        a token of the model's, or plain letters that are the same whoever writes them."""
        self._guard({tag for text in trusted for tag in _TAG.findall(text)})

    def _guard(self, marks: set[str]) -> None:
        self._marks = self._marks | marks
        # The shortest first: a cut within it is also within those that begin with it.
        shortest = sorted(self._marks, key=lambda mark: (len(mark), mark))
        self._marked = re.compile(f"(?=({'|'.join(map(re.escape, shortest))}))")

    def _cut(self, text: str) -> list[int]:
        """Return the tokens of a text in which each mark is cut in two, so that nothing reads it
        as a whole."""
        found = self._marked.finditer(text) if self._marks else ()
        cuts = sorted([0, *(mark.start() + len(mark[1]) // 2 for mark in found), len(text)])
        pieces = (text[start:end].encode() for start, end in pairwise(cuts))
        return [token for piece in pieces for token in self._ids(piece, special=False)]

    def _mark(self, token: int) -> str:
        """Return the text of a token that marks something, be it a tag that is user-defined,
        which llama.cpp reads in any text, or a plain word that ends a reply; else nothing."""
        if token not in self._texts:
            attributes = llama_cpp.llama_vocab_get_attr(self.native, token)
            text, user = "", attributes & llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED
            if user or self.kind(token) != "text":
                text = self.text_of([token]).strip()
            marks = len(text) > 1 and (not user or (text[0] in "<[" and text[-1] in ">]"))
            self._texts[token] = text if marks else ""
        return self._texts[token]

    def _ids(self, data: bytes, *, special: bool) -> list[int]:
        size = len(data) + 8
        buffer = (llama_cpp.llama_token * size)()
        with self._lock:
            found = llama_cpp.llama_tokenize(
                self.native, data, len(data), buffer, size, False, special
            )
        if found < 0:
            raise ContextFull(f"a text of {len(data)} bytes cannot be tokenised: shorten it")
        return list(buffer[:found])

    def tokens_of(self, segments: Sequence[Segment]) -> list[int]:
        """Return the token ids of a prompt's segments, each read as what it is."""
        return [
            token
            for segment in segments
            for token in self.tokenize(segment.text, trusted=segment.trusted)
        ]

    def bytes_of(self, token: int, *, special: bool = False) -> bytes:
        """Return a token's text as bytes: it may end within a character. A control
        token has text only where `special`."""
        buffer = ctypes.create_string_buffer(_PIECE)
        with self._lock:
            size = llama_cpp.llama_token_to_piece(self.native, token, buffer, _PIECE, 0, special)
            if size < 0:  # the bytes that it would have taken
                buffer = ctypes.create_string_buffer(-size)
                size = llama_cpp.llama_token_to_piece(self.native, token, buffer, -size, 0, special)
        return ctypes.string_at(buffer, max(size, 0))

    def text_of(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, control tokens included."""
        pieces = [self.bytes_of(token, special=True) for token in tokens if token >= 0]
        return b"".join(pieces).decode("utf-8", "replace")

    def piece(self, token: int) -> bytes:
        """Return what a token adds to a reply, as bytes: nothing where it is a control
        token."""
        found = self._bytes.get(token)
        if found is None:
            found = self._bytes[token] = self.bytes_of(token)
        return found

    def kind(self, token: int) -> Kind:
        """Return whether a token is text, ends a reply, or is a control token besides:
        those are never candidates, because a grammar sees their text and would let it
        pass."""
        found = self._kinds.get(token)
        if found is None:
            found = self._kinds[token] = self._kind(token)
        return found

    def _kind(self, token: int) -> Kind:
        if llama_cpp.llama_vocab_is_eog(self.native, token):
            return "end"
        return "control" if llama_cpp.llama_vocab_is_control(self.native, token) else "text"

    @cached_property
    def beginnings(self) -> tuple[NDArray[np.int16], NDArray[np.intp]]:
        """The first byte of each token's text, by the token's id, -1 where it has none;
        and for each byte a token that is that byte alone, -1 where there is none. Made
        when it is first needed: it takes some tenths of a second."""
        first = np.full(self.size, -1, dtype=np.int16)
        single = np.full(256, -1, dtype=np.intp)
        buffer = ctypes.create_string_buffer(_PIECE)
        view = memoryview(buffer).cast("B")
        for token in range(self.size):
            size = llama_cpp.llama_token_to_piece(self.native, token, buffer, _PIECE, 0, False)
            if size > 0:
                first[token] = view[0]
            elif size < 0:  # longer than the buffer
                first[token] = self.bytes_of(token)[0]
            if size == 1:
                single[view[0]] = token
        return first, single

    @cached_property
    def end(self) -> int | None:
        """An end-of-generation token, or None where the model has none."""
        named = (self.eos, llama_cpp.llama_vocab_eot(self.native))
        return next((token for token in named if token >= 0 and self.kind(token) == "end"), None)
