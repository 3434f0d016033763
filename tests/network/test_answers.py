"""The cache of answers: of known age, each asker's own, and never in the way."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from loopback import Loopback

from local_react.network import Answers, Kept, Network
from local_react.network import answers as answers_module

pytestmark = pytest.mark.usefixtures("own_places")

HOUR = 3600.0


@pytest.fixture
def answers() -> Answers:
    usual = Answers.usual()
    assert usual is not None
    return usual


def age(answers: Answers, seconds: float) -> None:
    """Make everything that is kept so many seconds older."""
    with contextlib.closing(sqlite3.connect(answers.path)) as db, db:
        db.execute("update answers set time = time - ?", (seconds,))


def test_an_answer_is_kept_with_its_age(answers: Answers) -> None:
    answers.save("t", "key", Kept(b"\0body\xff", meta={"url": "u"}))
    age(answers, 100)
    kept = answers.load("t", "key", HOUR)
    assert kept is not None and kept.age is not None
    assert (kept.body, kept.meta) == (b"\0body\xff", {"url": "u"})
    assert 100 <= kept.age < 160


def test_each_asker_has_its_own(answers: Answers) -> None:
    answers.save("a", "key", Kept(b"of a"))
    assert answers.load("b", "key", HOUR) is None
    answers.save("b", "key", Kept(b"of b"))
    first, second = (answers.load(asker, "key", HOUR) for asker in "ab")
    assert first and second and (first.body, second.body) == (b"of a", b"of b")


def test_too_old_is_none(answers: Answers) -> None:
    answers.save("t", "key", Kept(b"old"))
    age(answers, HOUR + 1)
    assert answers.load("t", "key", HOUR) is None
    assert answers.load("t", "key", 2 * HOUR) is not None


def test_a_clock_that_was_set_back_makes_it_none(answers: Answers) -> None:
    answers.save("t", "key", Kept(b"of tomorrow"))
    age(answers, -HOUR)
    assert answers.load("t", "key", float("inf")) is None


def test_the_newest_is_kept(answers: Answers) -> None:
    answers.save("t", "key", Kept(b"one"))
    answers.save("t", "key", Kept(b"two"))
    kept = answers.load("t", "key", HOUR)
    assert kept and kept.body == b"two"
    assert answers.held()[0] == 1


def test_the_oldest_go_first_and_what_is_larger_than_all_room_is_not_kept(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers_module, "LIMIT", 1000)
    for name in ("first", "second", "third"):
        answers.save("t", name, Kept(b"x" * 400))
        age(answers, 10)
    assert answers.load("t", "first", HOUR) is None
    assert answers.load("t", "second", HOUR) and answers.load("t", "third", HOUR)
    answers.save("t", "huge", Kept(b"x" * 1001))
    assert answers.load("t", "huge", HOUR) is None


def test_after_a_month_it_goes_whoever_asks(answers: Answers) -> None:
    answers.save("t", "old", Kept(b"x"))
    age(answers, 31 * 24 * HOUR)
    answers.save("t", "new", Kept(b"x"))
    assert answers.held()[0] == 1


def _corrupt(path: Path) -> None:
    path.write_bytes(b"this is no database" * 500)


def _torn(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096] + os.urandom(8192))


def _sql(*commands: str) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            for command in commands:
                db.execute(command)

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        _corrupt,
        _torn,
        _sql("update answers set meta = 'no json'"),
        _sql("update answers set meta = '[1]'"),
        _sql("update answers set time = 'yesterday'"),
        _sql("update answers set body = 'text'"),
        _sql("drop table answers", "create table answers (a)"),
    ],
    ids=["corrupt", "torn", "meta", "meta's kind", "time", "body", "another table"],
)
def test_a_damaged_file_is_as_if_there_were_none(
    answers: Answers, damage: Callable[[Path], None]
) -> None:
    answers.save("t", "key", Kept(b"x"))
    damage(answers.path)
    assert answers.load("t", "key", HOUR) is None
    answers.save("t", "key", Kept(b"y"))  # whether it can be kept or not
    answers.held()
    answers.clear()
    answers.save("t", "key", Kept(b"z"))
    kept = answers.load("t", "key", HOUR)
    assert kept and kept.body == b"z"


def test_a_corrupt_file_is_replaced(answers: Answers) -> None:
    answers.save("t", "key", Kept(b"x"))
    _corrupt(answers.path)
    assert answers.load("t", "key", HOUR) is None
    answers.save("t", "key", Kept(b"y"))
    assert answers.load("t", "key", HOUR) is not None


@pytest.mark.parametrize("place", ["a file", "a" * 300])
def test_a_place_that_cannot_be_keeps_nothing(tmp_path: Path, place: str) -> None:
    (tmp_path / "a file").touch()
    answers = Answers(tmp_path / place / "answers.sqlite")
    answers.save("t", "key", Kept(b"x"))
    assert answers.load("t", "key", HOUR) is None
    answers.clear()
    assert answers.held() == (0, 0)


@pytest.mark.parametrize("key", ["half \udcff", "a\0b", "北京"])
def test_any_key_does_no_harm(answers: Answers, key: str) -> None:
    answers.save("t", key, Kept(b"x"))
    kept = answers.load("t", key, HOUR)
    assert kept is None or kept.body == b"x"


@pytest.mark.skipif(os.name == "nt", reason="SKIPPED: Windows has no file modes")
def test_the_file_is_its_owners_alone(answers: Answers) -> None:
    old = os.umask(0)
    try:
        answers.save("t", "key", Kept(b"x"))
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (answers.path, answers.path.parent)]
    finally:
        os.umask(old)
    assert modes == [0o600, 0o700]


def test_clear_leaves_nothing(answers: Answers) -> None:
    answers.save("t", "key", Kept(b"unmistakable"))
    assert answers.held() == (1, answers.path.stat().st_size)
    answers.clear()
    assert list(answers.path.parent.iterdir()) == []
    assert answers.load("t", "key", HOUR) is None


def test_the_cache_can_be_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_REACT_CACHE", "off")
    assert Answers.usual() is None
    assert Network.from_environment().answers is None


def test_without_keep_nothing_is_kept() -> None:
    assert Network.from_environment(keep=False).answers is None
    assert Network.from_environment().answers is not None


def test_an_answer_that_was_kept_sends_nothing_and_shows_its_age(
    door: Callable[..., Network], answers: Answers
) -> None:
    with Loopback(b"body", headers={"Content-Type": "text/x"}).serve() as server:
        network = door(answers=answers)
        fresh = network.fetch(server.url, asker="t", max_age=HOUR)
        age(answers, 60)
        kept = network.fetch(server.url, asker="t", max_age=HOUR)
        assert server.asked == ["/"] and len(network.exchanges) == 1
        network.fetch(server.url, asker="other", max_age=HOUR)
        network.fetch(server.url, asker="t", max_age=HOUR / 100)
        network.fetch(server.url, asker="t")
    assert len(server.asked) == 4
    assert fresh.age is None and kept.age is not None and 60 <= kept.age < 120
    assert (kept.body, kept.content_type, kept.url) == (b"body", "text/x", fresh.url)


def test_an_answer_that_was_kept_is_there_offline_too(
    door: Callable[..., Network], answers: Answers
) -> None:
    with Loopback(b"body").serve() as server:
        door(answers=answers).fetch(server.url, asker="t", max_age=HOUR)
    assert door("deny", answers=answers).fetch(server.url, asker="t", max_age=HOUR).body == b"body"


def test_without_a_cache_it_is_asked_each_time(door: Callable[..., Network]) -> None:
    with Loopback(b"body").serve() as server:
        for _ in range(2):
            assert door().fetch(server.url, asker="t", max_age=HOUR).age is None
    assert len(server.asked) == 2


def test_what_was_not_asked_to_be_kept_is_not(
    door: Callable[..., Network], answers: Answers
) -> None:
    with Loopback(b"body").serve() as server:
        door(answers=answers).fetch(server.url, asker="t")
    assert not answers.path.exists()


def test_a_tools_own_answers_are_kept_as_well(
    door: Callable[..., Network], answers: Answers
) -> None:
    network, made = door(answers=answers), list[float]()

    def make() -> bytes:
        made.append(time.time())
        return b"made"

    assert network.kept("t", "key", HOUR, make) == Kept(b"made")
    age(answers, 5)
    kept = network.kept("t", "key", HOUR, make)
    assert kept.body == b"made" and kept.age is not None and kept.age >= 5
    assert len(made) == 1
    assert door().kept("t", "key", HOUR, make).age is None
    assert len(made) == 2
