"""What is counted or measured: the units after a number, and the words that are none."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from local_react.tools.calculator import unit_words, units, words
from local_react.tools.calculator.scanner import Piece


@dataclass(slots=True)
class Taken:
    """The units that stand at a place, the words dropped there, and the place after."""

    at: int
    parts: list[tuple[str, int]] = field(default_factory=list)
    label: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    @property
    def unit(self) -> str:
        """The text of the token, "" where only words were dropped."""
        text = "".join(self.label).strip()
        return units.encoded(self.parts, "" if text.startswith("/") else text) if self.parts else ""


class Counted:
    """Looks for units and counted things among the pieces of a step."""

    def __init__(
        self, pieces: Sequence[Piece], known: Collection[str], is_function: Callable[[str], bool]
    ) -> None:
        self._pieces = pieces
        self._known = known
        self._is_function = is_function

    def is_unit(self, at: int) -> bool:
        """Return True where a word stands that names a unit, and nothing else here."""
        piece = self._name(at)
        if piece is None or piece.text in self._known or self._is_call(at):
            return False
        if piece.text.casefold() in words.OPERATORS and piece.text != "in":
            return False
        return bool(unit_words.find(piece.text))

    def is_droppable(self, at: int) -> bool:
        """Return True for the word of 200 bananas: what is counted, and no slip of the pen
        in a word that means something."""
        piece = self._name(at)
        if piece is None or piece.text in self._known or self._is_call(at):
            return False
        if self._hyphenated(at):
            return True
        word = piece.text.casefold()
        if not (piece.spaced or self._text(at - 1) == "/"):
            return False  # 0xfg
        if len(word) < 3 or not word.isalpha() or self._is_function(word):
            return False
        if word in _MEANT - {"per"}:
            return False
        long = [known for known in words.CONSTANTS if len(known) > 3]
        return not difflib.get_close_matches(word, long, n=1, cutoff=0.8)

    def take(self, at: int, power: int) -> Taken:
        """Return the units from a place on: km, m/s^2, N m; those of "per hour" where the
        power is -1. Words that are no units are dropped: dollars/hour."""
        taken = Taken(at, label=["/"] if power < 0 else [])
        while self._take_word(taken, power):
            joint = self._text(taken.at)
            if joint in ("/", "per") and self._is_counted(taken.at + 1):
                power = -1
                taken.label.append("/")
                taken.at += 1
            elif joint == "*" and self.is_unit(taken.at + 1):
                power = 1
                taken.label.append("*")
                taken.at += 1
            elif joint != "in" and self.is_unit(taken.at):
                taken.label.append(" ")
            else:
                break
        return taken

    def _take_word(self, taken: Taken, power: int) -> bool:
        piece = self._name(taken.at)
        if piece is None or not self._is_counted(taken.at):
            return False
        if parts := self._hyphenated(taken.at):
            taken.dropped.append("-".join(part.text for part in parts))
            taken.at += 2 * len(parts) - 1
            return True
        if not self.is_unit(taken.at):
            taken.at += 1
            taken.dropped.append(piece.text)
            if taken.label and taken.label[-1] in "/*":
                taken.label.pop()
            return True
        taken.at += 1
        exponent = self._exponent(taken)
        taken.label.append(piece.text + (f"^{exponent}" if exponent != 1 else ""))
        found = unit_words.find(piece.text)
        taken.parts.extend((name, each * exponent * power) for name, each in found)
        return True

    def _hyphenated(self, at: int) -> list[Piece]:
        """Return the words of 12 t-shirts, none where a word has a meaning by itself."""
        parts = [piece for piece in [self._name(at)] if piece and piece.spaced]
        while parts and self._is_joint(at + 1):
            at += 2
            parts.append(self._pieces[at])
        if len(parts) < 2 or len(parts[-1].text) < 3 or self._is_call(at):
            return []
        return [] if any(self._is_meant(part.text) for part in parts) else parts

    def _is_joint(self, at: int) -> bool:
        """Return True for the hyphen between two words."""
        following = self._name(at + 1)
        is_glued = following is not None and not (following.spaced or self._pieces[at].spaced)
        return is_glued and self._text(at) == "-"

    def _is_meant(self, text: str) -> bool:
        word = text.casefold()
        return (
            text in self._known
            or word in _MEANT
            or not word.isalpha()
            or self._is_function(word)
            or (len(word) > 1 and bool(unit_words.find(text)))
        )

    def _exponent(self, taken: Taken) -> int:
        """Take the power written after a unit: 2 in m^2, m**2, m^(-2) and m squared."""
        word = self._text(taken.at).casefold()
        if word in words.POWERS:
            taken.at += 1
            return words.POWERS[word]
        if word not in ("^", "**"):
            return 1
        pieces = [piece.text for piece in self._pieces[taken.at + 1 : taken.at + 5]]
        for count in (4, 3, 2, 1):
            found = _POWER.fullmatch("".join(pieces[:count])) if len(pieces) >= count else None
            if found:
                taken.at += 1 + count
                return int(found[1] or found[2])
        return 1

    def _is_counted(self, at: int) -> bool:
        return self.is_unit(at) or self.is_droppable(at)

    def _is_call(self, at: int) -> bool:
        following = self._pieces[at + 1] if at + 1 < len(self._pieces) else None
        return following is not None and following.text == "(" and not following.spaced

    def _name(self, at: int) -> Piece | None:
        piece = self._pieces[at] if at < len(self._pieces) else None
        return piece if piece is not None and piece.kind == "name" else None

    def _text(self, at: int) -> str:
        return self._pieces[at].text if at < len(self._pieces) else ""


_MEANT = {*words.OPERATORS, *words.CONSTANTS, *words.MULTIPLIERS, *words.NOT_LEFT_OUT, "per"} | {
    *"xyz"
}
_POWER = re.compile(r"\((-?[0-9]{1,2})\)|(-?[0-9]{1,2})")
