"""Runs in the history: rows put in, found and listed."""

from __future__ import annotations

import json
import sqlite3
import zlib
from typing import Any, Final

from local_react.as_dict import run_as_dict, run_from_dict
from local_react.core import Run, Usage
from local_react.databases import sound
from local_react.errors import UsageError
from local_react.history.infos import RunInfo
from local_react.history.sessions import BEGINNING
from local_react.history.store import new_id, now, packed, storable, unpacked

LAST: Final = "last"
"""What stands for the run that was kept last."""

_PLAIN: Final = "id time session question answer stop_reason model seconds".split()
"""The columns that a RunInfo holds as they are."""
_LISTED: Final = """
SELECT runs.id, time, sessions.name, question, answer, stop_reason, model, seconds, conversed,
  evaluated, generated
FROM runs LEFT JOIN sessions ON sessions.number = runs.session
"""


def put(
    db: sqlite3.Connection, run: Run, transcript: str, session: int | None, *, conversed: bool
) -> str:
    """Keep a run and return its id."""
    row = {
        "id": new_id(db),
        "session": session,
        "conversed": conversed,
        "time": now(),
        "stop_reason": run.stop_reason,
        "model": storable(run.model),
        "seconds": run.seconds,
        "evaluated": run.usage.evaluated,
        "generated": run.usage.generated,
        "question": storable(run.question),
        "answer": storable(run.answer),
    }
    places = ", ".join(f":{name}" for name in row)
    number = db.execute(f"INSERT INTO runs ({', '.join(row)}) VALUES ({places})", row).lastrowid
    whole = json.dumps(run_as_dict(run), ensure_ascii=False)
    db.execute("INSERT INTO wholes VALUES (?, ?, ?)", (number, packed(whole), packed(transcript)))
    return str(row["id"])


def listed(
    db: sqlite3.Connection, session: int | None, last: int | None, containing: str | None
) -> list[RunInfo]:
    """Return the runs, of one session or all, the newest last; of many the `last` ones.
    `containing` is looked for in the question and the answer, in capitals or not."""
    conditions, values = ["1"], dict[str, Any](last=-1 if last is None else last)
    if session is not None:
        conditions.append("session = :session")
        values["session"] = session
    if containing is not None:
        _add_holds(db)
        conditions.append("(holds(question, :text) OR holds(answer, :text))")
        values["text"] = storable(containing).casefold()
    query = f"{_LISTED} WHERE {' AND '.join(conditions)} ORDER BY runs.number DESC LIMIT :last"
    return [_info(row) for row in db.execute(query, values)][::-1]


def found(db: sqlite3.Connection, name: str) -> RunInfo:
    """Return the run of that id, or whose id begins so, or the "last" one.

    Raises UsageError where there is none, or more than one.
    """
    name = storable(name.strip().lower())
    if name == LAST:
        rows = db.execute(f"{_LISTED} ORDER BY runs.number DESC LIMIT 1").fetchall()
    elif BEGINNING.fullmatch(name):
        rows = db.execute(f"{_LISTED} WHERE runs.id GLOB ?", (f"{name}*",)).fetchall()
    else:
        rows = []
    if len(rows) > 1:
        ids = ", ".join(row[0] for row in rows)
        raise UsageError(f"the ids of several runs begin with {name}: {ids}")
    if not rows:
        raise UsageError(
            "no run is kept yet"
            if name == LAST
            else f"there is no run {name!r}: an id has eight hexadecimal digits, of which four "
            f'may do, or say "{LAST}"'
        )
    return _info(rows[0])


def drop(db: sqlite3.Connection, info: RunInfo) -> int | None:
    """Delete a run, and return the number of its session where its first question was this
    run's."""
    (number, session) = db.execute(
        "SELECT number, session FROM runs WHERE id = ?", (info.id,)
    ).fetchone()
    (first,) = db.execute("SELECT min(number) FROM runs WHERE session = ?", (session,)).fetchone()
    db.execute("DELETE FROM runs WHERE number = ?", (number,))
    return session if number == first else None


def whole(db: sqlite3.Connection, info: RunInfo) -> Run:
    """Return the run itself. Raises UsageError where it is damaged, or was kept in another
    form."""
    told = _unpacked(db, info, "run")
    try:
        return run_from_dict(json.loads(told))
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise UsageError(
            f"the run {info.id} was kept by another version of local-react, and cannot be read"
        ) from error


def transcript(db: sqlite3.Connection, info: RunInfo) -> str:
    """Return the run's transcript, empty where none was kept. Raises UsageError where it is
    damaged."""
    return _unpacked(db, info, "transcript")


def _unpacked(db: sqlite3.Connection, info: RunInfo, column: str) -> str:
    query = f"SELECT {column} FROM wholes JOIN runs USING (number) WHERE runs.id = ?"
    try:
        (data,) = db.execute(query, (info.id,)).fetchone()
        return unpacked(data)
    except (TypeError, ValueError, zlib.error) as error:  # not there, no bytes, or no text
        raise UsageError(f"the run {info.id} is damaged, and cannot be read") from error


def _info(row: tuple[Any, ...]) -> RunInfo:
    *plain, conversed, evaluated, generated = row
    values = dict(zip(_PLAIN, plain, strict=True))
    usage = sound(Usage(evaluated, generated))
    return sound(RunInfo(**values, conversed=bool(conversed), usage=usage))


def _add_holds(db: sqlite3.Connection) -> None:
    # SQLite's LIKE knows capitals of ASCII alone, and ends at a NUL.
    db.create_function("holds", 2, lambda text, part: part in text.casefold())
