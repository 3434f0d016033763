"""The pieces of one step, each as what it means there: the tokens of grammar.lark.

Here is decided what depends on the context: whether % is a remainder or a percentage,
whether a bar opens or closes |x|, and whether a word is a unit, an unknown, or a word
that a person leaves beside a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

import lark

from local_react.errors import ToolError
from local_react.tools.calculator import complaints, dates, unit_words, words
from local_react.tools.calculator.counted import Counted
from local_react.tools.calculator.scanner import Piece
from local_react.tools.calculator.text import quoted
from local_react.tools.calculator.units import Quantity
from local_react.tools.calculator.values import Content

_VALUES: Final = """
    NUMBER IMAGINARY UNIT DATE NAME CONSTANT CLOSE TSIL BAR_CLOSE FACTORIAL PERCENT TRUTH
    MULTIPLIER SQUARED
"""
_ENDS_VALUE: Final = frozenset(_VALUES.split())
_BEGINS_VALUE: Final = frozenset({"(", "[", "√", "∛", "|"})
_SPANS: Final = frozenset({"between", "from", "since", "until", "till"})
_COUNTED: Final = frozenset({"NUMBER", "CLOSE", "MULTIPLIER", "UNIT", "PERCENT", "SQUARED"})
"""Tokens after which a word is what is counted."""


class Reader:
    """Reads the pieces of one step."""

    def __init__(
        self,
        pieces: Sequence[Piece],
        known: Mapping[str, Content],
        is_function: Callable[[str], bool],
        counts: Collection[str] = (),
    ) -> None:
        """`known` are the names that have a value, and `counts` those of them that are
        words for what is counted, as apples are after apples = 5 apples."""
        self._pieces = pieces
        self._known = known
        self._counts = counts
        self._is_function = is_function
        plain = {name for name, content in known.items() if not isinstance(content, Quantity)}
        plain -= {*counts}
        self._measures = Counted(pieces, plain, is_function)
        self._at = 0
        self._bars: list[int] = []
        self._depth = 0
        self._has_between = False
        self.tokens: list[lark.Token] = []
        self.unknown: list[Piece] = []
        """Names that nothing gives a meaning."""
        self.dropped: list[str] = []
        """Words beside numbers that were left out."""
        self.multiplied: list[str] = []
        """Words beside numbers that are names, so that both make a product."""

    def read(self, *, symbolic: bool) -> list[lark.Token]:
        """Return the step's tokens; where it is symbolic, names are unknowns, not units."""
        self._symbolic = symbolic
        while self._at < len(self._pieces):
            piece = self._pieces[self._at]
            self._at += 1
            if piece.kind == "name":
                self._name(piece)
            elif piece.kind == "sign":
                self._sign(piece)
            elif piece.kind == "quoted":
                self._quoted(piece)
            else:
                self._add(piece.kind.upper(), piece)
        return self.tokens

    def _add(self, kind: str, piece: Piece, text: str | None = None) -> None:
        value = piece.text if text is None else text
        self.tokens.append(lark.Token(kind, value, start_pos=piece.start))

    @property
    def _last(self) -> str:
        return self.tokens[-1].type if self.tokens else ""

    def _next(self, ahead: int = 0) -> Piece | None:
        place = self._at + ahead
        return self._pieces[place] if place < len(self._pieces) else None

    def _next_text(self, ahead: int = 0) -> str:
        piece = self._next(ahead)
        return piece.text if piece else ""

    # Signs

    def _sign(self, piece: Piece) -> None:
        if piece.text == "%":
            self._add("MOD" if self._is_remainder(piece) else "PERCENT", piece)
        elif piece.text == "|":
            self._bar(piece)
        elif piece.text == "/" and self._unit_follows():
            self._units(piece, -1)
        elif piece.text == "!" and self._last == "FACTORIAL":
            raise ToolError("'!!' can mean two things: for a factorial of a factorial write (3!)!")
        elif piece.text == "->" and self._depth:
            self._add("COMMA", piece)  # limit(1/x, x -> 0)
        else:
            self._depth += (piece.text == "(") - (piece.text == ")")
            self._add(words.SIGNS[piece.text], piece)

    def _is_remainder(self, piece: Piece) -> bool:
        """Return True where % stands between two values: 7 % 3, also 7 % -3."""
        following = self._next()
        if self._last not in _ENDS_VALUE or following is None:
            return False
        begins = following.kind == "number" or following.text == "("
        if following.spaced and not piece.spaced and begins:
            raise ToolError(
                f"'% {following.text}' can mean two things: write 15% of 200, or 15 mod 7"
            )
        if following.kind in ("number", "imaginary"):
            return True
        if following.kind == "name":
            is_left_out = not self._symbolic and self._measures.is_droppable(self._at)
            return following.text.casefold() not in words.OPERATORS and not is_left_out
        if following.text in "+-":
            after = self._next(1)
            return piece.spaced and following.spaced and after is not None and not after.spaced
        if following.text == "|" and self._bars:
            return False
        return following.text in _BEGINS_VALUE

    def _bar(self, piece: Piece) -> None:
        if self._last not in _ENDS_VALUE:
            self._bars.append(self._depth)
            self._add("BAR_OPEN", piece)
        elif self._bars and self._bars[-1] == self._depth:
            self._bars.pop()
            self._add("BAR_CLOSE", piece)
        elif self._next_text() == "|":
            self._at += 1
            self._add("OR", piece)
        else:
            self._add("BIT_OR", piece)

    def _quoted(self, piece: Piece) -> None:
        inner = piece.text[1:-1].strip()
        before = self.tokens[-2] if len(self.tokens) > 1 else None
        if before and before.lower() in ("int", "float") and re.fullmatch(r"-?[0-9.]+", inner):
            self._add("NUMBER", piece, inner)
            return
        raise ToolError(f"not understood at {quoted(piece.text[:20])}: text in quotes is no number")

    # Names

    def _name(self, piece: Piece) -> None:
        if self._next_text().casefold() in _SPANS and dates.is_interval(piece.text):
            self._at -= 1  # days between, weeks until
            self._units(piece, 1)
        elif self._calls(piece):
            self._add("FUNCTION", piece, piece.text.casefold())
        elif self._raised_call(piece):
            pass
        elif piece.text in self._known and not self._is_counted_name(piece):
            if self._last == "NUMBER" and piece.spaced and len(piece.text) > 2:
                self.multiplied.append(f"{self.tokens[-1]} {piece.text}"[:40])
            self._add("NAME", piece)
        elif not (self._word(piece) or self._counted(piece)):
            self._constant_or_unknown(piece)

    def _is_counted_name(self, piece: Piece) -> bool:
        """Return True for the s of t = 2 s, though s is a name: of a quantity itself; and
        for a word for what is counted."""
        is_quantity = isinstance(self._known[piece.text], Quantity)
        is_unit = is_quantity and bool(unit_words.find(piece.text))
        return self._last == "NUMBER" and (is_unit or piece.text in self._counts)

    def _calls(self, piece: Piece) -> bool:
        """Return True for mod(7, 3), not for the word in 10 mod (3)."""
        if self._next_text() != "(" or not self._is_function(piece.text):
            return False
        word = piece.text.casefold()
        has_other_sense = word in words.OPERATORS or word in words.CONSTANTS
        return not (self._last in _ENDS_VALUE and has_other_sense)

    def _raised_call(self, piece: Piece) -> bool:
        """Add the function of sin^2(x), and return whether it is one."""
        if not self._is_function(piece.text) or self._next_text() not in ("^", "**"):
            return False
        rest = [each.text for each in self._pieces[self._at + 1 : self._at + 5]]
        power = rest[:1] if rest[1:2] == ["("] else rest[1:2]
        taken = 1 if rest[1:2] == ["("] else 3
        if rest[taken : taken + 1] != ["("] or not power or not power[0].isdecimal():
            return False
        self._add("FUNCTION", piece, f"{piece.text.casefold()}^{power[0][:4]}")
        self._at += 1 + taken
        return True

    def _word(self, piece: Piece) -> bool:
        """Add the token of a word of the language, and return whether it is one."""
        word = piece.text.casefold()
        if word in words.OPERATORS and not self._is_inch(piece):
            self._operator(piece, words.OPERATORS[word])
        elif word == "per":
            self._units(piece, -1)
        elif word in words.MULTIPLIERS and self._last in ("NUMBER", "MULTIPLIER"):
            self._add("MULTIPLIER", piece, str(words.MULTIPLIERS[word]))
        elif piece.text == "k" and self._last == "NUMBER" and not piece.spaced:
            self._add("MULTIPLIER", piece, "1000")
        elif word in words.POWERS and self._last in _ENDS_VALUE:
            self._add("SQUARED", piece, str(words.POWERS[word]))
        elif word in words.TRUTHS:
            self._add("TRUTH", piece, word)
        elif word in words.DAYS:
            self._add("DATE", piece, dates.today(words.DAYS[word]))
        else:
            return False
        return True

    def _operator(self, piece: Piece, sign: str) -> None:
        following = self._next()
        is_range = self._last == "DATE" and following is not None and following.kind == "date"
        if sign == "CONVERT" and (self._has_between or is_range):
            self._add("UNTIL", piece)  # days from A to B, A to B
        elif sign == "CONVERT":
            self._add("CONVERT", piece)
            self._target()
        elif sign == "AND" and self._last == "UNIT" and following and following.kind == "number":
            return  # 10 years and 16 months
        elif sign == "AND" and self._has_between:
            self._add("UNTIL", piece)
        elif sign == "WEEKDAY":
            if self._next_text() in ("of", "is", "was", "on", "for"):
                self._at += 1
            self._add(sign, piece)
        elif sign in ("BETWEEN", "FROM", "SINCE", "UNTIL"):
            self._has_between = sign != "UNTIL"
            self._add(sign, piece)
        else:
            self._add(words.SIGNS.get(sign, sign), piece)

    def _is_inch(self, piece: Piece) -> bool:
        """Return True for the unit in 5 in to cm, not for the word in 5 km in miles."""
        before = self._pieces[self._at - 2] if self._at > 1 else None
        if (
            piece.text != "in"
            or before is None
            or not (before.kind == "number" or before.text == ")" or self._last == "MULTIPLIER")
        ):
            return False
        following = self._next()
        if following is None or following.kind != "name":
            return following is None or following.text not in ("(", "[", "%")
        return following.text.casefold() in words.OPERATORS

    def _target(self) -> None:
        """Add what the words after "in" or "to" name, as one token."""
        piece = self._next()
        if piece is None:
            raise ToolError("it ends after 'in' or 'to': say in what, as in 5 km in miles")
        word = piece.text.casefold()
        if word in ("a", "an", "the") and self._next(1):
            self._at += 1
            return self._target()
        if word == "base" and self._next_text(1).isdecimal():
            self._at += 2
            self._add("TARGET", piece, f"base {self._pieces[self._at - 1].text[:9]}")
        elif word in words.BASES or word in words.FORMS or piece.text == "%":
            self._at += 1
            self._add("TARGET", piece, words.BASES.get(word) or words.FORMS.get(word, "percent"))
        elif word in words.ANGLES:
            self._at += 1
            self._add("TARGET", piece, word[:3])
        elif piece.kind == "name" and unit_words.find(piece.text):
            self._units(piece, 1)
            self.tokens[-1] = self.tokens[-1].update(type="TARGET")
        else:
            raise complaints.unknown_target(piece.text)
        return None

    # Units and counted things

    def _unit_follows(self) -> bool:
        """Return True for the / of km/h and of 5/hour, not for that of 5/x or 6/2."""
        if self._symbolic or self._last not in _COUNTED:
            return False
        return self._measures.is_unit(self._at) or (
            self._last == "UNIT" and self._measures.is_droppable(self._at)
        )

    def _counted(self, piece: Piece) -> bool:
        """Add the unit after a number, or drop the word there; return whether it was one."""
        if self._symbolic or self._last not in _COUNTED or piece.text in words.CONSTANTS:
            return False
        place = self._at - 1
        if not (self._measures.is_unit(place) or self._measures.is_droppable(place)):
            return False
        self._at = place
        self._units(piece, 1)
        return True

    def _units(self, piece: Piece, power: int) -> None:
        """Add the units that stand here as one token: km, m/s^2, N m, per hour."""
        taken = self._measures.take(self._at, power)
        self._at = taken.at
        self.dropped += taken.dropped
        if taken.unit:
            self._add("UNIT", piece, taken.unit)

    # What is left

    def _constant_or_unknown(self, piece: Piece) -> None:
        word = piece.text
        # A capital E or N is somebody's variable; PI is not.
        folded = word.casefold() if len(word) > 1 else word
        folded = words.ALIASES.get(folded, folded)
        is_angle = folded in words.ANGLES and self._last in _ENDS_VALUE
        if folded in words.CONSTANTS and (
            is_angle or not self._symbolic or folded not in words.ANGLES
        ):
            self._add("CONSTANT", piece, folded)
            return
        following = self._next()
        if following and following.text == "(" and not following.spaced and len(word) > 1:
            raise complaints.unknown_function(word)
        self._add("NAME", piece)
        self.unknown.append(piece)
