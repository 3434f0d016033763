"""What the network answered, kept for a while: the same question need not leave again."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from local_react.databases import is_damage
from local_react.network.database import opened
from local_react.places import cache_dir

LIMIT = 64 << 20
"""Bytes of answers that are kept; the oldest go first."""
_LONGEST = 30 * 86_400.0
"""Seconds after which an answer goes, whoever asks."""
_FAULTS: Final = (sqlite3.Error, OSError, ValueError, TypeError, RecursionError)
"""What an unusable file raises, or one that holds something else than was put there."""

_PATIENCE = 5.0
"""Seconds that another process which writes is waited for."""

_SCHEMA = """
create table if not exists answers (
    asker text not null,
    key text not null,
    time real not null,
    meta text not null,
    body blob not null,
    primary key (asker, key)
);
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer, and its age in seconds: None where it has just come."""

    body: bytes
    age: float | None = None
    meta: dict[str, Any] = field(default_factory=dict)


class Answers:
    """The file of answers. Nothing here raises: without it the network is asked again."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def usual(cls) -> Answers | None:
        """Return the answers in the cache directory, or None where the cache is off."""
        directory = cache_dir()
        return cls(directory / "answers.sqlite") if directory else None

    def load(self, asker: str, key: str, max_age: float) -> Kept | None:
        """Return the answer to `key`, if there is one of at most so many seconds."""
        with suppress(*_FAULTS):
            if not self.path.exists():
                return None
            with self._open() as db:
                row = db.execute(
                    "select body, time, meta from answers where asker = ? and key = ?",
                    (asker, key),
                ).fetchone()
            age = time.time() - row[1] if row else -1.0
            if 0 <= age <= max_age:  # a clock that was set back makes it of no known age
                return Kept(bytes(row[0]), age, dict(json.loads(row[2])))
        return None

    def save(self, asker: str, key: str, kept: Kept) -> None:
        """Keep the answer to `key`; the oldest ones go where there are too many."""
        with suppress(*_FAULTS), self._open() as db:
            row = (asker, key, time.time(), json.dumps(kept.meta), kept.body)
            db.execute("insert or replace into answers values (?, ?, ?, ?, ?)", row)
            _sweep(db)

    def clear(self) -> int:
        """Remove all answers, and return the bytes of the file."""
        size = self.held()[1]
        self._remove()
        return size

    def held(self) -> tuple[int, int]:
        """Return how many answers there are, and the bytes of the file."""
        with suppress(*_FAULTS):
            if not self.path.exists():
                return 0, 0
            with self._open() as db:
                count = int(db.execute("select count(*) from answers").fetchone()[0])
            return count, self.path.stat().st_size
        return 0, 0

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with opened(self.path, _SCHEMA, patience=_PATIENCE) as db:
                yield db
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if is_damage(error):
                self._remove()
            raise

    def _remove(self) -> None:
        """Remove the file, and its journal, which would be taken for the next file's."""
        for name in (self.path.name, f"{self.path.name}-journal"):
            with suppress(OSError):
                self.path.with_name(name).unlink()


def _sweep(db: sqlite3.Connection) -> None:
    db.execute("delete from answers where time < ?", (time.time() - _LONGEST,))
    sizes = db.execute("select rowid, length(body) from answers order by time desc").fetchall()
    total = 0
    for number, size in sizes:
        total += size
        if total > LIMIT:
            db.execute("delete from answers where rowid = ?", (number,))
