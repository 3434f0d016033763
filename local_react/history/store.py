"""The history on disk: one SQLite file that only its owner reads.

Each call opens the file, does its work in one transaction and closes it, so that any number
of processes may use it at once. The journal is SQLite's plain one: a log (WAL) would keep
what was deleted until every process has let go of it, and cannot be on a network drive.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Final

from local_react.databases import FAULTS, unusable
from local_react.errors import UsageError
from local_react.private import own_file

NAME: Final = "history.sqlite"
VERSION: Final = 1
"""Of the tables."""
_OURS: Final = 0x4C524849
"""The file's application_id: "LRHI"."""
_WAIT: Final = 30.0
"""Seconds to wait for another process."""

_TABLES: Final = """
CREATE TABLE sessions (
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE,
  chosen INTEGER NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL,
  touched INTEGER NOT NULL);
CREATE TABLE runs (
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
  session INTEGER REFERENCES sessions ON DELETE CASCADE, conversed INTEGER NOT NULL,
  time TEXT NOT NULL, stop_reason TEXT NOT NULL, model TEXT NOT NULL, seconds REAL NOT NULL,
  evaluated INTEGER NOT NULL, generated INTEGER NOT NULL, question TEXT NOT NULL,
  answer TEXT NOT NULL);
CREATE INDEX runs_of_session ON runs (session, number, conversed);
CREATE TABLE wholes (
  number INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE, run BLOB NOT NULL,
  transcript BLOB NOT NULL);
CREATE TABLE facts (
  number INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL, key TEXT NOT NULL UNIQUE,
  time TEXT NOT NULL);
CREATE TABLE traces (there INTEGER PRIMARY KEY)
"""
"""`chosen` says that the user gave a session its name, and `touched` orders the sessions by
their use, whatever the clock says. What is bulky has a table of its own, or stands last."""

_LEAVES_TRACES: Final = {
    "run_deleted": "DELETE ON runs",
    "session_deleted": "DELETE ON sessions",
    "session_renamed": "UPDATE OF name ON sessions",
    "fact_deleted": "DELETE ON facts",
}


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection that sees all as it is now: an empty history where there is none yet.

    Raises UsageError, one line, where the file cannot be read, then or in the block.
    """
    with _explained(path), closing(_reader(path)) as db:
        yield db


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection in a transaction, which is committed as a whole at the end of the
    block, or not at all; the file is made where it is missing.

    Raises UsageError, one line, where the file cannot be written, then or in the block.
    """
    with _explained(path):
        own_file(path)
        with closing(_connected(path)) as db:
            try:
                with _transaction(db):
                    if _is_empty(db):
                        _set_up(db)
                    _check(db, path)
                    yield db
            finally:
                _remove_traces(db)


def storable(text: str) -> str:
    """Return the text with half characters, which no file can hold, written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def packed(text: str) -> bytes:
    """Return a text, whatever it holds, as it is kept."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def unpacked(data: bytes) -> str:
    """Return a text that was packed. Raises zlib.error and ValueError where it was not."""
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


def new_id(db: sqlite3.Connection) -> str:
    """Return eight hexadecimal digits that no session and no run has."""
    while True:
        name = os.urandom(4).hex()
        taken = "SELECT 1 FROM runs WHERE id = :id UNION SELECT 1 FROM sessions WHERE id = :id"
        if db.execute(taken, {"id": name}).fetchone() is None:
            return name


def now() -> str:
    """Return the time, ISO 8601, UTC, in seconds."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def _reader(path: Path) -> sqlite3.Connection:
    own_file(path, make=False)
    if path.exists():
        db = _connected(path)
        try:
            _remove_traces(db)
            db.execute("BEGIN")
            if not _is_empty(db):  # whoever made it may have been killed before it was set up
                _check(db, path)
                return db
        except BaseException:
            db.close()
            raise
        db.close()
    db = sqlite3.connect(":memory:", isolation_level=None)
    _set_up(db)
    return db


def _connected(path: Path) -> sqlite3.Connection:
    # Where it may not be written it is opened for reading, else a killed writer's journal
    # is undone, which "ro" would not allow.
    uri = f"{path.absolute().as_uri()}?mode=rw"
    db = sqlite3.connect(uri, uri=True, timeout=_WAIT, isolation_level=None)
    db.text_factory = lambda data: data.decode("utf-8", "replace")  # where it is damaged
    for setting in (
        "secure_delete = ON",
        "foreign_keys = ON",
        "temp_store = MEMORY",
        "synchronous = EXTRA",  # a power cut right after a commit does not undo it
    ):
        db.execute(f"PRAGMA {setting}")
    return db


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # the fault itself matters more
            db.execute("ROLLBACK")
        raise


def _is_empty(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def _set_up(db: sqlite3.Connection) -> None:
    for table in _TABLES.split(";"):
        db.execute(table)
    for name, event in _LEAVES_TRACES.items():
        db.execute(
            f"CREATE TRIGGER {name} AFTER {event}"
            " BEGIN INSERT OR IGNORE INTO traces VALUES (1); END"
        )
    db.execute(f"PRAGMA application_id = {_OURS}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def _check(db: sqlite3.Connection, path: Path) -> None:
    (ours,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if ours != _OURS:
        raise UsageError(
            f"{path} is no history of local-react: move it away, and a new one is begun"
        )
    if version > VERSION:
        raise UsageError(
            f"{path} was written by a newer local-react: update local-react, or move the file "
            "away, and a new one is begun"
        )


def _remove_traces(db: sqlite3.Connection) -> None:
    """Write the file anew where something was deleted. SQLite overwrites that
    (secure_delete), but not a copy of it that was left when its pages were rearranged. Whoever
    opens it next does this for one who was killed before he could."""
    with suppress(sqlite3.Error):  # busy, or the disk is full: the next one will
        if db.execute("SELECT 1 FROM traces").fetchone() is not None:
            db.execute("VACUUM")
            db.execute("DELETE FROM traces")


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn SQLite's and the system's faults into one line for a person."""
    try:
        yield
    except FAULTS as error:
        raise unusable("the history", path, error, "a new one is begun") from error
