"""Grammars, and the choice of the next token under one: sample first, then check.

A token is chosen as if there were no grammar, and that one token is checked. Only
where it is refused are others looked at. llama.cpp aborts the process when it is
given a token that the grammar does not admit, and follows the NULL pointer that a
bad grammar becomes; neither can happen here.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Collection
from functools import cached_property
from typing import Any

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from local_react.backends.llama.native import captured_stderr, cause, native_log
from local_react.backends.llama.vocabulary import Vocabulary
from local_react.backends.sampling import Logits, choose, penalise
from local_react.core import Sampling
from local_react.errors import GrammarError

MAX_CHARACTERS = 200_000
MAX_NESTING = 100
"""Limits checked before the native parser, which recurses and would crash."""

_NEAR = 8.0
"""Where the grammar refuses a token, those up to e^8 times less likely than the best are
looked at, and the whole vocabulary only where it admits none of them."""
_FIRST = 64
"""Of those, so many are asked about first: mostly that will do."""
_LATELY = 64
"""Tokens that the penalty for repetition looks back on, as in llama.cpp."""

_TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
"""llama_token_data, as numpy sees it."""


class Grammars:
    """The compiled grammars of one model, and the buffer to ask them with."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._compiled: dict[str, Any] = {}
        self._one = llama_cpp.llama_token_data()
        self._array_of_one = ctypes.byref(
            llama_cpp.llama_token_data_array(
                data=ctypes.pointer(self._one), size=1, selected=-1, sorted=False
            )
        )

    def compile(self, text: str) -> Any:
        """Return the native grammar at its start, compiled once.

        Raises GrammarError, with llama.cpp's complaint, where it does not compile.
        """
        if text not in self._compiled:
            if len(text) > MAX_CHARACTERS or _nesting(text) > MAX_NESTING or "\0" in text:
                raise GrammarError("the grammar is too large or too deeply nested")
            if not text.strip():  # which llama.cpp takes for no grammar at all
                raise GrammarError("the grammar is empty")
            data = text.encode("utf-8", "replace")
            with captured_stderr() as printed, native_log().causes() as causes:
                native = llama_cpp.llama_sampler_init_grammar(self.vocabulary.native, data, b"root")
            if not native:
                raise GrammarError(f"the grammar does not compile: {cause(printed + causes)}")
            self._compiled[text] = native
        return self._compiled[text]

    def close(self) -> None:
        """Free the compiled grammars."""
        while self._compiled:
            llama_cpp.llama_sampler_free(self._compiled.popitem()[1])

    def start(self, text: str) -> Any:
        """Return a fresh state of the grammar: one that has reached its end cannot be
        used again, so each reply has its own, to be freed by the caller."""
        return llama_cpp.llama_sampler_clone(self.compile(text))

    def admitted(self, state: Any, tokens: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return those of the tokens that may come next."""
        data = self._buffer[: len(tokens)]
        data["id"] = tokens
        data["logit"] = 0.0
        array = llama_cpp.llama_token_data_array(
            data=data.ctypes.data_as(llama_cpp.llama_token_data_p),
            size=len(tokens),
            selected=-1,
            sorted=False,
        )
        llama_cpp.llama_sampler_apply(state, ctypes.byref(array))
        return tokens[data["logit"] > -np.inf]

    def admits(self, state: Any, token: int) -> bool:
        """Return whether the token may come next: asked at every token, so without
        numpy."""
        self._one.id, self._one.logit = token, 0.0
        llama_cpp.llama_sampler_apply(state, self._array_of_one)
        return bool(self._one.logit == 0.0)

    @cached_property
    def _buffer(self) -> NDArray[np.void]:
        return np.zeros(self.vocabulary.size, dtype=_TOKEN_DATA)


class Picker:
    """Chooses the tokens of one reply. Close it at the reply's end.

    `besides` are control tokens that may come all the same.
    """

    def __init__(
        self,
        grammars: Grammars,
        grammar: str | None,
        sampling: Sampling,
        besides: Collection[int] = (),
    ) -> None:
        self._grammars = grammars
        self._vocabulary = grammars.vocabulary
        self._sampling = sampling
        self._besides = besides
        self._random = np.random.default_rng(sampling.seed)
        self._lately: deque[int] = deque(maxlen=_LATELY)
        self._state = None if grammar is None else grammars.start(grammar)

    def close(self) -> None:
        """Free the grammar's state."""
        if self._state is not None:
            llama_cpp.llama_sampler_free(self._state)
            self._state = None

    def pick(self, logits: Logits) -> int | None:
        """Return the next token, or None where the reply ends. The logits are spoilt."""
        if self._sampling.repeat_penalty != 1.0:
            penalise(logits, self._lately, self._sampling.repeat_penalty)
        first = choose(logits, self._sampling, self._random)
        token = first if self._may_come(first) else self._choose_admitted(logits)
        if token is None or self._vocabulary.ends_reply(token):
            return None
        if self._state is not None:
            llama_cpp.llama_sampler_accept(self._state, token)
        self._lately.append(token)
        return token

    def _may_come(self, token: int) -> bool:
        return not self._forbidden(token) and self._state_admits(token)

    def _state_admits(self, token: int) -> bool:
        return self._state is None or self._grammars.admits(self._state, token)

    def _forbidden(self, token: int) -> bool:
        return self._vocabulary.is_control(token) and token not in self._besides

    def _admitted(self, tokens: NDArray[np.intp]) -> NDArray[np.intp]:
        tokens = np.array([t for t in tokens.tolist() if not self._forbidden(t)], dtype=np.intp)
        if self._state is None or not len(tokens):
            return tokens
        return self._grammars.admitted(self._state, tokens)

    def _choose_admitted(self, logits: Logits) -> int | None:
        """Return a token of those that the grammar admits; None where it admits none."""
        reach = np.float32(_NEAR * max(1.0, self._sampling.temperature))
        near = np.flatnonzero(logits > logits.max() - reach)
        few = self._admitted(_likeliest(logits, near, _FIRST))
        if not len(few):
            few = self._admitted(near)
        if not len(few):
            if (end := self._vocabulary.end) is not None and self._state_admits(end):
                return end  # all that might still come is far-fetched, and it may end here
            few = self._admitted(np.flatnonzero(logits > -np.inf))
        if not len(few):
            return None
        if self._sampling.temperature > 0.0:  # where the best alone will not do
            few = self._admitted(np.flatnonzero(logits > logits[few].max() - reach))
        return int(few[choose(logits[few], self._sampling, self._random)])


def _likeliest(logits: Logits, tokens: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return so many of the tokens, the likeliest, in no order."""
    if len(tokens) <= count:
        return tokens
    return tokens[np.argpartition(logits[tokens], -count)[-count:]]


def _nesting(grammar: str) -> int:
    """Return the deepest nesting of parentheses."""
    depth = deepest = 0
    for char in grammar:
        depth += (char == "(") - (char == ")")
        deepest = max(deepest, depth)
    return deepest
