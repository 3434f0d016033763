"""Sessions in the history: rows found, made and named."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Sequence
from typing import Final

from local_react.databases import sound
from local_react.errors import UsageError
from local_react.history.infos import SessionInfo
from local_react.history.store import new_id, now, storable

ID: Final = re.compile("[0-9a-f]{8}")
"""An id as a whole."""
BEGINNING: Final = re.compile("[0-9a-f]{4,8}")
"""What is long enough to stand for an id that begins so."""
_LONGEST: Final = 60
"""Characters of a name."""
_LONGEST_MADE: Final = 32
"""Characters of a name that is made of a question."""
_UNNAMEABLE: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""The categories of characters that a line cannot hold."""

_LISTED: Final = """
SELECT id, name, created, updated,
  (SELECT count(*) FROM runs WHERE session = sessions.number AND conversed),
  coalesce((SELECT substr(question, 1, 200) FROM runs WHERE session = sessions.number
    ORDER BY number LIMIT 1), '')
FROM sessions
"""
_NEXT: Final = "(SELECT coalesce(max(touched), 0) + 1 FROM sessions)"


def listed(db: sqlite3.Connection, last: int | None) -> list[SessionInfo]:
    """Return the sessions, those first that were used last."""
    most = -1 if last is None else last
    rows = db.execute(f"{_LISTED} ORDER BY touched DESC LIMIT ?", (most,))
    return [sound(SessionInfo(*row)) for row in rows]


def found(db: sqlite3.Connection, name: str) -> SessionInfo:
    """Return the session of that name or id, or whose id begins so.

    Raises UsageError, which names what is near, where there is none or more than one.
    """
    name = storable(unicodedata.normalize("NFC", " ".join(name.split())))
    if info := _by_name(db, name) or _by_id(db, name):
        return info
    known = [str(row[0]) for row in db.execute("SELECT name FROM sessions ORDER BY touched DESC")]
    raise UsageError(f"there is no session {name!r}: {_near(name, known)}")


def number(db: sqlite3.Connection, name: str) -> int:
    """Return the number of a session's row: 0, which none has, for a session that was opened
    and to which nothing was added yet. Raises UsageError as `found` does."""
    if ID.fullmatch(name) and _by_id(db, name) is None:
        return 0
    return _number(db, found(db, name))


def opened(db: sqlite3.Connection, name: str) -> SessionInfo:
    """Return the session of that name or whole id, made where there is none.

    Raises UsageError where that can be no name.
    """
    return named(db, name) or _made(db, new_id(db), checked(name), chosen=True)


def named(db: sqlite3.Connection, name: str) -> SessionInfo | None:
    """Return the session of that name or whole id, if there is one. Raises UsageError where
    that can be no name."""
    if ID.fullmatch(name) and (info := _by_id(db, name)):
        return info
    return _by_name(db, checked(name))


def joined(db: sqlite3.Connection, name: str, question: str) -> int:
    """Return the number of the row of a session that now goes on with a question: the one of
    that name or whole id. It is made where it is missing, and where an id is all that is known
    of it, it is named after the question. Raises UsageError where that can be no name."""
    if ID.fullmatch(name):
        info = _by_id(db, name) or _made(db, name, _named_after(db, question), chosen=False)
    else:
        info = opened(db, name)
    number = _number(db, info)
    db.execute(
        f"UPDATE sessions SET updated = ?, touched = {_NEXT} WHERE number = ?", (now(), number)
    )
    return number


def rename(db: sqlite3.Connection, info: SessionInfo, new: str) -> SessionInfo:
    """Name a session anew. Raises UsageError where another has the name, or it can be none."""
    new = checked(new)
    other = _by_name(db, new)
    if other and other.id != info.id:
        raise UsageError(f"there is a session {new!r} already: choose another name")
    db.execute("UPDATE sessions SET name = ?, chosen = 1 WHERE id = ?", (new, info.id))
    return found(db, new)


def settle(db: sqlite3.Connection, number: int) -> None:
    """Unless the user gave a session its name, name it after what is its first question now,
    or delete it where none is left."""
    query = "SELECT id FROM sessions WHERE number = ? AND NOT chosen"
    if (row := db.execute(query, (number,)).fetchone()) is None:
        return
    query = "SELECT question FROM runs WHERE session = ? ORDER BY number LIMIT 1"
    if (first := db.execute(query, (number,)).fetchone()) is None:
        db.execute("DELETE FROM sessions WHERE number = ?", (number,))
        return
    name = _named_after(db, first[0])
    db.execute("UPDATE sessions SET name = ? WHERE id = ?", (name, row[0]))


def checked(name: str) -> str:
    """Return a name as it is kept. Raises UsageError where it can be none."""
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    if not name or name.startswith("-") or len(name) > _LONGEST:
        raise UsageError(
            f"the name of a session has 1 to {_LONGEST} characters, the first of them no dash"
        )
    if any(unicodedata.category(character) in _UNNAMEABLE for character in name):
        raise UsageError("the name of a session holds no control characters: choose another")
    if ID.fullmatch(name):
        raise UsageError(f"{name} looks like the id of a session: choose another name")
    return name


def _by_name(db: sqlite3.Connection, name: str) -> SessionInfo | None:
    row = db.execute(f"{_LISTED} WHERE name = ?", (name,)).fetchone()
    return sound(SessionInfo(*row)) if row else None


def _by_id(db: sqlite3.Connection, name: str) -> SessionInfo | None:
    if not BEGINNING.fullmatch(name.lower()):
        return None
    rows = db.execute(f"{_LISTED} WHERE id GLOB ?", (f"{name.lower()}*",)).fetchall()
    if len(rows) > 1:
        names = ", ".join(f"{row[0]} ({row[1]})" for row in rows)
        raise UsageError(f"the ids of several sessions begin with {name}: {names}")
    return sound(SessionInfo(*rows[0])) if rows else None


def _near(name: str, known: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return "`local-react sessions list` shows them" if known else "none is kept yet"


def _number(db: sqlite3.Connection, info: SessionInfo) -> int:
    (number,) = db.execute("SELECT number FROM sessions WHERE id = ?", (info.id,)).fetchone()
    return int(number)


def _made(db: sqlite3.Connection, id_: str, name: str, *, chosen: bool) -> SessionInfo:
    db.execute(
        "INSERT INTO sessions (id, name, chosen, created, updated, touched)"
        f" VALUES (?, ?, ?, ?, ?, {_NEXT})",
        (id_, name, chosen, now(), now()),
    )
    return found(db, name)


def _named_after(db: sqlite3.Connection, question: str) -> str:
    """Return a name that is free, and made of the first words of a question so that it needs
    no quotes in a shell."""
    beginning = unicodedata.normalize("NFC", re.sub("['’]", "", question[:200])).lower()
    # Letters, numbers and marks, which are vowels in some scripts.
    in_words = (c if unicodedata.category(c)[0] in "LNM" else " " for c in beginning)
    words = "".join(in_words).split() or [f"session-{now()[:10]}"]
    name = words[0][:_LONGEST_MADE]
    for word in words[1:]:
        if len(name) + 1 + len(word) > _LONGEST_MADE:
            break
        name += f"-{word}"
    return _free(db, name)


def _free(db: sqlite3.Connection, name: str) -> str:
    """Return the name, with a number behind it where it is taken, or looks like an id."""
    if _by_name(db, name) is None and not ID.fullmatch(name):
        return name
    (like,) = db.execute(
        "SELECT count(*) FROM sessions WHERE substr(name, 1, ?) = ?", (len(name), name)
    ).fetchone()
    number = int(like) + 1
    while _by_name(db, f"{name}-{number}"):
        number += 1
    return f"{name}-{number}"
