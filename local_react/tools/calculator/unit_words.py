"""Which words are units of measurement, by pint and never by its parser of expressions.

A unit is looked up word by word. pint knows many words that mean something else beside a
number ("12 points", "3 apps"), and those are no units here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, Final

_LETTERS: Final = "m g s h d l L t A V W N J K C F B"
_SINGLE: Final = frozenset(_LETTERS.split())
"""Letters that are units after a number; others are somebody's variables."""
_ENGLISH: Final = """
    point points hand hands count counts turn turns link links rod rods pole poles perch
    perches chain chains stick sticks shot shots barn barns slug slugs grain grains dot dots
    pixel pixels bag bags candle candles at pm am me as us percent ppm deg degree degrees rad
    radian radians cycle cycles revolution revolutions particle particles pica picas atom atoms
    molecule molecules nit nits dash dashes drop drops pinch pinches mark marks span spans
    league leagues nail nails cable cables circle circles square squares sphere spheres
    buck bucks nickel nickels beat beats frame frames lot lots unit units e pi tau phi mod and
    per line lines number numbers value values total
"""
_NOT_UNITS: Final = frozenset(_ENGLISH.split())
_SHORT_PREFIXES: Final = "k M G T m u µ n c d h Ki Mi Gi Ti"
_SHORT_NAMES: Final = "m g s l L W Wh V A N J Pa Hz B b bit byte eV cal mol F C T K bar t Ω"
_SHORT: Final = frozenset(
    prefix + name for prefix in _SHORT_PREFIXES.split() for name in _SHORT_NAMES.split()
)
_WRITTEN: Final[dict[str, tuple[tuple[str, int], ...]]] = {
    "kmh": (("kilometer", 1), ("hour", -1)),
    "kph": (("kilometer", 1), ("hour", -1)),
    "rpm": (("minute", -1),),
    "kb": (("kilobyte", 1),),
    "mb": (("megabyte", 1),),
    "gb": (("gigabyte", 1),),
    "tb": (("terabyte", 1),),
    "mph": (("mile", 1), ("hour", -1)),
    "mpg": (("mile", 1), ("gallon", -1)),
    "mps": (("meter", 1), ("second", -1)),
    "kmph": (("kilometer", 1), ("hour", -1)),
    "sqft": (("foot", 2),),
    "sqm": (("meter", 2),),
    "sqkm": (("kilometer", 2),),
    "cc": (("centimeter", 3),),
    "kgs": (("kilogram", 1),),
    "kms": (("kilometer", 1),),
    "cms": (("centimeter", 1),),
    "mms": (("millimeter", 1),),
    "kilo": (("kilogram", 1),),
    "kilos": (("kilogram", 1),),
    "decade": (("year", 10),),
    "celsius": (("degree_Celsius", 1),),
    "fahrenheit": (("degree_Fahrenheit", 1),),
    "kelvin": (("kelvin", 1),),
}


class Registry:
    """pint's units, loaded when a word may be one of them: that takes 0.4 seconds."""

    def __init__(self) -> None:
        self.announce: Callable[[], object] = lambda: None
        """Called before they are loaded."""

    @property
    def units(self) -> Any:
        return self._load()

    @cache  # noqa: B019 - there is one registry
    def _load(self) -> Any:
        self.announce()
        import pint

        # Fractions, so that a mile is 1609.344 metres and nothing else.
        return pint.UnitRegistry(non_int_type=Fraction)


REGISTRY: Final = Registry()


@cache
def find(word: str) -> tuple[tuple[str, int], ...]:
    """Return the units that a word names and their powers, none where it names none."""
    if word in _NOT_UNITS or word.casefold() in _NOT_UNITS:
        return ()
    if len(word) == 1 and word not in _SINGLE:
        return ()
    folded = word.casefold()
    if word in _WRITTEN or (folded in _WRITTEN and not _name(word)):
        return _WRITTEN.get(word) or _WRITTEN[folded]
    # MS and ms, NM and nm differ; Kilometers and KM do not.
    spellings = (word, folded) if len(word) > 4 or folded in _SAFE else (word,)
    name = next((found for found in map(_name, spellings) if found), "")
    return ((name, 1),) if name else ()


_UNMISTAKABLE: Final = "km kg cm lb lbs oz ft mi hr hrs min mins sec secs ml feet foot inch mile"
_SAFE: Final = frozenset(_UNMISTAKABLE.split())


def _name(word: str) -> str:
    """Return pint's name for a word, "" where it has none that is meant by it."""
    if not re.fullmatch(r"[A-Za-zµΩΩ][A-Za-z_Ω]*[0-9]?", word):
        return ""
    registry = REGISTRY.units
    try:
        readings = registry.parse_unit_name(word)
    except Exception:  # noqa: BLE001 - of a word that is none, pint may say anything
        return ""
    for prefix, name, _ in readings:
        if not prefix or word in _SHORT or (word.startswith(prefix) and len(name) > 2):
            return f"{prefix}{name}"
    return ""
