"""What one question came to in one arm, and a file of such rows, one JSON line each."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias

from local_react.errors import UsageError
from local_react.private import appending

Key: TypeAlias = tuple[str, str, str, str, int, float]


@dataclass(frozen=True, slots=True)
class Row:
    """One question in one arm."""

    id: str
    set: str
    arm: str
    model: str
    seed: int
    temperature: float
    together: int
    """How many questions were asked at once."""
    question: str
    answer: str
    expected: Any
    right: bool
    scores: Mapping[str, float]
    """EM and F1, where words are compared."""
    seconds: float
    """From asking to answering; with several at once from the answer before to this one,
    so that their sum is what all took."""
    replies: int
    calls: tuple[str, ...]
    malformed: int
    """Those of the replies that do not parse."""
    ended: str
    tokens: int
    """Tokens that were written."""
    confidence: float | None
    trace: tuple[Mapping[str, str], ...] = field(repr=False)
    """The steps as they were written, or the reply."""
    error: str = ""
    votes: tuple[tuple[str, str], ...] = ()
    """The way and the answer of each run, where the question was answered by several."""

    @property
    def key(self) -> Key:
        """What no other row of a file has."""
        return self.set, self.id, self.arm, self.model, self.seed, self.temperature


_NAMES = {one.name for one in fields(Row)}
_NEEDED = {one.name for one in fields(Row) if one.default is MISSING}


class RowFile:
    """Rows on disk; no file at all where there is no path. What is written is there even
    where the process is killed, but for a line that it is at."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def read(self) -> list[Row]:
        """Return the rows that are there; a line that was cut is none.

        Raises UsageError where the file holds something else, or cannot be read.
        """
        if self.path is None or not self.path.exists():
            return []
        try:
            lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        except OSError as error:
            raise UsageError(f"{self.path} cannot be read: {error.strerror}") from error
        found = [(number, self._row(line)) for number, line in enumerate(lines, 1) if line.strip()]
        if found and all(row is None for _, row in found):
            raise UsageError(f"{self.path} holds no results: give another file as --out")
        return [row for _, row in found if row is not None]

    def _row(self, line: str) -> Row | None:
        try:
            values = json.loads(line)
        except ValueError:
            return None
        if not isinstance(values, dict) or not _NEEDED <= set(values) <= _NAMES:
            return None
        lists = {name: tuple(values[name]) for name in ("calls", "trace")}
        votes = tuple((way, answer) for way, answer in values.get("votes", ()))
        return Row(**{**values, **lists, "votes": votes})

    def append(self, row: Row) -> None:
        """Write a row at the end, on a line of its own whatever was cut before it."""
        if self.path is None:
            return
        line = json.dumps(asdict(row), ensure_ascii=False).encode("utf-8", "replace")
        try:
            with appending(self.path) as file:
                if file.tell():
                    file.seek(-1, os.SEEK_END)
                    line = (b"" if file.read(1) == b"\n" else b"\n") + line
                file.write(line + b"\n")
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written: {error.strerror}") from error
