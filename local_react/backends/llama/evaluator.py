"""The native context: decodes tokens of many sequences in one batch."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from local_react.backends.llama.native import cause, interruptible, native_log
from local_react.backends.sampling import Logits
from local_react.cache_types import CacheType
from local_react.errors import ModelError

BATCH = 512
"""Tokens evaluated at once."""

FlashAttention: TypeAlias = Literal["auto", "on", "off"]

_GGML_TYPE = {"f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8}
_FLASH_ATTENTION = {
    "auto": llama_cpp.LLAMA_FLASH_ATTN_TYPE_AUTO,
    "off": llama_cpp.LLAMA_FLASH_ATTN_TYPE_DISABLED,
    "on": llama_cpp.LLAMA_FLASH_ATTN_TYPE_ENABLED,
}

Outcome: TypeAlias = Literal["read", "no room", "stopped"]
_OUTCOMES: dict[int, Outcome] = {0: "read", 1: "no room", 2: "stopped"}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a context is made."""

    context_size: int
    """Cells of the cache: tokens, of all its sequences together."""
    threads: int
    flash_attention: FlashAttention = "auto"
    cache_type_k: CacheType = "f16"
    cache_type_v: CacheType = "f16"


class Row(NamedTuple):
    """Tokens that one sequence grows by."""

    sequence: int
    position: int
    """Of the first token: how many the sequence holds already."""
    tokens: Sequence[int]
    complete: bool
    """Whether the logits after the last token are wanted."""


class Evaluator:
    """Reads tokens into the cache of one context with room for `sequences` sequences.

    Raises ModelError, with llama.cpp's complaint, where the context cannot be made.
    """

    def __init__(self, model: Any, settings: Settings, sequences: int) -> None:
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = settings.context_size
        params.n_batch = params.n_ubatch = BATCH
        params.n_threads = params.n_threads_batch = settings.threads
        params.flash_attn_type = _FLASH_ATTENTION[settings.flash_attention]
        params.type_k = _GGML_TYPE[settings.cache_type_k]
        params.type_v = _GGML_TYPE[settings.cache_type_v]
        params.n_seq_max = sequences
        # Windowed layers keep all cells: what has left the window can't be cut back to.
        params.swa_full = True
        params.kv_unified = True  # the sequences share the cells, and so a common prefix
        params.no_perf = True
        with native_log().causes() as causes:
            self._context = llama_cpp.llama_init_from_model(model, params)
        if not self._context:
            raise ModelError(
                f"no context of {settings.context_size} tokens can be made: {cause(causes)}; "
                "give a smaller --ctx-size, or other cache types"
            )
        vocabulary = llama_cpp.llama_model_get_vocab(model)
        self.recurrent = bool(
            llama_cpp.llama_model_is_recurrent(model) or llama_cpp.llama_model_is_hybrid(model)
        )
        """Whether layers have a state instead of cells: it can be copied as a whole and
        dropped, but not cut, and a batch that was broken off leaves it half written."""
        self.batch = min(BATCH, int(llama_cpp.llama_n_batch(self._context)))
        """Tokens that may be read at once: fewer than asked for in a small context."""
        self._words: int = llama_cpp.llama_vocab_n_tokens(vocabulary)
        self._window: int = llama_cpp.llama_model_n_swa(model)
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = llama_cpp.llama_batch_init(BATCH, 0, 1)
        for index in range(BATCH):
            self._batch.n_seq_id[index] = 1
        # Looked up once: these are written to at every token.
        self._tokens, self._positions = self._batch.token, self._batch.pos
        self._sequences = [self._batch.seq_id[index] for index in range(BATCH)]
        self._wanted = self._batch.logits
        self._outputs: Logits = np.empty((0, self._words), dtype=np.float32)
        self._address = 0

    @property
    def native(self) -> Any:
        """The native context, for measurements."""
        return self._context

    def close(self) -> None:
        """Free the native context."""
        if self._context:
            llama_cpp.llama_batch_free(self._batch)
            llama_cpp.llama_free(self._context)
            self._context = None

    def decode(self, rows: Sequence[Row], stop: Callable[[], bool]) -> Outcome:
        """Read the rows, at most `batch` tokens in all, and say how that went. Unless it
        is "read", the sequences hold what they held before, as far as they can give up
        their tail.

        Ctrl-C, and `stop` once it is True, end it early where some row has many tokens.
        Raises ModelError where llama.cpp fails.
        """
        if self._fill(rows) == len(rows):
            code = llama_cpp.llama_decode(self._context, self._batch)
        else:
            code = self._decode_interruptibly(stop)
        if code not in _OUTCOMES:
            raise ModelError(f"llama.cpp could not evaluate the text (code {code})")
        return _OUTCOMES[code]

    def _fill(self, rows: Sequence[Row]) -> int:
        """Put the rows into the batch and return how many tokens they are."""
        index = 0
        for sequence, position, tokens, complete in rows:
            for token in tokens:
                self._tokens[index] = token
                self._positions[index] = position
                self._sequences[index][0] = sequence
                self._wanted[index] = 0
                index, position = index + 1, position + 1
            self._wanted[index - 1] = complete
        self._batch.n_tokens = index
        return index

    def _decode_interruptibly(self, stop: Callable[[], bool]) -> int:
        with interruptible() as interrupted:
            # Kept in a variable: the native code calls it while it computes.
            asked = llama_cpp.ggml_abort_callback(lambda _: interrupted.is_set() or stop())
            none = llama_cpp.ggml_abort_callback(0)
            llama_cpp.llama_set_abort_callback(self._context, asked, None)
            try:
                return int(llama_cpp.llama_decode(self._context, self._batch))
            finally:
                llama_cpp.llama_set_abort_callback(self._context, none, None)

    def logits(self, count: int) -> Logits:
        """Return the logits after each complete row of the last decode, (count, words):
        a view that the next decode changes."""
        address = ctypes.addressof(llama_cpp.llama_get_logits(self._context).contents)
        if address != self._address or count > len(self._outputs):
            # Making the view costs more than a look at where it is.
            array = (ctypes.c_float * (count * self._words)).from_address(address)
            self._outputs = np.ctypeslib.as_array(array).reshape(count, self._words)
            self._address = address
        return self._outputs[:count]

    def clear(self) -> None:
        """Empty all sequences."""
        llama_cpp.llama_memory_clear(self._memory, True)

    def copy(self, source: int, target: int) -> None:
        """Make an empty sequence hold what another does, sharing its cells. Copied onto
        one that is not empty, or in part, llama.cpp's kinds of memory differ."""
        llama_cpp.llama_memory_seq_cp(self._memory, source, target, -1, -1)

    def cut(self, sequence: int, length: int) -> bool:
        """Cut a sequence back to its first `length` tokens; return False, with nothing
        done, where its kind of memory cannot."""
        if self._window > 0:
            # Cells that the next token's window does not reach may be another's by now.
            first = llama_cpp.llama_memory_seq_pos_min(self._memory, sequence)
            if first > max(0, length - self._window):
                return False
        return bool(llama_cpp.llama_memory_seq_rm(self._memory, sequence, length, -1))

    def drop(self, sequence: int) -> None:
        """Empty a sequence."""
        llama_cpp.llama_memory_seq_rm(self._memory, sequence, -1, -1)

    def state(self, sequence: int) -> NDArray[np.uint8]:
        """Return what was made of a sequence's tokens, as bytes for `restore`."""
        size = llama_cpp.llama_state_seq_get_size(self._context, sequence)
        data = np.empty(size, dtype=np.uint8)
        written = llama_cpp.llama_state_seq_get_data(self._context, _bytes_at(data), size, sequence)
        return data[:written]

    def restore(self, sequence: int, data: NDArray[np.uint8]) -> bool:
        """Make an empty sequence hold what `state` returned; return False, with the
        sequence empty, where the bytes are not for this context."""
        with native_log().causes():
            read = llama_cpp.llama_state_seq_set_data(
                self._context, _bytes_at(data), len(data), sequence
            )
        if read != len(data):
            self.drop(sequence)
        return bool(read == len(data))


def _bytes_at(data: NDArray[np.uint8]) -> Any:
    return data.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
