"""An article as text: sections of paragraphs, and their sentences."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain

INFOBOX = "Infobox"
"""The heading of the section that holds an article's table of facts."""
_LONGEST = 600
"""Characters of a sentence: a longer one, such as a table's row, is cut between words."""


@dataclass(frozen=True, slots=True)
class Section:
    """The text under one heading; an article's beginning has the heading ""."""

    heading: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, and the heading that it is under."""

    text: str
    heading: str


@dataclass(frozen=True, slots=True)
class Article:
    """An article, or a page that says which ones its title may mean."""

    title: str
    source: str
    """Where a person finds it: its address, or the archive and the title."""
    sections: tuple[Section, ...]
    language: str = "en"
    """A code of ISO 639; it decides where sentences end."""
    ambiguous: bool = False
    """Whether the page only lists the articles that its title may mean."""
    age: float | None = None
    """Seconds for which it was kept; None where it has just been read."""

    def sentences(self) -> list[Sentence]:
        """Return the sentences in order, the table of facts after the beginning."""
        return list(chain.from_iterable(self._split(section) for section in self.sections))

    def headings(self) -> list[str]:
        """Return the headings in order, without that of the beginning."""
        return [section.heading for section in self.sections if section.heading]

    def paragraphs(self) -> list[str]:
        """Return all paragraphs in order."""
        return [text for section in self.sections for text in section.paragraphs]

    def _split(self, section: Section) -> Iterator[Sentence]:
        for paragraph in section.paragraphs:
            for text in split_sentences(paragraph, self.language):
                yield Sentence(text, section.heading)


@dataclass(frozen=True, slots=True)
class Nearest:
    """What there is instead of an article that is not there."""

    titles: tuple[str, ...]
    """The titles that are most like the one asked for, the best first."""
    articles: tuple[Article, ...]
    """Those whose text holds most of its words."""
    source: str


def split_sentences(text: str, language: str) -> list[str]:
    """Return the sentences of a paragraph, none of them empty or over 600 characters.

    sentencex, which Wikimedia keeps, knows the abbreviations of many languages and
    takes codes of two letters and of three; an unknown one is read like English.
    """
    import sentencex

    # What cannot be written as UTF-8, it cannot read.
    whole = text.encode("utf-8", "replace").decode()
    wrap = partial(textwrap.wrap, width=_LONGEST, break_on_hyphens=False)
    return list(chain.from_iterable(wrap(one) for one in sentencex.segment(language, whole)))
