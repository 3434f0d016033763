"""Whether an answer is right: a number, words, a yes or no, a label."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from local_react.answers import normal, without_references
from local_react.evaluation.bfcl_match import calls_match, read_calls
from local_react.evaluation.items import Item

_ALL_OR_NOTHING: Final = frozenset({"yes", "no", "noanswer"})
_NUMBER: Final = re.compile(
    # A minus is none behind a word, a number or a bracket; digits behind a letter are a unit's.
    r"(?:(?<![\w)\]])(?P<sign>[-\u2212]))?(?:(?:US)?[$\u20ac\u00a3\u00a5]\s?)?(?<![A-Za-z_.\d])"
    r"(?P<digits>(?:\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?![,\d])|\d+)(?:\.\d+)?|\.\d+)"
    r"(?P<power>[eE][-+]?\d+)?",
    re.ASCII,
)
_BETWEEN_THOUSANDS: Final = re.compile("[,\u00a0\u202f]")
_YES_OR_NO: Final = re.compile(r"\b(yes|no|true|false)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Score:
    """Whether an answer is right, and how near its words are, where words are compared."""

    right: bool
    em: float | None = None
    f1: float | None = None


def score(answer: str, item: Item) -> Score:
    """Return the score of an answer by the scorer of its item."""
    if item.scorer == "calls":
        return Score(calls_match(read_calls(answer), item.expected, item.functions))
    answer = without_references(answer)
    if item.scorer == "number":
        return Score(same_number(answer, item.expected))
    if item.scorer == "yesno":
        return Score(yes_or_no(answer) == yes_or_no(str(item.expected)))
    if item.scorer == "label":
        return Score(label(answer, item.choices) == str(item.expected))
    return _words(answer, accepted(item.expected))


def accepted(expected: Any) -> list[str]:
    """Return the answers that an expected one stands for: itself, or each of a list."""
    return [str(one) for one in expected] if isinstance(expected, list) else [str(expected)]


def _words(answer: str, right: Sequence[str]) -> Score:
    em = max(exact_match(answer, one) for one in right)
    return Score(em == 1.0, em, max(f1(answer, one) for one in right))


def same_number(answer: str, expected: float | str) -> bool:
    """Return whether the last number of the answer is the expected one, as GSM8K scores."""
    given = last_number(answer)
    wanted = last_number(str(expected))
    return given is not None and wanted is not None and math.isclose(given, wanted, rel_tol=1e-9)


def last_number(text: str) -> float | None:
    """Return the last number of a text, None where there is none. Signs of money, percent,
    units and commas between thousands do not matter."""
    *_, found = [None, *_NUMBER.finditer(text.replace("{,}", ","))]
    if found is None:
        return None
    value = float(_BETWEEN_THOUSANDS.sub("", found["digits"]) + (found["power"] or ""))
    return -value if found["sign"] else value


def yes_or_no(answer: str) -> bool | None:
    """Return what the answer says: its first word where that is yes or no, else its last
    yes or no; None where there is none."""
    found = [match[1].lower() for match in _YES_OR_NO.finditer(answer)]
    if not found:
        return None
    first = normal(answer).split(maxsplit=1)[0]
    return (first if first in found else found[-1]) in ("yes", "true")


def label(answer: str, choices: Sequence[str]) -> str | None:
    """Return which of the labels the answer names: the one it begins with, else the one
    that it names last; None where it names none. Letters' case and the marks between
    words do not matter, nor does an ending such as "supported" for "supports"."""
    text = normal(answer)
    named = [
        (found.start() == 0, found.start(), len(choice), choice)
        for choice in choices
        for found in re.finditer(rf"\b{_inflected(choice)}\b", text)
    ]
    return max(named)[-1] if named else None


def _inflected(choice: str) -> str:
    """Return the pattern of a label, whatever the ending of a verb."""
    whole = normal(choice)
    verb = len(whole) > 3 and whole.endswith("s")
    return re.escape(whole[:-1] if verb else whole) + "(?:e?[sd])?"


def exact_match(given: str, right: str) -> float:
    """Return 1 where the two are the same once normal, else 0."""
    return float(normal(given) == normal(right))


def f1(given: str, right: str) -> float:
    """Return the harmonic mean of precision and recall of the words, each as often as it
    stands there. A yes or no is right or wrong as a whole."""
    one, other = normal(given), normal(right)
    if one != other and not _ALL_OR_NOTHING.isdisjoint((one, other)):
        return 0.0
    words, wanted = one.split(), other.split()
    common = sum((Counter(words) & Counter(wanted)).values())
    return 2 * common / (len(words) + len(wanted)) if common else 0.0
