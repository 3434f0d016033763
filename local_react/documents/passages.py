"""Passages: a document cut into pieces that are found and quoted, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from local_react.readers.document import Part
from local_react.words import UNSPACED

ENOUGH: Final = 1000
"""Characters from which on a passage ends where a paragraph does."""
MOST: Final = 1500
"""Characters of a passage. A character of a script without spaces says as much as
several letters and counts as that."""
_WORTH: Final = 2.5
_LEAST: Final = 400
"""Characters below which a passage does not end just because a heading follows."""

_SENTENCE_END: Final = re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？；]")
_GAP: Final = re.compile(r"\s")
_JOINT: Final = re.compile(r"[^\w\s]")
_MARKED: Final = re.compile(r"#{1,6}\s|=+\s|[IVX]+\.\s|\d+(?:\.\d+)*\.?\s+\S|Chapter\b|CHAPTER\b")
_CLOSED: Final = re.compile(r"[.!?…:;,。！？：；，\"”)]$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage of a document."""

    text: str
    unit: str
    first: int
    last: int
    """The lines, pages, ... that it is from: their numbers, from 1."""
    part: int = 0
    """Which one it is of several from that very place, from 1; 0 where it is the only."""


class _Line(NamedTuple):
    """A line, or a stretch of a long one."""

    text: str
    unit: str
    number: int
    size: int
    opens: bool
    """Whether a paragraph may begin here."""
    heading: bool
    blank: bool


def pieces(parts: Iterable[Part]) -> list[Piece]:
    """Return the passages of a document, none of them blank.

    They end at the end of a chapter; else where a paragraph, line, sentence or word does,
    in this order. A heading stays with what follows it.
    """
    found: list[Piece] = []
    held: list[_Line] = []
    size = 0
    for line in _lines(parts):
        while held and _ends(held, size, line):
            cut = _cut(held, size, line)
            found += _piece(held[:cut])
            held = held[cut:]
            size = sum(kept.size for kept in held)
        held.append(line)
        size += line.size
    return _numbered([*found, *_piece(held)])


def _ends(held: Sequence[_Line], size: int, line: _Line) -> bool:
    """Say whether what is held, or a part of it, is a passage, and the line is not in it."""
    if size + line.size > MOST:
        return size >= _LEAST or not all(kept.heading or kept.blank for kept in held)
    if _is_apart(held[-1], line):
        return True
    if held[-1].heading:
        return False
    return (line.opens and size >= ENOUGH) or (line.heading and size >= _LEAST)


def _is_apart(last: _Line, line: _Line) -> bool:
    return last.unit != line.unit or (line.unit == "chapter" and last.number != line.number)


def _cut(held: Sequence[_Line], size: int, line: _Line) -> int:
    """Return how many of the lines become a passage: all but headings at their end, or,
    where the line that comes goes on with their last paragraph, those up to that, if
    they are half a passage."""
    if _is_apart(held[-1], line):
        return len(held)
    if not line.opens:
        for at in range(len(held) - 1, 0, -1):
            size -= held[at].size
            if size < MOST / 2:
                break
            if held[at].opens:
                return _before_headings(held, at)
    return _before_headings(held, len(held))


def _before_headings(held: Sequence[_Line], cut: int) -> int:
    at = cut
    while at and (held[at - 1].heading or held[at - 1].blank):
        at -= 1
    moves = at and any(line.heading for line in held[at:cut])
    return at if moves else cut


def _piece(lines: Sequence[_Line]) -> list[Piece]:
    """Return the passage of these lines; none where they are blank."""
    full = [line.number for line in lines if not line.blank]
    if not full:
        return []
    text = "\n".join(line.text for line in lines).strip("\n").rstrip()
    return [Piece(text, lines[0].unit, full[0], full[-1])]


def _lines(parts: Iterable[Part]) -> Iterator[_Line]:
    after_blank = True
    for part in parts:
        counted = part.unit in ("line", "paragraph")
        opens = after_blank or part.unit != "line"  # a page, say, begins a paragraph
        for offset, text in enumerate(part.text.split("\n")):
            number = part.number + offset if counted else part.number
            blank = not text or text.isspace()
            heading = opens and _is_heading(text)
            for stretch in _short(text):
                size = _size(stretch) + 1
                yield _Line(stretch, part.unit, number, size, opens or heading, heading, blank)
                opens = heading = False
            opens = after_blank = blank or part.unit == "paragraph"


def _is_heading(text: str) -> bool:
    """Say whether a paragraph's first line looks like a heading: short, not ended as a
    sentence is, and marked or capitalised as one."""
    if not 1 < len(text) <= 80:
        return False
    text = text.strip()
    if len(text) < 2 or _CLOSED.search(text):
        return False
    return bool(_MARKED.match(text)) or text.isupper() or (text[0].isupper() and len(text) <= 60)


def _size(text: str) -> int:
    if text.isascii():
        return len(text)
    return len(text) + int((_WORTH - 1) * sum(len(run) for run in UNSPACED.findall(text)))


def _short(text: str) -> Iterable[str]:
    """Return a line, in stretches that a passage holds where it is a long one."""
    return (text,) if len(text) * _WORTH < MOST or _size(text) < MOST else _stretches(text)


def _stretches(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        window = text[at : at + MOST - 1]
        most = int(len(window) * min((MOST - 1) / _size(window), 1.0))
        end = len(text)
        if at + most < end:
            end = at + _end(window[:most], most // 3, text[at + most])
        yield text[at:end].rstrip()
        at = end


def _end(window: str, least: int, following: str) -> int:
    """Return where to end a stretch: after a sentence, else a word, else a sign."""
    for sign in (_SENTENCE_END, _GAP, _JOINT):
        ends = [found.end() for found in sign.finditer(window, least)]
        if sign is _GAP and following.isspace():
            ends.append(len(window))
        if ends:
            return ends[-1]
    return len(window)


def _numbered(found: Sequence[Piece]) -> list[Piece]:
    """Number those that share one place."""
    places = [(piece.unit, piece.first, piece.last) for piece in found]
    result: list[Piece] = []
    part = 0
    for at, piece in enumerate(found):
        shared = places[at] in (places[at - 1 : at] + places[at + 1 : at + 2])
        part = part + 1 if shared and places[at] in places[max(at - 1, 0) : at] else int(shared)
        result.append(Piece(piece.text, piece.unit, piece.first, piece.last, part))
    return result
