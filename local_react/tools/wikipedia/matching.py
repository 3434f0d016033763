"""Which of some texts hold words: SQLite's full-text index, in memory, and plain search."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from local_react.zim import fold

Way: TypeAlias = Literal["phrase", "part", "all", "some"]
"""How the texts hold what was looked for: as it stands, or word by word the same but for
their endings; within a word; all its words; or only some of them."""

_SOME: Final = 10
"""Texts that are told where none holds all the words."""


@dataclass(frozen=True, slots=True)
class Hits:
    """The places of the texts that hold what was looked for, and how."""

    places: tuple[int, ...] = ()
    way: Way = "phrase"


def find(texts: Sequence[str], wanted: str) -> Hits:
    """Return the texts that hold `wanted`, in their order, in the strictest way that
    some do; those that hold only some of its words come the best first."""
    folded, sought = [fold(text) for text in texts], fold(wanted)
    if not sought:
        return Hits()
    with closing(_indexed(folded)) as index:
        places = set(_standing(folded, sought))
        if re.fullmatch(r"[\w\s'-]+", sought):  # the index knows no other signs
            places |= set(_matching(index, _quoted(" ".join(_words(sought)))))
        if places:
            return Hits(tuple(sorted(places)), "phrase")
        if within := [place for place, text in enumerate(folded) if sought in text]:
            return Hits(tuple(within), "part")
        return _word_by_word(index, _words(sought))


def nearest(texts: Sequence[str], wanted: str, most: int) -> list[int]:
    """Return the places of at most so many texts, those first that hold the most and the
    rarest of the words (BM25)."""
    words = _words(fold(wanted))
    with closing(_indexed([fold(text) for text in texts])) as index:
        return _ranked(index, words, most)


def _word_by_word(index: sqlite3.Connection, words: list[str]) -> Hits:
    if len(words) < 2:
        return Hits()
    if places := sorted(_matching(index, " AND ".join(map(_quoted, words)))):
        return Hits(tuple(places), "all")
    return Hits(tuple(_ranked(index, words, _SOME)), "some")


def _standing(folded: Sequence[str], sought: str) -> list[int]:
    """Return where the text stands by itself, not within a word."""
    before = r"(?<!\w)" if sought[0].isalnum() else ""
    after = r"(?!\w)" if sought[-1].isalnum() else ""
    pattern = re.compile(before + re.escape(sought) + after)
    return [place for place, text in enumerate(folded) if pattern.search(text)]


def _indexed(folded: Sequence[str]) -> sqlite3.Connection:
    index = sqlite3.connect(":memory:")
    # Porter's stems: what has been folded is without accents already.
    index.execute("create virtual table texts using fts5(text, tokenize='porter unicode61')")
    index.executemany("insert into texts(rowid, text) values (?, ?)", enumerate(folded))
    return index


def _ranked(index: sqlite3.Connection, words: list[str], most: int) -> list[int]:
    return _matching(index, " OR ".join(map(_quoted, words)))[:most]


def _matching(index: sqlite3.Connection, query: str) -> list[int]:
    """Return the places of what matches, the best first."""
    if not query.strip(' "'):
        return []
    rows = index.execute("select rowid from texts where texts match ? order by rank", (query,))
    return [place for (place,) in rows]


def _words(folded: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"[^\W_]+", folded)))


def _quoted(words: str) -> str:
    return f'"{words}"'
