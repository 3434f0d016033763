"""Whether the figures that describe a model can be those of one."""

from __future__ import annotations

from collections.abc import Iterator
from math import isinf, isnan

from local_react.gguf_header.contents import Contents, Listing
from local_react.gguf_header.pairs import senseless
from local_react.gguf_header.shape import Header

_MOST_LAYERS = 512  # LLAMA_MAX_LAYERS
_MOST_EXPERTS = 1024  # LLAMA_MAX_EXPERTS
_WIDEST = 1 << 24


def check_hyperparameters(contents: Contents, header: Header) -> None:
    """Raise Unusable where a figure is none that a model can have."""
    _check_range("block_count", header.block_count, _MOST_LAYERS)
    _check_range("embedding_length", header.embedding_length, _WIDEST)
    for name, value in _fractions(contents, header.architecture):
        wrong = isnan(value) or (".rope." in name and isinf(value))
        wrong |= name.endswith("epsilon") and not 0 < value < 1
        wrong |= "rope.freq_base" in name and not value > 0
        if wrong:
            senseless(f"{name} is {value}")
    _check_heads(contents, header)
    _check_experts(contents, header.architecture)


def _check_heads(contents: Contents, header: Header) -> None:
    """Raise Unusable where the heads don't share the width, or the keys."""
    prefix = header.architecture
    for heads, kept in zip(header.head_count, header.head_count_kv, strict=True):
        if heads and kept and (kept > heads or heads % kept):
            senseless(f"{heads} heads with {kept} for keys and values")
    most = max(header.head_count)
    if most > header.embedding_length:
        senseless(f"{most} heads in a width of {header.embedding_length}")
    if not most:
        return
    _check_range("attention.key_length", header.key_length, _WIDEST)
    _check_range("attention.value_length", header.value_length, _WIDEST)
    widest = max(header.key_length, contents.count(f"{prefix}.attention.key_length_mla") or 0)
    for key in (f"{prefix}.rope.dimension_count", f"{prefix}.rope.dimension_count_swa"):
        turned = contents.count(key)
        if turned is not None and (turned > widest or turned % 2):
            senseless(f"{key} is {turned} in heads of {widest}")


def _check_experts(contents: Contents, prefix: str) -> None:
    count = contents.count(f"{prefix}.expert_count") or 0
    used = contents.entries.get(f"{prefix}.expert_used_count", 0)
    most = max(used.numbers(), default=0) if isinstance(used, Listing) else used
    if not 0 <= count <= _MOST_EXPERTS:
        senseless(f"{count} experts")
    if not isinstance(most, int) or not (count > 0) <= most <= count:
        senseless(f"{str(most)[:40]} experts used of {count}")


def _check_range(name: str, value: int, most: int) -> None:
    if not 0 < value <= most:
        senseless(f"{name} is {value}")


def _fractions(contents: Contents, prefix: str) -> Iterator[tuple[str, float]]:
    """Yield the figures of the architecture that are no whole numbers, and those of lists."""
    for key, value in contents.entries.items():
        if key.startswith(f"{prefix}."):
            every = value.numbers() if isinstance(value, Listing) else (value,)
            yield from ((key, one) for one in every if isinstance(one, float))
