"""The folders and files that were asked for, and the files below them."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from local_react.documents.store import transaction
from local_react.documents.walking import covers

Known = TypeVar("Known")

_SEP: Final = os.sep.encode()


@dataclass(frozen=True, slots=True)
class Root:
    """A folder, or a single file, that was asked for."""

    id: int
    path: Path
    single: bool


def of(connection: sqlite3.Connection, path: Path) -> Root:
    """Return the root that the path belongs to: one that is there already and comes to
    it, or itself. Roots below it become part of it; nothing of them is read again."""
    folder = path.is_dir()
    for root in everything(connection):
        if root.path == path:
            return _as_it_is(connection, root, folder=folder)
        if not root.single and covers(root.path, path, folder=folder):
            return root
    with transaction(connection):
        made = connection.execute(
            "INSERT INTO roots (path, single, indexed) VALUES (?, ?, 0)",
            (os.fsencode(path), not folder),
        )
        root = Root(int(made.lastrowid or 0), path, not folder)
        for other in everything(connection):
            if other.id != root.id and covers(path, other.path, folder=not other.single):
                _absorb(connection, root, other)
    return root


def everything(connection: sqlite3.Connection) -> list[Root]:
    """Return all roots, in the order of their paths."""
    rows = connection.execute("SELECT id, path, single FROM roots ORDER BY path")
    return [Root(number, Path(os.fsdecode(path)), bool(single)) for number, path, single in rows]


def name_of(root: Root, path: Path) -> bytes:
    """Return what a file or folder is called below its root, with its folders."""
    if root.single:
        return os.fsencode(path.name)
    return b"" if path == root.path else os.fsencode(path.relative_to(root.path))


def folder_of(root: Root, path: Path) -> bytes:
    """Return how the names of the files in a folder below the root begin."""
    name = name_of(root, path)
    return name + _SEP if name else b""


def path_of(root: Root, name: bytes) -> Path:
    """Return where the file of that name is."""
    return root.path if root.single else root.path / os.fsdecode(name)


def known(
    connection: sqlite3.Connection, root: Root, path: Path, make: Callable[..., Known]
) -> dict[bytes, Known]:
    """Return, by their names, the files of a root that are at or below the path."""
    within = name_of(root, path)
    sql = (
        "SELECT name, id, size, changed, hash, title, first, passages, fault, again, indexed"
        " FROM files WHERE root = ?"
    )
    if path.is_dir() or root.single:
        rows = connection.execute(sql, (root.id,))
    else:
        rows = connection.execute(f"{sql} AND name = ?", (root.id, within))
    return {
        name: make(*values)
        for name, *values in rows
        if root.single or not within or name == within or name.startswith(within + _SEP)
    }


def name_by_id(connection: sqlite3.Connection, number: int) -> bytes:
    """Return the name of a file."""
    (name,) = connection.execute("SELECT name FROM files WHERE id = ?", (number,)).fetchone()
    return bytes(name)


def stamp(connection: sqlite3.Connection, root: Root) -> None:
    """Note that the root was looked through now."""
    connection.execute("UPDATE roots SET indexed = ? WHERE id = ?", (time.time(), root.id))


def _as_it_is(connection: sqlite3.Connection, root: Root, *, folder: bool) -> Root:
    """Return the root, noted to be a folder or a file as it is by now: one may have taken
    the other's place, and then what was in it is gone."""
    if root.single is not folder:
        return root
    with transaction(connection):
        connection.execute("UPDATE roots SET single = ? WHERE id = ?", (not folder, root.id))
    return Root(root.id, root.path, not folder)


def _absorb(connection: sqlite3.Connection, root: Root, other: Root) -> None:
    """Make the files of another root below it this root's."""
    folder = other.path.parent if other.single else other.path
    prefix = folder_of(root, folder)
    connection.execute(
        "UPDATE files SET root = ?, name = CAST(? || name AS BLOB) WHERE root = ?",
        (root.id, prefix, other.id),
    )
    connection.execute("DELETE FROM roots WHERE id = ?", (other.id,))
