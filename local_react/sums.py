"""Sums that a text works out itself, and whether they are right.

A small model that reasons in words errs in the reckoning too: of its wrong answers to GSM8K's
word problems a third stand on a wrong sum, of the right ones none.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

_NUMBER: Final = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_SUM: Final = re.compile(
    rf"(?P<sum>[(\d$€£][\d\s.,()+*/×÷−$€£-]{{0,150}}?[\d)])\s?=\s?[$€£]?(?P<told>[-−]?{_NUMBER})"
    # What goes on, has a unit of its own or is one side of an equation tells another thing.
    r"(?![\d%:^]|[.,]\d|[^\W\d_]|\s*[-+*/×÷−=]|\s+[^\W\d_]\b)"
)
_PART_OF_MORE: Final = re.compile(
    r"(?:[\w.,:%]|[-+*/×÷−^=(]\s*|\b(?:plus|minus|times|of|[a-z])\s+)$", re.IGNORECASE
)
_SIGNS: Final = str.maketrans({"×": "*", "÷": "/", "−": "-", **dict.fromkeys("$€£, ")})
_BEFORE: Final = 10
"""Characters before a sum that tell whether it is a part of a larger one."""
_OPERATORS: Final[Mapping[type, Callable[[Fraction, Fraction], Fraction]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True, slots=True)
class WrongSum:
    """A sum as it stands in a text, what it was said to come to, and what it comes to."""

    sum: str
    told: str
    right: str


def wrong_sum(text: str) -> WrongSum | None:
    """Return the first sum in a text, of numbers alone, that comes to something else than it
    says, however that was rounded; None where there is none."""
    for found in _SUM.finditer(text):
        written, told = " ".join(found["sum"].split()), found["told"]
        if _PART_OF_MORE.search(text[max(0, found.start() - _BEFORE) : found.start()]):
            continue
        value = _value(written)
        if value is not None and abs(value - _number(told)) >= _last_place(told):
            return WrongSum(written, told, _told(value))
    return None


def _value(written: str) -> Fraction | None:
    """Return what a sum comes to; None where it is none, or has no value."""
    try:
        tree = ast.parse(written.translate(_SIGNS), mode="eval").body
        return _reckoned(tree) if isinstance(tree, ast.BinOp) else None
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


def _reckoned(tree: ast.expr) -> Fraction:
    """Return the value of a tree. Raises ValueError where there is more in it than numbers."""
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int | float):
        return Fraction(str(tree.value))
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -_reckoned(tree.operand)
    if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
        return _OPERATORS[type(tree.op)](_reckoned(tree.left), _reckoned(tree.right))
    raise ValueError(f"{tree} is no sum")


def _number(told: str) -> Fraction:
    return Fraction(told.translate(_SIGNS))


def _last_place(told: str) -> Fraction:
    """Return the value of the last place of a number: 0.01 of 2.50."""
    _, _, decimals = told.partition(".")
    return Fraction(1, 10 ** len(decimals))


def _told(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"
