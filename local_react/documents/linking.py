"""Following what passages name: the documents whose titles stand in them.

A question of two hops ("what is the mother of the bridge's architect called?") shares words with
the first document alone, and that one names the second: in a wiki, a folder of notes, or a file
for each person or case. A small model seldom searches again for what it read there.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from local_react.documents.searching import BRACKETS, Hit, named_in, nearest, titled
from local_react.words import STOP_WORDS, asked, telling

_NAMING: Final = 2
"""Best passages whose names are followed. On HotpotQA the others named one document more that
was of use, and as many again that were not."""
_SHORTEST: Final = 4
"""Characters of a title of one word."""
_CAPITALISED: Final = re.compile(r"[^\W\d_a-z]\w*|\d+")


def linked(
    connection: sqlite3.Connection, question: str, hits: Sequence[Hit], limit: int
) -> list[Hit]:
    """Return passages of other documents, one each, which the first of the hits name by their
    titles: the one that is nearest to the question, else the first. Nothing for a question
    that names two of those that were found."""
    if len({hit.document for hit in named_in(question, hits)}) > 1:
        return []  # it compares what it names itself
    seen = {hit.document for hit in hits}
    found: list[Hit] = []
    for hit in hits[:_NAMING]:
        for document in _named(connection, hit.text):
            if document not in seen and len(found) < limit:
                seen.add(document)
                found += nearest(connection, question, document)
    return found


def _named(connection: sqlite3.Connection, text: str) -> Iterator[int]:
    """Yield the documents that a text names, in the order in which it does."""
    words = telling(asked(" ".join(_CAPITALISED.findall(text))))
    places = {
        hit.document: at
        for hit in titled(connection, words)
        if (at := _place(text, hit)) is not None
    }
    yield from sorted(places, key=lambda document: places[document])


def _place(text: str, hit: Hit) -> int | None:
    """Return where a text names a document by its title or file name, in capitals as a name
    is; None where it does not."""
    for title in (hit.title, Path(hit.name).stem):
        words = re.findall(r"\w+", BRACKETS.sub("", title))
        if not words or STOP_WORDS.issuperset(word.lower() for word in words):
            continue
        pattern = r"\W{1,3}".join(words)
        for found in re.finditer(rf"\b{pattern}\b", text, re.IGNORECASE):
            if not found[0][0].islower() and (len(words) > 1 or _stands_alone(text, found)):
                return found.start()
    return None


def _stands_alone(text: str, found: re.Match[str]) -> bool:
    """Return whether one word is a name, and no part of a longer one, as in "All-Star Game"."""
    before, after = text[: found.start()], text[found.end() :]
    longer = re.search(r"[^\W\d_a-z]\w*[ -]$", before) or re.match(r"[ -][^\W\d_a-z]", after)
    return len(found[0]) >= _SHORTEST and not longer
