"""Facts that the user wants remembered: kept as they were told, and recalled by their words.

A full-text index (FTS5) is made in memory whenever words are looked for: facts are few, and
on disk an index would be one more place that what is forgotten had to leave.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Sequence
from contextlib import closing
from typing import Final

from local_react.databases import sound
from local_react.errors import UsageError
from local_react.history.infos import FactInfo
from local_react.history.store import now, storable

_LONGEST: Final = 1000
"""Characters of a fact."""
_READ: Final = 2000
"""Characters of a question that are looked at: what is attached to it stands behind."""
_SHORT: Final = 12
"""Words of a question that may be about the user alone."""

_SAYS_LITTLE: Final = frozenset("give know lot many much one please say show tell".split())
"""Words of a question, beside the usual stop words, that no fact is about."""
_CONTRACTED: Final = re.compile(r"n?['’](?:s|m|re|ve|ll|d|t)\b", re.IGNORECASE)
_ASKS_ABOUT_USER: Final = re.compile(
    r"\b(?:my|mine|myself|our|ours|(?:am|was|did|have|do|should|shall|will) (?:i|we)"
    r"|(?:about|for) (?:me|us))\b",
    re.IGNORECASE,
)
_ASKS_HOW: Final = re.compile(r"\bhow (?:do|did|should|shall|can) (?:i|we)\b", re.IGNORECASE)
_BRINGS_ITS_OWN: Final = re.compile(
    r"\d|[.!?]\s+\S|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty"
    r"|thirty|forty|fifty|hundred|thousand|dozen|half|twice|double|triple)\b",
    re.IGNORECASE,
)
"""A number, or a second sentence: a word problem tells what it is about itself."""
_WORD: Final = re.compile(r"\w+")
_OF_USER: Final = re.compile(
    r"\b(?:i|me|my|mine|myself|we|our|ours|(?:the )?user(?:'s)?)\b", re.IGNORECASE
)


def listed(db: sqlite3.Connection) -> list[FactInfo]:
    """Return all facts, the oldest first."""
    rows = db.execute("SELECT number, text, time FROM facts ORDER BY number")
    return [sound(FactInfo(*row)) for row in rows]


def put(db: sqlite3.Connection, text: str) -> FactInfo:
    """Keep a fact and return it; the same fact, but for capitals and full stop, is kept once.

    Raises UsageError where it is empty or long.
    """
    text = " ".join(storable(text).split())
    if not text or len(text) > _LONGEST:
        raise UsageError(
            f"a fact to remember has 1 to {_LONGEST:,} characters, not {len(text):,}: "
            "longer texts are for `local-react docs add`"
        )
    key = unicodedata.normalize("NFKC", text).casefold().rstrip(" .!")
    known = "SELECT number, text, time FROM facts WHERE key = ?"
    if (row := db.execute(known, (key,)).fetchone()) is None:
        values = (text, key, now())
        db.execute("INSERT INTO facts (text, key, time) VALUES (?, ?, ?)", values)
        row = db.execute(known, (key,)).fetchone()
    return sound(FactInfo(*row))


def drop(db: sqlite3.Connection, facts: Sequence[FactInfo]) -> None:
    """Delete facts."""
    db.executemany("DELETE FROM facts WHERE number = ?", [(fact.number,) for fact in facts])


def matching(facts: Sequence[FactInfo], which: str) -> list[FactInfo]:
    """Return the fact of that number, or all facts that hold all these words as they stand.

    Raises UsageError where there is none.
    """
    which = storable(which.strip())
    if number := re.fullmatch(r"#?([0-9]{1,18})", which):
        hits = [fact for fact in facts if fact.number == int(number[1])]
    else:
        hits = _holding(facts, which)
    if not hits:
        raise UsageError(
            f"nothing that is remembered fits {which!r}: `local-react memory list` shows all, "
            "with their numbers"
        )
    return hits


def recalled(facts: Sequence[FactInfo], question: str, most: int) -> list[FactInfo]:
    """Return the facts, at most that many, that share a word with a question which says what
    it is about, the best first (BM25); where none does and the question is about the user
    alone, the newest facts about the user."""
    if not facts:
        return []
    question = storable(question[:_READ])
    hits = _sharing(facts, question)
    if not hits and _is_about_user(question):
        hits = [fact for fact in reversed(facts) if _OF_USER.search(fact.text)]
    return hits[:most]


def _holding(facts: Sequence[FactInfo], which: str) -> list[FactInfo]:
    from local_react.words import TOKENIZER, asked

    query = " AND ".join(word.query for word in asked(which))
    # Stems are for recalling: what cannot be undone takes the words as they are.
    found = _found([fact.text for fact in facts], query, TOKENIZER.removeprefix("porter "))
    return [facts[at] for at in sorted(found)]


def _sharing(facts: Sequence[FactInfo], question: str) -> list[FactInfo]:
    from local_react.words import TOKENIZER, asked, telling

    words = telling(asked(_CONTRACTED.sub("", question)))
    query = " OR ".join(
        word.query for word in words if word.tells and (word.begins or _says_something(word.text))
    )
    # Without its stop words, since the stem of another word may look like one: on, one.
    texts = [_WORD.sub(_unless_a_stop_word, fact.text) for fact in facts]
    return [facts[at] for at in _found(texts, query, TOKENIZER)]


def _says_something(word: str) -> bool:
    return len(word) > 1 and not word.isdigit() and word not in _SAYS_LITTLE


def _unless_a_stop_word(word: re.Match[str]) -> str:
    from local_react.words import STOP_WORDS

    name = len(word[0]) > 1 and word[0].isupper()  # as in "works in IT"
    return word[0] if name or word[0].casefold() not in STOP_WORDS else ""


def _is_about_user(question: str) -> bool:
    return (
        len(question.split()) <= _SHORT
        and _ASKS_ABOUT_USER.search(question) is not None
        and _ASKS_HOW.search(question) is None
        and _BRINGS_ITS_OWN.search(question) is None
    )


def _found(texts: Sequence[str], query: str, tokenizer: str) -> list[int]:
    """Return the places of the texts that a query of FTS5 finds, the best first; of those as
    good as each other, the last one."""
    from local_react.words import indexed

    if not query:
        return []
    with closing(sqlite3.connect(":memory:")) as db:
        options = f"text, content='', tokenize=\"{tokenizer}\""
        db.execute(f"CREATE VIRTUAL TABLE words USING fts5({options})")
        rows = ((at, indexed(text)) for at, text in enumerate(texts))
        db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", rows)
        best_first = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank, rowid DESC"
        return [at for (at,) in db.execute(best_first, (query,))]
