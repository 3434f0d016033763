"""An archive, seen from inside the process that reads it: one question on the standard
input, one answer on the standard output, both JSON objects.

A question names the `archive` and says `what`:
- "look", with a `title`: `page` (title and html), or `near` (titles, at most `near`) and
  `pages` (at most `texts`);
- "probe", with `whole`: nothing but `about`; parts of the archive, or all, are read.
An answer tells `about` the archive, or its `fault`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from local_react.zim.folding import key

if TYPE_CHECKING:
    from libzim.reader import Archive, Entry

_LARGEST: Final = 8 << 20
"""Bytes of an article; Wikipedia's largest are of about 3 MB."""
_MEMORY: Final = 2 << 30
_COMPUTING: Final = 120
"""Seconds of a processor, and bytes of memory besides the file: a crafted archive ends."""
_SAMPLES: Final = 64
"""Entries that are read to see whether an archive is whole."""
_LIKE: Final = 0.6
"""The share of letters that two titles have in common, of which one may be meant."""

Page: TypeAlias = dict[str, str]


class _TooLarge(Exception):
    pass


def main() -> None:
    """Answer the question."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libzim prints what it finds damaged
    _bound()
    with replies:
        replies.write(json.dumps(_answer(json.load(sys.stdin))).encode())


def _bound() -> None:
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (_COMPUTING, _COMPUTING))
    if sys.platform == "linux":  # elsewhere it would count the file that is mapped
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    from libzim.reader import Archive

    path = Path(question["archive"])
    if not path.is_file():
        return {"fault": "missing"}
    try:
        archive = Archive(path)
        if question["what"] == "probe":
            _probe(archive, whole=question["whole"])
            return {"about": _about(archive)}
        return {"about": _about(archive), **_look(archive, question)}
    except _TooLarge:
        return {"fault": "too large"}
    # libzim's own errors are RuntimeErrors; the rest comes of bytes that are no text.
    except (RuntimeError, ValueError, LookupError, OSError, MemoryError) as error:
        return {"fault": " ".join(str(error).split())[:80] or type(error).__name__}


def _about(archive: Archive) -> dict[str, Any]:
    kept = set(archive.metadata_keys)
    said = {
        name.casefold(): archive.get_metadata(name).decode("utf-8", "replace")
        if name in kept
        else ""
        for name in ("Title", "Language", "Date")
    }
    return {**said, "articles": archive.article_count}


def _probe(archive: Archive, *, whole: bool) -> None:
    """Read enough to see whether the archive is damaged; raises or crashes where it is."""
    if whole and archive.has_checksum and not archive.check():
        raise RuntimeError("its checksum is wrong")
    count = archive.all_entry_count
    title = ""
    for number in range(0, count, max(1, count // _SAMPLES)):
        entry = archive._get_entry_by_id(number)
        item = entry.get_item()
        bytes(item.content[: 1 << 16])
        title = entry.title or title
    _suggested(archive, title, 1)
    _searched(archive, title, 1)


def _look(archive: Archive, question: dict[str, Any]) -> dict[str, Any]:
    title = question["title"]
    if entry := _spelled(archive, title):
        return {"page": _page(entry)}
    near = _near(archive, title)
    if entry := _same(near, title):
        return {"page": _page(entry)}
    found = _found(archive, title)[: question["texts"]]
    titles = dict.fromkeys(_title(entry) for entry in near + found)
    return {"near": list(titles)[: question["near"]], "pages": _pages(found)}


def _spelled(archive: Archive, title: str) -> Entry | None:
    """Return the article of exactly that title, or but for the case of initials."""
    plain = " ".join(title.replace("_", " ").split())
    forms = (title, plain, plain[:1].upper() + plain[1:], plain.title())
    for form in dict.fromkeys(forms):
        if archive.has_entry_by_title(form):
            entry = archive.get_entry_by_title(form)
            if _is_article(entry):
                return entry
    return None


def _near(archive: Archive, title: str) -> list[Entry]:
    """Return articles whose titles are like it, the likest first."""
    words = _words(title)
    paths = _suggested(archive, title, 10)
    for word in words if len(paths) < 5 else ():
        paths += _suggested(archive, word, 10)
    entries = _articles(archive, paths)
    if not entries:  # a word may be wrong towards its end
        starts = [word[: len(word) // 2] for word in words]
        paths = [path for start in starts for path in _suggested(archive, start, 20)]
        articles = _articles(archive, paths)
        entries = [entry for entry in articles if _likeness(entry.title, title) >= _LIKE]
    return sorted(entries, key=lambda entry: -_likeness(entry.title, title))


def _same(near: list[Entry], title: str) -> Entry | None:
    """Return the one article whose title is the same but for accents, case and signs, or
    but for what stands in brackets at the end."""
    for letters in (key, lambda text: key(text.partition(" (")[0])):
        same = [entry for entry in near if letters(entry.title) == letters(title)]
        if len({_title(entry) for entry in same}) == 1:
            return same[0]
    return None


def _found(archive: Archive, words: str) -> list[Entry]:
    """Return articles whose text holds the words, or most of them."""
    ranks: dict[str, float] = {}
    for place, path in enumerate(_searched(archive, words, 10)):
        ranks[path] = 10.0 - place
    for word in _words(words) if not ranks else ():  # the index wants all of them
        for place, path in enumerate(_searched(archive, word, 50)):
            ranks[path] = ranks.get(path, 0.0) + 1.0 / (10 + place)
    return _articles(archive, sorted(ranks, key=lambda path: -ranks[path]))


def _suggested(archive: Archive, text: str, most: int) -> list[str]:
    from libzim.suggestion import SuggestionSearcher

    return list(SuggestionSearcher(archive).suggest(text).getResults(0, most)) if text else []


def _searched(archive: Archive, text: str, most: int) -> list[str]:
    from libzim.search import Query, Searcher

    if not archive.has_fulltext_index or not text:
        return []
    return list(Searcher(archive).search(Query().set_query(text)).getResults(0, most))


def _pages(entries: list[Entry]) -> list[Page]:
    pages = []
    for entry in entries:
        try:
            pages.append(_page(entry))
        except _TooLarge:
            continue
    return pages


def _page(entry: Entry) -> Page:
    item = entry.get_item()
    if item.size > _LARGEST:
        raise _TooLarge
    return {"title": item.title, "html": bytes(item.content).decode("utf-8", "replace")}


def _title(entry: Entry) -> str:
    """Return the title of an article, or of that which a redirect leads to."""
    return str(entry.get_item().title)


def _articles(archive: Archive, paths: list[str]) -> list[Entry]:
    entries = map(archive.get_entry_by_path, dict.fromkeys(paths))
    return [entry for entry in entries if _is_article(entry)]


def _is_article(entry: Entry) -> bool:
    return str(entry.get_item().mimetype).startswith(("text/html", "application/xhtml"))


def _words(text: str) -> list[str]:
    """Return the longest words, which are rarely the common ones."""
    import re

    words = [word for word in re.findall(r"\w+", text) if len(word) > 2]
    return sorted(dict.fromkeys(words), key=len, reverse=True)[:5]


def _likeness(title: str, wanted: str) -> float:
    import difflib

    return difflib.SequenceMatcher(None, key(title), key(wanted)).ratio()
