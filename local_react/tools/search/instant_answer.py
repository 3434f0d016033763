"""DuckDuckGo's Instant Answer: what it says at once about a well-known thing, without key.

Format: https://duckduckgo.com/api, as it answers; its terms ask to name it as the source.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from local_react.core import Passage
from local_react.network.http import get_once

if TYPE_CHECKING:
    from local_react.network import Permit

ADDRESS = "https://api.duckduckgo.com/"
SECONDS = 5.0
_MAX_BYTES = 1 << 20
_LONGEST = 1200
"""Characters of an answer; an article's beginning says the rest no better."""
_FACTS, _TOPICS = 8, 3


def host() -> str:
    """Return the host that the query is sent to."""
    return urlsplit(ADDRESS).hostname or ""


def ask(permit: Permit, words: str) -> tuple[Passage, ...]:
    """Return the best answer, or nothing where there is none. Raises ToolError or Again
    where the service can't be asked, ValueError for an answer that is no JSON."""
    query = {"q": words, "format": "json", "no_html": 1, "no_redirect": 1, "skip_disambig": 1}
    with permit.exchange(host()) as exchange:
        response = get_once(
            f"{ADDRESS}?{urlencode(query)}",
            exchange,
            timeout=SECONDS,
            most=_MAX_BYTES,
            accept=(),
            redirects=False,
            public=False,
        )
    assert not isinstance(response, str)  # a redirect, which is not taken
    answer = best_answer(json.loads(response.body), words)
    return (answer,) if answer else ()


def best_answer(data: object, words: str) -> Passage | None:
    """Return the first that there is of: the answer, the abstract with the facts beside
    it, the definition, the things that the words may mean."""
    if not isinstance(data, Mapping):
        return None
    page = f"https://duckduckgo.com/?{urlencode({'q': words})}"
    heading = _text(data.get("Heading"))
    abstract = "\n".join(filter(None, [_text(data.get("AbstractText")), *_facts(data)]))
    candidates = (
        (_text(data.get("Answer")), page, heading or words, "DuckDuckGo"),
        (abstract, _text(data.get("AbstractURL")), heading, _text(data.get("AbstractSource"))),
        (
            _text(data.get("Definition")),
            _text(data.get("DefinitionURL")),
            heading or words,
            _text(data.get("DefinitionSource")),
        ),
        ("\n".join(_topics(data.get("RelatedTopics"))), page, f"what {words} may mean", ""),
    )
    for text, source, title, by in candidates:
        if text:
            return Passage(_clipped(text), source or page, f"{title} ({by})" if by else title)
    return None


def _text(value: object) -> str:
    """Return a field's text. An answer that a page's script would work out is an object
    whose "result" is often empty."""
    if isinstance(value, Mapping):
        value = value.get("result")
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return " ".join(html.unescape(re.sub(r"<[^<>]*>", "", str(value))).split())


def _facts(data: Mapping[str, Any]) -> list[str]:
    """Return lines like "Born: 14 March 1879" from the box beside an article."""
    box = data.get("Infobox")
    content = box.get("content") if isinstance(box, Mapping) else None
    lines = [
        f"{label}: {value}"
        for item in (content if isinstance(content, Sequence) else ())
        if isinstance(item, Mapping) and item.get("data_type") == "string"
        if (label := _text(item.get("label"))) and (value := _text(item.get("value")))
    ]
    return lines[:_FACTS]


def _topics(topics: object) -> list[str]:
    return [text for text in _topic_texts(topics) if text][:_TOPICS]


def _topic_texts(topics: object) -> Iterator[str]:
    """Yield the texts of topics, which may lie in groups."""
    if not isinstance(topics, list):
        return
    for topic in topics:
        if isinstance(topic, Mapping):
            yield _text(topic.get("Text"))
            yield from _topic_texts(topic.get("Topics"))


def _clipped(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return text[:_LONGEST].rpartition(" ")[0] + " …"
