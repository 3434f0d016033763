"""A directory of evaluated prefixes: what a model made of the instructions and tools
that begin every run, so that the next process need not read them again.

An entry is a file: a line of JSON that tells what it is, with the length of the bytes
that follow and the CRC-32 of the key and them, so that an entry under another's name is
none. It is written under a name of its own and put in place whole. It holds no question,
no answer and no document: only what is the same in every run is ever given to it.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from local_react.atomic import TEMPORARY, check_file, sweep
from local_react.places import cache_dir
from local_react.private import write_own

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LIMIT = 2_000_000_000
"""Bytes that the directory may hold in all; what was not used for longest goes first."""

_FORMAT = "local_react prefix 2"
_ENDING = ".state"
_LONGEST_HEADER = 4096


@dataclass(frozen=True, slots=True)
class Entry:
    """One evaluated prefix on disk."""

    path: Path
    model: str
    """The model's file name; "" where the entry is of no use: damaged, of another version,
    or not to be read."""
    tokens: int
    bytes: int
    """Of the whole file."""
    used: float
    """When it was last used, in seconds since the epoch."""


def prefix_dir() -> Path | None:
    """Return the directory, which may not exist yet, or None where the cache is off."""
    directory = cache_dir()
    return directory / "prefixes" if directory else None


@dataclass(frozen=True)
class PrefixCache:
    """The prefixes in a directory. Nothing here raises: without a cache the work is
    done again, and that is all."""

    directory: Path
    limit: int = LIMIT

    def load(self, key: str) -> NDArray[np.uint8] | None:
        """Return the bytes that were saved under the key, or None. A file that is
        damaged is removed; one that cannot be read now is left alone."""
        import numpy as np

        path = self._path(key)
        try:
            with _opened(path) as file:
                header = _header(file)
                data = np.fromfile(file, dtype=np.uint8)
        except (OSError, MemoryError):
            return None
        except ValueError:
            self.remove(key)
            return None
        if (header.bytes, header.crc32) != (len(data), _checksum(key, data)):
            self.remove(key)
            return None
        with suppress(OSError):  # another's file, or a read-only disk: of use all the same
            os.utime(path)
        return data

    def save(self, key: str, data: NDArray[np.uint8], *, model: str, tokens: int) -> bool:
        """Keep the bytes under the key and return True; False where they are too many
        or the directory cannot be written to."""
        header = _Header(_FORMAT, model, tokens, len(data), _checksum(key, data))
        line = json.dumps(asdict(header)).encode() + b"\n"
        if len(line) > _LONGEST_HEADER or len(line) + len(data) > self.limit:
            return False
        try:
            write_own(self._path(key), [line, data.data], lasting=False)
        except OSError:
            return False
        self._prune()
        return True

    def remove(self, key: str) -> None:
        """Remove what is kept under the key, if it is there."""
        with suppress(OSError):
            self._path(key).unlink(missing_ok=True)

    def entries(self) -> list[Entry]:
        """Return what is kept, the last used first."""
        return sorted(self._found(), key=lambda entry: -entry.used)

    def clear(self) -> tuple[int, int]:
        """Remove everything; return how many files and bytes that were."""
        files = size = 0
        for path in self._files(_ENDING, TEMPORARY):
            with suppress(OSError):
                held = path.stat().st_size
                path.unlink()
                files, size = files + 1, size + held
        return files, size

    def _path(self, key: str) -> Path:
        return self.directory / f"{key}{_ENDING}"

    def _files(self, *endings: str) -> list[Path]:
        with suppress(OSError):
            return [path for path in self.directory.iterdir() if path.suffix in endings]
        return []

    def _found(self) -> Iterator[Entry]:
        for path in self._files(_ENDING):
            with suppress(OSError):
                about = path.stat()
                header = _UNKNOWN
                with suppress(OSError, ValueError), _opened(path) as file:
                    header = _header(file)
                yield Entry(path, header.model, header.tokens, about.st_size, about.st_mtime)

    def _prune(self) -> None:
        """Remove the entries used longest ago while all are more than the limit, and
        what dead processes left half written."""
        room = self.limit
        for entry in self.entries():
            room -= entry.bytes
            if room < 0:
                with suppress(OSError):
                    entry.path.unlink()
        sweep(self.directory)


@dataclass(frozen=True, slots=True)
class _Header:
    format: str
    model: str
    tokens: int
    bytes: int
    crc32: int


_UNKNOWN = _Header("", "", 0, 0, 0)


def _opened(path: Path) -> BinaryIO:
    check_file(path)  # a pipe would be waited at for ever
    return path.open("rb")


def _header(file: BinaryIO) -> _Header:
    """Return what the first line of an entry says; raise ValueError where it is none."""
    try:
        stated = json.loads(file.readline(_LONGEST_HEADER))
        header = _Header(**stated)
    except (TypeError, RecursionError) as error:
        raise ValueError("not the header of an entry") from error
    types = [type(value) for value in astuple(header)]
    if header.format != _FORMAT or types != [str, str, int, int, int]:
        raise ValueError("not an entry of this version")
    return header


def _checksum(key: str, data: NDArray[np.uint8]) -> int:
    return zlib.crc32(data.data, zlib.crc32(key.encode()))
