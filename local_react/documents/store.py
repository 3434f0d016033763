"""The index on disk: one SQLite file that only its owner reads.

The full-text index (FTS5) is contentless: a passage's text is kept once, compressed, and
not in the index again. What is taken out of the index must therefore be told to it as it
was put in, which `VERSION` stands for.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from local_react.databases import unusable
from local_react.errors import UsageError
from local_react.private import own_file, own_folder
from local_react.words import TOKENIZER, indexed

NAME: Final = "documents.sqlite"
LOCK: Final = "documents.lock"
VERSION: Final = 1
"""Of the tables, and of how `words.indexed` and the tokenizer see a text."""
_OURS: Final = 0x4C524458
"""The file's application_id: "LRDX"."""
_WAIT: Final = 30.0
"""Seconds to wait for another process that writes."""
_MAPPED: Final = 1 << 36

_TABLES: Final = f"""
CREATE TABLE roots (
  id INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL UNIQUE, single INTEGER NOT NULL,
  indexed REAL NOT NULL);
CREATE TABLE files (
  id INTEGER PRIMARY KEY AUTOINCREMENT, root INTEGER NOT NULL, name BLOB NOT NULL,
  size INTEGER NOT NULL, changed INTEGER NOT NULL, hash BLOB, title TEXT NOT NULL,
  date TEXT NOT NULL, first INTEGER NOT NULL, passages INTEGER NOT NULL,
  bytes INTEGER NOT NULL, fault TEXT, again INTEGER NOT NULL, indexed REAL NOT NULL,
  UNIQUE (name, root));
CREATE INDEX files_first ON files (first) WHERE passages > 0;
CREATE TABLE passages (
  id INTEGER PRIMARY KEY AUTOINCREMENT, unit TEXT NOT NULL, first INTEGER NOT NULL,
  last INTEGER NOT NULL, part INTEGER NOT NULL, text BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5(
  title, body, content='', columnsize=0, tokenize="{TOKENIZER}");
CREATE TABLE archives (path BLOB PRIMARY KEY, title TEXT NOT NULL, added REAL NOT NULL);
"""
"""A file's passages have the numbers from `first` on. `changed` is the file's mtime in
nanoseconds; `again` says that a fault may pass without the file's changing. Without the
size of each column, which it would look up for every passage that holds a word, FTS5 ranks
five times as fast; the ranking makes up for it where the texts are at hand."""

_FTS: Final = {"hashsize": 64 << 20, "automerge": 8}
"""Bytes that FTS5 gathers before it writes a segment of its index, and how many it lets be
before it merges them: fewer merges while much is added, since `tidy` merges all."""


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Give a connection that only reads, and sees all as it is now; None where nothing
    was ever indexed.

    Raises UsageError, one line, where the file cannot be read, then or in the block.
    """
    _check_place(path)
    with _explained(path):
        connection = _reader(path) if path.exists() else None
        try:
            yield connection
        finally:
            if connection is not None:
                connection.close()


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection that writes; the file is made where it is missing.

    Transactions are begun and ended by `transaction`. Raises UsageError, one line, where
    the file cannot be written, then or in the block.
    """
    try:
        own_file(path)
    except OSError as error:
        raise unusable("the index", path, error, "add your documents again") from error
    with _explained(path):
        connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None)
        try:
            _set_up(connection, path)
            yield connection
        finally:
            connection.close()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what the block writes as a whole, or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):  # the fault itself matters more
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def one_writer(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of those who add and remove; whoever comes later waits.

    `waiting` is called once where that is so. Raises UsageError where there can be none.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(path.parent / LOCK, mode=0o600)
    try:
        own_folder(path.parent)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            waiting()
            lock.acquire()
    except (OSError, NotImplementedError) as error:  # the latter where nothing can be locked
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot write to {path.parent}: {reason}") from error
    try:
        yield
    finally:
        lock.release()


def put(
    connection: sqlite3.Connection,
    title: str,
    rows: Sequence[tuple[str, int, int, int, bytes]],
    bodies: Iterable[str],
) -> int:
    """Add the passages of a file, with their texts as indexed; return the first's number."""
    (last,) = connection.execute(
        "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'passages'"
    ).fetchone()
    first = int(last) + 1
    connection.executemany(
        "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)",
        ((first + at, *row) for at, row in enumerate(rows)),
    )
    connection.executemany(
        "INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)",
        ((first + at, title, body) for at, body in enumerate(bodies)),
    )
    return first


def drop(connection: sqlite3.Connection, title: str, first: int, count: int) -> None:
    """Take the passages of a file out, which had this title as indexed."""
    last = first + count - 1
    texts = connection.execute(
        "SELECT id, text FROM passages WHERE id BETWEEN ? AND ?", (first, last)
    )
    connection.executemany(
        "INSERT INTO words (words, rowid, title, body) VALUES ('delete', ?, ?, ?)",
        [(number, title, indexed(unpacked(text))) for number, text in texts],
    )
    connection.execute("DELETE FROM passages WHERE id BETWEEN ? AND ?", (first, last))


def packed(text: str) -> bytes:
    """Return a passage's text as it is kept."""
    return zlib.compress(text.encode("utf-8", "replace"), 1)


def unpacked(data: bytes) -> str:
    """Return a passage's text."""
    return zlib.decompress(data).decode("utf-8", "replace")


def tidy(connection: sqlite3.Connection, *, order: bool) -> None:
    """Give back the room that is free; before that put the index in order, where so much
    is new that it pays, or where nothing of what was taken out shall be left in it."""
    if order:
        connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    connection.executescript("PRAGMA incremental_vacuum")  # execute() would end at a page
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _reader(path: Path) -> sqlite3.Connection | None:
    uri = path.absolute().as_uri()
    try:
        return _opened(f"{uri}?mode=ro", path)
    except sqlite3.OperationalError:
        # In a directory that cannot be written there is no room for the log's index; but
        # then nobody writes, and all is in the file itself.
        if os.access(path.parent, os.W_OK):
            raise
    return _opened(f"{uri}?immutable=1", path)


def _opened(uri: str, path: Path) -> sqlite3.Connection | None:
    connection = sqlite3.connect(uri, timeout=_WAIT, uri=True, isolation_level=None)
    try:
        connection.execute(f"PRAGMA mmap_size = {_MAPPED}")
        connection.execute("BEGIN")
        if _is_empty(connection):  # whoever made it was killed before it was set up
            connection.close()
            return None
        _check(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _is_empty(connection: sqlite3.Connection) -> bool:
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return not objects


def _set_up(connection: sqlite3.Connection, path: Path) -> None:
    for setting in (
        "page_size = 8192",
        "auto_vacuum = INCREMENTAL",
        "journal_mode = WAL",
        "synchronous = FULL",
    ):
        connection.execute(f"PRAGMA {setting}")
    with transaction(connection):
        if _is_empty(connection):
            for statement in filter(str.strip, _TABLES.split(";")):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_OURS}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            for name, value in _FTS.items():
                connection.execute("INSERT INTO words (words, rank) VALUES (?, ?)", (name, value))
    _check(connection, path)
    for setting in ("cache_size = -65536", f"mmap_size = {_MAPPED}"):
        connection.execute(f"PRAGMA {setting}")


def _check(connection: sqlite3.Connection, path: Path) -> None:
    (ours,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if (ours, version) != (_OURS, VERSION):
        raise UsageError(
            f"{path} is of another version of local-react, or no index of documents: "
            "move it away and add your documents again"
        )


def _check_place(path: Path) -> None:
    try:
        own_file(path, make=False)
    except OSError as error:
        raise unusable("the index", path, error, "add your documents again") from error


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn SQLite's and the system's faults into one line for a person."""
    try:
        yield
    except (sqlite3.Error, zlib.error, UnicodeDecodeError) as error:
        raise unusable("the index", path, error, "add your documents again") from error
