"""What place a name means: an IANA zone, a country, a state or a city, and its time."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from itertools import product
from typing import Final

from local_react.errors import ToolError
from local_react.tools.cldr import country_name, english_countries
from local_react.tools.current_time import regions, zones
from local_react.tools.current_time.cities import (
    City,
    cities_called,
    city_known_far_away,
    near_names,
)
from local_react.tools.current_time.offsets import (
    abbreviated,
    fixed_offset,
    long_name,
)
from local_react.tools.current_time.place import (
    Place,
    full_name,
    place_of_city,
    place_of_region,
    place_of_zone,
)
from local_react.tools.current_time.regions import Region
from local_react.tools.names import key, plain

_HERE: Final = frozenset({"", "local", "local time", "here", "now", "home", "my", "me"})
_UTC: Final = frozenset(
    {"utc", "z", "zulu", "gmt", "utc+0", "utc-0", "coordinated universal", "greenwich mean"}
)
_ALSO: Final[Mapping[str, str]] = {
    "art": "America/Argentina/Buenos_Aires",
    "bali": "Asia/Makassar",
    "bavaria": "Europe/Berlin",
    "bay area": "san francisco, california",
    "british": "Europe/London",
    "british summer": "Europe/London",
    "brt": "America/Sao_Paulo",
    "canary islands": "Atlantic/Canary",
    "catalonia": "Europe/Madrid",
    "chatham islands": "Pacific/Chatham",
    "crete": "Europe/Athens",
    "easter island": "Pacific/Easter",
    "falklands": "Atlantic/Stanley",
    "goa": "Asia/Kolkata",
    "gst": "Asia/Dubai",
    "hollywood": "los angeles",
    "ict": "Asia/Bangkok",
    "indian standard": "Asia/Kolkata",
    "irish standard": "Europe/Dublin",
    "java": "Asia/Jakarta",
    "la": "los angeles",
    "lord howe island": "Australia/Lord_Howe",
    "midway": "Pacific/Midway",
    "myt": "Asia/Kuala_Lumpur",
    "nyc": "new york",
    "pht": "Asia/Manila",
    "sardinia": "Europe/Rome",
    "sf": "san francisco, california",
    "sgt": "Asia/Singapore",
    "sicily": "Europe/Rome",
    "silicon valley": "san jose, california",
    "svalbard": "Arctic/Longyearbyen",
    "tibet": "Asia/Shanghai",
    "tuscany": "Europe/Rome",
    "washington": "washington, dc",
}
"""What people say that IANA, CLDR and GeoNames don't have, or have for another place:
its zone, or a name that is known."""
_AREAS: Final = frozenset(
    {"africa", "america", "asia", "atlantic", "australia", "europe", "indian", "pacific"}
)
"""What IANA's names begin with: Asia/Beijing is none of them, and is often written."""
_MANY_TIMES: Final = frozenset(
    {"africa", "america", "asia", "europe", "eu", "european union", "north america"}
    | {"south america", "latin america", "oceania", "middle east", "world"}
)
"""Parts of the world that are asked for, and that towns somewhere are called, too."""
_MINUSES: Final = str.maketrans("−–—", "---")
_ASKED: Final = re.compile(
    r"^(?:what(?: is|'s|s)? )?(?:the )?(?:current |local |exact )*(?:date and )?"
    r"(?:time|date)?(?: is it)?(?: right)?(?: now)? ?(?:in|at|of) "
)
_SAID: Final = re.compile(r"(?: right)? now$")
_TIME: Final = re.compile(r" (?:local )?time(?: ?zone)?$")
_BRACKETS: Final = re.compile(r" ?\((.+)\)$")


def find(asked: str, moment: datetime) -> Place:
    """Return the place that a name means at a moment.

    Raises ToolError, with near names or what to write, where it means none or too many.
    """
    place = search(asked, moment)
    if place is None:
        raise unknown(asked)
    return place


def search(asked: str, moment: datetime, *, quickly: bool = False) -> Place | None:
    """Return the place that a name means at a moment, None where it means none.

    With `quickly` only zones, countries, states and the cities of the database are known.
    Raises ToolError where it means too many, or there is no database.
    """
    name = _said(asked)
    name = _ALSO.get(key(_TIME.sub("", name)), name).casefold().replace("_", " ")
    if (place := _without_database(_TIME.sub("", name), moment)) is not None:
        return place
    if _TIME.sub("", name).removeprefix("the ") in _MANY_TIMES:
        raise ToolError(f"{asked.strip()} has many times: write a city or a country there")
    if not zones.full_names():
        raise ToolError(
            "no time zone database on this machine: pip install tzdata "
            "(UTC, offsets such as UTC+2, and local time work without it)"
        )
    rules = [_of_short_rules, _of_country, _of_listed_city, _of_state]
    if not quickly:
        # França is France; franca is a city. That is seen only before accents are lost.
        rules += [*([] if asked.isascii() else [_of_country_abroad]), _of_parts, _of_city]
    return next((place for rule in rules if (place := rule(name, moment)) is not None), None)


def _said(asked: str) -> str:
    """Return the name in what was asked: without case, accents and words about time."""
    name = plain(asked.translate(_MINUSES)).replace("_", " ").strip(" .?!\"'")
    name = _BRACKETS.sub(r", \1", _ASKED.sub("", name))
    return _SAID.sub("", name).strip()


def _without_database(name: str, moment: datetime) -> Place | None:
    if name in _HERE:
        return Place(moment.astimezone().tzinfo or timezone.utc, "local time", "here")
    if name in _UTC:
        return Place(timezone.utc, "UTC", "UTC")
    offset = fixed_offset(name)
    return Place(offset, str(offset), str(offset)) if offset else None


def _of_short_rules(name: str, moment: datetime) -> Place | None:
    """Return the place of an abbreviation, a zone's full name or a time's name."""
    short = _TIME.sub("", name)
    if short.isascii() and short.isalpha() and (found := abbreviated(short, moment)):
        offset, note = found
        return Place(offset, short.upper(), short.upper(), note=note)
    zone = zones.full_names().get(name)
    if zone and ("/" in zone or key(name) not in english_countries()):
        return Place(zones.zone_named(zone), zone, zones.city_of(zone))
    if (zone := long_name(name)) and (name == short or short not in english_countries()):
        return Place(zones.zone_named(zone), zone, name.title() if " " in name else name.upper())
    return None


def _of_country(name: str, moment: datetime) -> Place | None:
    """Return the place of a country by itself."""
    country = regions.country_called(key(_TIME.sub("", name)))
    return place_of_region(country, moment) if country else None


def _of_state(name: str, moment: datetime) -> Place | None:
    """Return the place of a state or province by itself."""
    state = regions.state_called(key(_TIME.sub("", name)))
    return place_of_region(state, moment) if state else None


def _of_listed_city(name: str, moment: datetime) -> Place | None:
    """Return the place of a city that a zone is named after, perhaps with its country."""
    name, _, home = _TIME.sub("", name).partition(",")
    zone = zones.listed_cities().get(key(name))
    country = zones.country_of(zone) if zone else None
    if zone is None or (home and english_countries().get(key(home)) != country):
        return None
    return place_of_zone(zone, zones.city_of(zone), country)


def _of_parts(name: str, moment: datetime) -> Place | None:
    """Return the place of a name that says where it is: "Portland, Maine", "Portland
    Maine", Asia/Beijing."""
    name = _TIME.sub("", name)
    if "/" in name:
        area, _, city = name.rpartition("/")
        if area in _AREAS:
            return _largest(key(city), lambda city: plain(city.zone).startswith(f"{area}/"))
        return _within(city, [area], moment) if _meanings(area) else None
    if "," in name:
        city, *homes = (part.strip() for part in name.split(","))
        return _within(city, [home for home in homes if home], moment)
    words = name.split()
    for count in range(1, min(4, len(words))):
        if (choices := _meanings(" ".join(words[-count:]))) and (
            found := _largest_in(key(" ".join(words[:-count])), [choices])
        ):
            return found
    return None


def _of_country_abroad(name: str, moment: datetime) -> Place | None:
    """Return the place of a country's name in another language."""
    country = regions.country_called_abroad(key(name))
    return place_of_region(country, moment) if country else None


def _of_city(name: str, moment: datetime) -> Place | None:
    """Return the place of the largest city of a name, a country's name in another
    language, or the place that a zone is named after."""
    if "/" in name or "," in name:
        return None
    name = key(_TIME.sub("", name))
    if city := city_known_far_away(name):
        return place_of_city(city)
    if place := _of_country_abroad(name, moment) or _largest(name):
        return place
    zone = zones.other_places().get(name)
    return place_of_zone(zone, zones.city_of(zone), zones.country_of(zone)) if zone else None


def _within(name: str, homes: Sequence[str], moment: datetime) -> Place | None:
    """Return the place of a city in a country or state, else of that, which a note says."""
    known = [choices for home in homes if (choices := _meanings(home))]
    if not known:
        return _beside(name, homes, moment)
    if found := _largest_in(key(name), known):
        return found
    state = regions.state_called(key(name))
    if state and any(state.country == region.country for region in known[-1]):
        return place_of_region(state, moment)
    place = place_of_region(known[0][0], moment)
    return replace(place, note=f"no {name.title()!r} is known there")


def _beside(name: str, homes: Sequence[str], moment: datetime) -> Place | None:
    """Return the place of a city where the region is no known one: it may be called after
    its largest city, or all cities of that name may have one time."""
    found = cities_called(key(name))
    if not _agree(found, moment):
        around = {(c.country, c.region) for home in homes for c in cities_called(key(home))}
        found = [city for city in found if (city.country, city.region) in around] or found
    if _agree(found, moment):
        return place_of_city(found[0]) if found else None
    named = [f"{full_name(city)} ({city.zone})" for city in found[:3]]
    raise ToolError(
        f"{', '.join(homes).title()!r} is no region known here, and {name.title()!r} is in "
        f"several: write one of {'; '.join(named)}"
    )


def _agree(cities: Sequence[City], moment: datetime) -> bool:
    return len({zones.offset_at(moment, city.zone) for city in cities}) < 2


def _meanings(name: str) -> Sequence[Region]:
    """Return the regions that a name may mean, a state before a country."""
    name = key(name)
    found = [regions.state_called(name), regions.country_called(name)]
    known = [region for region in found if region]
    if not known and (abroad := regions.country_called_abroad(name)):
        return [abroad]
    return known


def _largest_in(name: str, homes: Sequence[Sequence[Region]]) -> Place | None:
    for choice in product(*homes):
        if found := _largest(name, partial(_lies_in, choice)):
            return found
    return None


def _lies_in(homes: Sequence[Region], city: City) -> bool:
    return all(region.holds(city) for region in homes)


def _largest(name: str, fits: Callable[[City], bool] = lambda _: True) -> Place | None:
    found = cities_called(name, fits)
    return place_of_city(found[0]) if found else None


def unknown(asked: str) -> ToolError:
    """Return the error for a name that means no place, with names that are like it."""
    city = key(_said(asked).partition(",")[0].rpartition("/")[2])
    others = (country_name(code) for code in dict.fromkeys(english_countries().values()))
    near = near_names(city, (*others, *map(zones.city_of, zones.listed_cities().values())))
    advice = f"did you mean {', '.join(near)}?" if near else "write a zone such as Europe/Paris"
    return ToolError(f"unknown place {asked.strip()!r}: {advice}")
