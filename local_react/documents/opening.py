"""Reading a document that is in the index, from a place on."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from local_react.documents import roots
from local_react.documents.places import Place, understood
from local_react.documents.roots import Root
from local_react.documents.searching import search
from local_react.documents.store import unpacked
from local_react.documents.titles import readable
from local_react.errors import UsageError

MOST: Final = 4000
"""Characters that are read at once."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Passages of one document that follow each other."""

    document: int
    title: str
    name: str
    passages: tuple[tuple[str, str], ...]
    """Pairs of a place, as in "lines 12-30", and the text there."""
    next: str
    """What to ask for to read on, as in "from page 4"; empty at the document's end."""


@dataclass(frozen=True, slots=True)
class _Document:
    id: int
    title: str
    name: str
    first: int
    places: list[Place]

    @property
    def range(self) -> tuple[int, int]:
        return self.first, self.first + len(self.places) - 1


def read(connection: sqlite3.Connection, number: int, where: str, most: int = MOST) -> Excerpt:
    """Return what a document says at a place, or where it speaks of the words that name
    none; from its beginning where nothing is said.

    Raises UsageError, which names what there is, where there is no such document or place.
    """
    document = _document(connection, number)
    start, end = _span(connection, document, where)
    taken: list[tuple[str, str]] = []
    size = 0
    at = start
    while at < end:
        text = _text(connection, document.first + at)
        if taken and size + len(text) > most:
            break
        taken.append((str(document.places[at]), text))
        size += len(text)
        at += 1
    return Excerpt(
        document=document.id,
        title=document.title,
        name=document.name,
        passages=tuple(taken),
        next=f"from {document.places[at]}" if at < len(document.places) else "",
    )


def _span(connection: sqlite3.Connection, document: _Document, where: str) -> tuple[int, int]:
    """Return which passages are wanted: the first, and the one behind the last."""
    everything = len(document.places)
    if not where.strip():
        return 0, everything
    wanted = understood(where)
    if wanted is None:
        hits = search(connection, where, 1, document.range)
        if not hits:
            raise UsageError(f"{_names(document)} says nothing of {where!r}: {_extent(document)}")
        return [str(place) for place in document.places].index(hits[0].place), everything
    place = replace(wanted.place, unit=wanted.place.unit or document.places[0].unit)
    exact = [at for at, known in enumerate(document.places) if known == place]
    there = exact or [at for at, known in enumerate(document.places) if _meets(known, place)]
    if not there and place.first == 1 and place.unit not in {at.unit for at in document.places}:
        return 0, everything  # "page 1" of a text that has lines is its beginning
    if not there:
        raise UsageError(f"{_names(document)} has no {place}: {_extent(document)}")
    if wanted.after:
        if there[-1] + 1 == everything:
            raise UsageError(f"{_names(document)} ends with {place}")
        return there[-1] + 1, everything
    return there[0], everything if wanted.open or place.part else there[-1] + 1


def _meets(known: Place, wanted: Place) -> bool:
    if known.unit != wanted.unit or (wanted.part and known.part != wanted.part):
        return False
    return known.first <= wanted.last and wanted.first <= known.last


def _names(document: _Document) -> str:
    return f"document {document.id}"


def _extent(document: _Document) -> str:
    """Return which places there are, in words."""
    units = list(dict.fromkeys(place.unit for place in document.places))
    extents = [
        Place(
            unit,
            min(place.first for place in document.places if place.unit == unit),
            max(place.last for place in document.places if place.unit == unit),
        )
        for unit in units
    ]
    return f"it has {' and '.join(map(str, extents))}"


def _document(connection: sqlite3.Connection, number: int) -> _Document:
    # SQLite knows no larger numbers.
    row = connection.execute(
        "SELECT f.title, f.name, f.first, f.passages, f.fault,"
        " (SELECT count(*) FROM files g WHERE g.name = f.name), r.id, r.path, r.single"
        " FROM files f JOIN roots r ON r.id = f.root WHERE f.id = ?",
        (min(number, 2**63 - 1),),
    ).fetchone()
    if row is None:
        raise UsageError(f"there is no document {number}: a search tells the numbers of documents")
    title, name, first, passages, fault, namesakes, root_id, root_path, single = row
    path = roots.path_of(Root(root_id, Path(os.fsdecode(root_path)), bool(single)), name)
    if not passages:
        raise UsageError(f"document {number}, {readable(path.name)}, was not read: {fault}")
    places = connection.execute(
        "SELECT unit, first, last, part FROM passages WHERE id BETWEEN ? AND ? ORDER BY id",
        (first, first + passages - 1),
    )
    return _Document(
        id=number,
        title=title or readable(path.name),
        name=readable(path if namesakes > 1 else os.fsdecode(name)),
        first=first,
        places=[Place(*place) for place in places],
    )


def _text(connection: sqlite3.Connection, passage: int) -> str:
    (text,) = connection.execute("SELECT text FROM passages WHERE id = ?", (passage,)).fetchone()
    return unpacked(text)
