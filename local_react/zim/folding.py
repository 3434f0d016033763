"""Texts without what two spellings may differ in."""

from __future__ import annotations

import unicodedata
from typing import Final

# Letters that Unicode does not take apart, and signs with a plain twin.
_PLAIN: Final = str.maketrans(
    dict(zip("łøđðħı’‘“”‐‑–—", "loddhi''\"\"----", strict=True)) | {"æ": "ae", "œ": "oe", "þ": "th"}
)


def fold(text: str) -> str:
    """Return the text without case, accents and runs of spaces, to compare it."""
    apart = unicodedata.normalize("NFKD", text.casefold()).translate(_PLAIN)
    return " ".join("".join(c for c in apart if not unicodedata.combining(c)).split())


def key(title: str) -> str:
    """Return the letters and digits of a title, folded: what two spellings share."""
    return "".join(filter(str.isalnum, fold(title)))
