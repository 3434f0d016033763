"""The text's pieces: numbers, names, dates and signs, each with its place.

What a piece means may depend on the others: that is for `reader` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, cast

from local_react.errors import ToolError
from local_react.tools.calculator import dates, words
from local_react.tools.calculator.text import quoted

MAX_DEPTH: Final = 40
"""Brackets within brackets."""

Kind = Literal["number", "imaginary", "name", "date", "quoted", "sign", "end"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the text, as it stands at `start`, or as it is meant."""

    kind: Kind
    text: str
    start: int
    spaced: bool
    """True where white space stands before it."""
    note: str = ""
    """How it was read, where there is another way."""


_DIGITS: Final = r"[0-9]+(?:_[0-9]+)*"
_PIECE: Final = re.compile(
    rf"""
    (?P<number>
        (?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+)(?!\w)
        |(?<![\d.,])[1-9][0-9]{{0,2}}(?:(?:,[0-9]{{3}})+|(?:'[0-9]{{3}})+)(?!\d|,\d)
        (?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?
        |(?<![\d.,])[1-9][0-9]?(?:,[0-9]{{2}})+,[0-9]{{3}}(?!\d|,\d)(?:\.[0-9]*)?
        |(?:{_DIGITS}(?:\.(?!\.)[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    |(?P<name>[^\W\d]\w*)
    |(?P<quoted>"[^"\n]*"|'[^'\n]*')
    |(?P<sign>\*\*|//|<<|>>|<=|>=|==|!=|->|&&|[-+*/^%!<>=()\[\],|&~√∛?:])
    |(?P<end>[;\n])
    """,
    re.VERBOSE,
)
_GLUED: Final = re.compile(r"(?:h|hr|hrs|min|d|ft|lb)(?=[0-9])")
"""A unit between two numbers: 1h30m, 5ft3in."""
_GOES_ON: Final = frozenset("+-*/^,=<>&|")
_WENT_ON: Final = frozenset("*/^,=<>&|)")


def scan(text: str) -> list[Piece]:
    """Return the pieces of a tidied text.

    Raises ToolError where a sign means nothing, or brackets are too deep.
    """
    return list(_Scan(text).pieces())


class _Scan:
    """One pass over a text, which knows in which brackets it is."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._has_dates = dates.has_context(text)
        self._day_first = dates.is_day_first(text)
        self._separating = [False]  # for each bracket around: do commas separate values?

    def pieces(self) -> Iterator[Piece]:
        place = 0
        while place < len(self._text):
            if self._text[place] == " ":
                place += 1
                continue
            piece, place = self._piece(place)
            if piece.kind != "end" or self._ends(piece, place):
                yield piece

    def _piece(self, place: int) -> tuple[Piece, int]:
        """Return the piece that stands at a place, and the place after it."""
        spaced = self._text[place - 1 : place].isspace()
        date = dates.DATE.match(self._text, place)
        order = self._day_first
        meant = dates.read(date, certain=self._has_dates, day_first=order) if date else None
        if date and meant:
            note = dates.note(date, day_first=order)
            return Piece("date", meant, place, spaced, note), date.end()
        found = _PIECE.match(self._text, place)
        if found is None:
            raise ToolError(_unknown_sign(self._text[place:]))
        kind, text = cast("Kind", found.lastgroup), found[0]
        if kind == "name" and self._text[place - 1 : place].isdecimal():
            text = _GLUED.match(text)[0] if _GLUED.match(text) else text  # type: ignore[index]
            return Piece(kind, text, place, spaced), place + len(text)
        if kind == "number":
            return self._number(text, place, spaced)
        if kind == "sign":
            self._note_bracket(text, found)
        return Piece(kind, text, place, spaced), found.end()

    def _number(self, text: str, place: int, spaced: bool) -> tuple[Piece, int]:
        note = ""
        if "," in text and self._separating[-1]:
            note = f"in a function or list {text} is read as several values"
            text = text.partition(",")[0]
        after = place + len(text)
        digits = re.sub("[,_']", "", text)
        if re.match(r"[ij](?!\w)", self._text[after:]):
            return Piece("imaginary", digits, place, spaced), after + 1
        return Piece("number", digits, place, spaced, note), after

    def _note_bracket(self, sign: str, found: re.Match[str]) -> None:
        if sign in "([":
            values = sign == "[" or _is_call(self._text[: found.start()])
            self._separating.append(values and not _is_spaced(self._text[found.end() :]))
            if len(self._separating) > MAX_DEPTH:
                raise ToolError(f"too deep: more than {MAX_DEPTH} brackets within one another")
        elif sign in ")]" and len(self._separating) > 1:
            self._separating.pop()

    def _ends(self, piece: Piece, place: int) -> bool:
        """Return True where a step ends: not within brackets, and at a line's end not
        where the line cannot have been all."""
        if len(self._separating) > 1:
            if piece.text == ";":
                raise ToolError("not understood at ';': close the bracket before the step ends")
            return False
        before, after = self._text[piece.start - 1 : piece.start], self._text[place : place + 1]
        return piece.text == ";" or not (before in _GOES_ON or after in _WENT_ON)


def _is_spaced(text: str) -> bool:
    """Return True where a comma with a space stands in the text before the bracket that
    closes it, and not within others: only such commas separate values there, as in
    mean(1,000, 2,000)."""
    depth = 0
    for character, following in zip(text, text[1:] + " ", strict=False):
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            return False
        if depth == 0 and character == "," and following == " ":
            return True
    return False


def _is_call(before: str) -> bool:
    """Return True where the parenthesis after this text is that of a call, mod(7, 3).

    Not that of 2 pi(3), or of 10 mod (3), where a value stands before the name.
    """
    found = re.search(r"([^\W\d]\w*) ?$", before)
    if found is None:
        return False
    name = found[1].casefold()
    value = before[: found.start()].rstrip()[-1:]
    is_infix = bool(value) and (value.isalnum() or value in ")!%.")
    if name in words.OPERATORS:
        return name == "mod" and not is_infix
    return name not in words.CONSTANTS


def _unknown_sign(rest: str) -> str:
    sign = rest[0]
    advice = {
        ".": "write 0.5 for a decimal; there are no attributes",
        "{": "write a list as [1, 2]",
        "#": "leave comments out",
        "\\": "write it without LaTeX, as in sqrt(2)/3",
    }.get(sign, "write numbers, names, + - * / ^ % ( ) and functions such as sqrt(2)")
    return f"not understood at {quoted(rest[:20])}: {advice}"
