"""A GGUF file taken to pieces that can be changed, put together again as they are told."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

_SIZES: Final = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
UINT16: Final = 2
UINT32: Final = 4
INT32: Final = 5
FLOAT32: Final = 6
STRING: Final = 8
ARRAY: Final = 9
_ALIGNMENT: Final = 32


@dataclass(slots=True)
class Pair:
    """A key and its value, whose bytes are those of the file."""

    key: bytes
    kind: int
    value: bytes


@dataclass(slots=True)
class Info:
    """What is said of a tensor."""

    name: bytes
    shape: list[int]
    kind: int
    offset: int


@dataclass(slots=True)
class GgufFile:
    """The pieces. Where a count is given, it is told instead of how many there are."""

    pairs: list[Pair]
    infos: list[Info]
    data: bytes
    version: int = 3
    pair_count: int | None = None
    info_count: int | None = None
    alignment: int = _ALIGNMENT

    def pair(self, key: str) -> Pair:
        """Return the pair of a key, or raise KeyError."""
        for pair in self.pairs:
            if pair.key == key.encode():
                return pair
        raise KeyError(key)

    def without(self, key: str) -> GgufFile:
        """Return the file without a key."""
        return replace(self, pairs=[pair for pair in self.pairs if pair.key != key.encode()])

    def header(self) -> bytes:
        """Return what stands before the weights."""
        counts = (
            len(self.infos) if self.info_count is None else self.info_count,
            len(self.pairs) if self.pair_count is None else self.pair_count,
        )
        head = b"GGUF" + struct.pack("<IQQ", self.version, *counts)
        return head + b"".join([*map(_pair, self.pairs), *map(_info, self.infos)])

    def whole(self) -> bytes:
        """Return the file."""
        head = self.header()
        return head + bytes(-len(head) % self.alignment) + self.data


@dataclass(slots=True)
class _Cursor:
    data: bytes
    at: int = 0

    def number(self, letter: str) -> int:
        (found,) = struct.unpack_from("<" + letter, self.data, self.at)
        self.at += struct.calcsize("<" + letter)
        return int(found)

    def text(self) -> bytes:
        length = self.number("Q")
        self.at += length
        return self.data[self.at - length : self.at]

    def skip(self, kind: int) -> None:
        if kind == STRING:
            self.text()
        elif kind == ARRAY:
            element = self.number("I")
            for _ in range(self.number("Q")):
                self.skip(element)
        else:
            self.at += _SIZES[kind]


def taken_apart(data: bytes) -> GgufFile:
    """Return the pieces of a sound file."""
    cursor = _Cursor(data, at=4)
    version, infos, pairs = cursor.number("I"), cursor.number("Q"), cursor.number("Q")
    told = [_read_pair(cursor) for _ in range(pairs)]
    listed = [_read_info(cursor) for _ in range(infos)]
    begin = cursor.at + -cursor.at % _ALIGNMENT
    return GgufFile(told, listed, data[begin:], version)


def text(value: bytes) -> bytes:
    """Return a text as it stands in a file."""
    return struct.pack("<Q", len(value)) + value


def number(key: str, value: int, kind: int = UINT32) -> Pair:
    """Return a pair of a key and a whole number."""
    letter = {UINT16: "H", UINT32: "I", INT32: "i"}[kind]
    return Pair(key.encode(), kind, struct.pack("<" + letter, value))


def texts(values: Sequence[bytes]) -> bytes:
    """Return a list of texts as it stands in a file."""
    return struct.pack("<IQ", STRING, len(values)) + b"".join(map(text, values))


def texts_of(pair: Pair) -> list[bytes]:
    """Return the texts of a list of them."""
    cursor = _Cursor(pair.value, at=4)
    return [cursor.text() for _ in range(cursor.number("Q"))]


def split(path: Path, folder: Path, stem: str, count: int) -> list[Path]:
    """Write a model as so many files, each with its share of the tensors, as llama.cpp's own
    splitter names and numbers them; return them."""
    whole = taken_apart(path.read_bytes())
    files = []
    for shard in range(count):
        keys = [
            number("split.no", shard, UINT16),
            number("split.count", count, UINT16),
            number("split.tensors.count", len(whole.infos), INT32),
        ]
        infos, data = [], b""
        for info in whole.infos[shard::count]:
            size = 4  # all tensors of the random models are 32-bit numbers
            for width in info.shape:
                size *= width
            infos.append(replace(info, offset=len(data)))
            data += whole.data[info.offset : info.offset + size]
            data += bytes(-len(data) % _ALIGNMENT)
        pairs = [*whole.pairs, *keys] if shard == 0 else keys
        file = folder / f"{stem}-{shard + 1:05d}-of-{count:05d}.gguf"
        file.write_bytes(GgufFile(pairs, infos, data).whole())
        files.append(file)
    return files


def _pair(pair: Pair) -> bytes:
    return text(pair.key) + struct.pack("<I", pair.kind) + pair.value


def _info(info: Info) -> bytes:
    shape = struct.pack(f"<I{len(info.shape)}Q", len(info.shape), *info.shape)
    return text(info.name) + shape + struct.pack("<IQ", info.kind, info.offset)


def _read_pair(cursor: _Cursor) -> Pair:
    key, kind = cursor.text(), cursor.number("I")
    begin = cursor.at
    cursor.skip(kind)
    return Pair(key, kind, cursor.data[begin : cursor.at])


def _read_info(cursor: _Cursor) -> Info:
    name = cursor.text()
    shape = [cursor.number("Q") for _ in range(cursor.number("I"))]
    return Info(name, shape, cursor.number("I"), cursor.number("Q"))
