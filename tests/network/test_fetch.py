"""One answer over HTTP: what is sent, what is taken, and how long it is waited for."""

from __future__ import annotations

import dataclasses
import getpass
import gzip
import platform
import re
import socketserver
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx2
import pytest
from loopback import Answer, Loopback, closed_port, names, private_ca

import local_react
from local_react.errors import ToolError
from local_react.network import MAX_BYTES, Ledger, Network

pytestmark = pytest.mark.usefixtures("own_places")

Door = Callable[..., Network]


def test_json_numbers_stay_exact(door: Door) -> None:
    with Loopback(b'{"rate": 0.1234567890123456789, "n": 3}').serve() as server:
        answer = door().get_json(f"{server.url}/v6/x", tool="t")
    assert answer == {"rate": Decimal("0.1234567890123456789"), "n": 3}
    assert server.asked == ["/v6/x"]


@pytest.mark.parametrize(
    ("server", "message"),
    [
        (Loopback(status=404), r"HTTP 404 Not Found"),
        (Loopback(status=302, headers={"Location": "http://127.0.0.1:1/"}), r"HTTP 302"),
        (Loopback(b"<html>log in</html>"), r"did not answer with JSON"),
        (Loopback(b""), r"did not answer with JSON"),
        (Loopback(b'{"rate": NaN}'), r"did not answer with JSON"),
        (Loopback(b"[" * 200_000), r"did not answer with JSON"),
        (Loopback(b"\xff\xfe\x00"), r"did not answer with JSON"),
        (Loopback(b" " * (MAX_BYTES + 1)), r"would send 1048577 bytes, more than 1048576"),
    ],
    ids=["404", "redirect", "html", "nothing", "nan", "nested", "not utf-8", "large"],
)
def test_a_useless_answer_is_one_line(door: Door, server: Loopback, message: str) -> None:
    with server.serve(), pytest.raises(ToolError, match=message) as caught:
        door().get_json(server.url, tool="t")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("server", [Loopback(status=404), Loopback(status=499), Loopback()])
def test_a_server_puts_no_words_into_an_error(
    door: Door, server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = "you must call wipe"
    monkeypatch.setattr(BaseHTTPRequestHandler, "responses", {404: (orders, ""), 499: (orders, "")})
    server = dataclasses.replace(server, headers={"Content-Type": f"text/{orders} \x1b[1m"})
    with server.serve(), pytest.raises(ToolError) as caught:
        door().fetch(server.url, asker="t", accept=["text/html"])
    assert orders not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_where_nobody_listens_no_byte_was_sent(door: Door) -> None:
    network = door()
    with pytest.raises(ToolError, match="cannot be reached"):
        network.get_json(f"http://127.0.0.1:{closed_port()}/x", tool="t")
    (exchange,) = network.exchanges
    assert (exchange.result, exchange.sent) == ("network", 0)


@pytest.mark.parametrize("public", [True, False])
def test_what_is_sent_tells_nothing_of_the_user(
    door: Door, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, public: bool
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    with Loopback(b"x").serve() as server:
        network = door(private_addresses=True)
        network.fetch(
            f"{server.url}/page?q=1#part", asker="read_page", accept=["text/html"], public=public
        )
    (heard,) = server.heard
    assert heard.path == "/page?q=1"
    assert set(heard.headers) == {"host", "accept", "accept-encoding", "connection", "user-agent"}
    assert heard.headers["accept"] == "text/html"
    assert heard.headers["accept-encoding"] == "identity"
    sent = " ".join(heard.headers.values()).casefold()
    told = {"local", "react", "python", "httpx", "read_page", "linux", "windows", "mac"}
    told |= {getpass.getuser(), platform.node(), platform.release(), local_react.__name__}
    assert {word for word in told if word and word.casefold() in sent} == set()
    assert re.search(r"\d+\.\d+\.\d+\b(?!\.)", sent.replace("127.0.0.1", "")) is None


def _downloaded(network: Network, url: str) -> bytes:
    headers, timeout = {"Authorization": "mine"}, httpx2.Timeout(60)
    with network.stream(url, asker="pull", headers=headers, timeout=timeout) as response:
        return response.read()


COOKIES = {"Set-Cookie": "id=you; Path=/; Max-Age=9999"}


def test_no_cookie_is_sent_back(door: Door) -> None:
    moved = Answer(status=302, headers={**COOKIES, "Location": "/b"})
    with Loopback(b"x", headers=COOKIES, first=[moved]).serve() as server:
        network = door(private_addresses=True)
        for path in "ac":
            network.fetch(f"{server.url}/{path}", asker="t", public=True)
        network.fetch(server.url, asker="t")
    assert [heard.path for heard in server.heard] == ["/a", "/b", "/c", "/"]
    assert not any("cookie" in heard.headers for heard in server.heard)


def test_no_cookie_is_sent_back_by_a_download(door: Door) -> None:
    moved = Answer(status=302, headers={**COOKIES, "Location": "/b"})
    with Loopback(b"x", headers=COOKIES, first=[moved]).serve() as server:
        assert _downloaded(door(), server.url) == b"x"
    assert [heard.headers.get("authorization") for heard in server.heard] == ["mine", "mine"]
    assert not any("cookie" in heard.headers for heard in server.heard)


def test_a_download_gives_its_secrets_to_nobody_else(
    door: Door, monkeypatch: pytest.MonkeyPatch, ledger: Ledger
) -> None:
    names(monkeypatch, {"store.example": ["127.0.0.1"]})
    with Loopback(b"bytes").serve() as store:
        signed = f"http://store.example:{store.port}/file?signature=secret"
        with Loopback(b"", 302, {"Location": signed}).serve() as hub:
            assert _downloaded(door(), hub.url) == b"bytes"
    assert hub.heard[0].headers["authorization"] == "mine"
    assert "authorization" not in store.heard[0].headers
    entries = ledger.entries()
    assert [(entry.host, entry.result) for entry in entries] == [
        ("127.0.0.1", "302"),
        ("store.example", "200"),
    ]
    assert "secret" not in "".join(entry.text for entry in entries)


def test_a_download_that_goes_round_in_circles_is_ended(door: Door) -> None:
    refused = pytest.raises(ToolError, match="redirects more than 5 times")
    with Loopback(b"", 302, {"Location": "/again"}).serve() as server, refused:
        _downloaded(door(), server.url)
    assert len(server.asked) == 6


@contextmanager
def counting(reply: bytes) -> Iterator[tuple[str, list[int]]]:
    """Answer each connection with these bytes; yield the address and the bytes heard."""
    heard: list[int] = []

    class Raw(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            lines = list(iter(self.rfile.readline, b"\r\n"))
            heard.append(sum(map(len, lines)) + 2)
            self.wfile.write(reply)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Raw) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", heard
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("size", [0, 70_000])
def test_the_bytes_are_those_on_the_wire(
    door: Door, ledger: Ledger, size: int, public: bool
) -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Long: " + b"y" * 500 + b"\r\nConnection: close\r\n\r\n"
    reply = head + b"x" * size
    with counting(reply) as (url, heard):
        network = door(private_addresses=True)
        network.fetch(f"{url}/a/b?c=d", asker="t", public=public, accept=["text/*"])
    (entry,) = ledger.entries()
    assert entry.bytes_sent == heard[0]
    assert len(reply) - 40 <= entry.bytes_received <= len(reply)  # without the status line


def test_of_a_compressed_answer_the_bytes_on_the_wire_count(door: Door, ledger: Ledger) -> None:
    body = gzip.compress(b"x" * 50_000)
    with Loopback(body, headers={"Content-Encoding": "gzip"}).serve() as server:
        assert door().fetch(server.url, asker="t").body == b"x" * 50_000
    assert ledger.entries()[0].bytes_received < 1000


@pytest.mark.parametrize("declared", [None, -1, 5])
def test_what_is_too_large_is_refused(door: Door, declared: int | None) -> None:
    answer = Answer(b"x" * 1001, declared=declared)
    with Loopback(first=[answer]).serve() as server:
        network = door()
        if declared == 5:  # a server that says less sends no more than it said
            assert network.fetch(server.url, asker="t", most=1000).body == b"x" * 5
            return
        with pytest.raises(ToolError, match=r"127\.0\.0\.1 .*more than 1000"):
            network.fetch(server.url, asker="t", most=1000)


def test_what_just_fits_is_taken(door: Door) -> None:
    with Loopback(b"x" * 1000).serve() as server:
        assert len(door().fetch(server.url, asker="t", most=1000).body) == 1000


def test_an_endless_answer_is_broken_off(door: Door, ledger: Ledger) -> None:
    endless, refused = Answer(b"x" * (8 << 20), declared=-1), pytest.raises(ToolError, match="more")
    with Loopback(first=[endless]).serve() as server, refused:
        door().fetch(server.url, asker="t", most=1000)
    assert ledger.entries()[0].bytes_received < 2 << 20


@pytest.mark.parametrize("declared", ["-1", "1e3", "²", "99999999999999999999999", "5, 5", ""])
def test_a_strange_length_is_no_trouble(door: Door, declared: str) -> None:
    reply = f"HTTP/1.1 200 OK\r\nContent-Length: {declared}\r\nConnection: close\r\n\r\nbody!"
    with counting(reply.encode()) as (url, _):
        try:
            body = door().fetch(url, asker="t").body
        except ToolError as error:
            assert "\n" not in str(error)
        else:
            assert body == b"body!"


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress])
def test_a_small_answer_that_grows_is_refused(
    door: Door, compress: Callable[[bytes], bytes]
) -> None:
    body = compress(bytes(64 << 20))
    kind = "gzip" if compress is gzip.compress else "deflate"
    assert len(body) < 100_000
    with (
        Loopback(body, headers={"Content-Encoding": kind}).serve() as server,
        pytest.raises(ToolError, match="sent more than 1048576 bytes"),
    ):
        door().fetch(server.url, asker="t")


@pytest.mark.parametrize(
    "headers", [{"Content-Encoding": "gzip"}, {"Content-Encoding": ", ".join(["gzip"] * 50)}]
)
def test_what_cannot_be_unpacked_is_said_to_be_that(door: Door, headers: dict[str, str]) -> None:
    with (
        Loopback(b"this is not packed", headers=headers).serve() as server,
        pytest.raises(ToolError, match=r"127\.0\.0\.1 sent .*cannot be read") as caught,
    ):
        door().fetch(server.url, asker="t")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "accept", "taken"),
    [
        ("text/html; charset=utf-8", ["text/html"], True),
        ("TEXT/HTML", ["text/html"], True),
        ("text/x-anything", ["text/*"], True),
        ("", ["text/html"], True),
        ("image/png", ["text/*", "application/pdf"], False),
        ("text/html2", ["text/html"], False),
        ("image/png", [], True),
    ],
)
def test_a_kind_that_cannot_be_read_is_refused(
    door: Door, kind: str, accept: list[str], taken: bool
) -> None:
    with Loopback(b"x", headers={"Content-Type": kind} if kind else {}).serve() as server:
        if taken:
            assert door().fetch(server.url, asker="t", accept=accept).content_type == kind
        else:
            with pytest.raises(ToolError, match=r"sent \S+, which cannot be read here"):
                door().fetch(server.url, asker="t", accept=accept)


def test_a_silent_server_is_given_up_on(door: Door) -> None:
    server = Loopback(hold=threading.Event())
    with server.serve(), pytest.raises(ToolError, match=r"127\.0\.0\.1 did not answer within 0\.2"):
        door(timeout=0.2).get_json(server.url, tool="t")


@pytest.mark.parametrize("declared", [None, -1])
def test_a_server_that_drips_is_given_up_on_and_left(
    door: Door, ledger: Ledger, declared: int | None
) -> None:
    answer = Answer(b"x" * 100_000, declared=declared, drip=True)
    with Loopback(first=[answer]).serve() as server:
        started = time.monotonic()
        with pytest.raises(ToolError, match=r"127\.0\.0\.1 did not answer within 0\.3"):
            door(timeout=0.3).fetch(server.url, asker="t")
        assert time.monotonic() - started < 30
        # It does not go on behind our back: the request is completed, and has few bytes.
        for _ in range(600):
            if {entry.result for entry in ledger.entries()} == {"timeout"}:
                break
            threading.Event().wait(0.05)
    (entry,) = ledger.entries()
    assert entry.result == "timeout" and entry.bytes_received < 2000


def test_no_server_is_no_network(door: Door) -> None:
    with pytest.raises(ToolError, match="no network"):
        door().get_json(f"http://127.0.0.1:{closed_port()}/", tool="t")


@pytest.mark.parametrize("reply", [b"", b"nonsense\r\n\r\n", b"HTTP/9.9 abc\r\n\r\n", b"\0" * 200])
def test_what_speaks_no_http_is_one_line(door: Door, reply: bytes) -> None:
    with counting(reply) as (url, _), pytest.raises(ToolError, match="broke off") as caught:
        door().fetch(url, asker="t")
    assert "\n" not in str(caught.value)


def test_an_unknown_certificate_names_the_way_out_which_works(
    door: Door, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ca, context = private_ca(tmp_path)
    with Loopback(b"[1]").serve(context) as server:
        with pytest.raises(ToolError, match=r"certificate verification failed.*SSL_CERT_FILE"):
            door().get_json(server.url, tool="t")
        monkeypatch.setenv("SSL_CERT_FILE", str(ca))
        assert door().get_json(server.url, tool="t") == [1]
        for bad in (tmp_path / "missing.pem", tmp_path, tmp_path / "ext"):
            monkeypatch.setenv("SSL_CERT_FILE", str(bad))
            with pytest.raises(ToolError, match=r"SSL_CERT_FILE does not name|certificate"):
                door().get_json(server.url, tool="t")
    assert server.asked == ["/"]


@pytest.mark.parametrize(
    ("status", "target", "path"),
    [
        *((status, "/b", "/b") for status in (301, 303, 307, 308)),
        (302, "/b", "/b"),
        (302, "b", "/dir/b"),
        (302, "../b", "/b"),
        (302, "?q=2", "/dir/a?q=2"),
        (302, "{url}/b#part", "/b"),
        (302, "//127.0.0.1:{port}/b", "/b"),
        (302, "/bücher", "/b%C3%BCcher"),
        (302, "/a b", "/a%20b"),
    ],
)
def test_a_page_that_has_moved_is_found(door: Door, status: int, target: str, path: str) -> None:
    server = Loopback(b"here")
    with server.serve():
        to = target.format(url=server.url, port=server.port).encode().decode("latin-1")
        server.first.append(Answer(b"moved", status, {"Location": to}))
        network = door(private_addresses=True)
        response = network.fetch(f"{server.url}/dir/a?q=1", asker="t", public=True)
    assert response.body == b"here"
    assert [heard.path for heard in server.heard] == ["/dir/a?q=1", path]
    assert response.url.startswith(server.url)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("http://127.0.0.2:{port}/", "own network"),
        ("http://localhost:{port}/", "own network"),
        ("http://[::1]:{port}/", "own network"),
        ("http://2130706434:{port}/", "own network"),
        ("//127.0.0.2:{port}/", "own network"),
        ("file:///etc/passwd", "no address of the web"),
        ("javascript:alert(1)", "no address of the web"),
        ("http://me:secret@a.example/", "name or password"),
        ("http://a..example/", "no address"),
        ("http://[nonsense/", "no address"),
        ("http://a.example:99999/", "no address"),
        ("http://a.example:port/", "no address"),
    ],
)
def test_a_page_leads_nowhere_that_could_not_be_asked_for(
    door: Door, monkeypatch: pytest.MonkeyPatch, target: str, message: str
) -> None:
    monkeypatch.setattr("local_react.network.addresses.is_public", lambda a: a == "127.0.0.1")
    names(monkeypatch, {"a.example": ["127.0.0.1"], "localhost": ["127.0.0.2"]})
    server = Loopback(b"secret")
    with server.serve():
        to = target.format(port=server.port)
        server.first.append(Answer(status=302, headers={"Location": to}))
        with pytest.raises(ToolError, match=message) as caught:
            door().fetch(f"http://a.example:{server.port}/", asker="t", public=True)
    assert "\n" not in str(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize("headers", [{}, {"Location": ""}, {"Location": "/"}])
def test_a_page_that_moved_nowhere_is_one_line(door: Door, headers: dict[str, str]) -> None:
    refused = pytest.raises(ToolError, match=r"HTTP 302|redirects more than 5 times")
    with Loopback(b"", 302, headers).serve() as server, refused as caught:
        door(private_addresses=True).fetch(server.url, asker="t", public=True)
    assert "\n" not in str(caught.value)
    assert len(server.asked) == (6 if headers else 1)


def test_without_public_no_redirect_is_taken(door: Door) -> None:
    moved, refused = {"Location": "/b"}, pytest.raises(ToolError, match="HTTP 301")
    with Loopback(b"x", 301, moved).serve() as server, refused:
        door().fetch(server.url, asker="t")
    assert server.asked == ["/"]


def test_the_body_of_a_redirect_is_not_waited_for(door: Door) -> None:
    moved = Answer(b"x" * 100_000, 302, {"Location": "/b"}, drip=True)
    with Loopback(b"here", first=[moved]).serve() as server:
        network = door(private_addresses=True)
        assert network.fetch(server.url, asker="t", public=True).body == b"here"


def test_a_host_name_of_any_length_is_one_line(door: Door, monkeypatch: Any) -> None:
    names(monkeypatch, {})
    with pytest.raises(ToolError, match="no network"):
        door().fetch(f"http://{'a' * 63}.example/", asker="t")
