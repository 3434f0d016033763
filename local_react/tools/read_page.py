"""read_page: the text of a web page or PDF, the passages nearest to a question first."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

from pydantic import Field

from local_react.core import Findings, Passage
from local_react.documents.passages import Piece, pieces
from local_react.errors import ToolError
from local_react.tools.age import in_words
from local_react.tools.base import Tool, tool
from local_react.tools.web_address import web_address
from local_react.words import TOKENIZER, asked, indexed, telling

if TYPE_CHECKING:
    from local_react.network import Network, Response

PART: Final = 4000
"""Characters of a page that are returned at once, about."""
MAX_BYTES: Final = 16 << 20
MAX_AGE: Final = 6 * 3600.0
"""Seconds for which a page is not fetched again."""
READING_SECONDS: Final = 20.0
"""For finding the text in what came: a hostile page may be made to take for ever."""
_HELD: Final = 4
"""Pages that are held ready, to be read on."""

ACCEPT: Final = (
    "text/html",
    "application/xhtml+xml",
    "application/pdf",
    "text/*",
    "application/json",
    "application/ld+json",
    "application/xml",
    "application/rss+xml",
    "application/atom+xml",
    "application/rtf",
    "application/epub+zip",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.oasis.opendocument.text",
    "application/octet-stream",  # what servers call a file that they do not know
)

Url = Annotated[str, Field(description="its address, https://…", max_length=200)]
Question = Annotated[
    str, Field(description="what to look for in it; empty: its beginning", max_length=200)
]
PartNumber = Annotated[int, Field(description="2 and so on to read further", ge=1, le=999)]


def make_read_page(network: Network) -> Tool[..., Findings]:
    """Return the tool."""
    pages = _Pages(network)

    @tool(may=("reads network",))
    def read_page(url: Url, question: Question = "", part: PartNumber = 1) -> Findings:
        """Read a web page or PDF whose address you have, such as a source that was found:
        the passages nearest to the question, or its beginning."""
        page = pages.get(web_address(url))
        order, told = _ordered(page.pieces, question)
        parts = _parts(order)
        if part > len(parts):
            raise ToolError(f"the page has no part {part}: it ends with part {len(parts)}")
        return Findings(
            tuple(map(page.passage, parts[part - 1])),
            "; ".join(filter(None, [told, _place(part, len(parts)), page.kept_for()])),
        )

    return read_page


@dataclass(frozen=True)
class _Page:
    """A page that was read."""

    url: str
    title: str
    pieces: Sequence[Piece]
    age: float | None
    """Seconds that it had been kept when it was read; None where it had just come."""
    read: float
    """When that was, by time.monotonic."""

    def passage(self, piece: Piece) -> Passage:
        # The fragment opens a PDF at its page (RFC 8118).
        place = f"#page={piece.first}" if piece.unit == "page" else ""
        return Passage(piece.text, self.url + place, self.title)

    @property
    def old(self) -> float:
        """The seconds since it came over the network."""
        return (self.age or 0.0) + time.monotonic() - self.read

    def kept_for(self) -> str:
        """Return the note that tells its age, where it comes from the cache."""
        return "" if self.age is None else f"fetched {in_words(self.old)} ago, from the cache"


class _Pages:
    """Fetches and reads pages, and holds the last ones: to read on sends nothing."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._held: dict[str, _Page] = {}
        self._lock = threading.Lock()

    def get(self, url: str) -> _Page:
        """Return the page. Raises OfflineError and ToolError."""
        with self._lock:
            held = self._held.get(url)
        if held and held.old < MAX_AGE:
            return held
        response = self._network.fetch(
            url, asker="read_page", accept=ACCEPT, most=MAX_BYTES, public=True, max_age=MAX_AGE
        )
        page = self._read(response)
        with self._lock:
            self._held.pop(url, None)
            self._held[url] = page
            for oldest in list(self._held)[:-_HELD]:
                del self._held[oldest]
        return page

    def _read(self, response: Response) -> _Page:
        """Return the page that a server sent. Raises ToolError where it holds no text."""
        from local_react.readers.apart import read_bytes_apart
        from local_react.readers.document import Unreadable

        where = urlsplit(response.url)
        host = where.hostname or ""
        kind = response.content_type
        try:
            document = read_bytes_apart(
                response.body, content_type=kind, url=response.url, seconds=READING_SECONDS
            )
        except Unreadable as error:
            raise ToolError(f"{host} sent what cannot be read: {error}") from error
        title = document.title or f"{host}{where.path}"
        dated = f"{title} ({document.date})" if document.date else title
        return _Page(response.url, dated, pieces(document.parts), response.age, time.monotonic())


def _ordered(found: Sequence[Piece], question: str) -> tuple[Sequence[Piece], str]:
    """Return the passages, those nearest to the question first, and what to say of that."""
    if not question.strip():
        return found, ""
    near = nearest([piece.text for piece in found], question)
    if not near:
        return found, "no passage holds the question's words: this is the beginning"
    rest = [number for number in range(len(found)) if number not in set(near)]
    return [
        found[number] for number in [*near, *rest]
    ], "the passages nearest to the question first"


def nearest(texts: Sequence[str], question: str) -> list[int]:
    """Return the numbers, from 0, of the texts that hold words of the question, the
    nearest first: by BM25 over these texts alone."""
    query = " OR ".join(word.query for word in telling(asked(question)))
    if not query:
        return []
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f'create virtual table passages using fts5(text, tokenize="{TOKENIZER}")')
        rows = ((number, indexed(text)) for number, text in enumerate(texts))
        db.executemany("insert into passages (rowid, text) values (?, ?)", rows)
        found = db.execute(
            "select rowid from passages where passages match ? order by rank, rowid", (query,)
        )
        return [int(row[0]) for row in found]


def _parts(order: Sequence[Piece]) -> list[list[Piece]]:
    """Return the passages in parts of about PART characters, at least one in each."""
    parts: list[list[Piece]] = []
    size = PART
    for piece in order:
        if size + len(piece.text) > PART:
            parts.append([])
            size = 0
        parts[-1].append(piece)
        size += len(piece.text)
    return parts


def _place(part: int, parts: int) -> str:
    if parts == 1:
        return "this is all of it"
    going_on = f"; part {part + 1} goes on" if part < parts else ", the end"
    return f"part {part} of {parts}{going_on}"
