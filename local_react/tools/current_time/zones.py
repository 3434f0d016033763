"""The IANA time zone database: its zones, which country each lies in, and old names."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from local_react.errors import ToolError
from local_react.tools.names import key, plain

_NO_PLACES: Final = ("Etc/", "US/", "Canada/", "Mexico/", "Brazil/", "Chile/", "SystemV/")
"""Zones of these areas repeat a place under another name, or name none."""
_NOT_THE_LARGEST: Final = ("Antarctica/", "Pacific/")
"""Where a zone is named after a small place: most who say Norfolk mean another."""


def zone_named(name: str) -> tzinfo:
    """Return the zone. Raises ToolError where this machine's database lacks it."""
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError) as error:
        raise ToolError(f"no zone {name} on this machine: pip install -U tzdata") from error


def offset_at(moment: datetime, zone: str) -> timedelta:
    """Return what a zone is ahead of UTC at a moment."""
    return moment.astimezone(zone_named(zone)).utcoffset() or timedelta()


@cache
def full_names() -> Mapping[str, str]:
    """Return each zone by its name, such as asia/tokyo; empty without a database."""
    zones = zoneinfo.available_timezones() - {"localtime", "Factory"}
    return {plain(zone).replace("_", " "): zone for zone in sorted(zones)}


@cache
def listed() -> tuple[tuple[str, str], ...]:
    """Return (country code, zone) pairs of the zones that are not old names."""
    return tuple((row[0], row[2]) for row in _table("zone.tab"))


def zones_of(country: str) -> Sequence[str]:
    """Return the zones of a country, most often the most populous first."""
    return [zone for code, zone in listed() if code == country]


def country_of(zone: str) -> str | None:
    """Return the code of the country that a zone is listed in."""
    return next((code for code, its_zone in listed() if its_zone == zone), None)


def is_well_known(zone: str) -> bool:
    """Return whether a zone that is named after a city is named after the largest of
    that name, which is so of most that have no third part."""
    return zone.count("/") == 1 and not zone.startswith(_NOT_THE_LARGEST)


@cache
def listed_cities() -> Mapping[str, str]:
    """Return the zones that are named after a well-known city, by its key."""
    return {city_key(zone): zone for _, zone in listed() if is_well_known(zone)}


@cache
def other_places() -> Mapping[str, str]:
    """Return the zones by the key of the place that they are named after, old names too;
    what is listed wins."""
    current = {zone for _, zone in listed()}
    zones = (zone for zone in full_names().values() if "/" in zone)
    named = (zone for zone in zones if not zone.startswith(_NO_PLACES))
    return {city_key(zone): zone for zone in sorted(named, key=lambda zone: zone in current)}


def city_of(zone: str) -> str:
    """Return the place that a zone is named after, such as New York."""
    return zone.rpartition("/")[2].replace("_", " ")


def city_key(zone: str) -> str:
    """Return the key of the place that a zone is named after."""
    return key(city_of(zone))


def _table(name: str) -> Iterator[list[str]]:
    """Yield the rows of a table beside the zones; none where it is not installed.

    Format: the comment at the head of zone.tab in the IANA time zone database.
    """
    for folder in (*map(Path, zoneinfo.TZPATH), None):
        try:
            root = folder or resources.files("tzdata") / "zoneinfo"
            text = (root / name).read_text(encoding="utf-8")
        except (OSError, ModuleNotFoundError):
            continue
        yield from (row.split("\t") for row in text.splitlines() if not row.startswith("#"))
        return
