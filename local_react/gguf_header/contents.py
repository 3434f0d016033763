"""All that stands in a GGUF file before its weights: every pair, and the list of tensors.

Unlike `read_header` this reads the vocabulary too: 0.2 s for 262,000 tokens.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from local_react.gguf_header.pairs import (
    ARRAY,
    NUMBERS,
    STRING,
    Reader,
    damaged,
    letter_of,
    opening,
)

_MOST_TENSORS = 1 << 16
_MOST_DIMENSIONS = 4  # GGML_MAX_DIMS
_LONGEST_TENSOR_NAME = 63  # GGML_MAX_NAME, which counts the NUL behind it


@dataclass(frozen=True, slots=True)
class Listing:
    """A value that is a list."""

    kind: int
    """The type of its elements, by the format's number."""
    count: int
    texts: tuple[bytes, ...] = ()
    """The elements where they are texts."""
    packed: bytes = b""
    """The elements where they are numbers, as they stand in the file."""

    def numbers(self) -> tuple[int | float, ...]:
        """Return the elements where they are numbers, none where they are texts."""
        if self.kind == STRING:
            return ()
        return struct.unpack(f"<{self.count}{NUMBERS[self.kind]}", self.packed)


Entry: TypeAlias = "int | float | str | Listing"


@dataclass(frozen=True, slots=True)
class Tensor:
    """What the file says of a tensor."""

    name: str
    shape: tuple[int, ...]
    """The numbers in a row come first."""
    kind: int
    """Its type, by ggml's number."""
    offset: int
    """Bytes from where the weights begin."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a GGUF file holds besides its weights."""

    entries: Mapping[str, Entry]
    tensors: tuple[Tensor, ...]
    listed: int
    """Bytes of the file up to the end of the tensors' list."""
    size: int
    """Bytes of the file."""

    def count(self, key: str) -> int | None:
        """Return a whole number, None where there is none of that key."""
        value = self.entries.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def text(self, key: str) -> str | None:
        """Return a text, None where there is none of that key, or an empty one."""
        value = self.entries.get(key)
        return value if isinstance(value, str) and value else None


def read_contents(path: Path) -> Contents:
    """Return what a GGUF file holds besides its weights. Raises Unusable, and OSError."""
    size = path.stat().st_size
    with path.open("rb", buffering=1 << 16) as file:
        reader = Reader(file, size)
        tensors, pairs = opening(reader)
        if tensors > _MOST_TENSORS:
            damaged(f"{tensors} tensors")
        entries = _entries(reader, pairs)
        listed = tuple(_tensors(reader, tensors))
        return Contents(entries, listed, file.tell(), size)


def _entries(reader: Reader, pairs: int) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for _ in range(pairs):
        key = reader.name()
        if not key or key in entries:
            damaged(f"the key {key[:60]!r} twice" if key else "a key without a name")
        entries[key] = _entry(reader, reader.count("I"))
    return entries


def _entry(reader: Reader, kind: int) -> Entry:
    if kind == STRING:
        return reader.text()
    if kind != ARRAY:
        return reader.number(letter_of(kind))
    kind, count = reader.count("I"), reader.count()
    if kind == STRING:
        return Listing(kind, count, texts=tuple(reader.strings(count)))
    size = struct.calcsize(letter_of(kind))
    return Listing(kind, count, packed=reader.take(count * size))


def _tensors(reader: Reader, count: int) -> Iterator[Tensor]:
    """Yield the tensors that are listed behind the pairs."""
    names: set[str] = set()
    for _ in range(count):
        name = reader.name()
        # llama.cpp takes a name up to the first NUL, and then for another's.
        if name in names or "\0" in name or not 0 < len(name.encode()) <= _LONGEST_TENSOR_NAME:
            damaged(f"a tensor named {name[:70]!r}{' again' if name in names else ''}")
        names.add(name)
        dimensions = reader.count("I")
        if dimensions > _MOST_DIMENSIONS:
            damaged(f"{name!r} with {dimensions} dimensions")
        shape = tuple(reader.count() for _ in range(dimensions))
        yield Tensor(name, shape, reader.count("I"), reader.count())
