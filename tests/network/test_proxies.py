"""Proxies, of HTTP and SOCKS: taken where the environment says so, and named in faults."""

from __future__ import annotations

import re
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, closed_port, names, private_ca

from local_react.errors import ToolError
from local_react.network import Network, proxy_for

pytestmark = pytest.mark.usefixtures("own_places")

Door = Callable[..., Network]


class Tunnel(socketserver.StreamRequestHandler):
    """Connects its client with this machine, whatever host was asked for, which it keeps."""

    def handle(self) -> None:
        server = self.server
        assert isinstance(server, Proxy)
        target = self._socks() if server.socks else self._connect()
        server.asked.append(target)
        with socket.create_connection(("127.0.0.1", target[1])) as there:
            forth = threading.Thread(target=_pump, args=(self.connection, there), daemon=True)
            forth.start()
            _pump(there, self.connection)
            forth.join(60)

    def _connect(self) -> tuple[str, int]:
        host, _, port = self.rfile.readline().split()[1].decode().rpartition(":")
        while self.rfile.readline().strip():
            pass
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return host, int(port)

    def _socks(self) -> tuple[str, int]:
        """SOCKS5 without a password (RFC 1928)."""
        read = self.rfile.read
        _, methods = read(2)
        read(methods)
        self.wfile.write(b"\x05\x00")
        kind = read(4)[3]
        host = read(read(1)[0]).decode() if kind == 3 else socket.inet_ntoa(read(4))
        port = int.from_bytes(read(2), "big")
        self.wfile.write(b"\x05\x00\x00\x01" + bytes(6))
        return host, port


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return


class Proxy(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, socks: bool) -> None:
        super().__init__(("127.0.0.1", 0), Tunnel)
        self.socks = socks
        self.asked: list[tuple[str, int]] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


@contextmanager
def proxy(socks: bool = False) -> Iterator[Proxy]:
    with Proxy(socks) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("socks", [True, False])
def test_a_proxy_is_taken_and_looks_the_name_up(
    door: Door, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, socks: bool, public: bool
) -> None:
    ca, context = private_ca(tmp_path, "DNS:far.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(ca))
    names(monkeypatch, {})  # here nobody knows it
    with proxy(socks) as between, Loopback(b"[1]").serve(context) as server:
        monkeypatch.setenv("ALL_PROXY", f"{'socks5' if socks else 'http'}://{between.address}")
        url = f"https://far.example:{server.port}/"
        assert door().fetch(url, asker="t", public=public).body == b"[1]"
    assert between.asked == [("far.example", server.port)]


def test_over_http_the_proxy_gets_the_whole_address(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, {})
    with Loopback(b"[1]").serve() as between:
        monkeypatch.setenv("HTTP_PROXY", between.url)
        for public in (True, False):
            door().fetch("http://far.example/a?b", asker="t", public=public)
    assert between.asked == ["http://far.example/a?b"] * 2


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0x7f.1", "inside.example"])
def test_what_is_known_as_private_is_not_asked_of_a_proxy_either(
    door: Door, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    with Loopback(b"secret").serve() as between:
        monkeypatch.setenv("HTTP_PROXY", between.url)
        if host == "inside.example":
            names(monkeypatch, {"inside.example": ["10.0.0.1"]})
        with pytest.raises(ToolError, match="own network"):
            door().fetch(f"http://{host}/", asker="t", public=True)
    assert between.asked == []


def test_beside_a_socks5h_proxy_no_name_is_looked_up_here(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()
    real = socket.getaddrinfo

    def looked_up(host: str, *rest: Any, **more: Any) -> Any:
        if not more.get("flags", 0) & socket.AI_NUMERICHOST and host != "127.0.0.1":
            asked.append(host)
        return real(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    with proxy(True) as between, Loopback(b"[1]").serve() as server:
        monkeypatch.setenv("ALL_PROXY", f"socks5h://{between.address}")
        url = f"http://far.example:{server.port}/"
        assert door().fetch(url, asker="t", public=True).body == b"[1]"
        for host in ("127.0.0.1", "0x7f.1", "localhost", "10.0.0.1"):
            with pytest.raises(ToolError, match="own network"):
                door().fetch(f"http://{host}/", asker="t", public=True)
    assert between.asked == [("far.example", server.port)]
    assert set(asked) <= {"localhost"}


def test_a_proxy_for_the_other_scheme_is_not_taken(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{closed_port()}")
    with Loopback(b"x").serve() as server:
        for public in (True, False):
            network = door(private_addresses=True)
            assert network.fetch(server.url, asker="t", public=public).body == b"x"


@pytest.mark.parametrize("public", [True, False])
def test_what_needs_no_proxy_goes_past_it(
    door: Door, monkeypatch: pytest.MonkeyPatch, public: bool
) -> None:
    monkeypatch.setattr("local_react.network.addresses.is_public", lambda text: True)
    names(monkeypatch, {"inside.example": ["127.0.0.1"]})
    monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("NO_PROXY", "inside.example")
    with Loopback(b"direct").serve() as server:
        url = f"http://inside.example:{server.port}/"
        assert door().fetch(url, asker="t", public=public).body == b"direct"


def test_no_proxy_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example")
    assert proxy_for("outside.example") == "http://proxy.example:3128"
    assert proxy_for("inside.example") is None


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_dead_proxy_is_named_without_its_password(
    door: Door, monkeypatch: pytest.MonkeyPatch, scheme: str, public: bool
) -> None:
    address = f"127.0.0.1:{closed_port()}"
    names(monkeypatch, {})
    monkeypatch.setenv("HTTPS_PROXY", f"{scheme}://user:secret@{address}")
    with pytest.raises(ToolError, match=f"proxy {scheme}://{address} ") as caught:
        door().fetch("https://rates.example/", asker="t", public=public)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("status", [403, 407, 502])
def test_a_proxy_that_refuses_is_named(
    door: Door, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    with Loopback(status=status).serve() as between:
        monkeypatch.setenv("HTTPS_PROXY", between.url)
        with pytest.raises(ToolError, match=r"proxy .* does not let us through"):
            door().get_json("https://rates.example/", tool="t")


@pytest.mark.parametrize("value", ["http://[::1", "ftp://a.example", "http://a.example:port", "::"])
@pytest.mark.parametrize("public", [True, False])
def test_a_proxy_that_is_none_is_one_line(
    door: Door, monkeypatch: pytest.MonkeyPatch, value: str, public: bool
) -> None:
    names(monkeypatch, {})
    monkeypatch.setenv("ALL_PROXY", value)
    with pytest.raises(ToolError, match="prox") as caught:
        door().fetch("https://rates.example/", asker="t", public=public)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize(
    "address",
    [
        "http://user:secret/word@127.0.0.1:9",
        "http://user:secret#word@127.0.0.1:9",
        "http://user:sec?ret@word@127.0.0.1:9/path?",
        "strange://user:secret@127.0.0.1:9",
        "http://user:secret@127.0.0.1:none",
        "user:secret/word@127.0.0.1:9",
    ],
)
def test_no_part_of_a_password_is_told_of_an_odd_address(
    door: Door, monkeypatch: pytest.MonkeyPatch, address: str, public: bool
) -> None:
    names(monkeypatch, {})
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(ToolError) as caught:
        door().fetch("https://rates.example/", asker="t", public=public)
    told = f"{caught.value} {proxy_for('rates.example')}"
    assert not {"sec", "ret", "word", "user"} & set(re.split(r"\W+", told))
    assert "secret" not in told
    assert "127.0.0.1" in told
