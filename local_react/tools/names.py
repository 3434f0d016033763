"""How the names of places and currencies are compared: without case, accents and signs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Final

_SIGNS: Final = str.maketrans({"-": " ", "_": " ", ".": None, "'": None, "’": None, "ʼ": None})
_SHORTENED: Final = re.compile(r"\b(saint|sainte|mount|fort)(?= )")
_SHORT: Final = {"saint": "st", "sainte": "ste", "mount": "mt", "fort": "ft"}


def plain(text: str) -> str:
    """Return the text without case and accents, and with single spaces."""
    return " ".join(_unmarked(text).split())


def key(text: str) -> str:
    """Return what two spellings of one name share: "St. John's" and "saint johns"."""
    name = " ".join(loose(text).replace("&", " and ").split())
    if " " in name:
        name = _SHORTENED.sub(lambda word: _SHORT[word.group()], name).removeprefix("the ")
    return name


def loose(text: str) -> str:
    """Return the text without case, accents and the signs in names, line by line. The key
    of a line in it is that of the line it was made of."""
    return _unmarked(text).translate(_SIGNS)


def may_hold(text: str, name: str) -> bool:
    """Return whether one of the names in a loose text may have this key: False only where
    none has. It takes far less time than all their keys."""
    word = max(name.split(), key=len, default="")
    return word in text or word in _SHORT.values()


def _unmarked(text: str) -> str:
    """Return the text without case and accents."""
    if text.isascii():
        return text.casefold()
    return unicodedata.normalize("NFKD", text).translate(_marks()).casefold()


@cache
def _marks() -> Mapping[int, None]:
    """Return the accents and other signs that stand on a letter, for str.translate."""
    codes = range(0x300, 0x1F000)
    return dict.fromkeys(code for code in codes if unicodedata.combining(chr(code)))
