"""The words of a text as the index has them, and those of a question.

The index splits at everything that is no letter, digit or mark (FTS5's tokenizer unicode61
with the categories of TOKENIZER). Scripts that put no spaces between words would become
one endless word a sentence, so each stretch of them is written as its pairs of adjacent
characters: a question's pairs are then found as words are, by the same ranking.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

TOKENIZER: Final = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
"""Marks count as part of words: in Devanagari, say, vowels are marks."""

_UNSPACED: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e5b\u0e81-\u0eff"  # Thai, Lao
    "\u1000-\u1049\u1050-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Burmese
    "\u1780-\u17d3\u17dc-\u17ff"  # Khmer
    "\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese characters
    "\uac00-\ud7af"  # Korean has spaces, but its words carry their particles
)
UNSPACED: Final = re.compile(f"[{_UNSPACED}]+")
_POINTS: Final = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c7\u0640\u064b-\u065f\u0670]")
"""Hebrew and Arabic vowel points, and the stroke that stretches a word: mostly left out."""

STOP_WORDS: Final = frozenset(
    """
    a about also am an and any are as at be been being both but by can could did do does for
    from had has have he her hers him his how i if in into is it its just me my no nor not of
    on or our ours out shall she should so some such than that the their theirs them then
    there these they this those to too was we were what when where which while who whom whose
    why will with would you your yours
    """.split()
)
"""English words that say nothing about what a text is about."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question."""

    text: str
    begins: bool = False
    """True where it stands for every word that begins so: a single character of a script
    without spaces."""
    tells: bool = True
    """Whether it says what a text is about."""

    @property
    def query(self) -> str:
        """Return it for FTS5's MATCH, where nothing in it has a meaning of its own."""
        return f'"{self.text}"*' if self.begins else f'"{self.text}"'


def indexed(text: str) -> str:
    """Return the text as the index is given it."""
    if text.isascii():
        return text
    text = _POINTS.sub("", unicodedata.normalize("NFKC", text))
    # The last character alone too, so that each one begins a word.
    return UNSPACED.sub(lambda run: f" {_pairs(run[0])} {run[0][-1]} ", text)


def asked(text: str) -> list[Word]:
    """Return the words of a question in their order, all of them."""
    text = _POINTS.sub("", unicodedata.normalize("NFKC", text))
    # "Who works in IT?" is about IT.
    names = set() if text.isupper() else {name.lower() for name in _CAPITALS.findall(text)}

    def spaced(part: str) -> list[Word]:
        return [
            Word(word, tells=word in names or word not in STOP_WORDS) for word in spaced_words(part)
        ]

    words: list[Word] = []
    at = 0
    for run in UNSPACED.finditer(text):
        words += spaced(text[at : run.start()])
        if len(run[0]) == 1:
            words.append(Word(run[0], begins=True))
        else:
            words += map(Word, _pairs(run[0]).split())
        at = run.end()
    return words + spaced(text[at:])


def telling(words: list[Word]) -> list[Word]:
    """Return each word once, without those that tell nothing unless there are no others."""
    different = list(dict.fromkeys(words))
    return [word for word in different if word.tells] or different


def spaced_words(text: str) -> list[str]:
    """Return the words of an indexed text, in lower case, as the index splits it."""
    text = text.lower()
    if text.isascii():
        return _ASCII_WORD.findall(text)
    others = {c: unicodedata.category(c) for c in set(text) if not (c.isalnum() or c.isspace())}
    if not _IN_WORD.isdisjoint(others.values()):
        apart = (c for c, category in others.items() if category not in _IN_WORD)
        return text.translate(dict.fromkeys(map(ord, apart), " ")).split()
    return _WORD.findall(text)


_CAPITALS: Final = re.compile(r"\b[A-Z]{2,}\b")
_ASCII_WORD: Final = re.compile("[a-z0-9]+")
_WORD: Final = re.compile(r"[^\W_]+")
_IN_WORD: Final = frozenset({"Mn", "Mc", "Co"})
"""The categories that belong to words beside letters and numbers."""


def _pairs(run: str) -> str:
    return " ".join(map("".join, pairwise(run)))
