"""What our SQLite files have in common: how a damaged one is noticed, and what is said of it.

It is never mended nor moved: what is private, or took long to make, is for its owner to decide
about. Only a cache is made anew.
"""

from __future__ import annotations

import sqlite3
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from local_react.atomic import NoFile
from local_react.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    T = TypeVar("T", bound=DataclassInstance)

FAULTS: Final = (sqlite3.Error, OSError, UnicodeDecodeError)
"""What using a file raises that cannot be used: the last where SQLite names what is damaged."""
_OTHER_TABLES: Final = ("no such table", "no such column", "has no column", "values were supplied")
_KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "str": str,
    "int": int,
    "float": (float, int),
    "str | None": (str, type(None)),
}
"""What the values of fields are that are declared so."""
_TIMES: Final = frozenset({"time", "created", "updated"})


def unusable(what: str, path: Path, error: Exception, anew: str) -> UsageError:
    """Return the error for a fault of SQLite's or the system's: one line, with what to do.
    `anew` says how it goes on once the file is out of the way."""
    if isinstance(error, UnicodeDecodeError):
        reason: object = "it holds no text where there was one"
    else:
        reason = getattr(error, "strerror", None) or error
    return UsageError(f"{what} {path} cannot be used ({reason}): {_advice(error, anew)}")


def is_damage(error: Exception) -> bool:
    """Return whether a fault is that of a damaged file, or of one that is none of ours."""
    if isinstance(error, sqlite3.OperationalError):
        return any(sign in str(error) for sign in _OTHER_TABLES)
    return not isinstance(error, OSError)


def sound(told: T) -> T:
    """Return a value that was made of a row.

    Raises sqlite3.DatabaseError where a field of it is what was never written: SQLite itself
    does not notice each damage.
    """
    for field in fields(told):
        value = getattr(told, field.name)
        if not isinstance(value, _KINDS.get(str(field.type), object)):
            raise sqlite3.DatabaseError(f"a {field.name} in it is none")
        if field.name in _TIMES:
            _check_time(str(value))
    return told


def _check_time(text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError as error:
        raise sqlite3.DatabaseError("a time in it is none") from error


def _advice(error: Exception, anew: str) -> str:
    if isinstance(error, NoFile):
        return f"move that away, and {anew}"
    if is_damage(error):
        return f"it is damaged: move it away, and {anew}"
    if "locked" in str(error):
        return "another process is busy with it: try again later"
    return "make it yours to write, and see that the disk is not full"
