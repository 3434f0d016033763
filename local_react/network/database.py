"""A small SQLite file that its owner alone can read."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def opened(path: Path, schema: str, *, patience: float) -> Iterator[sqlite3.Connection]:
    """Open the file, in which each statement is a transaction; it is made with its tables
    where it is missing. `patience` is how many seconds another process is waited for.

    Raises sqlite3.Error and OSError.
    """
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    db = sqlite3.connect(path, timeout=patience, isolation_level=None)
    try:
        db.executescript(schema)
        yield db
    finally:
        db.close()
