"""Which files a folder holds for the index, in a fixed order."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_LEFT_OUT: Final = frozenset(
    {"node_modules", "__pycache__", "__pypackages__", "venv", "site-packages", "bower_components"}
)
"""Folders of what was installed or made, beside the hidden ones."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file, or a folder that cannot be looked into."""

    path: Path
    size: int
    changed: int
    """Its time of last change in nanoseconds."""
    fault: str = ""
    """Why it cannot be looked into; empty for a file."""


def walk(root: Path) -> Iterator[Found]:
    """Yield the regular files in and below a folder, in the order of their names.

    Left out are hidden ones, and links: what they lead to is either here too or was not
    asked for. So is a folder within itself, as a mounted one may be. Of folders only those that
    cannot be looked into are yielded.
    """
    # No recursion: folders may lie in each other a thousand deep.
    levels = {_identity(root): _level(root)}
    while levels:
        where = next(reversed(levels))
        item = next(levels[where], None)
        if item is None:
            del levels[where]
        elif isinstance(item, Found):
            yield item
        elif (inner := _identity(item)) is not None:
            levels.setdefault(inner, _level(item))


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return what a folder is known by, whatever its name; None where it is none by now."""
    try:
        status = folder.lstat()
    except OSError:
        return 0, hash(folder)  # a name too long: that it cannot be looked into is told
    return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None


def _level(folder: Path) -> Iterator[Found | Path]:
    """Yield the files of a folder, and the paths of the folders in it."""
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        yield Found(folder, 0, 0, f"cannot be looked into: {_why(error)}")
        return
    for entry in ordered:
        if is_left_out(entry.name):
            continue
        try:
            is_folder = entry.is_dir(follow_symlinks=False) and not _is_junction(entry)
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue  # it has just gone
        if is_folder:
            if entry.name not in _LEFT_OUT:
                yield Path(entry.path)
        elif stat.S_ISREG(status.st_mode):
            yield Found(Path(entry.path), status.st_size, status.st_mtime_ns)


def is_left_out(name: str) -> bool:
    """Say whether a file or folder of this name is hidden."""
    return name.startswith(".")


def covers(root: Path, path: Path, *, folder: bool) -> bool:
    """Say whether walking the root comes to the path, which is a folder or a file."""
    try:
        names = path.relative_to(root).parts
    except ValueError:
        return False
    folders = names if folder else names[:-1]
    return not any(map(is_left_out, names)) and _LEFT_OUT.isdisjoint(folders)


def _is_junction(entry: os.DirEntry[str]) -> bool:
    # Windows' other kind of link. Python before 3.12 does not know it by name.
    tag = getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0)
    return bool(tag == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1))


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
