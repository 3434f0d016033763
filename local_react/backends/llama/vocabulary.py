"""Text and tokens. Only trusted text is read for control tokens."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from local_react.backends.chat_template import Segment
from local_react.errors import ContextFull, ModelError

Kind: TypeAlias = Literal["text", "end", "control"]

_PIECE = 256
"""Bytes of buffer for one token's text, which is mostly far shorter."""


class Vocabulary:
    """The tokens of one model."""

    def __init__(self, model: Any) -> None:
        self._native = llama_cpp.llama_model_get_vocab(model)
        # What was asked once is not asked again: these are needed at every token.
        self._bytes: dict[int, bytes] = {}
        self._kinds: dict[int, Kind] = {}
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
        self._native = None

    def tokenize(self, text: str, *, trusted: bool = False) -> list[int]:
        """Return token ids, without a begin-of-text token.

        Raises ContextFull where the text is too long to be tokenised at all.
        """
        # A lone surrogate has no bytes: it becomes "?" rather than an error.
        data = text.encode("utf-8", "replace")
        size = len(data) + 8
        buffer = (llama_cpp.llama_token * size)()
        found = llama_cpp.llama_tokenize(self.native, data, len(data), buffer, size, False, trusted)
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
