"""Pages that a model asks for: of the internet alone, by whatever name."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from itertools import chain, repeat
from pathlib import Path

import pytest
from loopback import Loopback, names, private_ca

from local_react.errors import ToolError
from local_react.network import Network
from local_react.network.addresses import is_public

pytestmark = pytest.mark.usefixtures("own_places")

PRIVATE = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "100.127.255.255",
    "169.254.169.254",
    "192.0.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::7f00:1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1::8.8.8.8",
    "2002:7f00:1::",
    "2002:c0a8:101::1",
    "2001:0:7f00:1::",
    "2001:db8::1",
    "fc00::1",
    "fdff::1",
    "fe80::1",
    "fe80::1%eth0",
    "febf::1",
    "fec0::1",
    "ff02::1",
    "100::1",
    "5f00::1",
]
PUBLIC = [
    "8.8.8.8",
    "172.15.255.255",
    "172.32.0.1",
    "100.63.255.255",
    "100.128.0.1",
    "192.167.1.1",
    "169.253.1.1",
    "2606:4700::1111",
    "2a00:1450:4001::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
    "2002:808:808::1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_what_is_not_the_internets_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_what_is_the_internets_is_public(address: str) -> None:
    assert is_public(address)


SPELLINGS = [
    "127.0.0.1",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "127.0.0.1.",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "0.0.0.0",
    "0",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0x7f.0x0.0x0.0x1",
    "017700000001",
    "0177.0.0.1",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "１２７.0.0.1",
    "①②⑦.0.0.1",
    "ⓛocalhost",
    "[fe80::1]",
    "[fe80::1%25lo]",
    "169.254.169.254",
    "10.0.0.1",
    "%31%32%37.0.0.1",
]


@pytest.mark.parametrize("host", SPELLINGS)
def test_no_spelling_leads_to_this_machine(door: Callable[..., Network], host: str) -> None:
    with Loopback(b"secret").serve() as server:
        url = f"http://{host}:{server.port}/"
        with pytest.raises(ToolError, match=r"own network|is no address of the web") as caught:
            door().fetch(url, asker="read_page", public=True)
    assert server.asked == [] and "\n" not in str(caught.value)


def test_it_is_said_why_and_what_allows_it(door: Callable[..., Network]) -> None:
    with Loopback(b"mine").serve() as server:
        with pytest.raises(ToolError, match=r"own network \(127\.0\.0\.1\).*--private-addresses"):
            door().fetch(server.url, asker="read_page", public=True)
        allowed = door(private_addresses=True)
        assert allowed.fetch(server.url, asker="read_page", public=True).body == b"mine"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://example.org:70/1",
        "javascript:alert(1)",
        "data:text/html,hello",
        "about:blank",
        "unix:/run/socket",
        "http:///path",
        "http:example.org",
        "http:/example.org",
        "//example.org/",
        "example.org",
        "/etc/passwd",
        "",
        " ",
        "http://",
        "http://:80/",
        "http://[::1/",
        "http://[nonsense]/",
        "http://a..example/",
        "http://.example/",
        f"http://{'a' * 64}.example/",
        f"http://{'a.' * 200}example/",
        "http://exa mple/",
        "http://exa\nmple/",
        "http://exa\tmple/",
        "http://exa\0mple/",
        "http://exa%6dple/",
        "http://a.example:0/",
        "http://a.example:65536/",
        "http://a.example:-1/",
        "http://a.example:port/",
        "http://a.example/\udcff",
        "http://\udcff.example/",
        "http://xn--\u2603.example/",
        "http://＊.example/",
    ],
)
@pytest.mark.parametrize("public", [True, False])
def test_what_is_no_address_of_the_web_is_refused(
    door: Callable[..., Network], monkeypatch: pytest.MonkeyPatch, url: str, public: bool
) -> None:
    looked_up = names(monkeypatch, {})
    network = door()
    with pytest.raises(ToolError, match="is no address of the web") as caught:
        network.fetch(url, asker="read_page", public=public)
    assert "\n" not in str(caught.value)
    assert looked_up == [] and network.exchanges == []


@pytest.mark.parametrize(
    "url",
    [
        "http://user:secret@a.example/",
        "http://user@a.example/",
        "http://a.example\\@127.0.0.1/",
        "http://a.example:80@127.0.0.1/",
    ],
)
def test_names_and_passwords_are_refused_unrepeated(
    door: Callable[..., Network], monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    looked_up = names(monkeypatch, {})
    with pytest.raises(ToolError, match="holds a name or password") as caught:
        door().fetch(url, asker="read_page", public=True)
    assert "secret" not in str(caught.value) and looked_up == []


@pytest.fixture
def one_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all addresses 127.0.0.1 is taken for one of the internet's."""
    monkeypatch.setattr("local_react.network.addresses.is_public", lambda a: a == "127.0.0.1")


@pytest.mark.parametrize(
    "addresses", [["10.0.0.1"], ["127.0.0.1", "10.0.0.1"], ["10.0.0.1", "127.0.0.1"]]
)
def test_one_private_address_of_a_name_is_enough(
    door: Callable[..., Network],
    monkeypatch: pytest.MonkeyPatch,
    one_public: None,
    addresses: list[str],
) -> None:
    names(monkeypatch, {"a.example": addresses})
    refused = pytest.raises(ToolError, match=r"a\.example is an address of .*\(10\.0\.0\.1\)")
    with Loopback().serve() as server, refused:
        door().fetch(f"http://a.example:{server.port}/", asker="t", public=True)
    assert server.asked == []


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"HTTPS_PROXY": "http://proxy.example:1"},
        {"HTTP_PROXY": "http://proxy.example:1", "NO_PROXY": "a.example"},
        {"HTTP_PROXY": "http://proxy.example:1", "NO_PROXY": "ample"},
    ],
    ids=["plain", "a proxy for https", "no_proxy", "no_proxy as a part of the name"],
)
def test_the_address_that_was_checked_is_the_one_connected_to(
    door: Callable[..., Network],
    monkeypatch: pytest.MonkeyPatch,
    one_public: None,
    variables: dict[str, str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    other = chain([["127.0.0.1"]], repeat(["127.0.0.2"]))
    looked_up = names(monkeypatch, {"a.example": other, "proxy.example": ["127.0.0.1"]})
    with Loopback(b"checked").serve() as server:
        url = f"http://a.example:{server.port}/"
        if variables.get("NO_PROXY") == "ample":  # that is no name of it: the proxy is asked
            monkeypatch.setenv("HTTP_PROXY", server.url)
        response = door().fetch(url, asker="t", public=True)
    assert response.body == b"checked"
    assert looked_up.count("a.example") == 1
    assert server.heard[0].headers["host"] == f"a.example:{server.port}"


@pytest.mark.parametrize(
    ("url_host", "wire_host"),
    [
        ("a.example", "a.example"),
        ("A.EXAMPLE", "a.example"),
        ("a.example.", "a.example."),
        ("bücher.example", "xn--bcher-kva.example"),
        ("faß.example", "xn--fa-hia.example"),
        ("аpple.example", "xn--pple-43d.example"),  # its first letter is Cyrillic
        ("a。example", "a.example"),
    ],
)
def test_a_name_is_asked_for_and_shown_as_it_is_looked_up(
    door: Callable[..., Network],
    monkeypatch: pytest.MonkeyPatch,
    one_public: None,
    url_host: str,
    wire_host: str,
) -> None:
    looked_up = names(monkeypatch, {wire_host.rstrip("."): ["127.0.0.1"]})
    with Loopback(b"x").serve() as server:
        network = door()
        network.fetch(f"http://{url_host}:{server.port}/", asker="t", public=True)
    assert set(looked_up) - {"127.0.0.1"} == {wire_host.rstrip(".")}
    assert server.heard[0].headers["host"] == f"{wire_host}:{server.port}"
    assert [exchange.host for exchange in network.exchanges] == [wire_host]


def test_a_name_that_nobody_has_is_no_network(
    door: Callable[..., Network], monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, {})
    with pytest.raises(ToolError, match=r"no network: nowhere\.example cannot be reached"):
        door().fetch("http://nowhere.example/", asker="t", public=True)


def test_a_lookup_that_hangs_is_given_up_on(
    door: Callable[..., Network], monkeypatch: pytest.MonkeyPatch
) -> None:
    never = threading.Event()

    def hang(*_: object, **__: object) -> object:
        never.wait()
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    try:
        with pytest.raises(ToolError, match=r"a\.example did not answer within 0\.2 s"):
            door(timeout=0.2).fetch("http://a.example/", asker="t", public=True)
    finally:
        never.set()


@pytest.mark.parametrize("host", ["a.example", "a.example."])
def test_the_certificate_is_the_names_though_the_address_is_fixed(
    door: Callable[..., Network],
    monkeypatch: pytest.MonkeyPatch,
    one_public: None,
    tmp_path: Path,
    host: str,
) -> None:
    ca, context = private_ca(tmp_path, "DNS:a.example")
    names(monkeypatch, {"a.example": ["127.0.0.1"], "b.example": ["127.0.0.1"]})
    asked: list[str | None] = []
    context.sni_callback = lambda _, name, __: asked.append(name)
    with Loopback(b"safe").serve(context) as server:
        url = f"https://{host}:{server.port}/"
        with pytest.raises(ToolError, match="certificate verification failed"):
            door().fetch(url, asker="t", public=True)
        monkeypatch.setenv("SSL_CERT_FILE", str(ca))
        assert door().fetch(url, asker="t", public=True).body == b"safe"
        with pytest.raises(ToolError, match=r"certificate verification failed for b\.example"):
            door().fetch(f"https://b.example:{server.port}/", asker="t", public=True)
    assert server.asked == ["/"]
    assert asked == ["a.example", "a.example", "b.example"]


def test_a_certificate_of_the_address_is_none_of_the_name(
    door: Callable[..., Network],
    monkeypatch: pytest.MonkeyPatch,
    one_public: None,
    tmp_path: Path,
) -> None:
    ca, context = private_ca(tmp_path, "IP:127.0.0.1")
    names(monkeypatch, {"a.example": ["127.0.0.1"]})
    monkeypatch.setenv("SSL_CERT_FILE", str(ca))
    with Loopback(b"safe").serve(context) as server:
        assert door().fetch(server.url, asker="t", public=True).body == b"safe"
        with pytest.raises(ToolError, match=r"certificate verification failed for a\.example"):
            door().fetch(f"https://a.example:{server.port}/", asker="t", public=True)
    assert server.asked == ["/"]
