"""What went over the wire for one attempt: ddgs keeps the status and the page to itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from local_react.network import retry_after

MAX_BYTES = 8 << 20
"""A page larger than this is refused; a page of results is about 40 kB."""


@dataclass(frozen=True, slots=True)
class Page:
    """An answer, as far as ddgs reads it."""

    status_code: int
    content: bytes
    text: str


@dataclass
class Wire:
    """Watches the client of one engine."""

    fields: Mapping[str, str] = field(default_factory=dict)
    """Added to every form that is posted."""
    sent: int = 0
    """Bytes of addresses and forms; the client keeps the size of its headers to itself."""
    received: int = 0
    """Bytes of the pages, uncompressed."""
    status: int | None = None
    """Of the last answer; None where there was none."""
    after: float | None = None
    """Seconds that the last answer asks to be left alone."""
    page: str = ""
    result: str = ""
    """How it ended, in a word: the status, or what went wrong."""

    def around(self, client: Any) -> Any:
        """Return the HTTP client (primp's), watched from now on."""
        return _Watched(client, self)

    def send(self, client: Any, method: str, url: str, options: dict[str, Any]) -> Page:
        """Make a request and return its answer, whole.

        Raises what the client raises, and ValueError for a page that is too large.
        """
        if method == "POST" and isinstance(options.get("data"), Mapping):
            options["data"] = {**options["data"], **self.fields}
        self.sent += len(url.encode()) + sum(
            len(urlencode(part)) for name in ("data", "params") if (part := options.get(name))
        )
        try:
            # A redirect would carry the query to a host that nobody was told of.
            page = self._read(client.request(method, url, follow_redirects=False, **options))
        except Exception as error:
            self.result = _word_for(error)
            if self.result in ("network", "certificate"):  # it did not come to sending
                self.sent = 0
            raise
        self.result = str(page.status_code)
        return page

    def _read(self, response: Any) -> Page:
        self.status = int(response.status_code)
        self.after = retry_after(response.headers.get("retry-after", ""))
        body = bytearray()
        for piece in response.iter_bytes():
            body += piece
            self.received += len(piece)
            if len(body) > MAX_BYTES:
                raise ValueError(f"the page is larger than {MAX_BYTES} bytes")
        self.page = _decoded(bytes(body), response.encoding)
        return Page(self.status, bytes(body), self.page)


class _Watched:
    """A client whose requests go through a Wire; all else is its own."""

    def __init__(self, client: Any, wire: Wire) -> None:
        self._client = client
        self._wire = wire

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def request(self, method: str, url: str, **options: Any) -> Page:
        return self._wire.send(self._client, method, url, options)


def _word_for(error: Exception) -> str:
    """Return what the ledger says of an error of primp 2, as it does of other requests."""
    name = type(error).__name__
    if "Timeout" in name:
        return "timeout"
    if "certificate" in str(error):
        return "certificate"
    if name in ("DNSError", "ConnectError"):
        return "network"
    return "broke off" if name in ("DecodeError", "BodyError") else name


def _decoded(body: bytes, encoding: str | None) -> str:
    try:
        return body.decode(encoding or "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")
