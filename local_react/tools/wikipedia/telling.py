"""What the tools say of an article: passages of its text, and a note in their own words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from local_react.core import Findings, Passage
from local_react.errors import ToolError
from local_react.tools.age import in_words
from local_react.tools.wikipedia.matching import Hits, find, nearest
from local_react.tools.wikipedia.shelf import Missing
from local_react.zim import INFOBOX, Article, Nearest, Sentence

_FIRST: Final = 5
"""Sentences of an article that is opened, as in the ReAct paper."""
_LONGEST: Final = 1200
"""Characters of a passage."""
_CONTEXT: Final = 300
"""Characters of the sentence before, and of that after, the one that was looked for."""
_PARAGRAPHS: Final = 3
_PARAGRAPH: Final = 600


def tell_beginning(article: Article) -> Findings:
    """Return the article's first sentences, or the titles that its own may mean."""
    if article.ambiguous:
        text = _clipped(article.paragraphs(), "\n")
        note = "this title may mean each of these: open the one that is meant"
        return _found(article, text, note)
    sentences = article.sentences()
    told = [one.text for one in sentences if one.heading != INFOBOX] or [
        one.text for one in sentences
    ]
    if not told:
        raise ToolError("that article has no text: open another one")
    first = told[:_FIRST]
    note = f"the first {len(first)} of {len(sentences)} sentences"
    if len(sentences) > len(first):
        note += "; lookup finds a word in all of them"
    return _found(article, _clipped(first, " "), note)


def tell_sentence(article: Article, word: str, result: int) -> Findings:
    """Return the sentence that is the `result`-th to hold the word, between its
    neighbours; where there is none, the headings of the article.

    Raises ToolError where there are fewer.
    """
    sentences = article.sentences()
    hits = find([one.text for one in sentences], word)
    if not hits.places:
        return _tell_headings(article, word)
    count = len(hits.places)
    if result > count:
        few = "1 sentence holds" if count == 1 else f"{count} sentences hold"
        raise ToolError(f"only {few} {word!r}: result is at most {count}; or try another word")
    place = hits.places[result - 1]
    heading = sentences[place].heading
    title = f"{article.title}, {heading}" if heading else article.title
    note = f"result {result} of {count}{_way(hits)}"
    if result < count:
        note += f"; result={result + 1} goes on"
    return _found(article, _in_context(sentences, place), note, title)


def tell_missing(missing: Missing) -> Findings:
    """Return the nearest titles, and the paragraphs that hold most of the words.

    Raises ToolError where there is nothing of the kind.
    """
    titles = list(_titles(missing.nearest))
    passages = (*titles, *_paragraphs(missing))
    note = "; ".join([f"there is no article {missing.title!r}", *missing.troubles])
    if not passages:
        raise ToolError(f"{note}, nor one like it: use another title")
    advice = "open one of the nearest titles, or " if titles else ""
    return Findings(passages, f"{note}; {advice}use other words")


def _found(article: Article, text: str, note: str, title: str = "") -> Findings:
    if article.age is not None:
        note += f"; {in_words(article.age)} old, from the cache"
    return Findings((Passage(text, article.source, title or article.title),), note)


def _clipped(pieces: Sequence[str], between: str) -> str:
    """Return as many of the pieces as fit, one at least."""
    text = textwrap.shorten(pieces[0], _LONGEST, placeholder=" …") if pieces else ""
    for piece in pieces[1:]:
        if len(text) + len(piece) >= _LONGEST:
            break
        text += between + piece
    return text


def _way(hits: Hits) -> str:
    return {
        "phrase": "",
        "part": ", within a word",
        "all": ", not as it stands, but with all the words",
        "some": ", with some of the words, the best first",
    }[hits.way]


def _in_context(sentences: Sequence[Sentence], place: int) -> str:
    """Return a sentence with the one before and the one after it, of its section."""
    heading = sentences[place].heading
    pieces = []
    for number in (place - 1, place, place + 1):
        if 0 <= number < len(sentences) and sentences[number].heading == heading:
            text = sentences[number].text
            short = textwrap.shorten(text, _CONTEXT, placeholder=" …")
            pieces.append(text if number == place else short)
    return ("\n" if heading == INFOBOX else " ").join(pieces)


def _tell_headings(article: Article, word: str) -> Findings:
    note = f"no sentence holds {word!r}: try another word"
    headings = article.headings()
    if not headings:
        return Findings((), f"{note}; the article has no sections")
    note += ", or one of its sections"
    return _found(article, _clipped(headings, "; "), note, f"sections of {article.title}")


def _titles(found: Sequence[Nearest]) -> Iterator[Passage]:
    told = set[str]()
    for one in found:
        if titles := [title for title in one.titles if title not in told]:
            told.update(titles)
            yield Passage(_clipped(titles, "\n"), one.source, "nearest titles")


def _paragraphs(missing: Missing) -> Iterator[Passage]:
    """Yield the best paragraphs of the articles that are near."""
    places = [
        (article, text)
        for one in missing.nearest
        for article in one.articles
        for text in article.paragraphs()
    ]
    for number in nearest([text for _, text in places], missing.title, _PARAGRAPHS):
        article, text = places[number]
        short = textwrap.shorten(text, _PARAGRAPH, placeholder=" …")
        yield Passage(short, article.source, article.title)
