"""Times without a place: UTC+2, EST, Central European Time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Final

from local_react.errors import ToolError
from local_react.tools.cldr import english, get_global
from local_react.tools.current_time.zones import country_of, listed, offset_at, zone_named, zones_of
from local_react.tools.names import plain

_OFFSET: Final = re.compile(
    r"(?:utc|gmt)? ?([+-]|plus|minus) ?(\d{1,2})(?::?([0-5]\d)|[.](25|5|75))? ?(?:h|hrs?|hours?)?"
)
_MOST: Final = {"+": timedelta(hours=14), "-": timedelta(hours=12)}
"""Kiribati's, and Baker Island's: no place is further from UTC."""


def fixed_offset(name: str) -> timezone | None:
    """Return the offset that UTC+2, GMT-3:30, +0530 or UTC plus 5.5 hours means, else None."""
    match = _OFFSET.fullmatch(name)
    if match is None:
        return None
    said, hours, minutes, part = match.groups()
    sign = {"plus": "+", "minus": "-"}.get(said, said)
    offset = timedelta(hours=float(f"{hours}.{part or 0}"), minutes=int(minutes or 0))
    if offset > _MOST[sign]:
        raise ToolError(f"no place has the offset {name!r}: write one from UTC-12 to UTC+14")
    return timezone(-offset if sign == "-" else offset)


def offset_text(offset: timedelta) -> str:
    """Return an offset such as UTC+05:30."""
    minutes = round(offset.total_seconds() / 60)
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def abbreviated(name: str, moment: datetime) -> tuple[timezone, str] | None:
    """Return the time that an abbreviation such as EST stands for in the year of the
    moment, and a note for the reader; None where it is none. Of several meanings the one
    in the United States is taken, and the note says so.

    Raises ToolError where it has several and none there.
    """
    short = name.upper()
    uses = _abbreviations(moment.year).get(short)
    if uses is None:
        return None
    homes = [offset for offset, zone in uses.items() if country_of(zone) == "US"]
    if len(uses) > 1 and len(homes) != 1:
        raise ToolError(f"{short} could be {_uses(uses)}: write the city or zone")
    chosen = homes[0] if homes else next(iter(uses))
    others = {offset: zone for offset, zone in uses.items() if offset != chosen}
    notes = [_changed(short, uses[chosen], moment)]
    if others:
        notes.append(f"{short} is also {_uses(others)}")
    return timezone(chosen, short), "; ".join(note for note in notes if note)


def _uses(uses: Mapping[timedelta, str]) -> str:
    return ", ".join(f"{zone} ({offset_text(offset)})" for offset, zone in uses.items())


def _changed(short: str, zone: str, moment: datetime) -> str:
    """Return what the clocks of an abbreviation's zone show now, where it's not that."""
    there = moment.astimezone(zone_named(zone))
    if there.tzname() == short:
        return ""
    return f"{zone} now has {there.tzname()}, {offset_text(there.utcoffset() or timedelta())}"


@lru_cache(maxsize=4)
def _abbreviations(year: int) -> Mapping[str, Mapping[timedelta, str]]:
    """Return what each abbreviation means in a year: for each offset from UTC a zone, of
    the United States or a large city where there is one, and one that keeps to it."""
    large = set(get_global("windows_zone_mapping").values())

    def order(row: tuple[str, str]) -> tuple[bool, bool, int]:
        country, zone = row
        return country != "US", zone not in large, len(set(_names_in(zone, year)))

    found: dict[str, dict[timedelta, str]] = {}
    for _, zone in sorted(listed(), key=order):
        for short, offset in _names_in(zone, year):
            found.setdefault(short, {}).setdefault(offset, zone)
    return found


def _names_in(zone: str, year: int) -> Iterator[tuple[str, timedelta]]:
    """Yield the abbreviations in January and July, where they are letters."""
    for month in (1, 7):
        there = datetime(year, month, 15, tzinfo=timezone.utc).astimezone(zone_named(zone))
        short, offset = there.tzname(), there.utcoffset()
        if short and short.isalpha() and offset is not None:
            yield short, offset


def long_name(name: str) -> str | None:
    """Return a zone of the time that CLDR's English calls so, such as Pacific Time,
    India Standard Time or ET; None where there is none."""
    for meta, names in english().meta_zones.items():
        long, short = dict(names.get("long", {})), dict(names.get("short", {}))
        if name in {plain(text) for text in (*long.values(), *short.values())}:
            return _current_name(_main_zone(meta, long.get("standard", "")))
    return None


def _main_zone(meta: str, standard: str) -> str:
    """Return the zone of a large city that keeps the time: the one that Windows has under
    the same name, else one that it knows."""
    windows = get_global("windows_zone_mapping")
    zones = [zone for zone, its_meta in get_global("meta_zones").items() if its_meta == meta]
    large = set(windows.values())
    return str(windows.get(standard) or next((z for z in zones if z in large), zones[0]))


def _current_name(zone: str) -> str:
    """Return the name that IANA lists for a zone, which CLDR may know by an older one."""
    if country_of(zone):
        return zone
    zone = get_global("zone_aliases").get(zone, zone)
    home = get_global("zone_territories").get(zone, "")
    return next((new for new in zones_of(home) if _alike(zone, new)), zone)


def _alike(one: str, other: str) -> bool:
    """Return whether two zones have the same time all this year."""
    year = datetime.now(timezone.utc).year
    moments = [datetime(year, month, 15, tzinfo=timezone.utc) for month in range(1, 13)]
    return all(offset_at(moment, one) == offset_at(moment, other) for moment in moments)
