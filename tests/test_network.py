"""The door: shut it opens nothing; open it tells the causes of a failure apart."""

from __future__ import annotations

import threading
from decimal import Decimal
from pathlib import Path

import pytest
from loopback import Loopback, closed_port, private_ca

from local_react.errors import OfflineError, ToolError
from local_react.network import MAX_BYTES, Network, proxy_for


@pytest.mark.parametrize("value", ["1", "true", "YES", "on", "whatever"])
def test_the_environment_shuts_the_door(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("LOCAL_REACT_OFFLINE", value)
    assert Network.from_environment().offline


@pytest.mark.parametrize("value", [None, "", "0", "false", "No", " off "])
def test_the_environment_leaves_it_open(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    if value is not None:
        monkeypatch.setenv("LOCAL_REACT_OFFLINE", value)
    assert not Network.from_environment().offline
    assert Network.from_environment(offline=True).offline


def test_offline_refuses_and_opens_no_socket() -> None:
    with Loopback().serve() as server:
        network = Network(offline=True)
        with pytest.raises(OfflineError, match=r"exchange_rate .*\(127\.0\.0\.1\).*--offline"):
            network.get_json(server.url, tool="exchange_rate")
        with pytest.raises(OfflineError, match="search"):
            network.check("search", "example.org")
        assert server.asked == []


def test_json_numbers_stay_exact() -> None:
    with Loopback(b'{"rate": 0.1234567890123456789, "n": 3}').serve() as server:
        answer = Network().get_json(f"{server.url}/v6/x", tool="t")
    assert answer == {"rate": Decimal("0.1234567890123456789"), "n": 3}
    assert server.asked == ["/v6/x"]


@pytest.mark.parametrize(
    ("server", "message"),
    [
        (Loopback(status=404), r"HTTP 404 Not Found"),
        (Loopback(status=429), r"HTTP 429"),
        (Loopback(status=302, headers={"Location": "http://127.0.0.1:1/"}), r"HTTP 302"),
        (Loopback(b"<html>log in</html>"), r"did not answer with JSON"),
        (Loopback(b'{"rate": NaN}'), r"did not answer with JSON"),
        (Loopback(b"[" * 200_000), r"did not answer with JSON"),
        (Loopback(b"\xff\xfe\x00"), r"did not answer with JSON"),
        (Loopback(b" " * (MAX_BYTES + 1)), r"more than 1048576 bytes"),
    ],
    ids=["404", "429", "redirect", "html", "nan", "nested", "not utf-8", "large"],
)
def test_a_useless_answer_is_one_line(server: Loopback, message: str) -> None:
    with server.serve(), pytest.raises(ToolError, match=message) as caught:
        Network().get_json(server.url, tool="t")
    assert "\n" not in str(caught.value)


def test_a_silent_server_is_given_up_on() -> None:
    server = Loopback(hold=threading.Event())
    with server.serve(), pytest.raises(ToolError, match=r"127\.0\.0\.1 did not answer within 0\.2"):
        Network(timeout=0.2).get_json(server.url, tool="t")


def test_work_that_knows_no_timeout_is_left_behind() -> None:
    never = threading.Event()
    try:
        with pytest.raises(ToolError, match=r"slow\.example did not answer"):
            Network().within(0.05, never.wait, host="slow.example")
    finally:
        never.set()


def test_no_server_is_no_network() -> None:
    with pytest.raises(ToolError, match="no network"):
        Network().get_json(f"http://127.0.0.1:{closed_port()}/", tool="t")


def test_a_dead_proxy_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    port = closed_port()
    monkeypatch.setenv("HTTPS_PROXY", f"http://user:secret@127.0.0.1:{port}")
    with pytest.raises(ToolError, match=f"proxy http://127.0.0.1:{port} ") as caught:
        Network().get_json("https://rates.example/", tool="t")
    assert "secret" not in str(caught.value)


def test_a_proxy_that_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(status=502).serve() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        with pytest.raises(ToolError, match=r"proxy .* does not let us through"):
            Network().get_json("https://rates.example/", tool="t")


def test_a_socks_proxy_works_or_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", f"socks5://127.0.0.1:{closed_port()}")
    with pytest.raises(ToolError, match="proxy"):
        Network().get_json("https://rates.example/", tool="t")


def test_no_proxy_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example")
    assert proxy_for("outside.example") == "http://proxy.example:3128"
    assert proxy_for("inside.example") is None


def test_an_unknown_certificate_names_the_way_out_which_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ca, context = private_ca(tmp_path)
    with Loopback(b"[1]").serve(context) as server:
        with pytest.raises(ToolError, match=r"certificate verification failed.*SSL_CERT_FILE"):
            Network().get_json(server.url, tool="t")
        monkeypatch.setenv("SSL_CERT_FILE", str(ca))
        assert Network().get_json(server.url, tool="t") == [1]
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
        with pytest.raises(ToolError, match="SSL_CERT_FILE does not name"):
            Network().get_json(server.url, tool="t")
    assert server.asked == ["/"]
