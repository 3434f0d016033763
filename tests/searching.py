"""What the tests of search share: pages as DuckDuckGo writes them, and who serves them."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ddgs.engines.duckduckgo import Duckduckgo
from loopback import Loopback, closed_port

from local_react.tools import search
from local_react.tools.search import instant_answer

HIT = (
    '<div class="result results_links web-result"><div class="links_main result__body">'
    '<h2 class="result__title"><a class="result__a" href="{h}">{t}</a></h2>'
    '<a class="result__snippet" href="{h}">{b}</a></div></div>'
)
NONE_FOUND = (
    b'<html><body><div class="result results_links result--no-result">'
    b'<div class="links_main result__body"><div class="no-results">No results.</div></div></div>'
    b"</body></html>"
)
CHALLENGE = (
    b'<html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html">'
    b'<div class="anomaly-modal__body"><div class="anomaly-modal__title">'
    b"Unfortunately, bots use DuckDuckGo too.</div></div></form></body></html>"
)


def page(*hits: tuple[str, str, str]) -> bytes:
    """Return a page of results: title, body and address of each."""
    blocks = "".join(HIT.format(t=title, b=body, h=href) for title, body, href in hits)
    return f"<html><body>{blocks}</body></html>".encode()


def hit(number: int) -> tuple[str, str, str]:
    return f"Title {number}", f"text {number}", f"https://example.org/{number}"


def at(monkeypatch: pytest.MonkeyPatch, url: str, answer: str | None = None) -> None:
    """Let the results come from `url`, and the instant answer from nobody, or `answer`."""
    monkeypatch.setattr(Duckduckgo, "search_url", url)
    nobody = f"http://127.0.0.1:{closed_port()}/"
    monkeypatch.setattr(instant_answer, "ADDRESS", answer or nobody)


def instant(**fields: Any) -> bytes:
    """Return an instant answer: the fields that it always has, and those given."""
    empty = dict.fromkeys(("Answer", "AbstractText", "AbstractURL", "Definition", "Heading"), "")
    return json.dumps({**empty, "RelatedTopics": [], "Infobox": "", **fields}).encode()


@contextmanager
def serve_both(
    monkeypatch: pytest.MonkeyPatch, results: Loopback, answer: Loopback
) -> Iterator[None]:
    monkeypatch.setattr(search, "GRACE", 10.0)  # the machine may be busy
    with results.serve(), answer.serve():
        at(monkeypatch, f"{results.url}/html/", f"{answer.url}/")
        yield


@contextmanager
def raw_server(reply: bytes) -> Iterator[str]:
    """Answer every connection with these bytes and close it; yield the address."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(reply)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
