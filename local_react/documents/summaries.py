"""What the index holds, counted."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from local_react.documents.roots import everything, path_of
from local_react.readers import kind_of


@dataclass(frozen=True, slots=True)
class RootSummary:
    """A folder or file that was added, and what the index has of it."""

    path: str
    files: int
    passages: int
    bytes: int
    """Of text."""
    skipped: int
    """Files that could not be read."""
    indexed: float
    """When it was last looked through, in seconds since 1970; 0 where that was broken off."""


@dataclass(frozen=True, slots=True)
class FileSummary:
    """A file and what the index has of it."""

    document: int
    path: str
    title: str
    date: str
    passages: int
    bytes: int
    fault: str
    """Why it could not be read; else empty."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the index holds."""

    path: str
    roots: int
    files: int
    passages: int
    bytes: int
    """Of text."""
    size: int
    """Bytes of the index on disk."""
    changed: int
    """Files that were changed or removed since they were read."""
    skipped: tuple[tuple[str, str], ...]
    """Files that could not be read, with the reason."""
    other: tuple[tuple[str, int], ...]
    """Why others were not tried, and how many."""


def roots(connection: sqlite3.Connection) -> list[RootSummary]:
    """Return what the index has of each folder and file that was added."""
    return [
        RootSummary(os.fsdecode(path), *counts)
        for path, *counts in connection.execute(
            "SELECT r.path, coalesce(sum(f.fault IS NULL), 0), coalesce(sum(f.passages), 0),"
            " coalesce(sum(f.bytes), 0), coalesce(sum(f.fault IS NOT NULL), 0), r.indexed"
            " FROM roots r LEFT JOIN files f ON f.root = r.id GROUP BY r.id ORDER BY r.path"
        )
    ]


def files(connection: sqlite3.Connection) -> list[FileSummary]:
    """Return the files, in the order of their paths."""
    sql = "SELECT id, title, date, passages, bytes, coalesce(fault, '') FROM files WHERE id = ?"
    return [
        FileSummary(number, os.fspath(path), *connection.execute(sql, (number,)).fetchone()[1:])
        for number, path, _, _ in _paths(connection)
    ]


def status(connection: sqlite3.Connection, index: Path) -> Status:
    """Return what the index holds, and how it differs from what is on disk."""
    known = list(_paths(connection))
    faults = dict(connection.execute("SELECT id, fault FROM files WHERE fault IS NOT NULL"))
    at_fault = [(path, faults[number]) for number, path, _, _ in known if number in faults]
    count, passages, text = connection.execute(
        "SELECT count(*), coalesce(sum(passages), 0), coalesce(sum(bytes), 0) FROM files"
        " WHERE fault IS NULL"
    ).fetchone()
    return Status(
        os.fspath(index),
        len(everything(connection)),
        count,
        passages,
        text,
        size=_size(index),
        changed=sum(_is_changed(path, size, changed) for _, path, size, changed in known),
        skipped=tuple((os.fspath(path), why) for path, why in at_fault if kind_of(path)),
        other=tuple(Counter(why for path, why in at_fault if not kind_of(path)).most_common()),
    )


def _paths(connection: sqlite3.Connection) -> Iterator[tuple[int, Path, int, int]]:
    """Yield each file's number, path, size and time of last change as indexed."""
    for root in everything(connection):
        rows = connection.execute(
            "SELECT id, name, size, changed FROM files WHERE root = ? ORDER BY name", (root.id,)
        )
        for number, name, size, changed in rows:
            yield number, path_of(root, name), size, changed


def _is_changed(path: Path, size: int, changed: int) -> bool:
    try:
        status = path.stat()
    except OSError:
        return True
    return (status.st_size, status.st_mtime_ns) != (size, changed)


def _size(index: Path) -> int:
    """Return the bytes of the index and its log."""
    total = 0
    for name in (index.name, f"{index.name}-wal"):
        with suppress(OSError):
            total += index.with_name(name).stat().st_size
    return total
