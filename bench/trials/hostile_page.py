"""Hostile text in every field of a run, and its page in a real browser."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, Final

from lxml import html

from local_react.transcript import Transcript, parsed
from local_react.transcript.page import page
from trials.trial import Report, Trial

_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")
_SECONDS: Final = 90
_OURS: Final = frozenset(
    "html head meta title style body header p h1 details summary pre main section h2 ul li ol svg"
    " rect bdi span table tbody tr th td".split()
)
"""The elements of the template; a browser adds tbody."""
_ATTRIBUTES: Final = frozenset(
    "lang charset content http-equiv name class dir tabindex aria-labelledby aria-label id role x"
    " width height scope".split()
)
_MARK: Final = "h4rmful"
"""What a script writes that runs, and the path of what is asked for."""
_POLICY: Final = ("default-src 'none'", "base-uri 'none'", "form-action 'none'")
HOSTILE: Final = (
    "</title></style></pre></details></td></bdi></svg><script>document.title='h4rmful';"
    "document.body.append('h4rmful')</script>",
    "<img src=x onerror=\"document.body.append('h4rmful')\"><img src={url}/h4rmful>",
    "\"><svg/onload=document.body.append('h4rmful')><iframe srcdoc='<script>parent.x</script>'>",
    "' onmouseover='alert(1)' style='background:url({url}/h4rmful)' x='",
    "<base href={url}/h4rmful/><link rel=stylesheet href={url}/h4rmful.css>"
    "<link rel=dns-prefetch href={url}><meta http-equiv=refresh content='0;url={url}/h4rmful'>",
    "<a href=javascript:document.body.append('h4rmful') autofocus onfocus=alert(1)>press</a>",
    "<form action={url}/h4rmful><input type=submit autofocus></form><object data={url}/h4rmful>",
    "<!-- --!> <![CDATA[ ]]> <?php {{ 7 * 7 }} {% raw %} &lt;script&gt; &#60;b&#62; <plaintext>",
    "<style>@import '{url}/h4rmful';</style><template><script>1</script></template><noscript>",
    "\u202edlrow\u2066 \x00\x1b[31m\u2028\ufeff\u200b\ud800 \udfff \x0b\x85 <\x00script>",
    "javascript:document.body.append('h4rmful')//data:text/html,<script>1</script>",
    "[x](javascript:alert(1)) <{url}/h4rmful> ```</pre><xmp><textarea><select><math><mtext>",
)


@dataclass(frozen=True)
class _Seen:
    """A page as the browser has it."""

    text: str
    asked: Sequence[str]
    """What it asked our server for."""


def _pages(count: int, random: Random) -> Report:
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        return Report(0, skipped="SKIPPED, no Chromium is installed here: apt install chromium")
    failures: list[str] = []
    with _server() as (url, asked), TemporaryDirectory(prefix="page-") as folder:
        seen = partial(_seen, browser, Path(folder), asked)
        if fault := _cannot_fail(seen, url):
            return Report(0, [fault])
        for number in range(count):
            texts = [text.replace("{url}", url) for text in HOSTILE]
            chosen = random.sample(texts, len(texts)) if number else texts
            transcript = _hostile(chosen)
            failures += [
                f"page {number}: {fault}" for fault in _faults(seen(page(transcript)), chosen)
            ]
    return Report(count, failures, figures=f"in {Path(browser).name}, {len(HOSTILE)} texts")


def _hostile(texts: Sequence[str]) -> Transcript:
    """Return a transcript in which every field that may hold a text holds hostile ones."""
    every = "\n".join(texts)
    step: dict[str, Any] = {"usage": {"evaluated": 1, "generated": 1}, "seconds": 1.0}
    sources = [{"number": n, "title": text, "where": text} for n, text in enumerate(texts, 1)]
    call = {"tool": every, "arguments": {text: [text, {text: text}] for text in texts}}
    actions = [call, {"malformed": every, "reason": every}, {"finish": every}]
    steps = [
        {
            **step,
            "type": "step",
            "thought": every,
            "action": action,
            "text": every,
            "reply": number,
            "observation": every if number < 3 else None,
            "sources": sources if number < 2 else [],
        }
        for number, action in enumerate(actions, 1)
    ]
    tool: dict[str, Any] = {
        "name": every,
        "description": every,
        "schema": {every: every},
        "may": [every],
    }
    tool |= {"own_words": False, "suits": None, "offer": {every: every}, "offered": every}
    head = {
        "type": "run",
        "format": 1,
        "version": every,
        "time": "2026-01-01T00:00:00+00:00",
        "question": every,
        "facts": list(texts),
        "system": every,
        "model": every,
        "model_sha256": every,
        "session": every,
        "branch": {every: every},
        "earlier": None,
        "settings": {"loading": {every: every}, "sampling": {}, every: every},
        "tools": [tool],
    }
    exchange = {"tool": every, "host": every, "text": every, "result": every}
    votes = [{**step, "answer": every, "way": "tools", "counts": True, "stop_reason": "finish"}] * 2
    end = {
        "type": "end",
        **step,
        "answer": every,
        "stop_reason": "finish",
        "votes": votes,
        "guards": {},
        "confidence": 1.0,
        "computed": False,
        "finished": True,
        "sources": sources,
        "egress": [{**exchange, "bytes_sent": 1, "bytes_received": 1}],
    }
    return parsed("\n".join(map(json.dumps, [head, *steps, end])), "it")


def _faults(seen: _Seen, texts: Sequence[str]) -> Iterator[str]:
    """Tell what is wrong with a page as the browser has it."""
    tree = html.document_fromstring(seen.text)
    names = {str(element.tag) for element in tree.iter() if isinstance(element.tag, str)}
    attributes = {str(name) for element in tree.iter() for name in element.attrib}
    if strange := (names - _OURS) | (attributes - _ATTRIBUTES):
        yield f"it holds {sorted(strange)}"
    if seen.asked:
        yield f"it asked for {seen.asked}"
    policies = tree.xpath("//head/meta[@http-equiv='Content-Security-Policy']/@content")
    if len(policies) != 1 or not all(part in policies[0] for part in _POLICY):
        yield f"its policy is {policies}"
    if tree.xpath("//a | //*[@href] | //*[@src] | //comment()"):
        yield "it has a link, or a comment"
    shown = " ".join(str(tree.text_content()).split())
    for text in texts:
        if text.isascii() and text.isprintable() and " ".join(text.split()) not in shown:
            yield f"it does not show {text!r}"


def _cannot_fail(seen: Any, url: str) -> str:
    """Return what is wrong with this very trial: the browser must run a script, ask for a
    picture, and be kept from both by the policy of our pages."""
    bad = f"<body><img src={url}/h4rmful><script>document.body.append('ran')</script></body>"
    open_ = seen(f"<!DOCTYPE html><html><head></head>{bad}</html>")
    policy = "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">"
    shut = seen(f"<!DOCTYPE html><html><head>{policy}</head>{bad}</html>")
    if ">ran<" not in open_.text or not open_.asked:
        return "the browser runs no script, or asks for no picture, though it may"
    if ">ran<" in shut.text or shut.asked:
        return "the browser does not keep to a policy"
    return ""


def _seen(browser: str, folder: Path, asked: list[str], text: str) -> _Seen:
    """Return a page as the browser has it once it has come to rest."""
    asked.clear()
    file = folder / "page.html"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            *(browser, "--headless", "--disable-gpu", "--no-first-run", "--incognito"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *(f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=3000", "--dump-dom"),
            *(("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()),
            file.as_uri(),
        ],
        capture_output=True,
        timeout=_SECONDS,
        check=True,
    )
    return _Seen(done.stdout.decode("utf-8", "replace"), tuple(asked))


@contextmanager
def _server() -> Iterator[tuple[str, list[str]]]:
    """Yield the address of a server on this machine, and what it was asked for."""
    asked: list[str] = []

    class Asked(BaseHTTPRequestHandler):
        """Notes what it is asked for."""

        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_POST = do_HEAD = do_OPTIONS = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            """Be quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


TRIALS: tuple[Trial, ...] = (
    Trial("page", "hostile text in every field of an exported page, in Chromium", _pages, 12, 2),
)
