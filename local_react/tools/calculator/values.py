"""What an expression can be worth, beside a real number of sympy's."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal, TypeAlias

import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator.numbers import Number
from local_react.tools.calculator.units import Quantity

Content: TypeAlias = Any
"""A number, a sympy expression with unknowns, or one of the classes below."""


@dataclass(frozen=True, slots=True)
class Complex:
    """A number off the real line, by its two parts."""

    real: Number
    imaginary: Number


@dataclass(frozen=True, slots=True)
class Equation:
    """Two sides, and what is said of them: =, <, <=, > or >=."""

    left: Number
    sign: str
    right: Number


@dataclass(frozen=True, slots=True)
class Told:
    """A result that is words already: a factorisation, a weekday."""

    text: str


Form: TypeAlias = Literal["plain", "percent", "quotient", "tuple", "quantity"]


@dataclass(frozen=True, slots=True)
class Value:
    """A value on its way up the tree, how it was written, and what to say about it."""

    content: Content
    form: Form = "plain"
    notes: tuple[str, ...] = ()


def notes_of(*values: Value) -> tuple[str, ...]:
    """Return the notes of several values, in their order."""
    return tuple(note for value in values for note in value.notes)


MAX_ITEMS: Final = 400
"""Values in a list or matrix."""
MAX_PARTS: Final = 3000
"""Parts of a sympy expression."""


def kind(content: Content) -> str:
    """Return what sort of value it is, in a word for people."""
    if isinstance(content, bool):
        return "true or false"
    for cls, name in _KINDS:
        if isinstance(content, cls):
            return name
    if content.is_Rational or not (content.free_symbols or content.has(sp.oo, sp.zoo, sp.nan)):
        return "number"
    return "formula"


_KINDS: Final[tuple[tuple[type, str], ...]] = (
    (Complex, "complex number"),
    (Quantity, "quantity"),
    (date, "date"),
    (tuple, "list"),
    (Equation, "relation"),
    (Told, "text"),
)


def is_matrix(content: Content) -> bool:
    """Return True for a list of equally long lists."""
    return (
        isinstance(content, tuple)
        and bool(content)
        and all(isinstance(row, tuple) and row for row in content)
        and len({len(row) for row in content}) == 1
    )


def bounded(formula: Content) -> Content:
    """Return a formula that is fit to go on with. Raises ToolError for one too large."""
    for count, part in enumerate(sp.preorder_traversal(formula)):
        if count > MAX_PARTS:
            raise ToolError("too large: the formula has too many parts; work with a shorter one")
        if part.is_Integer and int(part).bit_length() > 60_000:
            raise ToolError("too large: a number in the formula is too long; use smaller ones")
    if formula.has(sp.zoo, sp.nan):
        raise ToolError("undefined: there is no such value")
    return formula
