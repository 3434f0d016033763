"""Taking documents out of the index."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from local_react.documents import roots, store
from local_react.documents.roots import Root
from local_react.documents.titles import searched_title


def remove(connection: sqlite3.Connection, spellings: Sequence[Path]) -> int | None:
    """Take out what is at or below the path, of which these are the spellings; return how
    many files that were, None where it is neither a root nor in one."""
    connection.execute("PRAGMA secure_delete = ON")
    found = [
        (root, path)
        for path in spellings
        for root in roots.everything(connection)
        if root.path.is_relative_to(path) or path.is_relative_to(root.path)
    ]
    removed = [_remove(connection, root, path) for root, path in found]
    if not any(
        count or root.path.is_relative_to(path)
        for count, (root, path) in zip(removed, found, strict=True)
    ):
        return None
    store.tidy(connection, order=True)
    return sum(removed)


def _remove(connection: sqlite3.Connection, root: Root, path: Path) -> int:
    whole = root.path.is_relative_to(path)
    within = b"" if whole else roots.name_of(root, path)
    below = within + os.sep.encode()
    sql = "SELECT id, name, title, first, passages FROM files WHERE root = ?"
    files = [
        row
        for row in connection.execute(sql, (root.id,))
        if not within or row[1] == within or row[1].startswith(below)
    ]
    with store.transaction(connection):
        for number, name, title, first, passages in files:
            store.drop(connection, searched_title(title, name), first, passages)
            connection.execute("DELETE FROM files WHERE id = ?", (number,))
        if whole:
            connection.execute("DELETE FROM roots WHERE id = ?", (root.id,))
    return len(files)
