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
from threading import RLock
from typing import Any

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from local_react.backends.llama.native import captured_stderr, cause, native_log
from local_react.backends.llama.vocabulary import Vocabulary
from local_react.backends.sampling import (
    Logits,
    above,
    candidates,
    check_finite,
    choose,
    draw,
    is_greedy,
    penalise,
)
from local_react.core import Sampling
from local_react.errors import GrammarError
from local_react.gbnf import check_notation

_NEAR = 8.0
"""Where the grammar refuses a token, those up to e^8 times less likely than the best are
looked at, and only then all that begin as the grammar wants: to ask about a whole
vocabulary of 262,000 tokens takes 0.15 s."""
_FIRST = 128
"""Of those, so many are asked about first: mostly that will do, and to ask about
thousands takes milliseconds."""
_KEPT = 64
"""Compiled grammars, of those that were used last: an agent has a few for its tools."""
_LATELY = 64
"""Tokens that the penalty for repetition looks back on, as in llama.cpp."""

_TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
"""llama_token_data, as numpy sees it."""


class Grammars:
    """The compiled grammars of one model, and the buffer to ask them with."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._lock = RLock()  # that of the compiled ones: states are their users' own
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
        with self._lock:
            return self._compile(text)

    def _compile(self, text: str) -> Any:
        if (known := self._compiled.pop(text, None)) is not None:
            self._compiled[text] = known  # as the latest
        else:
            check_notation(text)
            data = text.encode()
            with captured_stderr() as printed, native_log().causes() as causes:
                native = llama_cpp.llama_sampler_init_grammar(self.vocabulary.native, data, b"root")
            if not native:
                raise GrammarError(f"the grammar does not compile: {cause(printed + causes)}")
            self._compiled[text] = native
            if len(self._compiled) > _KEPT:  # the states that were begun have their own copy
                llama_cpp.llama_sampler_free(self._compiled.pop(next(iter(self._compiled))))
        return self._compiled[text]

    def close(self) -> None:
        """Free the compiled grammars."""
        with self._lock:
            while self._compiled:
                llama_cpp.llama_sampler_free(self._compiled.popitem()[1])

    def start(self, text: str) -> Any:
        """Return a fresh state of the grammar: one that has reached its end cannot be
        used again, so each reply has its own, to be freed by the caller."""
        with self._lock:
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

    def perhaps_admitted(self, state: Any) -> NDArray[np.intp]:
        """Return the tokens that begin with a byte that may come next: a few thousand
        of a vocabulary where the grammar is narrow, and all that it admits."""
        first, single = self.vocabulary.beginnings
        may_begin = single < 0  # what can't be asked about alone may begin a token
        admitted = self.admitted(state, single[single >= 0])
        may_begin[first[admitted]] = True
        # One more, because -1 stands for a token without text, which never comes.
        return np.flatnonzero(np.append(may_begin, False)[first])

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
        state, self._state = self._state, None
        if state is not None:
            llama_cpp.llama_sampler_free(state)

    def pick(self, logits: Logits) -> int | None:
        """Return the next token, or None where the reply ends.

        Raises ModelError where the logits are no numbers.
        """
        if self._sampling.repeat_penalty != 1.0:
            logits = logits.copy()  # they may be looked at again
            penalise(logits, self._lately, self._sampling.repeat_penalty)
        token: int | None
        if is_greedy(self._sampling):
            token = int(logits.argmax())
            check_finite(logits[token])
            token = token if self._may_come(token) else self._admitted_one(logits)
        else:
            token = self._drawn(logits)
        if token is None or self._vocabulary.kind(token) == "end":
            return None
        if self._state is not None:
            llama_cpp.llama_sampler_accept(self._state, token)
        self._lately.append(token)
        return token

    def begin(self, tokens: list[int]) -> list[int]:
        """Take tokens with which the reply has to begin; return those taken."""
        for index, token in enumerate(tokens):
            if self._state is None or not self._grammars.admits(self._state, token):
                return tokens[:index]
            llama_cpp.llama_sampler_accept(self._state, token)
        return tokens

    def _may_come(self, token: int) -> bool:
        return not self._forbidden(token) and self._state_admits(token)

    def _state_admits(self, token: int) -> bool:
        return self._state is None or self._grammars.admits(self._state, token)

    def _forbidden(self, token: int) -> bool:
        return self._vocabulary.kind(token) == "control" and token not in self._besides

    def _admitted(self, tokens: NDArray[np.intp]) -> NDArray[np.intp]:
        tokens = np.array([t for t in tokens.tolist() if not self._forbidden(t)], dtype=np.intp)
        if self._state is None or not len(tokens):
            return tokens
        return self._grammars.admitted(self._state, tokens)

    def _drawn(self, logits: Logits) -> int | None:
        tokens, weights = candidates(logits, self._sampling)
        token = int(tokens[draw(weights, self._random)])
        if self._may_come(token):
            return token
        # Of the few that weigh most, those that are admitted; the rest weighs little.
        best = _most(weights, _FIRST)
        few = self._admitted(tokens[best])
        return self._one_of(few, logits) if len(few) else self._admitted_one(logits)

    def _admitted_one(self, logits: Logits) -> int | None:
        """Return a token of those that the grammar admits; None where it admits none."""
        near = above(logits, logits.max() - np.float32(_NEAR))
        if (token := self._best_admitted(near, logits)) is not None:
            return token
        end = self._vocabulary.end
        if end is not None and self._state_admits(end):
            return end  # all that might still come is far-fetched, and it may end here
        if self._state is not None:
            near = self._grammars.perhaps_admitted(self._state)
        return self._best_admitted(near, logits)

    def _best_admitted(self, tokens: NDArray[np.intp], logits: Logits) -> int | None:
        """Return one of the tokens, if the grammar admits any: of the likeliest few, else
        of all."""
        for count in (_FIRST, len(tokens)):
            few = self._admitted(tokens[_most(logits[tokens], count)])
            if len(few):
                return self._one_of(few, logits)
            if count >= len(tokens):
                break
        return None

    def _one_of(self, tokens: NDArray[np.intp], logits: Logits) -> int:
        return int(tokens[choose(logits[tokens], self._sampling, self._random)])


def _most(values: Logits, count: int) -> NDArray[np.intp]:
    """Return the indices of so many of the largest values, in no order."""
    if len(values) <= count:
        return np.arange(len(values))
    return np.argpartition(values, -count)[-count:]
