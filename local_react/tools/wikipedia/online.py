"""Wikipedia over the network: MediaWiki's API, which asks for no key.

Format: https://www.mediawiki.org/wiki/API:Query, and its extensions TextExtracts
(prop=extracts) and CirrusSearch (list=search, list=prefixsearch).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode, urlsplit

from local_react.errors import ToolError, UsageError
from local_react.zim import Article, Nearest, Section, key

if TYPE_CHECKING:
    from local_react.network import Network

_MOST_BYTES: Final = 4 << 20
"""Of an answer: the longest articles are of about 1 MB as plain text."""
_MAX_AGE: Final = 86_400.0
"""Seconds for which an answer that was kept will do."""
_NEAREST: Final = 5
_HEADING: Final = re.compile(r"\s*(={2,6})\s*(.+?)\s*\1\s*")
_FORBIDDEN: Final = frozenset("#<>[]{}|")
"""What no title can hold: "C#" would open "C" (https://www.mediawiki.org/wiki/Manual:Page_title)."""


@dataclass(frozen=True)
class Online:
    """The Wikipedia of a language."""

    network: Network
    language: str = "en"
    base_url: str | None = None
    """Where it is, without a slash at the end; None is https://LANGUAGE.wikipedia.org."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z]{2,3}(-[a-z]+)*|simple", self.language):
            raise UsageError(f"{self.language!r} is no language of Wikipedia: write en, de, zh …")

    def look(self, title: str) -> Article | Nearest:
        """Return the article of that title, a redirect's included, or the nearest ones.

        What is near is asked for along with the article, so that it is one request.
        Raises OfflineError where the door is shut, else ToolError, one line.
        """
        wanted = {} if _FORBIDDEN & set(title) else {**_ARTICLE, "titles": title}
        answer = self._ask({**wanted, **_NEAR, "srsearch": title, "pssearch": title}, title)
        if article := self._article(answer):
            return article
        nearest = self._nearest(answer)
        same = [near for near in nearest.titles if key(near) == key(title)]
        if len(same) != 1:
            return nearest
        return self._article(self._ask({**_ARTICLE, "titles": same[0]}, title)) or nearest

    @property
    def _base(self) -> str:
        return self.base_url or f"https://{self.language}.wikipedia.org"

    def _ask(self, parameters: dict[str, str], sent: str) -> _Answer:
        url = f"{self._base}/w/api.php?{urlencode({**_QUERY, **parameters})}"
        response = self.network.fetch(
            url, asker="wikipedia", sent=sent, most=_MOST_BYTES, max_age=_MAX_AGE
        )
        return _Answer(_query(response.body, urlsplit(url).hostname or ""), response.age)

    def _article(self, answer: _Answer) -> Article | None:
        for page in _objects(answer.query.get("pages")):
            text, title = page.get("extract"), page.get("title")
            if isinstance(text, str) and text.strip() and isinstance(title, str):
                return Article(
                    title=title,
                    source=self._address(title),
                    sections=tuple(_sections(text)),
                    language=self.language,
                    ambiguous="disambiguation" in (page.get("pageprops") or {}),
                    age=answer.age,
                )
        return None

    def _nearest(self, answer: _Answer) -> Nearest:
        by_title = _titled(answer.query.get("prefixsearch"))
        by_text = _titled(answer.query.get("search"))
        snippets = (
            Article(title, self._address(title), (Section("", (_plain(entry.get("snippet")),)),))
            for title, entry in by_text.items()
        )
        titles = tuple(dict.fromkeys([*by_title, *by_text]))[:_NEAREST]
        return Nearest(titles, tuple(snippets), urlsplit(self._base).netloc)

    def _address(self, title: str) -> str:
        return f"{self._base}/wiki/{quote(title.replace(' ', '_'), safe=_SAFE)}"


_SAFE: Final = "/:(),!*'@;$"
_QUERY: Final = {"action": "query", "format": "json", "formatversion": "2"}
_ARTICLE: Final = {
    "redirects": "1",
    "prop": "extracts|pageprops",
    "explaintext": "1",
    "ppprop": "disambiguation",
}
_NEAR: Final = {
    "list": "search|prefixsearch",
    "srlimit": str(_NEAREST),
    "srprop": "snippet",
    "pslimit": str(_NEAREST),
}


@dataclass(frozen=True, slots=True)
class _Answer:
    query: dict[str, Any]
    age: float | None


def _query(body: bytes, host: str) -> dict[str, Any]:
    """Return what the service says of the query. Raises ToolError where it refuses."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ToolError(
            f"{host} did not answer with JSON; perhaps a login page or a filter stands in "
            "between: try again later"
        ) from error
    if not isinstance(answer, dict):
        raise ToolError(f"{host} answered without an article: try again later")
    if isinstance(answer.get("error"), dict):
        code = str(answer["error"].get("code", "no reason given"))
        reason = re.sub(r"[^A-Za-z0-9 _-]+", " ", code)[:60]  # it may be anything
        raise ToolError(f"{host} refused: {reason}; try again later")
    query = answer.get("query")
    return query if isinstance(query, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _titled(value: Any) -> dict[str, dict[str, Any]]:
    return {one["title"]: one for one in _objects(value) if isinstance(one.get("title"), str)}


def _plain(snippet: Any) -> str:
    """Return a snippet, which is HTML, as text."""
    import html

    return html.unescape(re.sub(r"<[^>]*>", "", snippet if isinstance(snippet, str) else ""))


def _sections(extract: str) -> Iterator[Section]:
    """Yield the sections of an extract: headings stand in lines of their own, between
    equals signs, and a formula's pieces in lines that begin with spaces."""
    heading, paragraphs = "", list[str]()
    for line in re.sub(r"\n[ \t]+", " ", extract).split("\n"):
        found = _HEADING.fullmatch(line)
        if found is None:
            paragraphs += [" ".join(line.split())] if line.strip() else []
            continue
        if paragraphs:
            yield Section(heading, tuple(paragraphs))
        heading, paragraphs = found[2], []
    if paragraphs:
        yield Section(heading, tuple(paragraphs))
