"""Which currency a code, name or sign means: CLDR's names, through Babel."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from local_react.errors import ToolError
from local_react.tools.cldr import english, english_countries, get_global, other_locales
from local_react.tools.names import key

if TYPE_CHECKING:
    from babel import Locale

_ALSO: Final[Mapping[str, str]] = {
    "american dollar": "USD",
    "aussie dollar": "AUD",
    "buck": "USD",
    "c$": "CAD",
    "emirati dirham": "AED",
    "greenback": "USD",
    "hk dollar": "HKD",
    "korean won": "KRW",
    "new shekel": "ILS",
    "pounds sterling": "GBP",
    "quid": "GBP",
    "reais": "BRL",
    "renminbi": "CNY",
    "rmb": "CNY",
    "rouble": "RUB",
    "russian rouble": "RUB",
    "s$": "SGD",
    "sterling": "GBP",
    "taiwan dollar": "TWD",
    "pound sterling": "GBP",
    "united states dollar": "USD",
    "us$": "USD",
    "yuan renminbi": "CNY",
    "元": "CNY",
    "円": "JPY",
    "₦": "NGN",
}
"""What people say that CLDR does not have."""
_USUAL: Final = frozenset("USD EUR GBP JPY CNY CHF INR RUB KRW AED SAR RON".split())
"""Whose a bare word is, such as dollar, that is also the name of others."""
_AMBIGUOUS: Final[Mapping[str, str]] = {
    "¥": "JPY or CNY",
    "￥": "JPY or CNY",
    "kr": "SEK, NOK or DKK",
}
_COUNTS: Final = (1, 2, 5)
"""Numbers that bring out a name's forms, in Slavic languages too."""


def code_of(text: str) -> str:
    """Return the ISO code of the currency that a code, name or sign means; three letters
    that mean none are taken for a code.

    Raises ToolError, with near ones, where it means none or several.
    """
    asked = " ".join(text.split())
    if re.match(r"[\d.,]*\d", asked):
        raise ToolError(f"currency {asked!r} holds a number: give that as amount")
    if code := _written(asked):
        return code
    names = list(_forms(key(asked)))
    for find in (_in_english, _abroad):
        for name in names:
            if code := find(name, asked):
                return code
    if len(asked) == 3 and asked.isascii() and asked.isalpha():
        return asked.upper()
    raise unknown(asked, near_codes(key(asked)))


def _written(asked: str) -> str | None:
    """Return the code that a text is, or the one that stands in it in capitals, as in
    "US Dollar (USD)"."""
    known = english().currencies
    if asked.upper() in known:
        return asked.upper()
    codes = {word for word in re.findall(r"\b[A-Z]{3}\b", asked) if word in known}
    return next(iter(codes)) if len(codes) == 1 else None


def name_of(code: str) -> str:
    """Return the English name of a currency, or its code where it has none."""
    return str(english().currencies.get(code, code))


def near_codes(name: str) -> list[str]:
    """Return the codes whose names are like a key."""
    names = {**_words(english()).one, **_full_names(english()), **_ALSO}
    close = difflib.get_close_matches(name, names, n=3)
    return list(dict.fromkeys(names[one] for one in close))


def unknown(asked: str, near: Iterable[str]) -> ToolError:
    """Return the error for what means no currency that has a rate."""
    codes = ", ".join(near)
    advice = f"did you mean {codes}?" if codes else "give its code, such as USD or EUR"
    return ToolError(f"unknown currency {asked!r}: {advice}")


def _forms(name: str) -> Iterator[str]:
    """Yield a key, and without the words and the ending that people add to it."""
    name = name.removeprefix("currency of ").removesuffix(" currency")
    yield name
    if name.endswith("s") and len(name) > 3:
        yield name.removesuffix("s")


def _in_english(name: str, asked: str) -> str | None:
    """Return the code of an English name, of a sign, or of a country."""
    if meant := _AMBIGUOUS.get(name):
        raise _ambiguous(asked, meant)
    code = _ALSO.get(name) or _full_names(english()).get(name) or _signs(english()).get(name)
    return code or _bare(english(), name, asked) or _of_country(name)


def _bare(locale: Locale, name: str, asked: str) -> str | None:
    """Return the code of a word such as dollar. Raises ToolError where several have it and
    none is usual."""
    words = _words(locale)
    if several := words.several.get(name):
        raise _ambiguous(asked, ", ".join(several))
    return words.one.get(name)


def _ambiguous(asked: str, meant: str) -> ToolError:
    return ToolError(f"currency {asked!r} could be {meant}: give the code")


def _of_country(name: str) -> str | None:
    """Return the code of a country's currency: of Japan, or of UK pounds."""
    from babel.numbers import get_territory_currencies

    words = name.split()
    for count in range(len(words), 0, -1):
        home, rest = " ".join(words[:count]), " ".join(words[count:])
        country = english_countries().get(home) if len(home) > 1 else None
        if country is None or (not rest and len(home) <= 3):
            continue
        for code in get_territory_currencies(country):
            if not rest or rest.removesuffix("s") in key(name_of(code)).split():
                return str(code)
    return None


@lru_cache(maxsize=64)
def _abroad(name: str, asked: str) -> str | None:
    """Return the code of a name or sign in another language, which takes up to 0.4 s."""
    for locale in other_locales():
        code = _full_names(locale).get(name) or _signs(locale).get(name)
        if code := code or _bare(locale, name, asked):
            return code
    return None


@cache
def _current() -> frozenset[str]:
    """Return the codes that are legal tender somewhere."""
    from babel.numbers import get_territory_currencies

    territories = get_global("territory_currencies")
    return frozenset(code for home in territories for code in get_territory_currencies(home))


@lru_cache(maxsize=64)
def _full_names(locale: Locale) -> Mapping[str, str]:
    """Return the code of each full name, by its key; those of today before those of old."""
    from babel.numbers import get_currency_name

    names: dict[str, str] = {}
    for code in sorted(locale.currencies, key=lambda code: code not in _current()):
        forms = [get_currency_name(code, count, locale) for count in _COUNTS]
        for form in (locale.currencies[code], *forms):
            names.setdefault(key(form), code)
    return names


@lru_cache(maxsize=64)
def _signs(locale: Locale) -> Mapping[str, str]:
    """Return the code of each sign, such as ₺, by its key."""
    signs = {key(sign): code for code, sign in locale.currency_symbols.items()}
    return {sign: code for sign, code in signs.items() if sign not in _AMBIGUOUS}


@dataclass(frozen=True, slots=True)
class _Words:
    """The words that a name begins or ends with, such as dollar."""

    one: Mapping[str, str]
    """The code of each that one currency has, or one that is usual."""
    several: Mapping[str, Sequence[str]]
    """The codes of each of the others."""


@lru_cache(maxsize=64)
def _words(locale: Locale) -> _Words:
    codes: dict[str, set[str]] = {}
    for name, code in _full_names(locale).items():
        if code in _current():
            for word in {name.split()[0], name.split()[-1]} if name else ():
                codes.setdefault(word, set()).add(code)
    usual = {word: found & _USUAL if len(found) > 1 else found for word, found in codes.items()}
    return _Words(
        {word: next(iter(found)) for word, found in usual.items() if len(found) == 1},
        {word: sorted(codes[word]) for word, found in usual.items() if len(found) != 1},
    )
