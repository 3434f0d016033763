"""Names of several words: total cost = 5, hip-hop = 3, cost per gallon = 4.

The left side of a step is such a name unless it has a meaning as a formula, as x y = 6,
half of x = 5 and price plus tax = 10 have. It is read as one word wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Final

from local_react.tools.calculator import calls, unit_words, words

_LEFT: Final = re.compile(r"\s*([^\W\d]\w*(?:(?:[ ]+|[-'’])\w+)*)\s*(?:\*\*|//|[-+*/%^])?=(?!=)")
_ARTICLE: Final = re.compile(r"(?:the|an?) +(?=\w\w)(?!(?:and|or|of|in|to|per) )", re.IGNORECASE)
_JOINTS: Final = frozenset({*words.OPERATORS, "per"})
_INFIX: Final = frozenset(
    "plus minus times added add subtract less mod modulo xor divided multiplied is".split()
)
"""Words that make a formula of the words around them."""
_PART_OF: Final = re.compile(
    r"(?:(?:an? )?(?:half|third|quarter)|(?:square|cube) root) of |(?:twice|double|triple) \w$"
)
_SIGNS: Final = frozenset({*words.OPERATORS, "percent", "return"}) - {
    "and",
    "or",
    "not",
    "if",
    "else",
}


@dataclass(frozen=True, slots=True)
class Name:
    """A name that is not one word of its own, and the word that is read for it."""

    label: str
    read_as: str
    pattern: re.Pattern[str]

    def put_in(self, text: str) -> str:
        """Return the text with the one word for the name."""
        return self.pattern.sub(self.read_as, text)


def left_sides(steps: Iterable[str]) -> list[str]:
    """Return the words before the = or += of steps, where only words stand there."""
    found = [match[1] for step in steps if (match := _LEFT.match(step))]
    return list(dict.fromkeys(found))


def doubtful(lefts: Sequence[str], text: str) -> list[str]:
    """Return the left sides such as pre-tax, written once, that are no name because tax is
    one, where nothing else speaks of what they would be the difference of."""
    hyphened = [left for left in lefts if re.fullmatch(r"\w\w+(?:-\w\w+)+", left)]
    defined = _defined(lefts)
    return [
        left
        for left in hyphened
        if (parts := left.casefold().split("-"))
        and defined & {*parts}
        and _count(left, text) == 1
        and not _is_difference(left, parts, text)
    ]


def _defined(lefts: Sequence[str]) -> Set[str]:
    return {left.casefold() for left in lefts if left.isidentifier()}


def names(lefts: Sequence[str], text: str) -> list[Name]:
    """Return the names among the left sides of a text's steps that are not one word."""
    defined = _defined(lefts)
    return [name for left in lefts if (name := _named(left, defined, text))]


def _named(left: str, defined: Set[str], text: str) -> Name | None:
    if left.casefold() in _SIGNS:
        # Where it joins two values it is what it always is.
        pattern = rf"(?<![\w)%] )\b{left}\b(?! [\w(])"
        return Name(left, f"{left}_", re.compile(pattern, re.IGNORECASE))
    label = " ".join(_ARTICLE.sub("", left, count=1).split())
    if left.isidentifier() or not _is_name(label, defined, text):
        return None
    parts = re.split("([ -])", label)
    joined = "".join({" ": " +", "-": "-"}.get(part, re.escape(part)) for part in parts)
    # 60 miles per hour are a speed, though the name "miles per hour" is given.
    before = r"(?<![\d.] )" if _is_measure(label) else ""
    pattern = rf"{before}(?:\b(?:the|an?) +)?(?<![\w'’-]){joined}(?![\w'’])"
    return Name(label, re.sub(r"\W+", "_", label).strip("_"), re.compile(pattern, re.IGNORECASE))


def _is_name(label: str, defined: Set[str], text: str) -> bool:
    parts = re.split("[ -]", label.casefold())
    if len(parts) == 1:
        return True  # the total, Tom's
    if all(_is_short(part) or part in _JOINTS for part in parts) or _is_formula(
        label.casefold(), parts
    ):
        return False
    if "-" in label and " " not in label:
        is_free = not defined & {*parts} or _count(label, text) > 1
        return is_free and not _is_difference(label, parts, text)
    return not {*parts} <= defined


def _is_formula(label: str, parts: Sequence[str]) -> bool:
    takes_one = calls.is_function(parts[0]) and any(map(_is_short, parts[1:]))
    return bool(
        takes_one
        or parts[0] == "solve"
        or parts[-1] in words.POWERS
        or _INFIX.intersection(parts[1:-1])
        or _PART_OF.match(label)
        or re.search(r"-\d", label)
    )


def _count(label: str, text: str) -> int:
    return len(re.findall(rf"(?<![\w-]){re.escape(label)}(?![\w-])", text, re.IGNORECASE))


def _is_difference(label: str, parts: Sequence[str], text: str) -> bool:
    """Return True for apples-oranges = 5 where apples and oranges stand elsewhere alone."""
    rest = re.sub(re.escape(label), " ", text, flags=re.IGNORECASE).casefold()
    return all(re.search(rf"(?<![\w-]){re.escape(part)}(?![\w-])", rest) for part in parts)


def _is_short(part: str) -> bool:
    return len(part) == 1 or part.isdecimal()


def _is_measure(label: str) -> bool:
    parts = label.split()
    return "per" in parts and all(part == "per" or unit_words.find(part) for part in parts)
