"""Another attempt: where a fault may pass, in time, later each time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest
from loopback import Answer, Loopback

from local_react.errors import ToolError
from local_react.network import Again, Network, patiently, retry_after

pytestmark = pytest.mark.usefixtures("own_places")


def failing(times: int, after: float | None = None) -> Callable[[], int]:
    """Return work that fails so often, then gives how often it was done."""
    done = 0

    def work() -> int:
        nonlocal done
        done += 1
        if done <= times:
            raise Again(ToolError(f"fault {done}"), after)
        return done

    return work


def test_what_works_is_done_once() -> None:
    pauses: list[float] = []
    assert patiently(failing(0), seconds=9, sleep=pauses.append) == 1
    assert pauses == []


def test_the_pauses_grow_and_differ() -> None:
    runs: list[list[float]] = []
    for _ in range(20):
        pauses: list[float] = []
        assert patiently(failing(2), seconds=60, sleep=pauses.append) == 3
        first, second = pauses
        assert 0.5 <= first <= 0.8 and 1.0 <= second <= 1.3
        runs.append(pauses)
    assert len({first for first, _ in runs}) > 1


def test_after_three_attempts_the_last_fault_is_raised() -> None:
    pauses: list[float] = []
    with pytest.raises(ToolError, match="fault 3"):
        patiently(failing(9), seconds=60, sleep=pauses.append)
    assert len(pauses) == 2


def test_what_the_service_asks_for_is_waited() -> None:
    pauses: list[float] = []
    assert patiently(failing(1, after=7.5), seconds=60, sleep=pauses.append) == 2
    assert pauses == [7.5]


@pytest.mark.parametrize("after", [60.0, 1e6, float("inf")])
def test_more_than_there_is_time_for_is_not_waited(after: float) -> None:
    pauses: list[float] = []
    with pytest.raises(ToolError, match="fault 1"):
        patiently(failing(1, after), seconds=10, sleep=pauses.append)
    assert pauses == []


def test_no_attempt_begins_after_the_time_is_up() -> None:
    with pytest.raises(ToolError, match="fault 1"):
        patiently(failing(1), seconds=0.1, sleep=lambda seconds: pytest.fail("it waited"))


def test_another_error_goes_on_at_once() -> None:
    def work() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        patiently(work, seconds=60, sleep=lambda seconds: pytest.fail("it waited"))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("120", 120.0),
        (" 5 ", 5.0),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
        ("²", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wed, 21 Oct 2015 07:28:00", 0.0),
        ("Wed, 21 Oct 99999 07:28:00 GMT", None),
        ("Wed, 99 Oct 2015 07:28:00 GMT", None),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 +999999999999", None),
        ("9" * 5000, float("inf")),
    ],
)
def test_retry_after_is_read(value: str, seconds: float | None) -> None:
    assert retry_after(value) == seconds


def test_retry_after_may_be_a_date() -> None:
    date = format_datetime(datetime.now(timezone.utc) + timedelta(hours=1), usegmt=True)
    seconds = retry_after(date)
    assert seconds is not None and 3500 < seconds <= 3600


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_status_that_may_pass_is_asked_for_again(status: int) -> None:
    pauses: list[float] = []
    with Loopback(b"[1]", first=[Answer(status=status)] * 2).serve() as server:
        network = Network("allow", sleep=pauses.append)
        assert network.get_json(server.url, tool="t") == [1]
    assert len(server.asked) == 3
    assert len(pauses) == 2 and all(pause > 0 for pause in pauses)


@pytest.mark.parametrize("status", [204, 206, 304, 400, 401, 403, 404, 410, 418, 451, 501, 505])
def test_a_status_that_will_not_pass_is_not(status: int) -> None:
    pauses: list[float] = []
    with Loopback(b"", status).serve() as server, pytest.raises(ToolError, match=f"HTTP {status}"):
        Network("allow", sleep=pauses.append).get_json(server.url, tool="t")
    assert (len(server.asked), pauses) == (1, [])


def test_a_lasting_trouble_ends_after_three() -> None:
    refused = pytest.raises(ToolError, match=r"127\.0\.0\.1 refused .*HTTP 503")
    with Loopback(status=503).serve() as server, refused:
        Network("allow", sleep=lambda seconds: None).get_json(server.url, tool="t")
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("after", "timeout", "attempts"), [("2", 60.0, 2), ("30", 10.0, 1), ("86400", 60.0, 1)]
)
def test_retry_after_is_heeded(after: str, timeout: float, attempts: int) -> None:
    pauses: list[float] = []
    busy = Answer(status=429, headers={"Retry-After": after})
    with Loopback(b"[1]", first=[busy]).serve() as server:
        network = Network("allow", timeout=timeout, sleep=pauses.append)
        if attempts == 1:
            with pytest.raises(ToolError, match="HTTP 429"):
                network.get_json(server.url, tool="t")
        else:
            assert network.get_json(server.url, tool="t") == [1]
    assert len(server.asked) == attempts
    assert pauses == [float(after)] * (attempts - 1)


def test_an_answer_that_breaks_off_is_asked_for_again(door: Any) -> None:
    broken = Answer(b'{"half": ', declared=100)
    with Loopback(b"[1]", first=[broken]).serve() as server:
        assert door().get_json(server.url, tool="t") == [1]
        server.first += [broken] * 3
        with pytest.raises(ToolError, match=r"the answer of 127\.0\.0\.1 broke off"):
            door().get_json(server.url, tool="t")
    assert len(server.asked) == 5
