"""Names of countries and currencies in many languages: Unicode's CLDR, through Babel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

from local_react.tools.names import key

if TYPE_CHECKING:
    from babel import Locale

_LANGUAGES: Final = (
    "de fr es it pt zh zh_Hant ja ko ru nl pl uk tr ar hi sv da nb fi cs el he vi th id fa hu ro "
    "bg hr sk ms bn ur"
).split()
"""Those that are asked in most, and first. Babel keeps what it has read, about 1 MB for
each, so the search ends at the first language that knows the name."""
_NO_COUNTRIES: Final = frozenset({"EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"})
_ALSO: Final[Mapping[str, str]] = {
    "america": "US",
    "bosnia": "BA",
    "britain": "GB",
    "burma": "MM",
    "czech republic": "CZ",
    "drc": "CD",
    "east timor": "TL",
    "emirates": "AE",
    "great britain": "GB",
    "holland": "NL",
    "ivory coast": "CI",
    "korea": "KR",
    "macao": "MO",
    "macau": "MO",
    "macedonia": "MK",
    "palestine": "PS",
    "prc": "CN",
    "swaziland": "SZ",
    "turkey": "TR",
    "uae": "AE",
    "uk": "GB",
    "united states of america": "US",
    "vatican": "VA",
    "ประเทศไทย": "TH",
}
"""Names that CLDR's English does not have."""


def english() -> Locale:
    """Return the English locale."""
    from babel import Locale

    return Locale("en")


def get_global(table: str) -> Mapping[str, Any]:
    """Return a table of CLDR that is of no language, such as zone_territories."""
    from babel.core import get_global

    return get_global(table)  # type: ignore[arg-type]


def other_locales() -> Iterator[Locale]:
    """Yield the locales of other languages, those that are asked in most first."""
    from babel import Locale

    return (Locale.parse(language) for language in _LANGUAGES)


def country_name(code: str) -> str:
    """Return the English name of a country, or its code where it has none."""
    name = str(english().territories.get(code, code))
    return name.partition(" SAR ")[0].partition(" (")[0]


@cache
def english_countries() -> Mapping[str, str]:
    """Return the ISO code of each country, by the key of its English name, and by its
    codes of two and three letters."""
    named = {code: name for code, name in english().territories.items() if _is_country(code)}
    long = {key(name): code for code, name in named.items()}
    short = {key(country_name(code)): code for code in named}
    codes = {code.casefold(): code for code in named}
    aliases = get_global("territory_aliases").items()
    three = {old.casefold(): new[0] for old, new in aliases if old.isalpha() and new[0] in named}
    return {**three, **codes, **long, **short, **_ALSO}


@lru_cache(maxsize=64)
def foreign_country(name: str) -> str | None:
    """Return the ISO code of the country that a key means in another language, if any."""
    for locale in other_locales():
        for code, title in locale.territories.items():
            if _is_country(code) and key(title) == name:
                return str(code)
    return None


def _is_country(code: str) -> bool:
    return len(code) == 2 and code not in _NO_COUNTRIES
