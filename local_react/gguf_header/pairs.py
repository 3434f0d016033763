"""The pieces that a GGUF file's header consists of, and the few values that are wanted of it
before a model is loaded."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping
from typing import BinaryIO, NoReturn, TypeAlias

Value: TypeAlias = "int | float | str | tuple[int | float, ...]"

ARCHITECTURE = "general.architecture"

_MAGIC = b"GGUF"
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q"}
NUMBERS |= {12: "d"}
"""The formats of the struct module, by the numbers of the types."""
STRING, ARRAY = 8, 9

# What no honest file comes near, so that a hostile one is refused before it costs time or
# memory. A key may have 65,535 bytes by the specification; the longest in use has 50, and
# the longest chat templates 60,000.
_MOST_PAIRS = 65_536
_MOST_STRINGS = 1 << 21
MOST_LAYERS = 4096
_LONGEST_NAME = 65_535
_LONGEST_TEXT = 1 << 24
_LARGEST = 1 << 28
"""Bytes that are read of a header, those that are skipped aside. Of a vocabulary of 262,000
tokens it is 10 MB."""

TOKENS = "tokenizer.ggml.tokens"


class Unusable(Exception):
    """Why the header is of no use, and what to do."""


def damaged(what: str) -> NoReturn:
    """Raise Unusable for a header that no program can have written so."""
    raise Unusable(f"its header is damaged ({_plain(what)}): fetch or copy it again")


def senseless(what: str) -> NoReturn:
    """Raise Unusable for what stands in the header and cannot be meant."""
    raise Unusable(
        f"its header makes no sense ({_plain(what)}): take another conversion of the model"
    )


def _plain(what: str) -> str:
    """Return a text in which names from the file may stand, as one line."""
    return "".join(letter if letter.isprintable() else "?" for letter in what)[:200]


class Reader:
    """Takes one piece after another from a file, and never past its end. Raises Unusable
    where a piece cannot be what it should be."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._left = size
        self._held = 0
        self._strings = 0

    def take(self, count: int) -> bytes:
        """Return so many bytes."""
        self._spend(count)
        self._hold(count)
        piece = self._file.read(count)
        if len(piece) != count:  # it was cut while it was read
            damaged("it ends too early")
        return piece

    def skip(self, count: int) -> None:
        """Leave out so many bytes."""
        self._spend(count)
        self._file.seek(count, 1)

    def number(self, letter: str) -> int | float:
        """Return a number of the struct module's format."""
        number: int | float = struct.unpack("<" + letter, self.take(struct.calcsize(letter)))[0]
        return number

    def count(self, letter: str = "Q") -> int:
        """Return a whole number."""
        return int(self.number(letter))

    def name(self) -> str:
        """Return a text that names something."""
        return self._text(_LONGEST_NAME, "a name")

    def text(self) -> str:
        """Return a text that is a value."""
        return self._text(_LONGEST_TEXT, "a text")

    def _text(self, longest: int, what: str) -> str:
        length = self.count()
        if length > longest:
            damaged(f"{what} of {length} bytes")
        return self.take(length).decode("utf-8", "replace")

    def strings(self, count: int) -> list[bytes]:
        """Return a list of texts, as they stand there."""
        self._tally(count)
        read, found = self._file.read, []
        for _ in range(count):  # as `take(count())`, in half the time
            length = int.from_bytes(read(8), "little")
            self._spend(8 + length)
            self._hold(length)
            found.append(read(length))
        return found

    def skip_strings(self, count: int) -> None:
        """Leave out a list of texts."""
        self._tally(count)
        read, seek = self._file.read, self._file.seek
        for _ in range(count):
            length = int.from_bytes(read(8), "little")
            self._spend(8 + length)
            seek(length, 1)

    def _tally(self, count: int) -> None:
        self._strings += count
        if self._strings > _MOST_STRINGS:
            damaged(f"{self._strings} texts")

    def _hold(self, count: int) -> None:
        self._held += count
        if self._held > _LARGEST:
            damaged(f"it takes more than {_LARGEST} bytes")

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
    reader, wanted = Reader(file, size), {*required, *optional}
    values: dict[str, Value] = {}
    vocabulary = None
    for _ in range(opening(reader)[1]):
        key = reader.name()
        kind = reader.count("I")
        if key == TOKENS and kind == ARRAY:
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


def opening(reader: Reader) -> tuple[int, int]:
    """Return how many tensors and how many pairs there are, after checking all that stands
    before them."""
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
    tensors, pairs = reader.count(), reader.count()
    if pairs > _MOST_PAIRS:
        damaged(f"{pairs} entries")
    return tensors, pairs


def _value(reader: Reader, kind: int) -> Value:
    if kind == STRING:
        return reader.text()
    if kind != ARRAY:
        return reader.number(letter_of(kind))
    element, count = reader.count("I"), reader.count()
    letter = letter_of(element)
    if count > MOST_LAYERS:
        damaged(f"a list for {count} layers")
    return struct.unpack(f"<{count}{letter}", reader.take(count * struct.calcsize(letter)))


def _skip(reader: Reader, kind: int) -> None:
    if kind == STRING:
        reader.skip(reader.count())
    elif kind == ARRAY:
        _skip_elements(reader, reader.count("I"), reader.count())
    else:
        reader.skip(struct.calcsize(letter_of(kind)))


def _skip_elements(reader: Reader, kind: int, count: int) -> None:
    if kind == STRING:
        reader.skip_strings(count)
    else:  # llama.cpp has no lists within lists either
        reader.skip(count * struct.calcsize(letter_of(kind)))


def letter_of(kind: int) -> str:
    """Return the struct module's format for a type of number. Raises Unusable for another."""
    if kind not in NUMBERS:
        damaged(f"a value of the unknown type {kind}")
    return NUMBERS[kind]
