"""How much memory a model takes, told before it is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from local_react.cache_types import CACHE_TYPES
from local_react.catalog import LIST, is_shard
from local_react.errors import ModelError, UsageError
from local_react.gguf_header import Header

DEFAULT_CONTEXT = 8192
"""Tokens of context, capped by what the model was trained for."""
RECURRENT_SEQUENCES = 8
"""Sequences that have their state in memory at once, in recurrent and hybrid models."""

_BLOCKS = {
    "f32": (1, 4),
    "f16": (1, 2),
    "q8_0": (32, 34),
    "q5_1": (32, 24),
    "q5_0": (32, 22),
    "q4_1": (32, 20),
    "q4_0": (32, 18),
}
"""Numbers in a block and its bytes, of the types that a cache may have (ggml-common.h)."""

# Measured, in MB over file and cache, for SmolLM2-135M, Gemma-3-270M, Qwen2.5-0.5B and
# Qwen2.5-1.5B: the peak of a bare llama.cpp 76, 110, 122 and 148, the same at 8,192 and at
# 131,072 tokens of context; that of a whole run of ours 123, 192, 181 and 242. Between the
# last two it grows by 40 kB for each number of the width in the one, 95 in the other.
_PROCESS = 250_000_000
_SCRATCH_PER_WIDTH = 40_000
_CELLS = 256
"""A context is made in steps of so many tokens (llama.cpp, llama_init_from_model)."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The memory that a model takes, in bytes."""

    weights: int
    """The files. They are mapped, so they count even where the page cache has them."""
    cache: int
    """Keys and values of a full context, and the state of recurrent layers."""
    overhead: int
    """The process, and room for the calculations."""

    @property
    def total(self) -> int:
        """All of it, in bytes."""
        return self.weights + self.cache + self.overhead


def kv_bytes_per_token(header: Header, type_k: str = "f16", type_v: str = "f16") -> int:
    """Return the bytes that one token takes in the cache, over all layers.

    Qwen2.5-Coder-1.5B has 28 layers of 2 heads of 128 + 128 numbers: 28,672 bytes as f16.
    Raises UsageError for a type that a cache cannot have.
    """
    sizes = (
        _row_bytes(keys, type_k) + _row_bytes(values, type_v) for keys, values in header.caches
    )
    return sum(sizes)


def estimate(
    path: Path,
    header: Header,
    context_size: int,
    type_k: str = "f16",
    type_v: str = "f16",
    *,
    sequences: int = RECURRENT_SEQUENCES,
) -> Estimate:
    """Return the memory that the model at `path`, all shards of it, takes with so many
    tokens of context. `sequences` counts for recurrent layers only.

    Raises ModelError where the files cannot be looked at, UsageError for a type that a
    cache cannot have.
    """
    cells = -(-context_size // _CELLS) * _CELLS
    cache = cells * kv_bytes_per_token(header, type_k, type_v)
    return Estimate(
        weights=_file_bytes(path),
        cache=cache + sequences * header.state_bytes,
        overhead=_PROCESS + _SCRATCH_PER_WIDTH * header.embedding_length,
    )


def refuse_if_too_large(needed: Estimate, name: str, available: int) -> None:
    """Raise ModelError, with the figures and what to do, where a model needs more memory
    than the `available` bytes."""
    if needed.total <= available:
        return
    figures = (
        f"{name} needs {gib(needed.total)} of memory (weights {gib(needed.weights)}, "
        f"context {gib(needed.cache)}, the rest {gib(needed.overhead)}) "
        f"and {gib(available)} are available"
    )
    if needed.total - needed.cache > available:
        raise ModelError(f"{figures}: close other programs, or take a smaller one of `{LIST}`")
    raise ModelError(
        f"{figures}: give a smaller --ctx-size, a quantised cache (--cache-type-k q8_0 "
        "--cache-type-v q8_0), or a smaller model"
    )


def gib(count: int) -> str:
    """Return a number of bytes of memory for a person, as in "1.5 GiB"."""
    return f"{count / 2**30:.1f} GiB"


def _row_bytes(numbers: int, kind: str) -> int:
    if kind not in _BLOCKS:
        raise UsageError(f"the cache's type must be one of {', '.join(CACHE_TYPES)}, not {kind}")
    per_block, size = _BLOCKS[kind]
    return -(-numbers // per_block) * size


def _file_bytes(path: Path) -> int:
    files = [path]
    if is_shard(path.name):
        # "name-00001-of-00003.gguf": all that differ in the five digits alone.
        start, end = path.name[: -len("00001-of-00003.gguf")], path.name[-len("-of-00003.gguf") :]
        files = [
            file
            for file in path.parent.glob("*")
            if is_shard(file.name) and file.name.startswith(start) and file.name.endswith(end)
        ]
    try:
        return sum(file.stat().st_size for file in files)
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from error
