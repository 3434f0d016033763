"""The network of seven.py, served on loopback: a search engine, the pages it finds, rates."""

from __future__ import annotations

import html
import json
import math
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from unittest.mock import patch
from urllib.parse import parse_qs, quote, urlsplit

from ddgs.engines.duckduckgo import Duckduckgo

from local_react.errors import ToolError
from local_react.network import Network, Permit, Response
from local_react.network.http import MAX_BYTES, host_of
from local_react.tools.search import instant_answer as instant_answers
from quality.seven_pages import HITS, INSTANT, PAGES, PER_DOLLAR, Hit


def found(words: str) -> list[Hit]:
    """Return the results for a query, the best first: those that share its rarer words. Of
    equal ones the earlier in the list is better."""
    asked, texts = _terms(words), [_terms(f"{hit.title} {hit.url} {hit.snippet}") for hit in HITS]
    rare = {
        word: math.log(1 + len(HITS) / spread)
        for word in asked
        if (spread := sum(word in text for text in texts))
    }
    scores = [sum(weight for word, weight in rare.items() if word in text) for text in texts]
    order = sorted(range(len(HITS)), key=lambda number: -scores[number])
    least = max(scores, default=0.0) / 3
    return [HITS[number] for number in order if scores[number] > least]


def _terms(text: str) -> set[str]:
    plain = {word.removesuffix("'s") for word in re.findall(r"[\w']+", text.casefold())}
    return {word.removesuffix("s") for word in plain} - _COMMON


_COMMON: Final = frozenset(
    "a an and are as at be by for from how i in is it its many me much of on or please tell that "
    "the thi to wa what when which who will with you your http www com".split()
)


def results_page(words: str) -> bytes:
    """Return DuckDuckGo's page of results without scripts, as far as its markup matters."""
    hits = found(words)[:10]
    inside = "".join(_result(hit, words) for hit in hits) if hits else _NO_RESULTS
    advert = _advert(words) if hits else ""
    return _PAGE.format(words=html.escape(words, quote=True), inside=advert + inside).encode()


def _result(hit: Hit, words: str) -> str:
    parts = urlsplit(hit.url)
    href = html.escape(f"//duckduckgo.com/l/?uddg={quote(hit.url, safe='')}&rut=5d0c{len(hit.url)}")
    asked = _terms(words)
    snippet = " ".join(
        f"<b>{html.escape(word)}</b>" if _terms(word) & asked else html.escape(word)
        for word in hit.snippet.split(" ")
    )
    return _RESULT.format(
        href=href,
        title=html.escape(hit.title),
        snippet=snippet,
        icon=f"//external-content.duckduckgo.com/ip3/{parts.hostname}.ico",
        shown=html.escape(f"{parts.hostname}{parts.path}"),
    )


def _advert(words: str) -> str:
    text = html.escape(" ".join(words.split()[:3]))
    return _ADVERT.format(text=text)


_PAGE: Final = """<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{words} at DuckDuckGo</title>
<link rel="stylesheet" href="/dist/h.css" type="text/css"/></head>
<body class="body--html"><a name="top" id="top"></a>
<form action="/html/" method="post"><div id="header" class="header">
<input name="q" class="search__input" type="text" value="{words}"/></div></form>
<div><div class="serp__results"><div id="links" class="results">{inside}</div></div></div>
<div class="nav-link"><form action="/html/" method="post"><input type="submit" value="Next"/>
</form></div></body></html>"""
_RESULT: Final = """
<div class="result results_links results_links_deep web-result">
<div class="links_main links_deep result__body"><h2 class="result__title">
<a rel="nofollow" class="result__a" href="{href}">{title}</a></h2>
<div class="result__extras"><div class="result__extras__url"><span class="result__icon">
<a rel="nofollow" href="{href}"><img class="result__icon__img" alt="" src="{icon}"/></a></span>
<a class="result__url" href="{href}">{shown}</a></div></div>
<a class="result__snippet" href="{href}">{snippet}</a><div class="clear"></div></div></div>"""
_ADVERT: Final = """
<div class="result results_links results_links_deep result--ad">
<div class="links_main links_deep result__body"><h2 class="result__title">
<a rel="nofollow" class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example">
{text} - up to 70% off today</a></h2>
<a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=shop.example">
Save $250 on {text}. Free delivery on orders over $35, 4.8 of 5 stars from 12,904 customers.</a>
</div></div>"""
_NO_RESULTS: Final = """
<div class="result results_links result--no-result"><div class="links_main result__body">
<div class="no-results">No results.</div></div></div>"""


def instant_answer(words: str) -> Mapping[str, Any]:
    """Return what the Instant Answer API says: the fields that it always has, filled in for a
    few names that stand alone."""
    empty: dict[str, Any] = dict.fromkeys(
        ("Abstract", "AbstractSource", "AbstractText", "AbstractURL", "Answer", "AnswerType",
         "Definition", "DefinitionSource", "DefinitionURL", "Entity", "Heading", "Image",
         "Infobox", "Redirect", "Type"), "",
    )  # fmt: skip
    known = INSTANT.get(" ".join(words.casefold().split()), {})
    return {**empty, "RelatedTopics": [], "Results": [], **known}


def rates() -> Mapping[str, Any]:
    """Return today's table as open.er-api.com writes it, without the currencies that nobody
    asks for here."""
    last = int(time.time()) // 86_400 * 86_400 + 1
    following = last + 86_400
    return {
        "result": "success",
        "provider": "https://www.exchangerate-api.com",
        "documentation": "https://www.exchangerate-api.com/docs/free",
        "terms_of_use": "https://www.exchangerate-api.com/terms",
        "time_last_update_unix": last,
        "time_last_update_utc": formatdate(last).replace("-0000", "+0000"),
        "time_next_update_unix": following,
        "time_next_update_utc": formatdate(following).replace("-0000", "+0000"),
        "time_eol_unix": 0,
        "base_code": "USD",
        "rates": PER_DOLLAR,
    }


def web_page(address: str) -> bytes | None:
    """Return the page at an address without its scheme; None where there is none."""
    where = address.partition("?")[0].partition("#")[0].rstrip("/")
    for url, (title, body) in PAGES.items():
        if url.partition("://")[2].rstrip("/") == where:
            return _site(title, body).encode()
    return None


def _site(title: str, body: str) -> str:
    """Return a page with what stands around the text on such sites."""
    more = "".join(f'<li><a href="{hit.url}">{html.escape(hit.title)}</a></li>' for hit in HITS[:6])
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<script>window.dataLayer=window.dataLayer||[];dataLayer.push({{"price":"0.99"}});</script>
<style>.c{{display:none}}</style></head><body>
<div class="consent"><p>We and our 842 partners store and access information on your device.</p>
<button>Accept all</button><button>Manage settings</button></div>
<header><nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li>
<li><a href="/login">Sign in</a></li><li><a href="/plus">Try Plus for $1 a week</a></li></ul></nav>
</header><main>{body}</main><aside><h3>People also read</h3><ul>{more}</ul></aside>
<footer><p>Quotes are delayed by up to 15 minutes. Terms, Privacy, Do not sell my data</p></footer>
</body></html>"""


@contextmanager
def network() -> Iterator[Network]:
    """Open a door whose every request is answered on loopback, until the block ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            with (
                patch.object(Duckduckgo, "search_url", f"{url}{_SEARCH}"),
                patch.object(instant_answers, "ADDRESS", f"{url}{_INSTANT_ANSWER}"),
            ):
                yield _Served("allow", at=url)
        finally:
            server.shutdown()
            thread.join()


@dataclass
class _Served(Network):
    """A door that fetches a page of any host from a server of this machine."""

    at: str = field(default="", kw_only=True)

    def fetch(
        self,
        url: str,
        *,
        asker: str,
        sent: str | None = None,
        accept: Sequence[str] = (),
        most: int = MAX_BYTES,
        public: bool = False,
        max_age: float = 0.0,
        permit: Permit | None = None,
    ) -> Response:
        """Return what the page's stand-in answers. Raises ToolError as the door does."""
        host = host_of(url)
        there = f"{self.at}/{url.partition('://')[2]}"
        try:
            answer = super().fetch(there, asker=asker, accept=accept, most=most)
        except ToolError as error:
            raise ToolError(str(error).replace(host_of(self.at), host)) from error
        return replace(answer, url=url)


_SEARCH: Final = "/html/"
_INSTANT_ANSWER: Final = "/instant/"
_RATES: Final = "/open.er-api.com/v6/latest/USD"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        form = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        words = parse_qs(form or parts.query).get("q", [""])[0]
        if parts.path == _SEARCH:
            self._send(results_page(words))
        elif parts.path == _INSTANT_ANSWER:
            self._send(json.dumps(instant_answer(words)).encode(), "application/json")
        elif parts.path == _RATES:
            self._send(json.dumps(rates()).encode(), "application/json")
        elif page := web_page(self.path.lstrip("/")):
            self._send(page)
        else:
            self._send(b"<html><body><h1>404 Not Found</h1></body></html>", status=404)

    do_POST = do_GET  # noqa: N815

    def _send(self, body: bytes, kind: str = "text/html; charset=UTF-8", status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
