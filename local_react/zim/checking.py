"""Whether a file is a ZIM archive that can be read, found out without reading it all."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from local_react.errors import ToolError, UsageError
from local_react.zim.archive import ask, damaged

_HEADER: Final = struct.Struct("<I52xQ8xQ")
"""The magic number, where the list of MIME types is (offset 56), and where the checksum
is (72): 16 bytes before the end (https://wiki.openzim.org/wiki/ZIM_file_format)."""
_MAGIC: Final = 72173914
_WHOLE: Final = 256 << 20
"""Bytes up to which an archive's checksum is computed: about a second."""
_SECONDS: Final = 120.0


@dataclass(frozen=True, slots=True)
class ArchiveInfo:
    """What an archive says of itself."""

    title: str
    articles: int
    date: str
    """As 2026-11-30, or empty."""
    language: str
    """A code of ISO 639-3, or several with commas, or empty."""
    size: int
    """Bytes."""


def check(path: Path) -> ArchiveInfo:
    """Return what the archive at `path` says of itself, having read parts from all over
    it, and all of a small one. Damage to the rest of a large one is not found.

    Raises UsageError, one line, where it is no ZIM archive, is cut off, damaged or a part
    of a split one, or libzim is missing.
    """
    size = _checked_size(path)
    try:
        about = ask(path, {"what": "probe", "whole": size <= _WHOLE}, _SECONDS)["about"]
    except ToolError as error:
        raise UsageError(str(error)) from error
    if not about["articles"]:
        raise UsageError(f"{path.name} holds no articles: add another archive")
    line = {name: " ".join(about[name].split())[:120] for name in ("title", "date", "language")}
    return ArchiveInfo(
        line["title"] or path.stem, about["articles"], line["date"], line["language"], size
    )


def _checked_size(path: Path) -> int:
    """Return the file's size, which is what its header says."""
    if re.search(r"\.zim[a-z]{2}$", path.name, re.IGNORECASE):
        whole = path.stem + ".zim"
        raise UsageError(
            f"{path.name} is a part of a split archive: join the parts, in the order of "
            f"their letters, to one file {whole} and add that"
        )
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(header) < _HEADER.size or _HEADER.unpack(header)[0] != _MAGIC:
        raise UsageError(f"{path.name} is no ZIM archive: add one whose name ends in .zim")
    _check_end(path, header, size)
    return size


def _check_end(path: Path, header: bytes, size: int) -> None:
    _, types, checksum = _HEADER.unpack(header)
    if types < _HEADER.size:
        return  # an old archive, without a checksum
    whole = checksum + 16
    if size < whole < 1 << 50:
        raise UsageError(
            f"{path.name} is cut off: {size:,} of its {whole:,} bytes are there; download the rest"
        )
    if size != whole:
        raise UsageError(damaged(path, "its header is wrong"))
