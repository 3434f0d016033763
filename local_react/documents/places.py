"""Places in a document: how they are told, and understood."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TOLD: Final = re.compile(
    r"\b(lines?|pages?|pp?\.|paragraphs?|chapters?|l\.|ch\.)\s*(\d+)"
    r"(?:\s*(-|–|—|\.\.|to\b|and\b|until\b)\s*(\d+))?",
    re.IGNORECASE,
)
_BARE: Final = re.compile(r"^\W*(\d+)(?:\s*(-|–|—|\.\.|to|until)\s*(\d+))?\W*$")
_PART: Final = re.compile(r"\bpart\s*(\d+)", re.IGNORECASE)
_AFTER: Final = re.compile(r"\b(?:after|next|following|continue|beyond|more|rest)\b", re.IGNORECASE)
_LEADS: Final = re.compile(
    r"\b(?:after|next|following|continue|beyond|more|rest|from|since|at)\b", re.IGNORECASE
)
_FROM: Final = re.compile(r"\b(?:from|since)\b|\d\s*(?:-|–|—|on|onwards?)\s*$", re.IGNORECASE)
_UNITS: Final = {"l": "line", "p": "page", "c": "chapter", "pa": "page", "par": "paragraph"}


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a document, by the numbers of its lines, pages, paragraphs, chapters."""

    unit: str
    first: int
    last: int
    part: int = 0
    """Which passage it is of several there; 0 for all."""

    def __str__(self) -> str:
        numbers = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        plural = "" if self.first == self.last else "s"
        part = f", part {self.part}" if self.part else ""
        return f"{self.unit}{plural} {numbers}{part}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where to read."""

    place: Place
    after: bool = False
    """Whether what follows the place is wanted, and not itself."""
    open: bool = False
    """Whether to read on beyond it."""


def understood(where: str) -> Wanted | None:
    """Return the place that is meant, None where no place is named. The unit of a mere
    number is empty."""
    where = where.strip()
    if told := list(_TOLD.finditer(where)):
        found = told[-1]  # a file's name may come before
        unit, first, between, last = _unit(found[1]), *found.group(2, 3, 4)
    elif bare := _BARE.match(_LEADS.sub("", where)):
        unit, first, between, last = "", *bare.group(1, 2, 3)
    else:
        return None
    begin = _number(first)
    end = max(_number(last), begin) if last else begin
    part = _PART.search(where)
    after = bool(_AFTER.search(where))
    bounded = bool(last) and between.isalpha()  # "from 3 to 5", but "from lines 3-5" on
    is_open = not after and not bounded and bool(_FROM.search(where))
    return Wanted(Place(unit, begin, end, _number(part[1]) if part else 0), after, is_open)


def _unit(word: str) -> str:
    word = word.casefold()
    return _UNITS[word[:3] if word.startswith("par") else word[:2] if word[:2] == "pa" else word[0]]


def _number(digits: str) -> int:
    return int(digits[:12])  # none is longer
