"""A place whose time can be told, made of a zone, a city, or a country or state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import Final

from local_react.errors import ToolError
from local_react.tools.cldr import country_name
from local_react.tools.current_time import regions, zones
from local_react.tools.current_time.cities import City, people_by_zone
from local_react.tools.current_time.regions import Region

_MOST: Final = 0.9
"""A country that so many have one time in is taken to have it; the answer says so."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place whose time can be told."""

    zone: tzinfo
    zone_name: str
    """Such as Asia/Tokyo, UTC+02:00 or EST."""
    name: str
    """What was taken, in a word or two."""
    taken: str = ""
    """What was taken, in full, where the zone's name doesn't say it."""
    note: str = ""


def place_of_city(city: City) -> Place:
    """Return the place of a city."""
    place = place_of_zone(city.zone, city.name, city.country)
    return replace(place, taken=full_name(city))


def full_name(city: City) -> str:
    """Return a city's name with its state, where states are known, and its country."""
    parts = (city.name, regions.state_of(city), country_name(city.country))
    return ", ".join(dict.fromkeys(part for part in parts if part))


def place_of_zone(zone: str, name: str, country: str | None) -> Place:
    """Return the place of a name in a country, or in none, that has the time of a zone."""
    parts = (name, country_name(country) if country else "")
    taken = ", ".join(dict.fromkeys(part for part in parts if part))
    return Place(zones.zone_named(zone), zone, name, taken)


def place_of_region(region: Region, moment: datetime) -> Place:
    """Return the place of a country or state that has one time now, or mostly.

    Raises ToolError where it has several.
    """
    name = region.state or country_name(region.country)
    listed = [] if region.code else zones.zones_of(region.country)
    if listed and len({zones.offset_at(moment, zone) for zone in listed}) == 1:
        return Place(zones.zone_named(listed[0]), listed[0], name, region.name)
    people = people_by_zone(region.country, region.code)
    times = _by_time(people, moment)
    if not times:
        raise ToolError(f"no time is known for {region.name}: write a city or zone near it")
    time, share = next(iter(times.items()))
    zone = next(zone for zone in people if zones.offset_at(moment, zone) == time)
    if share < _MOST:
        some = [*dict.fromkeys(_first_zones(people, times, moment))][:4]
        raise ToolError(
            f"{name} has several times: write a city or zone, such as {', '.join(some)}"
        )
    whole = len(times) == 1 and not listed
    taken = region.name if whole else f"most of {region.name}"
    return Place(zones.zone_named(zone), zone, name, taken)


def _by_time(people: Mapping[str, int], moment: datetime) -> Mapping[timedelta, float]:
    """Return the share of people that have each offset now, the largest first."""
    times: dict[timedelta, float] = {}
    for zone, count in people.items():
        offset = zones.offset_at(moment, zone)
        times[offset] = times.get(offset, 0) + count / (sum(people.values()) or 1)
    return dict(sorted(times.items(), key=lambda item: -item[1]))


def _first_zones(
    people: Mapping[str, int], times: Mapping[timedelta, float], moment: datetime
) -> Iterator[str]:
    """Yield the most populous zone of each time."""
    for time in times:
        yield next(zone for zone in people if zones.offset_at(moment, zone) == time)
