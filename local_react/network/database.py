"""A small SQLite file that its owner alone can read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local_react.private import own_file


@contextmanager
def opened(path: Path, schema: str, *, patience: float) -> Iterator[sqlite3.Connection]:
    """Open the file, in which each statement is a transaction; it is made with its tables
    where it is missing. `patience` is how many seconds another process is waited for.

    Raises sqlite3.Error and OSError.
    """
    own_file(path)
    db = sqlite3.connect(path, timeout=patience, isolation_level=None)
    try:
        db.execute("PRAGMA synchronous = EXTRA")  # a power cut undoes nothing that was written
        db.executescript(schema)
        yield db
    finally:
        db.close()
