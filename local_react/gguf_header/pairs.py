"""The key-value section of a GGUF file, of which only a few values are wanted."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from typing import BinaryIO, NoReturn, TypeAlias

Value: TypeAlias = "int | float | str | tuple[int | float, ...]"

ARCHITECTURE = "general.architecture"

_MAGIC = b"GGUF"
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q"}
_NUMBERS |= {12: "d"}
_STRING, _ARRAY = 8, 9

# What no honest file comes near, so that a hostile one is refused before it costs time or
# memory. A key may have 65,535 bytes by the specification; the longest in use has 50.
_MOST_PAIRS = 65_536
_MOST_STRINGS = 1 << 21
MOST_LAYERS = 4096
_LONGEST_NAME = 65_535

_TOKENS = "tokenizer.ggml.tokens"


class Unusable(Exception):
    """Why the header is of no use, and what to do."""


def damaged(what: str) -> NoReturn:
    """Raise Unusable for a header that no program can have written so."""
    raise Unusable(f"its header is damaged ({what}): fetch or copy it again")


class _Reader:
    """Takes one piece after another from a file, and never past its end."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size
        self._strings = 0

    def take(self, count: int) -> bytes:
        self._spend(count)
        piece = self._file.read(count)
        if len(piece) != count:  # it was cut while it was read
            damaged("it ends too early")
        return piece

    def skip(self, count: int) -> None:
        self._spend(count)
        self._file.seek(count, 1)

    def number(self, letter: str) -> int | float:
        """Return a number of the struct module's format."""
        number: int | float = struct.unpack("<" + letter, self.take(struct.calcsize(letter)))[0]
        return number

    def count(self, letter: str = "Q") -> int:
        return int(self.number(letter))

    def text(self) -> str:
        length = self.count()
        if length > _LONGEST_NAME:
            damaged(f"a name of {length} bytes")
        return self.take(length).decode("utf-8", "replace")

    def skip_strings(self, count: int) -> None:
        self._strings += count
        if self._strings > _MOST_STRINGS:
            damaged(f"{self._strings} texts")
        read, seek = self._file.read, self._file.seek
        for _ in range(count):  # as `skip(count())`, in half the time
            length = int.from_bytes(read(8), "little")
            self._spend(8 + length)
            seek(length, 1)

    def _spend(self, count: int) -> None:
        if count > self._left:
            damaged(f"{count} bytes are announced and {self._left} are there")
        self._left -= count


def read_pairs(
    file: BinaryIO, size: int, required: Collection[str], optional: Collection[str]
) -> tuple[Mapping[str, Value], int | None]:
    """Return the values that are wanted, by key, and how many tokens the vocabulary has,
    None where the file does not say. Wanted keys are named without the architecture that
    they begin with.

    Reading ends at the vocabulary, where all that is required came before it: every
    writer puts what describes the model first. Else it goes on to the end of the section.
    Raises Unusable, and OSError.
    """
    reader, wanted = _Reader(file, size), {*required, *optional}
    values: dict[str, Value] = {}
    vocabulary = None
    for _ in range(_opening(reader)):
        key = reader.text()
        kind = reader.count("I")
        if key == _TOKENS and kind == _ARRAY:
            element, vocabulary = reader.count("I"), reader.count()
            if missing(values, required) is None:
                break
            _skip_elements(reader, element, vocabulary)
        elif key == ARCHITECTURE or key.partition(".")[2] in wanted:
            values[key] = _value(reader, kind)
        else:
            _skip(reader, kind)
    return values, vocabulary


def missing(values: Mapping[str, Value], required: Collection[str]) -> str | None:
    """Return the first required key that has not been read, or None."""
    architecture = values.get(ARCHITECTURE)
    if architecture is None:
        return ARCHITECTURE
    keys = (f"{architecture}.{name}" for name in required)
    return next((key for key in keys if key not in values), None)


def _opening(reader: _Reader) -> int:
    """Return how many pairs there are, after checking all that stands before them."""
    if reader.take(4) != _MAGIC:
        raise Unusable("it is not a GGUF file: give a file in GGUF format")
    version = reader.count("I")
    if version and version & 0xFFFF == 0:  # the bytes of a small number, turned round
        raise Unusable("its numbers are big endian: take the little-endian file")
    if version not in (2, 3):
        raise Unusable(
            f"it is GGUF version {version}, and 2 and 3 are known: take a newer conversion of it"
            if version < 2
            else f"it is GGUF version {version}, and 2 and 3 are known: update local-react"
        )
    reader.skip(8)  # how many tensors
    pairs = reader.count()
    if pairs > _MOST_PAIRS:
        damaged(f"{pairs} entries")
    return pairs


def _value(reader: _Reader, kind: int) -> Value:
    if kind == _STRING:
        return reader.text()
    if kind != _ARRAY:
        return reader.number(_letter(kind))
    element, count = reader.count("I"), reader.count()
    letter = _letter(element)
    if count > MOST_LAYERS:
        damaged(f"a list for {count} layers")
    return struct.unpack(f"<{count}{letter}", reader.take(count * struct.calcsize(letter)))


def _skip(reader: _Reader, kind: int) -> None:
    if kind == _STRING:
        reader.skip(reader.count())
    elif kind == _ARRAY:
        _skip_elements(reader, reader.count("I"), reader.count())
    else:
        reader.skip(struct.calcsize(_letter(kind)))


def _skip_elements(reader: _Reader, kind: int, count: int) -> None:
    if kind == _STRING:
        reader.skip_strings(count)
    else:  # llama.cpp has no lists within lists either
        reader.skip(count * struct.calcsize(_letter(kind)))


def _letter(kind: int) -> str:
    if kind not in _NUMBERS:
        damaged(f"a value of the unknown type {kind}")
    return _NUMBERS[kind]
