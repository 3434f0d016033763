"""Grammars, and the choice of the next token under one: sample first, then check.

A token is chosen as if there were no grammar, and that one token is checked. Only
where it is refused are others looked at. llama.cpp aborts the process when it is
given a token that the grammar does not admit, and follows the NULL pointer that a
bad grammar becomes; neither can happen here.
"""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import Any

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from local_react.backends.llama.native import captured_stderr, cause, native_log
from local_react.backends.llama.vocabulary import Vocabulary
from local_react.backends.sampling import Logits, choose
from local_react.core import Sampling
from local_react.errors import GrammarError

MAX_CHARACTERS = 200_000
MAX_NESTING = 100
"""Limits checked before the native parser, which recurses and would crash."""

_NEAR = np.float32(8.0)
"""Where the grammar refuses the best token, those up to e^8 times less likely are tried
before the whole vocabulary is."""

_TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
"""llama_token_data, as numpy sees it."""


class Grammars:
    """The compiled grammars of one model, and the buffer to ask them with."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._compiled: dict[str, Any] = {}

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

    @cached_property
    def _buffer(self) -> NDArray[np.void]:
        return np.zeros(self.vocabulary.size, dtype=_TOKEN_DATA)

    @cached_property
    def control(self) -> NDArray[np.intp]:
        """The tokens that never come, as an index."""
        return np.fromiter(self.vocabulary.control, dtype=np.intp)


class Picker:
    """Chooses the tokens of one reply. Close it at the reply's end."""

    def __init__(self, grammars: Grammars, grammar: str | None, sampling: Sampling) -> None:
        self._grammars = grammars
        self._sampling = sampling
        self._random = np.random.default_rng(sampling.seed)
        self._state = None if grammar is None else grammars.start(grammar)

    def close(self) -> None:
        """Free the grammar's state."""
        if self._state is not None:
            llama_cpp.llama_sampler_free(self._state)
            self._state = None

    def pick(self, logits: Logits) -> int | None:
        """Return the next token, or None where the reply ends."""
        token: int | None = choose(logits, self._sampling, self._random)
        if not self._may_come(token):
            token = self._choose_admitted(logits)
        if token is None or token in self._grammars.vocabulary.ends:
            return None
        if self._state is not None:
            llama_cpp.llama_sampler_accept(self._state, token)
        return token

    def _may_come(self, token: int | None) -> bool:
        if token in self._grammars.vocabulary.control:
            return False
        return len(self._admitted(np.array([token], dtype=np.intp))) == 1

    def _admitted(self, tokens: NDArray[np.intp]) -> NDArray[np.intp]:
        if self._state is None:
            return tokens
        return self._grammars.admitted(self._state, tokens)

    def _choose_admitted(self, logits: Logits) -> int | None:
        """Return a token of those that the grammar admits; None where it admits none."""
        near = np.flatnonzero(logits > logits.max() - _NEAR)
        few = self._admitted(near[~np.isin(near, self._grammars.control)])
        if not len(few) and (end := self._end()) is not None:
            return end  # all that might still come is far-fetched, and it may end here
        if len(few) and self._sampling.temperature == 0.0:
            return int(few[logits[few].argmax()])  # greedy needs the best one alone
        allowed = logits.copy()
        allowed[self._grammars.control] = -np.inf
        tokens = self._admitted(np.flatnonzero(allowed > -np.inf))
        if not len(tokens):
            return None
        masked = np.full_like(allowed, -np.inf)
        masked[tokens] = allowed[tokens]
        return choose(masked, self._sampling, self._random)

    def _end(self) -> int | None:
        """Return an end-of-generation token if the reply may end here."""
        ends = np.fromiter(self._grammars.vocabulary.ends, dtype=np.intp)
        return next(map(int, self._admitted(ends)), None)


def _nesting(grammar: str) -> int:
    """Return the deepest nesting of parentheses."""
    depth = deepest = 0
    for char in grammar:
        depth += (char == "(") - (char == ")")
        deepest = max(deepest, depth)
    return deepest
