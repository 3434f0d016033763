"""The operators, for each sort of value; the numbers' own are in `numbers`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, Final

import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator import complexes, dates, functions, matrices, numbers, units
from local_react.tools.calculator.units import Quantity
from local_react.tools.calculator.values import Complex, Content, bounded, kind

_MAX_POWER: Final = 1000
"""An exponent of a formula."""
_MAX_BITS: Final = 20_000


def add(left: Content, right: Content) -> Content:
    """Return left + right. Raises ToolError where the two do not go together."""
    kinds = {kind(left), kind(right)}
    if kinds == {"number"}:
        return numbers.add(left, right)
    if kinds <= {"number", "complex number"}:
        return complexes.add(left, right)
    if kinds <= {"number", "formula"}:
        return bounded(left + right)
    if kinds == {"quantity"}:
        return units.add(left, right)
    if kinds == {"date", "quantity"}:
        day, interval = (left, right) if isinstance(left, date) else (right, left)
        return _shifted(day, interval)
    if matrices.both(left, right):
        return matrices.entrywise(add, left, right)
    raise _misfit(left, "+", right)


def _shifted(day: date, interval: Quantity) -> date:
    parts = units.calendar_parts(interval)
    if not parts:
        days = units.convert(interval, (("day", 1),), "days").number
        if not days.is_Integer:
            raise ToolError("a date takes whole days: write years, months, weeks or days")
        parts = ((int(days), "day"),)
    return dates.shifted(day, parts)


def negate(value: Content) -> Content:
    if kind(value) in ("number", "formula"):
        return -value
    return multiply(numbers.integer(-1), value)


def subtract(left: Content, right: Content) -> Content:
    """Return left - right; of two dates, the days between them."""
    if isinstance(left, date) and isinstance(right, date):
        return days_between(right, left)
    if isinstance(right, date):
        raise _misfit(left, "-", right)
    return add(left, negate(right))


def days_between(first: Content, last: Content) -> Quantity:
    """Return the days from one date to the other, negative where it is earlier."""
    if not (isinstance(first, date) and isinstance(last, date)):
        raise ToolError("days are counted between two dates: write them as yyyy-mm-dd")
    days = numbers.integer((last - first).days)
    return units.measured(days, (("day", 1),), "days")


def multiply(left: Content, right: Content) -> Content:
    """Return left * right. Raises ToolError where the two do not go together."""
    kinds = {kind(left), kind(right)}
    if kinds == {"number"}:
        return numbers.multiply(left, right)
    if kinds <= {"number", "complex number"}:
        return complexes.multiply(left, right)
    if kinds <= {"number", "formula"}:
        return bounded(left * right)
    if kinds == {"quantity"}:
        return units.multiply(left, right)
    if kinds == {"number", "quantity"}:
        return units.scale(left, right) if isinstance(left, Quantity) else units.scale(right, left)
    if matrices.either(left, right):
        return matrices.multiply(left, right)
    raise _misfit(left, "*", right)


def divide(left: Content, right: Content) -> Content:
    """Return left / right. Raises ToolError where the two do not go together, or for a
    division by zero."""
    kinds = {kind(left), kind(right)}
    if kinds == {"number"}:
        return numbers.divide(left, right)
    if kinds <= {"number", "complex number"}:
        return complexes.divide(left, right)
    if kinds <= {"number", "formula"}:
        if right.is_zero:
            raise ToolError("division by zero: the number divided by is 0")
        return bounded(left / right)
    if kinds == {"quantity"}:
        return units.divide(left, right)
    if kind(right) == "number" and (isinstance(left, Quantity) or matrices.either(left, right)):
        return multiply(left, numbers.divide(numbers.integer(1), right))
    if kind(left) == "number" and isinstance(right, Quantity):
        return units.scale(units.invert(right), left)
    raise _misfit(left, "/", right)


def power(base: Content, exponent: Content) -> Content:
    """Return base ^ exponent. Raises ToolError for one too large."""
    kinds = {kind(base), kind(exponent)}
    if kinds == {"number"}:
        return numbers.power(base, exponent)
    if kinds <= {"number", "complex number"}:
        return complexes.power(base, exponent)
    if kinds <= {"number", "formula"}:
        return _formula_power(base, exponent)
    if isinstance(base, Quantity) and kind(exponent) == "number":
        return units.power(base, exponent)
    if matrices.either(base, exponent):
        return matrices.power(base, exponent)
    raise _misfit(base, "^", exponent)


def _formula_power(base: Content, exponent: Content) -> Content:
    if exponent.is_Rational and max(abs(int(exponent.p)), int(exponent.q)) > _MAX_POWER:
        raise ToolError(f"too large: a formula takes exponents up to {_MAX_POWER}")
    return bounded(base**exponent)


def modulo(left: Content, right: Content) -> Content:
    if kind(left) == kind(right) == "number":
        return functions.modulo(left, right)
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        right = units.convert(right, list(left.unit._units.items()), left.label)
        return Quantity(functions.modulo(left.number, right.number), left.unit, left.label)
    if {kind(left), kind(right)} <= {"number", "formula"}:
        return bounded(sp.Mod(left, right))
    raise _misfit(left, "mod", right)


def floor_divide(left: Content, right: Content) -> Content:
    quotient = divide(left, right)
    if kind(quotient) != "number":
        raise _misfit(left, "//", right)
    return functions.floor(quotient)


def compare(left: Content, right: Content) -> int:
    """Return -1, 0 or 1 where left is below, equal to or above right."""
    kinds = {kind(left), kind(right)}
    if kinds <= {"number", "true or false"}:
        return numbers.compare(as_number(left), as_number(right))
    if kinds == {"quantity"}:
        return numbers.sign(units.add(left, units.scale(right, numbers.integer(-1))).number)
    if kinds == {"date"}:
        return bool(left > right) - bool(left < right)
    raise _misfit(left, "and", right)


def equal(left: Content, right: Content) -> bool:
    """Return whether the two are the same; numbers that differ in no known digit are."""
    if kind(left) == kind(right) and kind(left) in ("complex number", "list"):
        return bool(left == right)
    if {kind(left), kind(right)} == {"complex number", "number"}:
        return False
    return compare(left, right) == 0


def as_number(value: Content) -> Content:
    """Return 1 for true and 0 for false, so that (5 > 3) * 10 is 10."""
    return numbers.integer(int(value)) if isinstance(value, bool) else value


def truth(value: Content) -> bool:
    """Return whether a value holds: true, or a number other than 0."""
    if isinstance(value, bool):
        return value
    if kind(value) == "number":
        return numbers.sign(value) != 0
    raise ToolError(f"a {kind(value)} is neither true nor false: compare it with something")


def bitwise(sign: str, left: Content, right: Content) -> Content:
    """Return the bits of two whole numbers put together: &, |, xor, <<, >>."""
    if isinstance(left, bool) and isinstance(right, bool) and sign in ("&", "|", "xor"):
        return {"&": left and right, "|": left or right, "xor": left != right}[sign]
    a, b = _whole(left, sign), _whole(right, sign)
    if sign in ("<<", ">>"):
        if not 0 <= b <= _MAX_BITS:
            raise ToolError(f"too large: {sign} takes 0 to {_MAX_BITS} places")
        return numbers.settle(numbers.integer(a << b if sign == "<<" else a >> b))
    compute: dict[str, Callable[[int, int], int]] = {
        "&": int.__and__,
        "|": int.__or__,
        "xor": int.__xor__,
    }
    return numbers.integer(compute[sign](a, b))


def invert_bits(value: Content) -> Content:
    return numbers.integer(~_whole(value, "~"))


def _whole(value: Content, sign: str) -> int:
    if kind(value) != "number" or not value.is_Integer:
        raise ToolError(f"{sign} takes whole numbers only")
    return int(value)


def _misfit(left: Any, sign: str, right: Any) -> ToolError:
    kinds = (kind(left), kind(right))
    if "list" in kinds:
        advice = "write sum(...) or mean(...) of a list, or a matrix as [[1, 2], [3, 4]]"
    elif "quantity" in kinds and "number" in kinds:
        advice = "give both a unit, or none"
    elif "date" in kinds:
        advice = "to a date add days, weeks, months or years, as in 2024-01-31 + 2 weeks"
    elif isinstance(left, Complex) or isinstance(right, Complex):
        advice = "complex numbers have no order"
    else:
        advice = "compute them apart"
    return ToolError(f"a {kinds[0]} {sign} a {kinds[1]} has no meaning: {advice}")
