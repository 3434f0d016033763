"""The bounds that a schema sets for lengths and for numbers."""

from __future__ import annotations

from math import ceil, floor
from typing import Final

from local_react.gbnf.documents import NoValue, Schema
from local_react.gbnf.integers import DIGITS, integers

_FAR: Final = 10**DIGITS
"""What has more digits than a grammar's numbers bounds nothing there."""


def lengths(place: str, schema: Schema, least: str, most: str) -> tuple[int, int | None]:
    """Return the two bounds, not negative, that the keywords set for a length.

    Raises NoValue where they contradict each other.
    """
    low, high = _figure(schema, least), _figure(schema, most)
    found = 0 if low is None else max(ceil(low), 0)
    if high is not None and floor(high) < found:
        raise NoValue(f"{place}: its most, {high}, is less than its least, {found}")
    return found, None if high is None else floor(high)


def number(place: str, kind: str, schema: Schema) -> str:
    """Return an expression of a number: of a whole one exactly, else by its sign alone.

    Raises NoValue where no whole number is within the bounds.
    """
    least, most = _least(schema), _most(schema)
    if kind == "integer":
        if least is None and most is None:
            return "integer"
        if not (body := integers(least, most)):
            raise NoValue(f"{place}: no whole number is within its bounds")
        return body
    low, high = _figure(schema, "minimum"), _figure(schema, "exclusiveMaximum", "maximum")
    if (low is not None and low >= 0) or (least is not None and least > 0):
        return "magnitude"
    return '"-" magnitude' if high is not None and high < 0 else "number"


def _least(schema: Schema) -> int | None:
    low, above = _figure(schema, "minimum"), _figure(schema, "exclusiveMinimum")
    found = [] if low is None else [ceil(low)]
    found += [] if above is None else [floor(above) + 1]
    least = max(found, default=None)
    return None if least is not None and least <= -_FAR else least


def _most(schema: Schema) -> int | None:
    high, below = _figure(schema, "maximum"), _figure(schema, "exclusiveMaximum")
    found = [] if high is None else [floor(high)]
    found += [] if below is None else [ceil(below) - 1]
    most = min(found, default=None)
    return None if most is not None and most >= _FAR else most


def _figure(schema: Schema, *keywords: str) -> float | None:
    """Return the number that one of the keywords gives; what is none says nothing."""
    for keyword in keywords:
        found = schema.get(keyword)
        if isinstance(found, (int, float)) and not isinstance(found, bool):
            return found
    return None
