"""Dates: days between them, and a date and an interval."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from datetime import MAXYEAR, date, timedelta
from typing import Final

from dateutil.relativedelta import relativedelta

from local_react.errors import ToolError

_MONTH_NAMES: Final = """
    january february march april may june july august september october november december
"""
_MONTHS: Final = _MONTH_NAMES.split()
_DAY_NAMES: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_DAYS: Final = _DAY_NAMES.split()
_MONTH: Final = "|".join(
    f"{month[:3]}(?:{month[3:]})?\\.?" if month[3:] else month for month in _MONTHS
)
_WEEKDAY: Final = "(?:" + "|".join(f"{day[:3]}(?:{day[3:]})?" for day in _DAYS) + r"),? "

DATE: Final = re.compile(
    rf"""(?<![\w./-])(?:
    (?P<iso>[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}})
    |(?P<slashed>[0-9]{{1,2}}/[0-9]{{1,2}}/[0-9]{{4}})
    |(?P<yearfirst>[0-9]{{4}}/[0-9]{{1,2}}/[0-9]{{1,2}})
    |(?P<dotted>[0-9]{{1,2}}\.[0-9]{{1,2}}\.[0-9]{{4}})
    |(?:{_WEEKDAY.replace(" ", "[ ]")})?(?:
        (?P<month>{_MONTH})[ ](?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,?[ ](?P<year>[0-9]{{4}})
        |(?P<day2>[0-9]{{1,2}})(?:st|nd|rd|th)?[ ](?:of[ ])?
            (?P<month2>{_MONTH}),?[ ](?P<year2>[0-9]{{4}})
    ))(?![\w/]|-[0-9]|\.[0-9])""",
    re.VERBOSE | re.IGNORECASE,
)
"""2024-01-16, 01/16/2024, 16.01.2024, January 16, 2024, 16 January 2024; those with a
weekday before."""
_CONTEXT: Final = re.compile(
    r"\b(?:days?|weeks?|months?|years?|weekday|between|until|since|today|tomorrow|yesterday)\b",
    re.IGNORECASE,
)


_LIKELY_YEARS: Final = range(1900, 2101)
"""A quotient by such a number is rarely meant: 8/31/2019."""


def is_day_first(text: str) -> bool:
    """Return True where one of the dates can only be day/month/year: so are the others."""
    slashed = [found[0].split("/") for found in DATE.finditer(text) if found["slashed"]]
    return any(int(first) > 12 >= int(second) for first, second, _ in slashed)


def has_context(text: str) -> bool:
    """Return True where what looks like a date is one: 2000-10-15 alone is 1975."""
    alike = [found for found in DATE.finditer(text) if found["iso"] or found["slashed"]]
    return len(alike) > 1 or bool(_CONTEXT.search(text))


def read(found: re.Match[str], *, certain: bool, day_first: bool = False) -> str | None:
    """Return what DATE found as yyyy-mm-dd, None where it may as well be a calculation.

    Raises ToolError for a day that the calendar does not have.
    """
    text = found[0]
    if found["iso"]:
        year, month, day = map(int, text.split("-"))
    elif found["slashed"]:
        month, day, year = map(int, text.split("/"))
        if day_first:
            month, day = day, month
    elif found["yearfirst"]:
        year, month, day = map(int, text.split("/"))
    elif found["dotted"]:
        day, month, year = map(int, text.split("."))
    else:
        named = (found["month"] or found["month2"]).casefold()
        month = 1 + next(n for n, name in enumerate(_MONTHS) if name.startswith(named[:3]))
        day, year = int(found["day"] or found["day2"]), int(found["year"] or found["year2"])
    signs = found["iso"] or found["slashed"] or found["yearfirst"]
    is_certain = not signs or certain or bool(re.search(r"(?<![0-9])0[0-9]", signs))
    if not is_certain and (found["iso"] or year not in _LIKELY_YEARS):
        return None
    try:
        return date(year, month, day).isoformat()
    except ValueError as error:
        if not is_certain:
            return None
        raise ToolError(f"{text} is no date: {error}; write it as yyyy-mm-dd") from error


def note(found: re.Match[str], *, day_first: bool = False) -> str:
    """Return how a date was read that could be another one, "" for the others."""
    if not found["slashed"]:
        return ""
    first, second, _ = map(int, found[0].split("/"))
    if first > 12 or second > 12 or first == second:
        return ""
    return f"{found[0]} is read as {'day/month' if day_first else 'month/day'}/year"


def parse(text: str) -> date:
    """Return the date of a yyyy-mm-dd text."""
    return date.fromisoformat(text)


def today(shift: int) -> str:
    """Return the local date, so many days on, as yyyy-mm-dd."""
    return (date.today() + timedelta(days=shift)).isoformat()


def told(day: date) -> str:
    """Return a date as text: 2001-01-15 (Monday)."""
    return f"{day.isoformat()} ({weekday(day)})"


def weekday(day: date) -> str:
    """Return the day of the week, in English."""
    return _DAYS[day.weekday()]


_CALENDAR: Final = {"year": "years", "month": "months", "week": "weeks", "day": "days"}


def shifted(day: date, parts: Sequence[tuple[int, str]]) -> date:
    """Return the date so many years, months, weeks and days on; the years and months
    first, where a day that the month does not have becomes its last.

    Raises ToolError outside the years 1 to 9999.
    """
    total = relativedelta()
    try:
        for count, unit in parts:
            total += relativedelta(**{_CALENDAR[unit]: count})  # type: ignore[arg-type]
        return day + total
    except (ValueError, OverflowError) as error:
        raise ToolError(f"too large: the date is not in the years 1 to {MAXYEAR}") from error


def calendar_between(first: date, last: date, unit: str) -> str:
    """Return the whole months or years from one date to another, and what is left: 13
    months 5 days."""
    gap = relativedelta(max(first, last), min(first, last))
    months = 12 * gap.years + gap.months
    counts = (
        [(months, "month")] if unit == "month" else [(gap.years, "year"), (gap.months, "month")]
    )
    counts.append((gap.days, "day"))
    told = [f"{count} {name}{'s' * (count != 1)}" for count, name in counts if count]
    return " ".join(told) or f"0 {unit}s"


def is_interval(word: str) -> bool:
    """Return True for days, weeks, months and years."""
    return word.casefold().rstrip("s") in _CALENDAR


def is_leap(year: int) -> bool:
    return calendar.isleap(year)
