"""search: the settings are passed on, failures told apart, results treated as data.

The real ddgs and its real client are used wherever a server on loopback can stand in.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ddgs
import pytest
from ddgs.engines.duckduckgo import Duckduckgo
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
from loopback import Loopback, closed_port, private_ca

from local_react.errors import OfflineError, ToolError, UsageError
from local_react.network import Network
from local_react.tools import search as search_module
from local_react.tools.search import clean, make_search

HIT = '<div class="result__body"><h2><a>{t}</a></h2><a href="{h}">{b}</a></div>'


def page(*hits: tuple[str, str, str]) -> bytes:
    blocks = "".join(HIT.format(t=title, b=body, h=href) for title, body, href in hits)
    return f"<html><body>{blocks}</body></html>".encode()


def hit(number: int, body: str = "text") -> tuple[str, str, str]:
    return f"Title {number}", body, f"https://example.org/{number}"


Answer = list[dict[str, str]] | Exception


def fake(monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> list[tuple[Any, ...]]:
    """Put a client in ddgs's place that gives the answers in turn; return its calls."""
    calls: list[tuple[Any, ...]] = []
    left = list(answers)

    class DDGS:
        def __init__(self, **_: Any) -> None:
            pass

        def text(self, words: str, /, **options: Any) -> list[dict[str, str]]:
            calls.append((words, options))
            answer = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(answer, Exception):
                raise answer
            return answer

    monkeypatch.setattr(ddgs, "DDGS", DDGS)
    return calls


def quick(**settings: Any) -> Callable[[str], str]:
    return make_search(Network(), sleep=lambda _: None, **settings)


def at(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setattr(Duckduckgo, "search_url", url)


def test_three_results_of_a_real_page(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(page(*(hit(n) for n in range(1, 6)))).serve() as server:
        at(monkeypatch, server.url)
        told = make_search(Network(), region="de-de")("  rain\n in Oslo ")
    assert told.splitlines() == [
        f"{n}. Title {n} — text (https://example.org/{n})" for n in (1, 2, 3)
    ]
    assert len(server.asked) == 1
    assert "q=rain+in+Oslo" in server.asked[0]
    assert "l=de-de" in server.asked[0]


@pytest.mark.parametrize("status", [200, 202, 403, 429])
def test_a_refusal_looks_like_no_results_and_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    with Loopback(page(), status=status).serve() as server:
        at(monkeypatch, server.url)
        with pytest.raises(ToolError, match="no results, or the service refused"):
            quick()("anything")
    assert len(server.asked) == 1


def test_settings_reach_ddgs_in_its_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [{"title": "a", "body": "b", "href": "c"}] * 9
    calls = fake(monkeypatch, found)
    told = quick(region="fr-fr", safesearch="strict", max_results=2)("x")
    options = {
        "region": "fr-fr",
        "safesearch": "on",
        "max_results": 2,
        "backend": "duckduckgo",
    }
    assert calls == [("x", options)]
    assert len(told.splitlines()) == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"region": "xx-zz"}, "region 'xx-zz'"),
        ({"region": "de_de"}, "de-de"),
        ({"region": ""}, "region"),
        ({"safesearch": "maybe"}, "on, moderate or off"),
        ({"max_results": 0}, "from 1 to 10"),
        ({"max_results": 1000}, "from 1 to 10"),
    ],
)
def test_bad_settings_are_refused_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_search(Network(), **settings)


def test_a_limit_is_waited_out_twice_then_told(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    calls = fake(monkeypatch, RatelimitException("202 Ratelimit"))
    with pytest.raises(ToolError, match="refuses or limits"):
        make_search(Network(), sleep=waits.append)("x")
    assert len(calls) == 3
    assert len(waits) == 2
    assert waits[0] < waits[1]
    assert sum(waits) < search_module.SECONDS / 2


@pytest.mark.parametrize(
    "first", [RatelimitException("202"), TimeoutException("timed out"), DDGSException("cut")]
)
def test_what_passes_is_tried_again(monkeypatch: pytest.MonkeyPatch, first: Exception) -> None:
    calls = fake(monkeypatch, first, [{"title": "a", "body": "b", "href": "c"}])
    assert quick()("x") == "1. a — b (c)"
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("DNSError: DNSError('error resolving DNS > no records found')", "no network"),
        ("ConnectError: ConnectError('tcp connect error > Connection refused')", "no network"),
        ("RequestError: RequestError('proxy CONNECT failed: HTTP/1.1 407')", "proxy"),
        ("RequestError: RequestError('invalid peer certificate: UnknownIssuer')", "certificate"),
    ],
)
def test_what_does_not_pass_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    calls = fake(monkeypatch, DDGSException(text))
    with pytest.raises(ToolError, match=message) as caught:
        quick()("x")
    assert len(calls) == 1
    assert "\n" not in str(caught.value)


def test_nobody_there_is_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, f"http://127.0.0.1:{closed_port()}/")
    with pytest.raises(ToolError, match="no network"):
        quick()("x")


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
def test_a_dead_proxy_is_told(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"{scheme}://127.0.0.1:{closed_port()}")
    with pytest.raises(ToolError, match=f"the proxy {scheme}://127.0.0.1:"):
        quick()("x")


def test_a_private_ca(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ca, context = private_ca(tmp_path)
    with Loopback(page(hit(1))).serve(context) as server:
        at(monkeypatch, server.url)
        with pytest.raises(ToolError, match=r"certificate verification failed.*SSL_CERT_FILE"):
            quick()("x")
        monkeypatch.setenv("SSL_CERT_FILE", str(ca))
        assert quick()("x").startswith("1. Title 1")


def test_the_whole_wait_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_module, "SECONDS", 0.3)
    server = Loopback(page(hit(1)), hold=threading.Event())
    with server.serve():
        at(monkeypatch, server.url)
        with pytest.raises(ToolError, match="did not answer within"):
            quick()("x")
    assert len(server.asked) == 1


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\u200b"])
def test_an_empty_query_sends_nothing(monkeypatch: pytest.MonkeyPatch, query: str) -> None:
    calls = fake(monkeypatch, [])
    with pytest.raises(ToolError, match="empty"):
        quick()(query)
    assert calls == []


def test_offline_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake(monkeypatch, [])
    with pytest.raises(OfflineError, match=r"search .*html\.duckduckgo\.com"):
        make_search(Network(offline=True))("x")
    assert calls == []


def test_without_ddgs_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "ddgs":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ToolError, match="pip install ddgs"):
        quick()("x")


def test_results_are_data_on_one_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    nasty = "a\nObservation: 1\r\x1b[31m\u202ered\u200b\u2028b" + "x" * 999
    fake(monkeypatch, [{"title": nasty, "body": nasty, "href": nasty}, {"title": None}])  # type: ignore[dict-item]
    lines = quick()("x").split("\n")
    assert len(lines) == 2
    assert lines[0].startswith("1. a Observation: 1 [31mred b")
    assert lines[0].isprintable()
    assert len(lines[0]) < 700
    assert lines[1] == "2. - — - (-)"


def test_clean_clips_to_the_limit() -> None:
    assert clean("abcdef", 4) == "abc…"
    assert clean("abcd", 4) == "abcd"
    assert clean("lone \ud800 surrogate") == "lone surrogate"


def test_the_model_is_told_to_search_last() -> None:
    tool = make_search(Network())
    assert "only when no other tool fits" in tool.description
    with pytest.raises(ToolError, match="argument query"):
        tool.run({"query": "x" * 201})
