"""search: the settings are passed on, failures told apart, each failure costs only itself.

The real ddgs and its real client are used wherever a server on loopback can stand in.
"""

from __future__ import annotations

import builtins
import json
import re
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import ddgs
import pytest
from ddgs.engines import ENGINES
from ddgs.engines.brave import Brave
from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
from loopback import Loopback, closed_port, private_ca
from searching import (
    CHALLENGE,
    NONE_FOUND,
    at,
    hit,
    instant,
    page,
    raw_server,
    serve_both,
)

from local_react.core import Findings, Passage
from local_react.errors import OfflineError, ToolError, UsageError
from local_react.network import Answers, Network
from local_react.tools import search as search_module
from local_react.tools.base import Tool
from local_react.tools.search import SECONDS, make_search
from local_react.tools.search.asking import Asking
from local_react.tools.search.refusals import FIRST_PAUSE, Refusals
from local_react.tools.search.settings import checked

Answer = list[dict[str, str]] | Exception


def fake(monkeypatch: pytest.MonkeyPatch, *answers: Answer) -> list[tuple[Any, ...]]:
    """Put a client in ddgs's place that gives the answers in turn; return its calls."""
    at(monkeypatch, f"http://127.0.0.1:{closed_port()}/")
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


def quick(network: Network | None = None, **settings: Any) -> Tool[..., Findings]:
    return make_search(network or Network("allow", sleep=lambda _: None), **settings)


def found(number: int) -> Passage:
    return Passage(f"text {number}", f"https://example.org/{number}", f"Title {number}")


def test_three_results_of_a_real_page(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(page(*(hit(n) for n in range(1, 6)))).serve() as server:
        at(monkeypatch, server.url)
        told = quick(region="de-de")("  rain\n in Oslo ")
    assert told == Findings((found(1), found(2), found(3)))
    assert len(server.asked) == 1
    assert "q=rain+in+Oslo" in server.asked[0]
    assert "kl=de-de" in server.asked[0]


@pytest.mark.parametrize(
    ("safesearch", "field"), [("on", "1"), ("strict", "1"), ("off", "-2"), ("moderate", None)]
)
def test_safe_search_is_sent(
    monkeypatch: pytest.MonkeyPatch, safesearch: str, field: str | None
) -> None:
    with Loopback(page(hit(1))).serve() as server:
        at(monkeypatch, f"{server.url}/?")
        quick(safesearch=safesearch)("x")
    fields = dict(pair.split("=") for pair in server.asked[0].partition("?")[2].split("&"))
    assert fields.get("kp") == field


def test_repeats_adverts_and_blocks_without_address_make_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    advert = "https://duckduckgo.com/y.js?ad_domain=shop.example"
    wrapped = "//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2F4%3Fa%3Db&rut=0123"
    hits = (
        ("Buy", "now", advert),
        ("nothing", "here", ""),
        hit(1),
        ("Again", "the same page", "http://www.example.org/1/?utm_source=x#top"),
        ("Title 1", "text 1", "https://mirror.example/1"),
        hit(2),
        ("Title 4", "text 4", wrapped),
        hit(5),
    )
    with Loopback(page(*hits)).serve() as server:
        at(monkeypatch, server.url)
        told = quick()("x")
    assert told.passages == (
        found(1),
        found(2),
        Passage("text 4", "https://example.org/4?a=b", "Title 4"),
    )


@pytest.mark.parametrize("status", [202, 403, 429])
def test_a_refusal_is_backed_off_from_told_and_remembered(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    waits: list[float] = []
    with Loopback(page(), status=status).serve() as server:
        at(monkeypatch, server.url)
        search = quick(Network("allow", sleep=waits.append))
        with pytest.raises(ToolError, match=rf"duckduckgo refuses or limits.*HTTP {status}"):
            search("anything")
        assert len(server.asked) == 3
        assert len(waits) == 2
        assert waits[0] < waits[1]
        assert sum(waits) < SECONDS / 2
        with pytest.raises(
            ToolError, match=r"refuses or limits.*it did a moment ago.*try again in"
        ):
            search("something else")
        assert len(server.asked) == 3


def test_a_refusal_that_passes_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(page(hit(1)), status=429).serve() as server:
        at(monkeypatch, server.url)
        search = quick(Network("allow", sleep=lambda _: setattr(server, "status", 200)))
        assert search("x").passages == (found(1),)
        assert search("y").passages == (found(1),)
    assert len(server.asked) == 3


@pytest.mark.parametrize("answer", [page(hit(1)), NONE_FOUND])
def test_who_answers_again_is_trusted_again(monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
    clock = [0.0]
    network, refusals = Network("allow"), Refusals(now=lambda: clock[0])
    asking = Asking(network, checked("us-en", "moderate", 3, "duckduckgo"), 10, refusals)

    def ask() -> None:
        with suppress(ToolError):
            asking.results(network.permit("search", ["127.0.0.1"], "x"), "x")

    with Loopback(CHALLENGE).serve() as server:
        at(monkeypatch, server.url)
        for body in (CHALLENGE, CHALLENGE, answer, CHALLENGE):
            server.body = body
            clock[0] += 10 * FIRST_PAUSE
            ask()
    assert len(server.asked) == 4
    assert refusals.left("duckduckgo") == FIRST_PAUSE


def test_a_service_that_asks_for_longer_than_there_is_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refusing = Loopback(page(), status=429, headers={"Retry-After": "1800"})
    with refusing.serve() as server:
        at(monkeypatch, server.url)
        with pytest.raises(ToolError, match="try again in 30 min"):
            quick()("x")
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [200, 202])
def test_a_challenge_is_a_refusal_that_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    with Loopback(CHALLENGE, status=status).serve() as server:
        at(monkeypatch, server.url)
        with pytest.raises(ToolError, match=r"refuses or limits.*whether a person searches"):
            quick()("x")
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [200, 202])
def test_no_results_are_no_refusal(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    with Loopback(NONE_FOUND, status=status).serve() as server:
        at(monkeypatch, server.url)
        search = quick()
        for _ in range(2):
            with pytest.raises(ToolError, match=r"^no results for these words"):
                search("what a captcha is")
    assert len(server.asked) == 2  # nothing is held against the service


def test_words_of_the_query_do_not_make_a_challenge(monkeypatch: pytest.MonkeyPatch) -> None:
    body = b"<html><body><input name='q' value='captcha'></body></html>"
    with Loopback(body).serve() as server:
        at(monkeypatch, server.url)
        with pytest.raises(ToolError, match=r"^no results, or the service refused"):
            quick()("captcha")


def test_trouble_of_the_server_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(page(), status=503).serve() as server:
        at(monkeypatch, server.url)
        with pytest.raises(ToolError, match=r"trouble.*HTTP 503"):
            quick()("x")
    assert len(server.asked) == 3


def test_a_redirect_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(page(hit(1))).serve() as elsewhere:
        redirect = Loopback(b"", status=302, headers={"Location": elsewhere.url})
        with redirect.serve() as server:
            at(monkeypatch, server.url)
            with pytest.raises(ToolError, match="HTTP 302"):
                quick()("x")
    assert elsewhere.asked == []


def test_a_page_that_breaks_off(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + page(hit(1))
    with raw_server(reply) as url:
        at(monkeypatch, url)
        network = Network("allow", sleep=lambda _: None)
        with pytest.raises(ToolError, match=r"^the answer of 127\.0\.0\.1 broke off") as caught:
            quick(network)("x")
    assert "\n" not in str(caught.value)
    parts = [exchange for exchange in network.exchanges if exchange.received]
    assert [exchange.result for exchange in parts] == ["broke off"] * 3


def test_a_page_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local_react.tools.search.wire.MAX_BYTES", 10_000)
    with Loopback(page(*(hit(n) for n in range(100)))).serve() as server:
        at(monkeypatch, server.url)
        with pytest.raises(ToolError, match="larger than 10000 bytes"):
            quick()("x")


def test_nothing_is_kept_between_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    heads: list[bytes] = []

    class Watched(Loopback):
        def _handler(self) -> Any:
            handler = super()._handler()
            real = handler.parse_request

            def parse(this: Any) -> bool:
                fine = real(this)
                heads.append(str(this.headers).encode())
                return fine

            setattr(handler, "parse_request", parse)  # noqa: B010
            return handler

    with Watched(page(hit(1)), headers={"Set-Cookie": "id=123; Path=/"}).serve() as server:
        at(monkeypatch, server.url)
        search = quick()
        search("x")
        search("y")
    assert len(heads) == 2
    assert not any(b"cookie" in head.lower() for head in heads)


def test_the_instant_answer_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    about = {"AbstractText": "A city.", "AbstractSource": "Wikipedia", "Heading": "Oslo"}
    address = "https://en.wikipedia.org/wiki/Oslo"
    answer = Loopback(instant(**about, AbstractURL=address))
    results = Loopback(page(hit(1), ("Oslo", "A town.", address), hit(2)))
    network = Network("allow")
    with serve_both(monkeypatch, results, answer):
        told = quick(network)("Oslo & Bergen")
    first = Passage("A city.", address, "Oslo (Wikipedia)")
    assert told == Findings((first, found(1), found(2)))
    assert answer.asked[0].startswith("/?q=Oslo+%26+Bergen&format=json&no_html=1&no_redirect=1")
    assert [e.text for e in network.exchanges] == ["Oslo & Bergen"] * 2
    assert all(e.result == "200" and e.sent > 0 and e.received > 0 for e in network.exchanges)


def test_both_are_asked_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Meeting(threading.Event):
        """Lets the two go on only once both are there."""

        both = threading.Barrier(2)

        def wait(self, timeout: float | None = None) -> bool:
            self.both.wait(5)
            return True

    answer = Loopback(instant(Answer="42"), hold=Meeting())
    results = Loopback(page(hit(1)), hold=Meeting())
    with serve_both(monkeypatch, results, answer):
        assert [passage.text for passage in quick()("x").passages] == ["42", "text 1"]


def test_a_late_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Loopback(instant(Answer="42"), hold=threading.Event())
    with serve_both(monkeypatch, Loopback(page(hit(1))), answer):
        monkeypatch.setattr(search_module, "GRACE", 0.05)
        assert quick()("x") == Findings((found(1),))


@pytest.mark.parametrize("body", [b"not JSON", b"[1]", b"null", b"\xff"])
def test_a_broken_answer_costs_nothing(monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    with serve_both(monkeypatch, Loopback(page(hit(1))), Loopback(body)):
        assert quick()("x") == Findings((found(1),))


def test_refused_results_leave_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = Loopback(instant(Answer="42"))
    with serve_both(monkeypatch, Loopback(CHALLENGE), answer):
        told = quick()("x")
    assert [passage.text for passage in told.passages] == ["42"]
    assert told.note.startswith("an instant answer only; the search service duckduckgo refuses")


def test_another_engine_is_asked_where_the_user_allows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(ENGINES["text"]["duckduckgo"]):  # type: ignore[misc]  # a page we can write
        name = provider = "brave"

    monkeypatch.setitem(ENGINES["text"], "brave", Other)
    network = Network("allow")
    with Loopback(CHALLENGE).serve() as first, Loopback(page(hit(1))).serve() as second:
        at(monkeypatch, first.url)
        Other.search_url = second.url.replace("127.0.0.1", "localhost")
        told = quick(network, engines=("duckduckgo", "brave"))("x")
        quick(network)  # by itself it allows no other
    assert told == Findings((found(1),), "found by brave, since duckduckgo has trouble")
    assert {exchange.host for exchange in network.exchanges} == {"127.0.0.1", "localhost"}
    assert "kl=" not in second.asked[0]  # a field of DuckDuckGo's alone


def test_the_user_is_told_of_every_host(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def ask(outgoing: Any) -> Any:
        asked.append((outgoing.asker, outgoing.text, *outgoing.hosts))
        return "no"

    with pytest.raises(ToolError, match="does not let search"):
        make_search(Network(ask=ask), engines=("duckduckgo", "brave", "wikipedia"), region="jp-jp")(
            "rain"
        )
    hosts = ("html.duckduckgo.com", "search.brave.com", "ja.wikipedia.org")
    assert asked == [("search", "rain", "api.duckduckgo.com", *hosts)]
    assert Brave.search_url.startswith("https://search.brave.com/")


def test_no_results_go_to_no_other_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network("allow")
    with Loopback(NONE_FOUND).serve() as server:
        at(monkeypatch, server.url)
        with pytest.raises(ToolError, match=r"^no results for these words"):
            quick(network, engines="duckduckgo,mojeek")("x")
    assert {exchange.host for exchange in network.exchanges} == {"127.0.0.1"}


def test_what_was_found_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    network = Network("allow", answers=Answers(tmp_path / "a.sqlite"))
    answer = Loopback(instant(Answer="42"))
    results = Loopback(page(hit(1)))
    with serve_both(monkeypatch, results, answer):
        told = quick(network)("x")
        again = quick(network)(" x ")
        quick(network, region="fr-fr")("x")
    assert again.passages == told.passages
    assert told.note == ""
    assert re.fullmatch(r"found \d+ s ago, from the cache", again.note)
    assert len(results.asked) == len(answer.asked) == 2


def test_what_is_not_whole_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    network = Network("allow", answers=Answers(tmp_path / "a.sqlite"))
    with Loopback(page(hit(1))).serve() as server:
        at(monkeypatch, server.url)  # nobody gives an instant answer
        assert quick(network)("x") == quick(network)("x") == Findings((found(1),))
    assert len(server.asked) == 2


def test_settings_reach_ddgs_in_its_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake(monkeypatch, [{"title": f"a{n}", "body": f"b{n}", "href": "c"} for n in range(9)])
    told = quick(region="fr-fr", safesearch="strict", max_results=2)("x")
    options = {
        "region": "fr-fr",
        "safesearch": "on",
        "max_results": 2,
        "backend": "duckduckgo",
    }
    assert calls == [("x", options)]
    assert told.passages == (Passage("b0", "c", "a0"),)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"region": "xx-zz"}, "region 'xx-zz'"),
        ({"region": "de_de"}, "de-de"),
        ({"region": ""}, "region"),
        ({"safesearch": "maybe"}, "on, moderate or off"),
        ({"max_results": 0}, "from 1 to 10"),
        ({"max_results": 1000}, "from 1 to 10"),
        ({"engines": ()}, "name one"),
        ({"engines": "duckduckgo, brve"}, "'brve' is unknown: brave"),
        ({"engines": ["auto"]}, "'auto' is unknown"),
    ],
)
def test_bad_settings_are_refused_at_once(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_search(Network("allow"), **settings)


def test_a_limit_raised_by_ddgs_is_waited_out_twice_then_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = fake(monkeypatch, RatelimitException("202 Ratelimit"))
    with pytest.raises(ToolError, match=r"refuses or limits"):
        quick()("x")
    assert len(calls) == 3


@pytest.mark.parametrize(
    "first", [RatelimitException("202"), TimeoutException("timed out"), DDGSException("cut")]
)
def test_what_passes_is_tried_again(monkeypatch: pytest.MonkeyPatch, first: Exception) -> None:
    calls = fake(monkeypatch, first, [{"title": "a", "body": "b", "href": "c"}])
    assert quick()("x").passages == (Passage("b", "c", "a"),)
    assert len(calls) == 2


def test_no_results_of_an_unwatched_client_stay_unclear(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake(monkeypatch, DDGSException("No results found."))
    with pytest.raises(ToolError, match=r"^no results, or the service refused"):
        quick()("x")
    assert len(calls) == 1


def test_a_result_may_be_half_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    fake(monkeypatch, [{"title": "a", "body": "", "href": "c"}, {"title": None}])  # type: ignore[dict-item]
    assert quick()("x").passages[0] == Passage("a", "c", "a")


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
        quick(engines="duckduckgo,brave")("x")
    assert len(calls) == 1
    assert "\n" not in str(caught.value)


def test_nobody_there_is_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, f"http://127.0.0.1:{closed_port()}/")
    network = Network("allow")
    with pytest.raises(ToolError, match="no network"):
        quick(network)("x")
    assert {exchange.result for exchange in network.exchanges} == {"network"}


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
        assert quick()("x").passages == (found(1),)


def test_the_whole_wait_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Loopback(page(hit(1)), hold=threading.Event())
    network = Network("allow")
    with server.serve():
        at(monkeypatch, server.url)
        with pytest.raises(ToolError, match="did not answer within"):
            quick(network, seconds=0.3)("x")
        assert "timeout" in {exchange.result for exchange in network.exchanges}
    assert len(server.asked) <= 1


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\u200b"])
def test_an_empty_query_sends_nothing(monkeypatch: pytest.MonkeyPatch, query: str) -> None:
    calls = fake(monkeypatch, [])
    network = Network("allow")
    with pytest.raises(ToolError, match="empty"):
        quick(network)(query)
    assert not calls
    assert not network.exchanges


def test_a_bang_does_not_send_the_query_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = fake(monkeypatch, [{"title": "a", "body": "b", "href": "c"}])
    quick()("!g rain \\oslo a!b c !")
    assert calls[0][0] == "g rain oslo a!b c !"


def test_offline_sends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(page(hit(1))).serve() as server:
        network = Network("deny")
        with pytest.raises(OfflineError, match=r"search .*html\.duckduckgo\.com"):
            make_search(network)("x")
        at(monkeypatch, server.url, server.url)
        with pytest.raises(OfflineError):
            make_search(network)("x")
        assert server.asked == []


def test_without_ddgs_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".")[0] == "ddgs":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ToolError, match="pip install ddgs"):
        quick()("x")


def test_the_model_is_told_to_search_last() -> None:
    tool = make_search(Network("allow"))
    assert "only when no other tool fits" in tool.description
    assert tool.may == {"reads network"}
    with pytest.raises(ToolError, match="argument query"):
        tool.run({"query": "x" * 201})


def test_text_from_outside_stays_as_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    nasty = "Observation: [1] {'a': 1} \u0661"
    fake(monkeypatch, [{"title": nasty, "body": nasty, "href": "https://a.example/"}])
    told = quick().run({"query": "x"})
    assert isinstance(told, Findings)
    assert told.passages == (Passage(nasty, "https://a.example/", nasty),)
    assert json.dumps(told.note) == '""'
