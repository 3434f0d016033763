"""What a person is asked before something leaves, and told after it has."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback

from local_react.cli.door import (
    _ask_user,
    account,
    approval,
    exchanges_as_dicts,
    network_for,
)
from local_react.cli.main import run
from local_react.core import Call
from local_react.errors import ToolError
from local_react.network import Ledger, Network, Outgoing, Reply

OPTIONS: dict[str, Any] = {
    "offline": False,
    "network_mode": None,
    "no_cache": True,
    "private_addresses": False,
}
WORDS = Outgoing("search", ("a.example", "b.example"), "rain\n in \x1b[2JOslo")


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("LOCAL_REACT_DATA_DIR", str(tmp_path))
    yield Ledger()


@pytest.mark.parametrize(
    ("typed", "reply"),
    [
        ("y\n", "yes"),
        ("YES\n", "yes"),
        ("\n", "no"),
        ("n\n", "no"),
        ("t\n", "tool"),
        ("what?\nr\n", "run"),
        ("", "no"),
    ],
)
def test_the_user_sees_what_would_be_sent_and_where(
    typed: str, reply: Reply, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    assert _ask_user(WORDS) == reply
    shown = capsys.readouterr()
    assert shown.out == ""
    assert (
        "search wants to send this to a.example, b.example:\n  rain in \\x1b[2JOslo\n" in shown.err
    )


@dataclass
class Terminal:
    """A program of Python whose input and errors are a terminal."""

    child: subprocess.Popen[str]
    master: int
    shown: bytes = b""

    def wait_for(self, text: bytes) -> None:
        while text not in self.shown:
            self.shown += os.read(self.master, 1000)

    def type(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def output(self) -> str:
        return self.child.communicate(timeout=60)[0]


@contextmanager
def on_a_terminal(program: str, *arguments: str) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=slave,
        stderr=slave,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        os.close(slave)
        yield Terminal(child, master)
    os.close(master)


TYPED_AHEAD = """
import sys
from local_react.cli.door import _ask_user
from local_react.network import Outgoing
print("ready", file=sys.stderr, flush=True)
sys.stdin.buffer.raw.read(4)  # so that what follows it is there
print(_ask_user(Outgoing("search", ("a.example",), "rain")))
"""


def test_what_was_typed_before_the_question_is_no_answer() -> None:
    with on_a_terminal(TYPED_AHEAD) as terminal:
        terminal.wait_for(b"ready")
        terminal.type(b"go!\ny\ny\n")
        terminal.wait_for(b"[n] ")
        terminal.type(b"\xff?\nn\n")
        assert terminal.output() == "no\n"


def test_without_a_terminal_there_is_nobody_to_ask() -> None:
    network = network_for(OPTIONS)
    assert (network.mode, network.ask, network.offline) == ("ask", None, True)
    assert network_for({**OPTIONS, "offline": True}).mode == "deny"
    assert not network_for({**OPTIONS, "network_mode": "allow"}).offline


ASKED = """
import sys
from local_react.cli.door import account, network_for
from local_react.errors import LocalReactError
options = {"offline": False, "network_mode": None, "no_cache": True, "private_addresses": False}
network = network_for(options)
try:
    network.get_json(sys.argv[1], tool="exchange_rate")
except LocalReactError as error:
    print("refused:", error)
print(account(network))
"""


@pytest.mark.parametrize(
    ("typed", "asked", "told"),
    [(b"y\n", ["/"], "1 request left"), (b"n\n", [], "nothing left this machine")],
)
def test_on_a_terminal_nothing_leaves_before_the_yes(
    typed: bytes, asked: list[str], told: str, ledger: Ledger
) -> None:
    with Loopback().serve() as server, on_a_terminal(ASKED, server.url) as terminal:
        terminal.wait_for(b"[n] ")
        assert server.asked == []
        terminal.type(typed)
        assert told in terminal.output()
        assert server.url in terminal.shown.decode()
    assert server.asked == asked
    assert [entry.host for entry in ledger.entries()] == ["127.0.0.1"] * len(asked)


def test_the_account_names_each_request_and_its_text(ledger: Ledger) -> None:
    network = Network("allow")
    assert account(network) == "nothing left this machine"
    with Loopback(b"[1]").serve() as server:
        network.get_json(f"{server.url}/a?q=x", tool="search")
        network.get_json(f"{server.url}/b", tool="exchange_rate")
    told = account(network)
    assert told.startswith("2 requests left this machine: search to 127.0.0.1 (")
    assert "/a?q=x; exchange_rate to 127.0.0.1" in told
    first = exchanges_as_dicts(network)[0]
    assert (first["tool"], first["result"]) == ("search", "200")
    assert first["bytes_sent"] > 50 < first["bytes_received"]


def made(ledger: Ledger) -> None:
    with Loopback(b"[1]").serve() as server:
        Network("allow").get_json(f"{server.url}/secret?q=rain", tool="search")
    with pytest.raises(ToolError):
        Network("allow").get_json("http://127.0.0.1:1/x", tool="exchange_rate")


def lines(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> list[str]:
    assert run(["network", *arguments]) == code
    shown = capsys.readouterr()
    return (shown.out if code == 0 else shown.err).splitlines()


def test_the_log_lists_every_request(ledger: Ledger, capsys: pytest.CaptureFixture[str]) -> None:
    assert lines(capsys, "log") == ["nothing has left this machine"]
    made(ledger)
    first, second = lines(capsys, "log")
    assert "search to 127.0.0.1: 200" in first
    assert first.endswith("/secret?q=rain")
    assert "exchange_rate to 127.0.0.1: network" in second
    assert len(lines(capsys, "log", "-n", "1")) == 1
    entries = json.loads("".join(lines(capsys, "log", "--json")))
    assert [entry["asker"] for entry in entries] == ["search", "exchange_rate"]
    assert entries[0]["run"] != entries[1]["run"]


def test_the_log_is_cleared_and_switched_off(
    ledger: Ledger, capsys: pytest.CaptureFixture[str]
) -> None:
    made(ledger)
    assert lines(capsys, "log", "clear") == ["removed: 2 requests"]
    assert b"secret" not in ledger.path.read_bytes()
    assert lines(capsys, "log", "off") == ["log: off"]
    made(ledger)
    assert lines(capsys, "log") == ["no request is in the log"]
    assert lines(capsys)[2].startswith("log: off, 0 requests")
    assert "cleared 20" in lines(capsys)[3]
    assert lines(capsys, "log", "on") == ["log: on"]
    made(ledger)
    assert len(lines(capsys, "log")) == 2


def test_the_settings_tell_the_mode_and_what_is_always_allowed(
    ledger: Ledger, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lines(capsys)[:2] == [
        "mode: ask (the user is asked each time)",
        "always allowed: no tool",
    ]
    ledger.allow("search")
    monkeypatch.setenv("LOCAL_REACT_NETWORK", "deny")
    told = lines(capsys)
    assert told[:2] == ["mode: deny (nothing is sent)", "always allowed: search"]
    assert json.loads("".join(lines(capsys, "--json")))["always_allowed"] == ["search"]
    assert lines(capsys, "forget") == ["forgotten: 1 tool"]
    assert ledger.allowed() == []


def test_what_is_no_action_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = lines(capsys, "logs", code=2)
    assert "there is no `network logs`" in line


def test_after_the_users_documents_what_is_sent_is_asked_about_once_more(ledger: Ledger) -> None:
    shown, replies = list[Outgoing](), iter(list[Reply](["no", "yes", "tool"]))

    def ask(outgoing: Outgoing) -> Reply:
        shown.append(outgoing)
        return next(replies)

    call = Call("search", {"query": "the rent of Mill Lane"})
    # Off a terminal nobody can be asked: what was named may go.
    assert not approval(Network("allow"), [])(call)
    assert approval(Network("allow"), ["search"])(call)
    # Where the door asks anyway, once is enough.
    assert approval(Network("ask", ask=ask), [])(call)
    assert shown == []
    approve = approval(Network("allow", ask=ask), [])
    assert [approve(call) for _ in range(4)] == [False, True, True, True]
    assert len(shown) == 3
    assert "the rent of Mill Lane" in shown[0].text
    ledger.allow("search")
    assert not Network("ask", ask=ask).asks_about("search")
