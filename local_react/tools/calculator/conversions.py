"""What stands after "in" or "to": a unit, a base, a way to tell a number."""

from __future__ import annotations

from typing import Final

from local_react.errors import ToolError
from local_react.tools.calculator import functions, numbers, operators, units
from local_react.tools.calculator.answer import answer, decimal, fraction, numeral, scientific
from local_react.tools.calculator.units import Quantity
from local_react.tools.calculator.values import Content, Told, kind

_BASES: Final = range(2, 37)


def convert(value: Content, target: str) -> Content:
    """Return the value as the target says: a UNIT's or TARGET's text of `reader`.

    Raises ToolError where the value cannot be told so.
    """
    if ";" in target:
        return _in_unit(value, target)
    if target.startswith("base "):
        return _in_base(value, int(target[5:]))
    if kind(value) != "number":
        raise ToolError(f"a {kind(value)} is not told as {target}: only a number is")
    if target in ("deg", "rad"):
        angle = numbers.divide(value, numbers.constant(target))
        return Told(f"{decimal(angle)} {'degrees' if target == 'deg' else 'radians'}")
    if target == "percent":
        return Told(f"{decimal(operators.multiply(value, numbers.integer(100)))}%")
    return Told({"fraction": fraction, "decimal": decimal, "scientific": scientific}[target](value))


def _in_unit(value: Content, target: str) -> Content:
    parts, label = units.decoded(target)
    if not isinstance(value, Quantity):
        raise ToolError(
            f"{answer(value) if kind(value) == 'number' else 'it'} has no unit to "
            f"convert into {label}: write one, as in 5 km in miles"
        )
    return units.convert(value, parts, label)


def _in_base(value: Content, base: int) -> Content:
    if base not in _BASES:
        raise ToolError(f"a base is a whole number from 2 to 36, not {base}")
    return Told(numeral(functions.whole(value, f"base {base}"), base))
