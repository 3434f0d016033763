"""The egress ledger: every request that ever left this machine, in a file of the user's.

A request is written down before it leaves, so that what was sent is on record even where
the program ends in the middle of it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from local_react.databases import FAULTS, sound, unusable
from local_react.errors import UsageError
from local_react.network.database import opened
from local_react.places import data_dir

LOG_VARIABLE = "LOCAL_REACT_NETWORK_LOG"
_SWITCH = "log"
_PATIENCE = 5.0
"""Seconds to wait for another process that is writing. A request's time goes on meanwhile."""

_SCHEMA = """
create table if not exists requests (
    id integer primary key,
    time text not null,
    run text not null,
    asker text not null,
    host text not null,
    text text not null,
    bytes_sent integer not null default 0,
    bytes_received integer not null default 0,
    result text not null,
    seconds real not null default 0
);
create table if not exists allowed (asker text primary key, time text not null);
create table if not exists settings (name text primary key, value text not null);
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One request: when (ISO 8601, UTC), in which run, who asked which host, what was
    sent, the bytes each way, and how it ended."""

    time: str
    run: str
    asker: str
    host: str
    text: str
    bytes_sent: int
    bytes_received: int
    result: str
    seconds: float


_COLUMNS = ", ".join(Entry.__slots__)
_UNFINISHED = "no answer"


class Ledger:
    """The file. Without `path` it is network.sqlite in the data directory. A silent one
    writes no request down."""

    def __init__(self, path: Path | None = None, *, silent: bool = False) -> None:
        self.path = path or data_dir() / "network.sqlite"
        self._silent = silent

    def begin(self, run: str, asker: str, host: str, text: str) -> int | None:
        """Write down a request that is about to leave, and return its number; None where
        the ledger is switched off.

        Raises UsageError where it cannot be written down: then it must not leave.
        """
        if self._silent or os.environ.get(LOG_VARIABLE, "").strip().casefold() == "off":
            return None
        try:
            with self._open() as db:
                if _switched_off(db):
                    return None
                row = (_now(), run, asker, host, _storable(text), _UNFINISHED)
                done = db.execute(
                    "insert into requests (time, run, asker, host, text, result)"
                    " values (?, ?, ?, ?, ?, ?)",
                    row,
                )
                return done.lastrowid
        except FAULTS as error:
            raise UsageError(
                f"nothing is sent, because it cannot be written down in {self.path} "
                f"({getattr(error, 'strerror', None) or error}): move the file away, "
                f"make it writable, or set {LOG_VARIABLE}=off to keep no log"
            ) from error

    def end(self, number: int, sent: int, received: int, result: str, seconds: float) -> None:
        """Complete a request. A failure here is kept quiet: that it left is on record."""
        try:
            with self._open() as db:
                db.execute(
                    "update requests set bytes_sent = ?, bytes_received = ?, result = ?,"
                    " seconds = ? where id = ?",
                    (sent, received, result, round(seconds, 3), number),
                )
        except FAULTS:
            return

    def entries(self, last: int | None = None) -> Sequence[Entry]:
        """Return the requests, the oldest first; of many the `last` ones.

        Raises UsageError where the file cannot be read.
        """
        query = f"select {_COLUMNS} from requests order by id desc limit ?"
        rows = self._read(query, -1 if last is None else last)
        try:
            return [sound(Entry(*row)) for row in rows][::-1]
        except sqlite3.DatabaseError as error:
            raise self._unusable(error) from error

    def clear(self) -> int:
        """Remove all requests and return how many they were. Raises UsageError."""
        with self._changing() as db:
            count = int(db.execute("select count(*) from requests").fetchone()[0])
            db.execute("delete from requests")
        with self._changing() as db:
            # What was deleted would else stay in the file's unused pages.
            db.execute("vacuum")
            _note(db, "cleared")
        return count

    def gaps(self) -> dict[str, str]:
        """Return when the log was last "cleared", "switched off" and "switched on", as far
        as it was: what left before or meanwhile is not in it. Raises UsageError."""
        rows = self._read("select name, value from settings where name != ?", _SWITCH)
        return {str(name): str(value) for name, value in rows}

    @property
    def is_on(self) -> bool:
        """Whether requests are written down. Raises UsageError."""
        off = os.environ.get(LOG_VARIABLE, "").strip().casefold() == "off"
        return not off and self._read("select 1 from settings where name = ?", _SWITCH) == []

    def switch(self, on: bool) -> None:
        """Write requests down from now on, or don't. Raises UsageError."""
        with self._changing() as db:
            db.execute("delete from settings where name = ?", (_SWITCH,))
            if not on:
                db.execute("insert into settings values (?, 'off')", (_SWITCH,))
            _note(db, f"switched {'on' if on else 'off'}")

    def allowed(self) -> Sequence[str]:
        """Return the tools that the user has always allowed. Raises UsageError."""
        return [str(row[0]) for row in self._read("select asker from allowed order by asker")]

    def allow(self, asker: str) -> None:
        """Remember that the user always allows this tool. Raises UsageError."""
        with self._changing() as db:
            db.execute("insert or replace into allowed values (?, ?)", (asker, _now()))

    def forget_allowed(self) -> int:
        """Ask again for every tool; return how many were allowed. Raises UsageError."""
        with self._changing() as db:
            return db.execute("delete from allowed").rowcount

    def _read(self, query: str, *values: object) -> list[Any]:
        try:
            if not self.path.exists():
                return []
            with self._open() as db:
                return db.execute(query, values).fetchall()
        except FAULTS as error:
            raise self._unusable(error) from error

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._open() as db:
                yield db
        except FAULTS as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> UsageError:
        return unusable("the network log", self.path, error, "a new one is begun")

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        return opened(self.path, _SCHEMA, patience=_PATIENCE)


def _note(db: sqlite3.Connection, what: str) -> None:
    db.execute("insert or replace into settings values (?, ?)", (what, _now()))


def _switched_off(db: sqlite3.Connection) -> bool:
    return db.execute("select 1 from settings where name = ?", (_SWITCH,)).fetchone() is not None


def _storable(text: str) -> str:
    """Return the text with half characters, which no file can hold, written out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
