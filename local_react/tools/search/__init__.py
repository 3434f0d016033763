"""search: DuckDuckGo's instant answer and the first results, through the library ddgs."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import astuple
from functools import partial
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from local_react.core import Findings, Passage
from local_react.errors import ToolError
from local_react.network import Aside
from local_react.outside import clean
from local_react.tools.age import in_words
from local_react.tools.base import Tool, tool
from local_react.tools.search import instant_answer
from local_react.tools.search.asking import Asking
from local_react.tools.search.distinct import distinct
from local_react.tools.search.engines import FIRST, host_of, require_ddgs
from local_react.tools.search.settings import Settings, checked

if TYPE_CHECKING:
    from local_react.network import Network

SECONDS = 10.0
"""The whole wait, further attempts and other engines included."""
MAX_AGE = 6 * 3600.0
"""Seconds for which a search is not sent again: news and prices are asked for too."""
GRACE = 1.0
"""Seconds that the results wait for the instant answer."""

Query = Annotated[str, Field(description="a few words to look up", max_length=200)]


def make_search(
    network: Network,
    *,
    region: str = "us-en",
    safesearch: str = "moderate",
    max_results: int = 3,
    engines: Sequence[str] | str = (FIRST,),
    seconds: float = SECONDS,
) -> Tool[..., Findings]:
    """Return the tool. `safesearch` is on, moderate or off; `max_results` from 1 to 10;
    `engines`, ddgs's names of them, are asked in that order, the next where one has
    trouble or refuses; `seconds` is the longest wait for all of them.

    Raises UsageError where a setting is not one of those.
    """
    settings = checked(region, safesearch, max_results, engines)
    asking = Asking(network, settings, seconds)

    @tool(may=("reads network",))
    def search(query: Query) -> Findings:
        """Search the web, only when no other tool fits: news, prices, facts you don't know."""
        words = words_of(query)
        if not words:
            raise ToolError("the query is empty: write the words to look up")
        look = partial(_look, network, settings, asking, words)
        try:
            kept = network.kept("search", settings.key(words), MAX_AGE, lambda: _packed(look()))
        except _Partly as partly:
            return partly.findings
        return _unpacked(kept.body, kept.age)

    return search


def words_of(query: str) -> str:
    """Return a query as one line: without control, invisible and bidirectional characters,
    single spaces, and without the signs (! and \\) at a word's beginning by which
    DuckDuckGo sends the reader on to other sites."""
    return re.sub(r"(?<!\S)[!\\]+(?=\w)", "", clean(query))


class _Partly(Exception):
    """Findings that are not to be kept, because a part of them is missing."""

    def __init__(self, findings: Findings) -> None:
        super().__init__(findings.note)
        self.findings = findings


def _look(network: Network, settings: Settings, asking: Asking, words: str) -> Findings:
    """Return the instant answer and the results, asked for at the same time.

    Raises ToolError where there is neither, _Partly where one of them could not be had.
    """
    require_ddgs()
    first = settings.engines[0]
    hosts = [host_of(engine, settings.region) for engine in settings.engines]
    permit = network.permit("search", [instant_answer.host(), *hosts], words)
    started = time.monotonic()
    beside = Aside(partial(instant_answer.ask, permit, words), "instant answer")
    try:
        results, engine = asking.results(permit, words)
    except ToolError as trouble:
        left = instant_answer.SECONDS - (time.monotonic() - started)
        answer = beside.value(max(GRACE, left))
        if not answer:
            raise
        raise _Partly(Findings(answer, f"an instant answer only; {trouble}")) from trouble
    answer = beside.value(GRACE)
    note = "" if engine == first else f"found by {engine}, since {first} has trouble"
    passages = distinct([*(answer or ()), *results], lambda found: (found.source, found.text))
    findings = Findings(tuple(passages), note)
    if answer is None or note:
        raise _Partly(findings)
    return findings


def _packed(findings: Findings) -> bytes:
    return json.dumps([astuple(passage) for passage in findings.passages]).encode()


def _unpacked(body: bytes, age: float | None) -> Findings:
    passages = tuple(Passage(*parts) for parts in json.loads(body))
    note = "" if age is None else f"found {in_words(age)} ago, from the cache"
    return Findings(passages, note)
