"""Who may send what: the modes of the door, and what the user is asked."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest
from loopback import Loopback, names

from local_react.errors import OfflineError, ToolError, UsageError
from local_react.network import Ledger, Network, Outgoing, Reply

pytestmark = pytest.mark.usefixtures("own_places")


class User:
    """Gives these replies in turn, and keeps what was put to them."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.asked: list[Outgoing] = []

    def __call__(self, outgoing: Outgoing) -> Reply:
        self.asked.append(outgoing)
        return cast("Reply", self.replies.pop(0))


@pytest.mark.parametrize("value", ["1", "true", "YES", "on", "whatever"])
def test_the_environment_shuts_the_door(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("LOCAL_REACT_OFFLINE", value)
    assert Network.from_environment(mode="allow", ask=User()).offline
    assert Network.for_a_command().offline


@pytest.mark.parametrize("value", [None, "", "0", "false", "No", " off "])
def test_the_environment_leaves_it_open(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    if value is not None:
        monkeypatch.setenv("LOCAL_REACT_OFFLINE", value)
    assert not Network.from_environment(mode="allow").offline
    assert not Network.for_a_command().offline
    assert Network.from_environment(offline=True, mode="allow").offline


def test_it_asks_where_nothing_else_is_said() -> None:
    assert Network().mode == Network.from_environment().mode == "ask"
    assert Network().offline  # nobody can be asked
    assert not Network(ask=User()).offline


@pytest.mark.parametrize("mode", ["ask", "allow", "deny"])
def test_the_variable_chooses_and_the_option_overrules(
    monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setenv("LOCAL_REACT_NETWORK", f" {mode.upper()} ")
    assert Network.from_environment().mode == mode
    monkeypatch.setenv("LOCAL_REACT_NETWORK", "deny")
    assert Network.from_environment(mode=mode).mode == mode


def test_a_mode_that_is_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"--network is 'always'.*ask, allow, deny"):
        Network.from_environment(mode="always")
    monkeypatch.setenv("LOCAL_REACT_NETWORK", "always")
    with pytest.raises(UsageError, match=r"LOCAL_REACT_NETWORK is 'always'"):
        Network.from_environment()


@pytest.mark.parametrize("mode", ["Allow", "yes", "", None])
def test_a_mode_that_python_code_gets_wrong_is_named(mode: Any) -> None:
    with pytest.raises(UsageError, match=r"the network's mode is .*ask, allow, deny"):
        Network(mode)


@pytest.mark.parametrize("mode", ["deny", "ask"])
def test_shut_it_sends_nothing_and_says_why(mode: Any) -> None:
    network = Network(mode)
    with Loopback().serve() as server:
        with pytest.raises(OfflineError, match=r"exchange_rate .*\(127\.0\.0\.1\)") as caught:
            network.get_json(server.url, tool="exchange_rate")
        with pytest.raises(OfflineError, match="search"):
            network.check("search", "example.org")
    assert "\n" not in str(caught.value)
    assert server.asked == [] and network.exchanges == [] and network.ledger.entries() == []
    assert network.refused == [Outgoing("exchange_rate", ("127.0.0.1",), server.url)]


def test_the_way_out_fits_the_cause() -> None:
    with pytest.raises(OfflineError, match=r"--offline.*LOCAL_REACT_NETWORK"):
        Network("deny").check("search", "h")
    with pytest.raises(OfflineError, match=r"no terminal.*--network allow"):
        Network("ask").check("search", "h")


def test_yes_lets_one_thing_out() -> None:
    user = User("yes", "yes")
    with Loopback(b"[1]").serve() as server:
        network = Network(ask=user)
        network.get_json(f"{server.url}/a", tool="t")
        network.get_json(f"{server.url}/b", tool="t")
    assert user.asked == [
        Outgoing("t", ("127.0.0.1",), f"{server.url}/a"),
        Outgoing("t", ("127.0.0.1",), f"{server.url}/b"),
    ]
    assert server.asked == ["/a", "/b"]


def test_a_yes_to_the_same_thing_is_not_asked_for_again() -> None:
    user = User("yes")
    network = Network(ask=user)
    network.permit("t", ["h"], "words")
    network.permit("t", ["h"], "words")
    assert len(user.asked) == 1


def test_the_user_is_asked_before_anything_leaves() -> None:
    with Loopback(b"[1]").serve() as server:

        def ask(outgoing: Outgoing) -> Reply:
            assert server.asked == [] and Ledger().entries() == []
            return "yes"

        Network(ask=ask).get_json(server.url, tool="t")
    assert server.asked == ["/"]


def test_a_no_is_told_kept_to_and_not_asked_again() -> None:
    user = User("no", "yes")
    with Loopback(b"[1]").serve() as server:
        network = Network(ask=user)
        for _ in range(2):
            with pytest.raises(ToolError, match="the user does not let t send this"):
                network.get_json(f"{server.url}/a", tool="t")
        assert network.get_json(f"{server.url}/b", tool="t") == [1]
    assert server.asked == ["/b"] and len(user.asked) == 2
    assert network.refused == [user.asked[0]] * 2
    assert [exchange.text for exchange in network.exchanges] == [f"{server.url}/b"]


def test_true_is_a_yes() -> None:
    network = Network(ask=User(True))
    assert network.permit("t", ["h"], "x").outgoing.text == "x"


@pytest.mark.parametrize("reply", [None, False, "", "YES", "always", 1])
def test_what_is_no_yes_is_a_no(reply: Any) -> None:
    user = User(reply)
    network = Network(ask=user)
    for _ in range(2):
        with pytest.raises(ToolError, match="the user does not let"):
            network.permit("t", ["h"], "words")


def test_always_for_a_tool_is_remembered_and_is_for_that_tool() -> None:
    user = User("tool")
    Network(ask=user).permit("search", ["h"], "words")
    later = Network(ask=User("no"))
    later.permit("search", ["other.example"], "other words")
    with pytest.raises(ToolError):
        later.permit("read_page", ["h"], "words")
    unasked = Network()
    assert not unasked.offline and unasked.admits("search") and not unasked.admits("read_page")
    unasked.permit("search", ["h"], "words")
    with pytest.raises(OfflineError):
        unasked.permit("read_page", ["h"], "words")


def test_always_for_a_tool_does_not_open_a_shut_door() -> None:
    Network(ask=User("tool")).permit("search", ["h"], "words")
    shut = Network("deny", ask=User())
    assert shut.offline and not shut.admits("search")
    with pytest.raises(OfflineError):
        shut.permit("search", ["h"], "words")


def test_always_for_a_tool_is_forgotten_on_request(ledger: Ledger) -> None:
    Network(ask=User("tool")).permit("search", ["h"], "words")
    assert ledger.allowed() == ["search"]
    assert ledger.forget_allowed() == 1
    assert Network().offline


def test_always_in_this_run_is_for_all_tools_and_not_remembered() -> None:
    user = User("run")
    network = Network(ask=user)
    network.permit("search", ["h"], "words")
    network.permit("read_page", ["i"], "address")
    assert len(user.asked) == 1
    assert Network().offline
    again = User("no")
    with pytest.raises(ToolError):
        Network(ask=again).permit("search", ["h"], "words")


def test_one_question_at_a_time() -> None:
    at_once, worst = 0, 0

    def ask(outgoing: Outgoing) -> Reply:
        nonlocal at_once, worst
        at_once += 1
        worst = max(worst, at_once)
        threading.Event().wait(0.01)
        at_once -= 1
        return "yes"

    network = Network(ask=ask)
    threads = [threading.Thread(target=network.permit, args=("t", ["h"], str(n))) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert worst == 1


def test_what_the_asker_says_is_sent_is_what_is_shown_and_written_down(ledger: Ledger) -> None:
    user = User("yes")
    with Loopback(b"x").serve() as server:
        Network(ask=user).fetch(f"{server.url}/?q=rain", asker="search", sent="rain")
    assert user.asked == [Outgoing("search", ("127.0.0.1",), "rain")]
    assert [(e.asker, e.host, e.text) for e in ledger.entries()] == [
        ("search", "127.0.0.1", "rain")
    ]


@pytest.fixture
def redirecting(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Two hosts at this machine, taken for public ones; the first leads to the second."""
    names(monkeypatch, {"one.example": ["127.0.0.1"], "two.example": ["127.0.0.1"]})
    monkeypatch.setattr("local_react.network.addresses.is_public", lambda text: True)
    with Loopback(b"there").serve() as second:
        target = f"http://two.example:{second.port}/moved?to=here"
        with Loopback(b"", 302, {"Location": target}).serve() as first:
            yield f"http://one.example:{first.port}/page", target, first, second


def test_a_redirect_to_another_host_is_asked_for_with_its_address(redirecting: Any) -> None:
    url, target, _, second = redirecting
    user = User("yes", "yes")
    response = Network(ask=user).fetch(url, asker="read_page", public=True)
    assert (response.url, response.body) == (target, b"there")
    assert user.asked == [
        Outgoing("read_page", ("one.example",), url),
        Outgoing("read_page", ("two.example",), target),
    ]
    assert second.asked == ["/moved?to=here"]


def test_a_redirect_that_the_user_refuses_is_not_followed(redirecting: Any) -> None:
    url, target, first, second = redirecting
    network = Network(ask=User("yes", "no"))
    with pytest.raises(ToolError, match=r"does not let read_page send this to two\.example"):
        network.fetch(url, asker="read_page", public=True)
    assert (first.asked, second.asked) == (["/page"], [])
    assert network.refused == [Outgoing("read_page", ("two.example",), target)]


def test_a_permit_is_for_its_hosts_alone(door: Any, ledger: Ledger) -> None:
    permit = door().permit("search", ["a.example", "b.example"], "words")
    with permit.exchange("b.example") as exchange:
        exchange.result = "200"
    with pytest.raises(ValueError, match=r"c\.example"), permit.exchange("c.example"):
        pytest.fail("it must not get here")
    assert [entry.host for entry in ledger.entries()] == ["b.example"]


def test_work_that_knows_no_timeout_is_left_behind(door: Any) -> None:
    never = threading.Event()
    try:
        with pytest.raises(ToolError, match=r"slow\.example did not answer"):
            door().within(0.05, never.wait, host="slow.example")
    finally:
        never.set()


def test_work_in_time_gives_what_it_gives(door: Any) -> None:
    assert door().within(60, lambda: 7, host="h") == 7
    with pytest.raises(ZeroDivisionError):
        door().within(60, lambda: 1 // 0, host="h")
