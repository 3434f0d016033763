"""The rows of bench/calculator.py: our answers, read and judged against the expected ones.

A row where we chose another convention than its source is found by a rule on its text.
Such a rule is never enough: our answer must be what the convention says it is, mostly a
refusal, or, for ^, the expected value once ^ is written as xor.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

from local_react.errors import ToolError
from local_react.tools.calculator import evaluate

Row: TypeAlias = Mapping[str, Any]
"""A row of the data, as its README describes it."""

Outcome: TypeAlias = Literal["right", "refused", "convention", "answered", "wrong"]
"""answered: the source calls it an error of syntax, and we give a value."""

_NUMBER: Final = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_DATE: Final = r"\d{4}-\d\d-\d\d"
_TOLERANCE: Final = 1e-9
"""Relative, where a row has none of its own: answers have 12 digits or more."""
_NEARLY_ZERO: Final = Fraction(1, 10**12)


@dataclass(frozen=True)
class Told:
    """What the calculator said: an answer, a refusal, or a fault of ours."""

    text: str
    kind: Literal["answer", "refusal", "fault"] = "answer"

    @property
    def is_refusal(self) -> bool:
        return self.kind == "refusal"

    @property
    def head(self) -> str:
        """The answer without the decimal and the notes in parentheses behind it."""
        return _split(self.text)[0] if self.kind == "answer" else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands in parentheses behind the answer."""
        return _split(self.text)[1] if self.kind == "answer" else ()

    @property
    def value(self) -> bool | Fraction | None:
        """The number or truth that the answer gives, None where it gives none."""
        if self.head in ("true", "false"):
            return self.head == "true"
        for part in (self.head, *self.notes):
            # Behind the decimal may stand more: (1.60693804426e+60, 61 digits).
            found = re.fullmatch(rf"(?:[^\W\d]\w* = )?({_NUMBER})(?:[,;] .*)?", part)
            if found:
                return Fraction(found[1])
        return Fraction(self.head) if re.fullmatch(r"-?\d+/[1-9]\d*", self.head) else None


def _split(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text and the parentheses at its end, those that follow a space."""
    notes: list[str] = []
    while text.endswith(")"):
        start = _opening(text)
        if start < 1 or text[start - 1] != " ":
            break
        notes.insert(0, text[start + 1 : -1])
        text = text[: start - 1]
    return text, tuple(notes)


def _opening(text: str) -> int:
    """Return where the parenthesis opens that the last character closes, or -1."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += (text[place] == ")") - (text[place] == "(")
        if depth == 0:
            return place
    return -1


def ask(expression: str) -> Told:
    """Return what the calculator says. Whatever it should not have raised is a fault."""
    try:
        told = evaluate(expression)
    except ToolError as error:
        message = str(error)
        one_line = bool(message.strip()) and len(message.splitlines()) == 1
        return Told(message, "refusal" if one_line else "fault")
    except Exception as error:  # noqa: BLE001 - a fault to be listed, the other rows go on
        return Told(f"{type(error).__name__}: {error}", "fault")
    return Told(told)


@dataclass(frozen=True)
class Judged:
    """A row, what we said, and how that is counted."""

    group: str
    expression: str
    expected: str
    told: str
    outcome: Outcome
    reason: str = ""
    """Why a convention differs, or what more is at fault."""


def judge(row: Row) -> Judged:
    """Return how our answer to a row of calc/public.jsonl is counted."""
    told = ask(row["expr"])
    outcome, reason = _outcome(row, told)
    expected = json.dumps(row["expected"]) if row["outcome"] == "value" else row["outcome"]
    group = row["id"].partition("-")[0].removesuffix("calc")
    return Judged(group, row["expr"], expected, told.text, outcome, reason)


def _outcome(row: Row, told: Told) -> tuple[Outcome, str]:
    if told.kind == "fault":
        return "wrong", "an error of another kind, or of more than one line"
    if row["outcome"] != "value":
        unrefused: Outcome = "wrong" if row["outcome"] == "refuse" else "answered"
        return ("refused" if told.is_refusal else unrefused), ""
    if is_right(row, told):
        return "right", ""
    for convention in CONVENTIONS:
        if convention.applies(row) and convention.holds(row, told):
            return "convention", convention.reason
    return "wrong", ""


def is_right(row: Row, told: Told) -> bool:
    """Return True where the answer is the expected one, within the row's tolerance."""
    expected, value = row["expected"], told.value
    if isinstance(expected, bool):
        return value is expected
    if isinstance(value, bool) and row["caret"] == "xor":
        return False  # Python tells True from 1; muParser has 1 for it
    if isinstance(expected, (int, float)):
        return value is not None and is_close(value, expected, row.get("tol", _TOLERANCE))
    return told.kind == "answer" and told.head == json.dumps(expected)


def is_close(value: Fraction | bool, expected: float, tolerance: float = _TOLERANCE) -> bool:
    """Return True within the tolerance, which is relative, as in muParser's own tests."""
    wanted = Fraction(str(expected))
    return abs(value - wanted) <= max(abs(wanted) * Fraction(str(tolerance)), _NEARLY_ZERO)


@dataclass(frozen=True)
class Convention:
    """A kind of row where we differ from the source on purpose."""

    reason: str
    applies: Callable[[Row], bool]
    """By the row's text alone."""
    holds: Callable[[Row, Told], bool]
    """Whether our answer is what the convention says."""


def _refused(_: Row, told: Told) -> bool:
    return told.is_refusal


def _python(pattern: str) -> Callable[[Row], bool]:
    """Return the test for a pattern in a row that is written in Python (simpleeval)."""
    return lambda row: row["caret"] == "xor" and bool(re.search(pattern, row["expr"]))


def _right_as_xor(row: Row, _: Told) -> bool:
    return is_right(row, ask(row["expr"].replace("^", " xor ")))


def _right_as_first_step(row: Row, told: Told) -> bool:
    steps = row["expr"].split(";")
    named = all(re.match(r"\s*[^\W\d]\w*\s*=(?!=)", step) for step in steps[:-1])
    return (told.is_refusal or named) and is_right(row, ask(steps[0]))


def _right_as_truth(row: Row, told: Told) -> bool:
    return told.value is bool(row["expected"])


def _names_a_stranger(row: Row, told: Told) -> bool:
    """Return True for a refusal that names a word which is no function's in the row."""
    named = re.search(r"'([^\W\d]\w*)'", told.text)
    if not (told.is_refusal and named):
        return False
    return bool(re.search(rf"\b{named[1]}\b(?!\s*\()", row["expr"]))


_OF_PYTHON: Final = "None|and|else|for|if|in|is|lambda|not|or|True|False"

CONVENTIONS: Final = (
    Convention(
        "^ is power here, exclusive or in the source; with xor for ^ ours is the same",
        lambda row: row["caret"] == "xor" and "^" in row["expr"],
        _right_as_xor,
    ),
    Convention(
        "text in quotes: a calculator has numbers and no strings, so it refuses",
        lambda row: bool(re.search("['\"]", row["expr"])),
        _refused,
    ),
    Convention(
        "None is Python's: a calculator has no such value, so it refuses",
        _python(r"\bNone\b"),
        _refused,
    ),
    Convention(
        "steps: the source takes the first and drops the rest unread; here the last one is the"
        " answer, and those before it must be name = value",
        _python(";"),
        _right_as_first_step,
    ),
    Convention(
        "Python's own syntax, and no arithmetic (if else, for, in, lambda, {}, an index,"
        " an attribute), so it refuses",
        _python(r"\b(?:if|for|in|lambda)\b|[{}]|[\])]\s*\[|[^\W\d]\s*\[|[^\W\d_]\w*\.[^\W\d]"),
        _refused,
    ),
    Convention(
        "and, or give true or false here, one of their operands in Python",
        _python(r"\b(?:and|or)\b"),
        _right_as_truth,
    ),
    Convention(
        "a name to which only the source's own test gives a value, so it refuses",
        _python(rf"\b(?!(?:{_OF_PYTHON}|pi|e|tau)\b)[^\W\d]\w*\b(?!\s*\()"),
        _names_a_stranger,
    ),
    Convention(
        "the source's answer is no number but a text, a list or nothing",
        lambda row: not isinstance(row["expected"], (bool, int, float)),
        _refused,
    ),
)


def judge_date(row: Row) -> Judged:
    """Return how our answer to a row of dates/public.jsonl is counted."""
    expression = date_expression(row["question"])
    told = ask(expression)
    found = re.match(rf"{_DATE}|[A-Z][a-z]+day\b", told.text)
    right = told.kind == "answer" and found is not None and found[0] == row["answer"]
    group = f"dates {row['kind']}"
    return Judged(group, expression, row["answer"], told.text, "right" if right else "wrong")


def date_expression(question: str) -> str:
    """Return what one would write into a calculator for a question about dates."""
    invoice = re.search(rf"({_DATE})\b.*\bNET ?(\d+)", question)
    if invoice:
        return f"{invoice[1]} + {invoice[2]} days"
    weekday = re.search(r"\b[Ww]hat day of the week (?:is|was|will) (.+?)(?: be)?\?", question)
    if weekday:
        return f"weekday of {weekday[1]}"
    asked = re.search(r"\bWhat (?:is|was) (.+?)\?", question)
    return asked[1] if asked else question
