"""The rules of grammar.lark for units and dates: what each is worth."""

from __future__ import annotations

from datetime import date
from typing import Any

from local_react.errors import ToolError
from local_react.tools.calculator import calls, dates, numbers, operators, units
from local_react.tools.calculator.conversions import convert as converted
from local_react.tools.calculator.units import Quantity
from local_react.tools.calculator.values import Content, Told, Value, kind, notes_of


def quantity(value: Value, unit: Any) -> Value:
    parts, label = units.decoded(str(unit))
    if kind(value.content) != "number":
        raise ToolError(f"a unit stands after a number, not after a {kind(value.content)}")
    return Value(units.measured(value.content, parts, label), "quantity", value.notes)


def join(left: Value, right: Value) -> Value:
    """3 h 20 min, 5 ft 3 in: the sum; the minutes of an hour may be written m."""
    second = right.content
    if units.is_hours(left.content) and second.label == "m":
        second = units.measured(second.number, (("minute", 1),), "min")
    minus = numbers.sign(left.content.number) < 0
    content = operators.add(left.content, operators.negate(second) if minus else second)
    return Value(content, notes=notes_of(left, right))


def convert(value: Value, _: Any, target: Any) -> Value:
    return Value(converted(value.content, str(target)), notes=value.notes)


def share(part: Value, _: Any, whole: Value) -> Value:
    share = operators.divide(part.content, whole.content)
    return Value(converted(share, "percent"), notes=notes_of(part, whole))


def weekday(_: Any, value: Value) -> Value:
    return Value(calls.apply("weekday", [value.content]), notes=value.notes)


def days_between(*children: Any) -> Value:
    first, last = (child for child in children if isinstance(child, Value))
    days = operators.days_between(first.content, last.content)
    if any(getattr(child, "type", "") == "BETWEEN" for child in children):
        days = calls.apply("abs", [days])  # whichever of the two is named first
    if _unit_of(children[0]) in ("month", "year"):
        return Value(
            Told(dates.calendar_between(first.content, last.content, _unit_of(children[0]))),
            notes=notes_of(first, last),
        )
    return _counted(children[0], days, first, last)


def _unit_of(word: Any) -> str:
    """Return the unit that is asked for, "" where none is."""
    return str(word).partition("^")[0] if getattr(word, "type", "") == "UNIT" else ""


def days_until(*children: Any) -> Value:
    day = children[-1]
    return _counted(children[0], operators.days_between(_today(), day.content), day)


def days_since(*children: Any) -> Value:
    day = children[-1]
    return _counted(children[0], operators.days_between(day.content, _today()), day)


def _today() -> date:
    return dates.parse(dates.today(0))


def _counted(word: Any, days: Quantity, *values: Value) -> Value:
    """Return the days, in the unit that was asked for."""
    content: Content = days
    if _unit_of(word) not in ("", "day"):
        content = converted(days, str(word))
    return Value(content, notes=notes_of(*values))
