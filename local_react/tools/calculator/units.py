"""Numbers with a unit of measurement, computed with exactly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator import numbers
from local_react.tools.calculator.numbers import Number
from local_react.tools.calculator.unit_words import REGISTRY

Unit: TypeAlias = Any
"""A pint unit."""
Parts: TypeAlias = tuple[tuple[int, str], ...]

_TEMPERATURES: Final = {
    "C": "degree_Celsius",
    "F": "degree_Fahrenheit",
    "K": "kelvin",
    "celsius": "degree_Celsius",
    "fahrenheit": "degree_Fahrenheit",
}


def of(parts: Sequence[tuple[str, int]]) -> Unit:
    """Return the unit made of these, such as (("kilometer", 1), ("hour", -1))."""
    if sum(abs(power) for _, power in parts) > 24:
        raise ToolError("too large: a unit to so high a power; use smaller ones")
    registry = REGISTRY.units
    product = registry.Unit("")
    for name, power in parts:
        product = product * registry.Unit(registry.UnitsContainer({name: power}))
    return product


def encoded(parts: Sequence[tuple[str, int]], label: str) -> str:
    """Return a unit and how it was written as the text of a token."""
    return ",".join(f"{name}^{power}" for name, power in parts) + f";{label}"


def decoded(text: str) -> tuple[list[tuple[str, int]], str]:
    """Return the unit and the label of an encoded one."""
    units, _, label = text.partition(";")
    pairs = (each.rpartition("^") for each in units.split(","))
    return [(name, int(power)) for name, _, power in pairs], label


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of some unit, how the unit was written, and for a time its calendar parts."""

    number: Number
    unit: Unit
    label: str = ""
    parts: Parts = ()


def measured(number: Number, parts: Sequence[tuple[str, int]], label: str) -> Quantity:
    """Return the quantity of a number and a unit."""
    if label.casefold() in ("decade", "decades"):
        number, parts = numbers.multiply(number, numbers.integer(10)), (("year", 1),)
        label = "years"
    return Quantity(number, of(parts), label)


def _scales(quantity: Quantity) -> bool:
    """Return True for a temperature on a scale, with a zero of its own."""
    return not _one(quantity.unit)._is_multiplicative


def _one(unit: Unit) -> Any:
    return REGISTRY.units.Quantity(Fraction(1), unit)


def _check_multiplied(unit: Unit) -> None:
    """Raise ToolError for a temperature on a scale: twice 20 °C is not 40 °C."""
    if not _one(unit)._is_multiplicative:
        raise ToolError(
            "temperatures on a scale are not multiplied: convert them first, as in 20 degC to K"
        )


def convert(quantity: Quantity, parts: Sequence[tuple[str, int]], label: str) -> Quantity:
    """Return the quantity in another unit. Raises ToolError where it measures something else."""
    unit = of(parts)
    # Farads and coulombs are never converted into one another: degrees are meant.
    if quantity.label in _TEMPERATURES and (label in _TEMPERATURES or _measures_heat(unit)):
        quantity = Quantity(quantity.number, of(((_TEMPERATURES[quantity.label], 1),)))
    if label in _TEMPERATURES and _measures_heat(quantity.unit):
        unit = of(((_TEMPERATURES[label], 1),))
    if quantity.unit.dimensionality != unit.dimensionality:
        raise ToolError(
            f"{shown(quantity)} cannot be told in {label}: the two measure different things"
        )
    if _scales(quantity) or _scales(Quantity(quantity.number, unit)):
        number = _rational(quantity.number)
        return Quantity(_number(REGISTRY.units.convert(number, quantity.unit, unit)), unit, label)
    return Quantity(numbers.multiply(quantity.number, _factor(quantity.unit, unit)), unit, label)


def _measures_heat(unit: Unit) -> bool:
    return bool(unit.dimensionality == REGISTRY.units.kelvin.dimensionality)


def _factor(source: Unit, target: Unit) -> Number:
    return _number(REGISTRY.units.convert(Fraction(1), source, target))


def _number(value: Any) -> Number:
    exact = Fraction(value)
    return sp.Rational(exact.numerator, exact.denominator)


def _rational(value: Number) -> Fraction:
    if not value.is_Rational:
        value = sp.Rational(str(numbers.approximate(value, 30)))
    return Fraction(int(value.p), int(value.q))


def add(left: Quantity, right: Quantity) -> Quantity:
    """Return the sum in the left one's unit. Raises ToolError for different measures."""
    if left.unit.dimensionality != right.unit.dimensionality:
        raise ToolError(
            f"{shown(left)} and {shown(right)} cannot be added or compared: "
            "the two measure different things"
        )
    if _scales(left) or _scales(right) or {left.label, right.label} & {"F", "C"}:
        raise ToolError(
            "temperatures on a scale are not added: convert them first, as in 20 degC to K"
        )
    other = numbers.multiply(right.number, _factor(right.unit, left.unit))
    first, second = calendar_parts(left), calendar_parts(right)
    parts = _merged((*first, *second)) if first and second else ()
    return Quantity(numbers.add(left.number, other), left.unit, left.label, parts)


def _merged(parts: Parts) -> Parts:
    """Return the years, months, weeks and days, each once."""
    counts = dict.fromkeys(_CALENDAR, 0)
    for count, unit in parts:
        counts[unit] += count
    return tuple((count, unit) for unit, count in counts.items() if count)


_CALENDAR: Final = ("year", "month", "week", "day")


def scale(quantity: Quantity, number: Number) -> Quantity:
    """Return so many times the quantity."""
    if number not in (1, -1):
        _check_multiplied(quantity.unit)
    parts: Parts = ()
    if number.is_Integer:
        parts = tuple((count * int(number), unit) for count, unit in quantity.parts)
    return Quantity(numbers.multiply(quantity.number, number), quantity.unit, quantity.label, parts)


def multiply(left: Quantity, right: Quantity) -> Quantity | Number:
    """Return the product, a number where the units cancel."""
    return _reduced(numbers.multiply(left.number, right.number), left.unit * right.unit)


def divide(left: Quantity, right: Quantity) -> Quantity | Number:
    """Return the quotient, a number where the units cancel."""
    return _reduced(numbers.divide(left.number, right.number), left.unit / right.unit)


def invert(quantity: Quantity) -> Quantity:
    """Return 1 over the quantity."""
    one = numbers.integer(1)
    return Quantity(numbers.divide(one, quantity.number), quantity.unit**-1)


def power(quantity: Quantity, exponent: Number) -> Quantity | Number:
    """Return a power of the quantity. Raises ToolError for one that no unit can have."""
    fraction = Fraction(int(exponent.p), int(exponent.q)) if exponent.is_Rational else None
    powers = (
        []
        if fraction is None
        else [(name, fraction * power) for name, power in _powers(quantity.unit)]
    )
    if not powers or any(power.denominator != 1 for _, power in powers):
        raise ToolError("a unit takes no such power: work with the number alone")
    unit = of([(name, int(power)) for name, power in powers])
    return _reduced(numbers.power(quantity.number, exponent), unit)


def _reduced(number: Number, unit: Unit) -> Quantity | Number:
    """Return a product with units that measure the same put together: km/m is 1000."""
    _check_multiplied(unit)
    kept: dict[str, Fraction] = {}
    for name, power in _powers(unit):
        alike = next((other for other in kept if _measure_alike(other, name)), None)
        if alike is None:
            kept[name] = power
            continue
        factor = _factor(of(((name, 1),)), of(((alike, 1),)))
        number = numbers.multiply(number, numbers.power(factor, _number(power)))
        kept[alike] += power
    left = of([(name, int(power)) for name, power in kept.items() if power])
    # To pint bits and bytes have no dimension; to people they are a unit.
    if left.dimensionless and not any(name.endswith(("bit", "byte")) for name in kept):
        return numbers.multiply(number, _number(_one(left).to_base_units().magnitude))
    return Quantity(number, left) if any(kept.values()) else number


def _measure_alike(first: str, second: str) -> bool:
    units = REGISTRY.units
    return bool(units.Unit(first).dimensionality == units.Unit(second).dimensionality)


def calendar_parts(quantity: Quantity) -> Parts:
    """Return the whole years, months, weeks and days of a time, none where it has others."""
    if quantity.parts:
        return quantity.parts
    powers = _powers(quantity.unit)
    name = powers[0][0] if len(powers) == 1 and powers[0][1] == 1 else ""
    if name in _CALENDAR and quantity.number.is_Integer:
        return ((int(quantity.number), name),)
    if name in ("fortnight", "century") and quantity.number.is_Integer:
        count, unit = {"fortnight": (2, "week"), "century": (100, "year")}[name]
        return ((int(quantity.number) * count, unit),)
    return ()


def is_hours(quantity: Quantity) -> bool:
    return bool(quantity.unit == REGISTRY.units.hour)


def shown(quantity: Quantity) -> str:
    """Return a quantity's unit as it was written, or else its symbol."""
    return quantity.label or told_unit(quantity, one=True)


def told_unit(quantity: Quantity, *, one: bool) -> str:
    """Return the unit as text: km/h, m^2, hours."""
    if quantity.label:
        label = {"degC": "°C", "degF": "°F"}.get(quantity.label, quantity.label)
        return _counted(label, one=one)
    powers = _powers(quantity.unit)
    if len(powers) == 1 and powers[0][0] in _LONG and powers[0][1] == 1:
        return _counted(powers[0][0], one=one)
    above = "*".join(_symbol(name, power) for name, power in powers if power > 0)
    below = "".join(f"/{_symbol(name, -power)}" for name, power in powers if power < 0)
    return f"{above or '1'}{below}"


def _powers(unit: Unit) -> list[tuple[str, Fraction]]:
    return [(name, Fraction(power)) for name, power in unit._units.items()]


def _symbol(name: str, power: Fraction) -> str:
    symbol = str(REGISTRY.units.get_symbol(name))
    return symbol if power == 1 else f"{symbol}^{power}"


_IN_WORDS: Final = "second minute hour day week month year mile inch gallon pound"
_LONG: Final = frozenset(_IN_WORDS.split())


def _counted(label: str, *, one: bool) -> str:
    """Return a unit's word in the number that it needs: 1 hour, 2 hours."""
    if label in _LONG and not one:
        return label + ("es" if label == "inch" else "s")
    singular = re.sub("(?<=inch)es$|s$", "", label)
    return singular if one and singular in _LONG else label
