"""Finding passages: BM25 over a question's words, then what lies near a whole question.

FTS5 reads every passage that holds one of the words, so words that a large share of them
hold would cost seconds. Those only help to rank what rarer words find.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from local_react.documents import roots
from local_react.documents.places import Place
from local_react.documents.roots import Root
from local_react.documents.store import unpacked
from local_react.documents.titles import readable
from local_react.words import STOP_WORDS, Word, asked, indexed, spaced_words, telling

_RANKED: Final = 30_000
"""Passages that are ranked for a question, at most about; 0.3 microseconds each."""
_COUNTED: Final = 50_000
"""Passages up to which it is counted how many hold a word; 0.04 microseconds each."""
_WORDS: Final = 256
"""Words of a question that are looked for: whoever gives a whole text is not to wait for
minutes."""
_NEAR: Final = 50
"""Best ones that are looked at closer."""
_TITLE_WEIGHT: Final = 2.0
"""What a word in a title counts for. On HotpotQA, 2 to 5 are alike."""
_NAMED: Final = 0.3
"""What it adds, as a share of the best one's score, that a question names the title."""
_ADJACENT: Final = 0.05
"""The same for each two words that are side by side in question and passage."""
_AVERAGE: Final = 1000.0
"""Characters of a passage of usual length."""
_K1, _B = 1.2, 0.75
"""BM25's constants, as FTS5 has them."""
_CLOSELY: Final = 5
"""Best ones of which it is told how much of a question they hold."""
_MUCH: Final = 0.4
"""Over HotpotQA's paragraphs 97 % of its questions have a passage that holds so much, and 5 %
of GSM8K's."""
_SOME: Final = 0.25
_OWN: Final = frozenset("i me my mine we our ours".split())
_ASKING: Final = frozenset(
    "much many long far big old often get give tell show find please know want need".split()
)
"""Words of questions that are about anything."""
BRACKETS: Final = re.compile(r"\s*\([^()]*\)\s*$")
"""What tells titles apart that are alike: Mercury (planet)."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that was found."""

    document: int
    """The number of its document, for reading on."""
    title: str
    """The document's title, else its file's name."""
    name: str
    """Its file, below the folder that was added where that tells which one it is."""
    path: str
    place: str
    """As in "lines 12-30"."""
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    passage: int
    score: float


def search(
    connection: sqlite3.Connection, question: str, limit: int, within: tuple[int, int] | None = None
) -> list[Hit]:
    """Return the passages nearest to a question, the best first, no text twice.

    All of the question is plain text: no sign in it means anything to FTS5. `within` are
    the first and last number of the passages to look at.
    """
    every = asked(question)
    found = _candidates(connection, telling(every), within)
    hits = [hit for hit in (_hit(connection, item) for item in found) if hit is not None]
    best = max((hit.score for hit in hits), default=0.0)
    ranked = sorted(hits, key=lambda hit: -(hit.score + best * _bonus(every, hit)))
    different = {hit.text: hit for hit in reversed(ranked)}
    return [hit for hit in ranked if different[hit.text] is hit][:limit]


def titled(connection: sqlite3.Connection, words: Sequence[Word]) -> list[Hit]:
    """Return passages of documents in whose titles some of the words stand."""
    found = _candidates(connection, words, None, column="title")
    hits = (_hit(connection, item) for item in found)
    return list({hit.document: hit for hit in hits if hit is not None}.values())


def nearest(connection: sqlite3.Connection, question: str, document: int) -> list[Hit]:
    """Return the passage of a document that is nearest to a question, its first one where none
    holds a word of it; nothing where the document has gone."""
    sql = "SELECT first, passages FROM files WHERE id = ?"
    first, passages = connection.execute(sql, (document,)).fetchone() or (0, 0)
    if not passages:
        return []
    found = search(connection, question, 1, (first, first + passages - 1))
    opening = None if found else _hit(connection, _Candidate(first, 0.0))
    return [opening] if opening else found


def speaks_of(connection: sqlite3.Connection, question: str) -> bool:
    """Return whether a passage holds enough of what a question is about: two fifths of its
    telling words, weighed by how rare they are, and a quarter where it is about the user's
    own matters; or the question names a document. Numbers do not count: they stand in texts
    about anything."""
    every = asked(question)
    words = [word for word in telling(every) if _is_about(word)]
    (passages,) = connection.execute("SELECT coalesce(max(id), 0) FROM passages").fetchone()
    weights = {word: _rarity(_count(connection, word), passages) for word in words}
    enough = _MUCH if _OWN.isdisjoint(word.text for word in every) else _SOME
    best = max(
        (
            sum(weights[word] for word in words if _holds(connection, found.passage, word))
            for found in _candidates(connection, words, None)[:_CLOSELY]
        ),
        default=0.0,
    )
    if best > 0 and best >= enough * sum(weights.values()):
        return True
    # It may be about two documents, of which each holds a part alone.
    return bool(named_in(question, titled(connection, words)))


def _is_about(word: Word) -> bool:
    return word.tells and not word.text.isdigit() and word.text not in _ASKING


def _rarity(count: int, passages: int) -> float:
    """Return BM25's weight of a word that so many of the passages hold; one that none holds
    counts like one that a single one does."""
    held = max(count, 1)
    return math.log(1 + max(0, passages - held + 0.5) / (held + 0.5))


def _holds(connection: sqlite3.Connection, passage: int, word: Word) -> bool:
    sql = "SELECT 1 FROM words WHERE words MATCH ? AND rowid = ?"
    return connection.execute(sql, (word.query, passage)).fetchone() is not None


def _candidates(
    connection: sqlite3.Connection,
    words: Sequence[Word],
    within: tuple[int, int] | None,
    column: str = "title body",
) -> list[_Candidate]:
    counts = {word: _count(connection, word) for word in words[:_WORDS]}
    held = sorted((word for word in counts if counts[word]), key=lambda word: counts[word])
    rare: list[Word] = []
    total = 0
    for word in held:
        total += counts[word]
        if total <= _RANKED:
            rare.append(word)
    common = [word for word in held[len(rare) :] if counts[word] < _COUNTED]
    if rare:
        some = _any(rare)
        query = f"({some}) AND ({some} OR {_any(common)})" if common else some
        return _best(connection, f"{{{column}}} : ({query})", within)
    for most in range(len(held), 0, -1):
        query = " AND ".join(word.query for word in held[:most])
        found = _best(connection, f"{{{column}}} : ({query})", within)
        if found:
            return found
    return []


def _count(connection: sqlite3.Connection, word: Word) -> int:
    sql = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)"
    (count,) = connection.execute(sql, (word.query, _COUNTED)).fetchone()
    return int(count)


def _any(words: Sequence[Word]) -> str:
    return " OR ".join(word.query for word in words)


def _best(
    connection: sqlite3.Connection, query: str, within: tuple[int, int] | None
) -> list[_Candidate]:
    first, last = within or (0, 2**62)
    rows = connection.execute(
        "SELECT id, score FROM ("
        "  SELECT rowid AS id, coalesce(-bm25(words, ?, 1.0), 0.0) AS score FROM words"
        "  WHERE words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?"
        ") ORDER BY score DESC LIMIT ?",
        (_TITLE_WEIGHT, query, first, last, 2 * _RANKED, _NEAR),
    )
    return [_Candidate(number, score) for number, score in rows]


def _hit(connection: sqlite3.Connection, item: _Candidate) -> Hit | None:
    """Return what a candidate is, None where the index has an entry too many."""
    row = connection.execute(
        "SELECT f.id, f.title, f.name, (SELECT count(*) FROM files g WHERE g.name = f.name),"
        " r.id, r.path, r.single, p.unit, p.first, p.last, p.part, p.text FROM passages p"
        " JOIN files f ON f.id = (SELECT id FROM files WHERE passages > 0 AND first <= p.id"
        "   ORDER BY first DESC LIMIT 1)"
        " JOIN roots r ON r.id = f.root WHERE p.id = ?",
        (item.passage,),
    ).fetchone()
    if row is None:
        return None
    document, title, name, namesakes, root_id, root_path, single, *place, text = row
    path = roots.path_of(Root(root_id, Path(os.fsdecode(root_path)), bool(single)), name)
    text = unpacked(text)
    return Hit(
        document=document,
        title=title or readable(path.name),
        name=readable(path if namesakes > 1 else os.fsdecode(name)),
        path=os.fspath(path),
        place=str(Place(*place)),
        text=text,
        score=item.score * _by_length(text),
    )


def _by_length(text: str) -> float:
    """Return what BM25 makes of a passage's length, for a word that is in it once, as a
    share of what it is without: the index does not know lengths."""
    return (1 + _K1 * (1 - _B)) / (1 + _K1 * (1 - _B + _B * len(text) / _AVERAGE))


def _bonus(every: Sequence[Word], hit: Hit) -> float:
    """Return what a passage's score gains by more than its single words, as a share of
    the best score."""
    told = [word.text for word in every]
    line = f" {' '.join(told)} "
    named = any(_is_named(title, line) for title in _titles(hit))
    pairs = {f" {one} {two} " for one, two in pairwise(told) if STOP_WORDS.isdisjoint((one, two))}
    words = spaced_words(indexed(f"{hit.title}\n{hit.text}"))
    text = f" {' '.join(words)} "
    return _NAMED * named + _ADJACENT * sum(pair in text for pair in pairs)


def named_in(question: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return those of the hits whose document is named in the question, by a title of several
    words."""
    line = f" {' '.join(word.text for word in asked(question))} "
    return [hit for hit in hits if any(_is_named_in_full(title, line) for title in _titles(hit))]


def _titles(hit: Hit) -> tuple[str, str]:
    return hit.title, Path(hit.name).stem


def _is_named_in_full(title: str, line: str) -> bool:
    return len(spaced_words(indexed(BRACKETS.sub("", title)))) > 1 and _is_named(title, line)


def _is_named(title: str, line: str) -> bool:
    """Say whether the title, without what is in brackets at its end, is in the question."""
    words = spaced_words(indexed(BRACKETS.sub("", title)))
    return not STOP_WORDS.issuperset(words) and f" {' '.join(words)} " in line
