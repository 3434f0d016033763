"""A model's shape, worked out of the values of its header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from local_react.gguf_header.pairs import (
    ARCHITECTURE,
    MOST_LAYERS,
    Unusable,
    Value,
    damaged,
    missing,
)

REQUIRED = ("block_count", "embedding_length", "context_length")
OPTIONAL = (
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.key_length_mla",
    "attention.key_length_swa",
    "attention.value_length_swa",
    "attention.sliding_window_pattern",
    "attention.shared_kv_layers",
    "attention.recurrent_layers",
    "full_attention_interval",
    "shortconv.l_cache",
    "ssm.conv_kernel",
    "ssm.inner_size",
    "ssm.state_size",
    "ssm.group_count",
)
"""The keys that are read, without the architecture's name before them."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a GGUF file says of its model's shape. Counts and widths, no bytes, but for
    `state_bytes`."""

    architecture: str
    block_count: int
    """Layers."""
    embedding_length: int
    context_length: int
    """Tokens of context that the model was trained for."""
    head_count: tuple[int, ...]
    """Attention heads of each layer."""
    head_count_kv: tuple[int, ...]
    """Heads of keys and values of each layer."""
    key_length: int
    """Width of one head's key."""
    value_length: int
    vocabulary: int | None
    """Tokens in the vocabulary; None where the file does not say."""
    caches: tuple[tuple[int, int], ...]
    """The numbers that each layer keeps of a token, its keys' and its values'; (0, 0)
    where it keeps none."""
    state_bytes: int
    """Bytes of the recurrent layers' state, for each sequence in the cache."""


def header_of(values: Mapping[str, Value], vocabulary: int | None) -> Header:
    """Return the header that the values describe. Raises Unusable where they do not."""
    if absent := missing(values, REQUIRED):
        raise Unusable(f"it has no {absent[:60]!r}, so it is no language model: give another file")
    shape = _Shape(str(values[ARCHITECTURE]), values)
    return Header(
        architecture=shape.architecture,
        block_count=shape.layers,
        embedding_length=shape.count("embedding_length"),
        context_length=shape.count("context_length"),
        head_count=shape.heads,
        head_count_kv=shape.heads_kv,
        key_length=shape.width("key_length"),
        value_length=shape.width("value_length"),
        vocabulary=vocabulary,
        caches=shape.caches(),
        state_bytes=shape.state_bytes(),
    )


class _Shape:
    """A model's shape, worked out of its values."""

    def __init__(self, architecture: str, values: Mapping[str, Value]) -> None:
        self.architecture = architecture
        self._values = values
        self.layers = self.count("block_count")
        if self.layers > MOST_LAYERS:
            damaged(f"{self.layers} layers")
        self.heads = self.each("attention.head_count", (0,) * self.layers)
        self.heads_kv = self.each("attention.head_count_kv", self.heads)
        self._attends, self._recurs = self._kinds()

    def count(self, name: str, default: int = 0) -> int:
        value = self._values.get(f"{self.architecture}.{name}", default)
        return _checked(value, name)

    def each(self, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
        """Return a count for each layer; one alone holds for all of them."""
        value = self._values.get(f"{self.architecture}.{name}", default)
        if not isinstance(value, tuple):
            return (_checked(value, name),) * self.layers
        if len(value) < self.layers:
            damaged(f"{name} for {len(value)} of {self.layers} layers")
        return tuple(_checked(one, name) for one in value[: self.layers])

    def width(self, name: str) -> int:
        """Return the width of a head: what the file says, else an even share."""
        share = self.count("embedding_length") // max((1, *self.heads))
        return self.count(f"attention.{name}", share)

    def caches(self) -> tuple[tuple[int, int], ...]:
        full = (self.width("key_length"), self.width("value_length"))
        sliding = (
            self.count("attention.key_length_swa", full[0]),
            self.count("attention.value_length_swa", full[1]),
        )
        slides = self._flags("attention.sliding_window_pattern")
        # With latent attention the values are worked out of the keys.
        latent = self.count("attention.key_length_mla") > 0
        own = self.layers - self.count("attention.shared_kv_layers")
        caches = []
        for layer, heads in enumerate(self.heads_kv):
            kept = heads if self._attends[layer] and layer < own else 0
            key, value = sliding if slides[layer] else full
            caches.append((kept * key, 0 if latent else kept * value))
        return tuple(caches)

    def state_bytes(self) -> int:
        """32-bit numbers: the last inputs of a convolution, and the state itself."""
        inner, state = self.count("ssm.inner_size"), self.count("ssm.state_size")
        channels = inner + 2 * self.count("ssm.group_count") * state
        numbers = max(0, self.count("ssm.conv_kernel") - 1) * channels + inner * state
        numbers += max(0, self.count("shortconv.l_cache") - 1) * self.count("embedding_length")
        return 4 * numbers * sum(self._recurs)

    def _kinds(self) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
        """Return which layers attend and which are recurrent: some are both."""
        if f"{self.architecture}.attention.recurrent_layers" in self._values:
            recurs = self._flags("attention.recurrent_layers")
            return tuple(not one for one in recurs), recurs
        if interval := self.count("full_attention_interval"):
            attends = tuple((layer + 1) % interval == 0 for layer in range(self.layers))
            return attends, tuple(not one for one in attends)
        attends = tuple(heads > 0 for heads in self.heads_kv)
        recurs = tuple(not one for one in attends)
        return attends, recurs if any(recurs) else (True,) * self.layers

    def _flags(self, name: str) -> tuple[bool, ...]:
        """Return a flag for each layer; none is set where the file holds no list."""
        value = self._values.get(f"{self.architecture}.{name}")
        if not isinstance(value, tuple):
            return (False,) * self.layers
        return tuple(bool(one) for one in self.each(name, ()))


def _checked(value: Value, name: str) -> int:
    """Return a count: a whole number that the format's 32 bits hold."""
    if not isinstance(value, int) or not 0 <= value < 1 << 32:
        damaged(f"{name} is {str(value)[:40]}")
    return int(value)
