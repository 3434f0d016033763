"""The egress ledger: what leaves is on record before it leaves, or it does not leave."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Loopback, closed_port

from local_react.errors import ToolError, UsageError
from local_react.network import Ledger, Network

pytestmark = pytest.mark.usefixtures("own_places")

needs_modes = pytest.mark.skipif(os.name == "nt", reason="SKIPPED: Windows has no file modes")


def test_a_row_is_there_before_the_request_arrives_and_complete_after(
    door: Callable[..., Network], ledger: Ledger
) -> None:
    inside: list[Any] = []
    server = Loopback(b"[1]", saw=lambda: inside.extend(ledger.entries()))
    with server.serve():
        network = door()
        network.get_json(f"{server.url}/x", tool="exchange_rate")
    (before,), (after,) = inside, ledger.entries()
    assert (before.result, before.bytes_sent, before.bytes_received) == ("no answer", 0, 0)
    for entry in (before, after):
        assert (entry.asker, entry.host, entry.text, entry.run) == (
            "exchange_rate",
            "127.0.0.1",
            f"{server.url}/x",
            network.run,
        )
    assert after.result == "200" and after.bytes_sent > 0 and after.bytes_received > 0
    assert 0 < after.seconds < 60
    age = datetime.now(timezone.utc) - datetime.fromisoformat(after.time)
    assert timedelta(seconds=-2) < age < timedelta(minutes=1)


def test_each_attempt_and_each_redirect_is_a_request(
    door: Callable[..., Network], ledger: Ledger
) -> None:
    server = Loopback(b"end", first=[Answer(status=503), Answer(status=302, headers=_to("/b?c"))])
    with server.serve():
        door(private_addresses=True).fetch(f"{server.url}/a", asker="t", public=True)
    assert [(entry.text, entry.result) for entry in ledger.entries()] == [
        (f"{server.url}/a", "503"),
        (f"{server.url}/a", "302"),
        (f"{server.url}/b?c", "200"),
    ]
    assert [heard.path for heard in server.heard] == ["/a", "/a", "/b?c"]


def _to(target: str) -> dict[str, str]:
    return {"Location": target}


@pytest.mark.parametrize(
    ("server", "result"),
    [
        (Loopback(status=404), "404"),
        (Loopback(b"x" * 200), "200"),  # though more than was wanted
        (Loopback(first=[Answer(b"x", declared=50)] * 3), "broke off"),
    ],
    ids=["404", "too large", "broke off"],
)
def test_how_it_ended_is_kept(
    door: Callable[..., Network], ledger: Ledger, server: Loopback, result: str
) -> None:
    with server.serve(), pytest.raises(ToolError):
        door().fetch(server.url, asker="t", most=100)
    assert {entry.result for entry in ledger.entries()} == {result}


def test_no_connection_is_kept_as_one(door: Callable[..., Network], ledger: Ledger) -> None:
    with pytest.raises(ToolError):
        door().fetch(f"http://127.0.0.1:{closed_port()}/", asker="t")
    assert [entry.result for entry in ledger.entries()] == ["network"]


def test_an_asker_that_fails_leaves_the_name_of_its_error(ledger: Ledger) -> None:
    permit = Network("allow").permit("t", ["h"], "words")
    with contextlib.suppress(KeyError), permit.exchange("h"):
        raise KeyError
    with permit.exchange("h") as exchange:
        exchange.sent, exchange.received = 3, 5
    first, second = ledger.entries()
    assert first.result == "KeyError"
    assert (second.result, second.bytes_sent, second.bytes_received) == ("done", 3, 5)


_KILLED = """
import sys
from local_react.network import Network
Network("allow", timeout=60).fetch(sys.argv[1], asker="search", sent="my question")
"""


def test_a_killed_program_leaves_what_it_sent(ledger: Ledger) -> None:
    arrived = threading.Event()
    server = Loopback(hold=threading.Event(), saw=arrived.set)
    with server.serve():
        child = subprocess.Popen([sys.executable, "-c", _KILLED, server.url])
        try:
            assert arrived.wait(60)
        finally:
            child.kill()
            child.wait()
    assert child.returncode == (-signal.SIGKILL if os.name != "nt" else 1)
    (entry,) = ledger.entries()
    assert (entry.asker, entry.text, entry.result) == ("search", "my question", "no answer")


def _corrupt(path: Path) -> None:
    path.write_bytes(b"this is no database, whatever its name says" * 100)


def _of_something_else(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("create table requests (a, b)")
        db.execute("create table settings (c)")


def _a_directory(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("damage", [_corrupt, _of_something_else, _a_directory])
def test_what_cannot_be_written_down_does_not_leave(
    door: Callable[..., Network], ledger: Ledger, damage: Callable[[Path], None]
) -> None:
    ledger.path.parent.mkdir()
    damage(ledger.path)
    _leaves_nothing(door(ledger=ledger))


@pytest.mark.parametrize("place", ["a file", "a" * 300])
def test_a_place_that_cannot_be_lets_nothing_leave(
    door: Callable[..., Network], tmp_path: Path, place: str
) -> None:
    (tmp_path / "a file").touch()
    _leaves_nothing(door(ledger=Ledger(tmp_path / place / "network.sqlite")))


@needs_modes
@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="SKIPPED: root may write anywhere")
def test_an_unwritable_ledger_lets_nothing_leave(
    door: Callable[..., Network], ledger: Ledger
) -> None:
    ledger.switch(on=True)
    ledger.path.chmod(0o400)
    _leaves_nothing(door(ledger=ledger))


def test_a_locked_ledger_lets_nothing_leave(
    door: Callable[..., Network], ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_react.network.ledger._PATIENCE", 0.05)
    ledger.switch(on=True)
    with contextlib.closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("begin exclusive")
        _leaves_nothing(door(ledger=ledger))
        other.execute("rollback")
    with Loopback(b"[1]").serve() as server:
        assert door(ledger=ledger).get_json(server.url, tool="t") == [1]


def _leaves_nothing(network: Network) -> None:
    with Loopback(b"[1]").serve() as server:
        with pytest.raises(UsageError, match=r"nothing is sent.*LOCAL_REACT_NETWORK_LOG") as caught:
            network.get_json(server.url, tool="t")
        assert server.asked == []
    assert "\n" not in str(caught.value)
    assert network.exchanges == []
    assert Network("ask", ledger=network.ledger).offline  # it allows nothing either


@pytest.mark.parametrize("damage", [_corrupt, _a_directory])
def test_an_unusable_ledger_is_named(ledger: Ledger, damage: Callable[[Path], None]) -> None:
    ledger.path.parent.mkdir()
    damage(ledger.path)
    for use in (ledger.entries, ledger.clear, lambda: ledger.switch(on=False)):
        with pytest.raises(UsageError, match=r"network log .*network\.sqlite cannot be") as e:
            use()
        assert "\n" not in str(e.value)


def test_reading_makes_no_file(ledger: Ledger) -> None:
    assert ledger.entries() == [] and ledger.allowed() == [] and ledger.is_on
    assert not ledger.path.exists() and not ledger.path.parent.exists()


@needs_modes
def test_file_and_directory_are_their_owners_alone(ledger: Ledger) -> None:
    old = os.umask(0)
    try:
        ledger.begin("run", "t", "h", "words")
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (ledger.path, ledger.path.parent)]
    finally:
        os.umask(old)
    assert modes == [0o600, 0o700]


def test_clear_removes_the_text_from_the_bytes_of_the_file(ledger: Ledger) -> None:
    for n in range(40):
        ledger.begin("run", "search", "h", f"unmistakable {n} " * 100)
    assert b"unmistakable" in ledger.path.read_bytes()
    assert ledger.clear() == 40
    assert ledger.entries() == []
    for path in ledger.path.parent.iterdir():
        assert b"unmistakable" not in path.read_bytes(), path


def test_clear_keeps_the_settings(ledger: Ledger) -> None:
    ledger.allow("search")
    ledger.switch(on=False)
    ledger.clear()
    assert ledger.allowed() == ["search"] and not ledger.is_on


def test_it_can_be_switched_off_and_on(door: Callable[..., Network], ledger: Ledger) -> None:
    with Loopback(b"[1]").serve() as server:
        ledger.switch(on=False)
        assert not ledger.is_on
        network = door()
        network.get_json(server.url, tool="t")
        assert ledger.entries() == [] and len(network.exchanges) == 1
        assert network.exchanges[0].result == "200"
        ledger.switch(on=True)
        assert ledger.is_on
        door().get_json(server.url, tool="t")
    assert len(ledger.entries()) == 1


def test_the_variable_switches_it_off_and_then_it_needs_no_file(
    door: Callable[..., Network], ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.path.parent.mkdir()
    _corrupt(ledger.path)
    monkeypatch.setenv("LOCAL_REACT_NETWORK_LOG", " OFF ")
    assert not ledger.is_on
    with Loopback(b"[1]").serve() as server:
        assert door().get_json(server.url, tool="t") == [1]


def test_the_last_of_many_are_the_last(ledger: Ledger) -> None:
    for n in range(5):
        ledger.begin("run", "t", "h", str(n))
    assert [entry.text for entry in ledger.entries()] == ["0", "1", "2", "3", "4"]
    assert [entry.text for entry in ledger.entries(last=2)] == ["3", "4"]


@pytest.mark.parametrize("text", ["", "北京 🌧", "a\0b", "line\nline", "half \udcff", "'; drop --"])
def test_any_text_can_be_written_down(ledger: Ledger, text: str) -> None:
    number = ledger.begin("run", "t", "h", text)
    assert number is not None
    (entry,) = ledger.entries()
    assert entry.text == text.replace("\udcff", "\\udcff")


_WRITER = """
from local_react.network import Network
network = Network("allow")
for n in range(40):
    with network.permit("t", ["h"], str(n)).exchange("h") as exchange:
        exchange.result = "200"
"""


def test_two_processes_write_at_once(ledger: Ledger) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER], stderr=subprocess.PIPE) for _ in range(2)
    ]
    errors = [writer.communicate(timeout=120)[1] for writer in writers]
    assert errors == [b"", b""]
    entries = ledger.entries()
    assert len(entries) == 80 and {entry.result for entry in entries} == {"200"}
    assert len({entry.run for entry in entries}) == 2
