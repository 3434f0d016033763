"""The native context and its cache: what has been read is not read again."""

from __future__ import annotations

from typing import Any

import llama_cpp
import numpy as np

from local_react.backends.llama.native import cause, interruptible, native_log
from local_react.backends.sampling import Logits
from local_react.errors import ModelError

BATCH = 512
"""Tokens evaluated at once."""


class Evaluator:
    """Reads tokens into the cache of one context of `size` tokens.

    Raises ModelError, with llama.cpp's complaint, where the context cannot be made.
    """

    def __init__(self, model: Any, size: int, threads: int) -> None:
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = size
        params.n_batch = params.n_ubatch = BATCH
        params.n_threads = params.n_threads_batch = threads
        params.no_perf = True
        with native_log().causes() as causes:
            self._context = llama_cpp.llama_init_from_model(model, params)
        if not self._context:
            raise ModelError(
                f"no context of {size} tokens can be made: {cause(causes)}; "
                "give a smaller --ctx-size"
            )
        vocabulary = llama_cpp.llama_model_get_vocab(model)
        self._words = llama_cpp.llama_vocab_n_tokens(vocabulary)
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._cached: list[int] = []
        self._holder: object = None

    def close(self) -> None:
        """Free the native context."""
        if self._context:
            llama_cpp.llama_free(self._context)
            self._context = None

    @property
    def cached(self) -> tuple[int, ...]:
        """The token ids that the cache holds."""
        return tuple(self._cached)

    def read(self, holder: object, tokens: list[int]) -> int:
        """Make the cache hold exactly these tokens; return how many had to be read.

        `holder` is who asks: while it is the same, its tokens have only grown.
        """
        if self._holder is not holder:
            self._keep_common(tokens)
            self._holder = holder
        new = tokens[len(self._cached) :]
        for start in range(0, len(new), BATCH):
            self._decode(new[start : start + BATCH])
        return len(new)

    def logits(self) -> Logits:
        """Return the logits after the last token: a view that the next read changes."""
        pointer = llama_cpp.llama_get_logits_ith(self._context, -1)
        return np.ctypeslib.as_array(pointer, shape=(self._words,))

    def _keep_common(self, tokens: list[int]) -> None:
        """Cut the cache back to what it has in common with the tokens."""
        common = 0
        # The last token is always read, because its logits are wanted.
        for ours, theirs in zip(self._cached, tokens[:-1], strict=False):
            if ours != theirs:
                break
            common += 1
        if not llama_cpp.llama_memory_seq_rm(self._memory, 0, common, -1):
            # A hybrid model cannot drop its tail.
            self._forget()
        del self._cached[common:]

    def _decode(self, tokens: list[int]) -> None:
        # The batch only points to the array: it must live until decode returns.
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        batch = llama_cpp.llama_batch_get_one(array, len(tokens))
        if len(tokens) == 1:
            result = llama_cpp.llama_decode(self._context, batch)
        else:
            result = self._decode_interruptibly(batch)
        if result != 0:
            self._forget()
            raise ModelError(f"llama.cpp could not evaluate the text (code {result})")
        self._cached += tokens

    def _decode_interruptibly(self, batch: Any) -> int:
        """Decode a batch, which may take seconds, so that Ctrl-C stops it at once."""
        try:
            with interruptible() as interrupted:
                stop = llama_cpp.ggml_abort_callback(lambda _: interrupted.is_set())
                llama_cpp.llama_set_abort_callback(self._context, stop, None)
                return int(llama_cpp.llama_decode(self._context, batch))
        except KeyboardInterrupt:
            self._forget()
            raise
        finally:
            none = llama_cpp.ggml_abort_callback(0)
            llama_cpp.llama_set_abort_callback(self._context, none, None)

    def _forget(self) -> None:
        """Empty the cache: what a broken-off batch left in it is not known."""
        llama_cpp.llama_memory_clear(self._memory, True)
        self._cached.clear()
        self._holder = None
