"""The history's file: several processes, killed ones, damage, other versions, deletion."""

from __future__ import annotations

import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from kept_runs import TRANSCRIPT, run_of

from local_react.errors import UsageError
from local_react.history import History, store

posix = pytest.mark.skipif(os.name == "nt", reason="SKIPPED: other rights there")

WRITER = """
import sys
from kept_runs import TRANSCRIPT, run_of
from local_react.history import History

history, who, count = History(), sys.argv[1], int(sys.argv[2])
sys.stdin.readline()
for number in range(count):
    id_ = history.add(run_of(f"{who} {number}?"), transcript=TRANSCRIPT, session="shared")
    history.remember(f"{who} said {number}")
    assert history.run(id_).question == f"{who} {number}?"
    assert len(history.runs(last=3)) <= 3 and history.sessions()
"""

ADDER = """
from kept_runs import TRANSCRIPT, run_of
from local_react.history import History

print("begins", flush=True)
while True:
    print(History().add(run_of("A question?"), transcript=TRANSCRIPT * 500), flush=True)
"""

DELETER = """
from kept_runs import run_of
from local_react.history import History

history = History()
print("begins", flush=True)
for number in range(10**6):
    marker = f"marker{number:05}x"
    history.remove(history.add(run_of(f"{marker} " * (number % 300 + 1), marker)))
    print(marker, flush=True)
"""


@pytest.fixture
def history(own_places: None) -> History:
    return History()


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A directory that belongs to a user who is not root, which this process then is."""
    with tempfile.TemporaryDirectory() as name:  # pytest's own are closed to other users
        was = os.geteuid()
        os.chown(name, was or 65534, -1)
        os.seteuid(was or 65534)
        try:
            yield Path(name)
        finally:
            os.seteuid(was)
            Path(name).chmod(0o700)


def started(program: str, *arguments: str) -> subprocess.Popen[str]:
    places = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": places},
    )


def killed(program: str, lines: int) -> list[str]:
    """Run a program until it has printed that many lines, kill it at what it is then at, and
    return what it printed after the first line: all that was confirmed."""
    with started(program) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        told += process.stdout.readlines()
    return [line.strip() for line in told[1:] if line.endswith("\n")]


def held(history: History) -> bytes:
    """Return all that is in the history's directory."""
    return b"".join(path.read_bytes() for path in history.path.parent.iterdir())


def is_sound(history: History) -> bool:
    with closing(sqlite3.connect(history.path)) as db:
        return db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_several_processes_write_at_once(history: History) -> None:
    processes = [started(WRITER, who, "15") for who in ("chat", "batch", "script")]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate(timeout=120)[0] for process in processes] == [""] * 3
    assert [process.returncode for process in processes] == [0] * 3
    for who in ("chat", "batch", "script"):
        asked = [run.question for run in history.runs() if run.question.startswith(who)]
        assert asked == [f"{who} {number}?" for number in range(15)]
    assert history.find_session("shared").turns == 45
    assert len(history.facts()) == 45
    assert is_sound(history)


def test_what_was_added_before_a_kill_is_there(history: History) -> None:
    chance, confirmed = random.Random(7), list[str]()
    for round_ in range(8):
        confirmed += killed(ADDER, 1 if round_ == 0 else chance.randint(1, 12))
        known = {run.id for run in history.runs()}
        assert known >= set(confirmed)
    for id_ in known:  # what was not confirmed is whole, or not there
        assert history.run(id_) == run_of("A question?")
        assert history.transcript(id_) == TRANSCRIPT * 500
    assert len(confirmed) > 20
    assert is_sound(history)


def test_what_was_deleted_before_a_kill_leaves_no_trace_once_more_is_written(
    history: History,
) -> None:
    chance, confirmed = random.Random(11), list[str]()
    for _ in range(4):
        confirmed += killed(DELETER, chance.randint(2, 12))
        history.remember("the next one to write")
        left = set(re.findall(rb"marker\d{5}x", held(history)))
        there = b" ".join(run.question.encode() for run in history.runs())
        assert all(marker in there for marker in left)
    assert len(confirmed) > 8
    assert is_sound(history)


def test_what_is_deleted_is_in_no_file_any_more(history: History) -> None:
    """Also where SQLite has moved it from page to page before."""
    chance, alive, number = random.Random(3), dict[str, str](), 0
    for _ in range(120):
        if chance.random() < 0.65 or not alive:
            marker, number = f"marker{number:05}x", number + 1
            question = f"{marker} " * chance.choice([1, 5, 80, 900])
            alive[marker] = history.add(run_of(question, marker), session=f"of {marker}")
            history.remember(f"fact of {marker}")
        else:
            marker = chance.choice(sorted(alive))
            del alive[marker]
            history.rename_session(f"of {marker}", f"renamed {marker}")
            history.delete_session(f"renamed {marker}")
            history.forget(marker)
            assert marker.encode() not in held(history)
    assert set(re.findall(rb"marker\d{5}x", held(history))) == {name.encode() for name in alive}
    history.clear()
    history.forget(*(str(fact.number) for fact in history.facts()))
    assert b"marker" not in held(history)


def test_a_name_of_old_is_in_no_file_any_more(history: History) -> None:
    history.open_session("marker of old")
    history.rename_session("marker of old", "x")
    assert b"marker" not in held(history)


def test_traces_that_could_not_be_removed_are_at_the_next_write(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.add(run_of("x" * 100_000))
    with monkeypatch.context() as patch:
        patch.setattr(store, "_remove_traces", lambda db: None)
        history.remove("last")
    before = history.path.stat().st_size
    history.remember("the next one to write")
    assert history.path.stat().st_size < before - 90_000
    with store.reading(history.path) as db:
        assert db.execute("SELECT count(*) FROM traces").fetchone() == (0,)


def test_a_deletion_that_fails_deletes_nothing(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = history.add(run_of("One?"), session="trip")
    monkeypatch.setattr("local_react.history.sessions.settle", lambda db, number: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        history.remove(id_)
    assert history.run(id_) == run_of("One?")
    assert history.turns("trip") == [run_of("One?")]


@posix
def test_its_owner_alone_reads_it(history: History) -> None:
    old = os.umask(0)
    try:
        history.add(run_of("One?"))
    finally:
        os.umask(old)
    assert history.path.stat().st_mode & 0o777 == 0o600
    assert history.path.parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in history.path.parent.iterdir()] == ["history.sqlite"]


@pytest.mark.parametrize("name", ["a b", "a#b?c=d", "100%", "é"])
def test_any_directory_will_do(tmp_path: Path, name: str) -> None:
    history = History(tmp_path / name / "history.sqlite")
    id_ = history.add(run_of("One?"))
    assert history.run(id_) == run_of("One?")
    assert [path.name for path in tmp_path.rglob("*.sqlite*")] == ["history.sqlite"]


def test_an_empty_file_is_an_empty_history(history: History) -> None:
    """Left by a process that was killed before it set it up."""
    history.path.parent.mkdir()
    history.path.touch()
    assert not history.sessions() and not history.facts()
    history.add(run_of("One?"))
    assert len(history.runs()) == 1


def refused(history: History, match: str) -> None:
    """Every use of the file is refused in one line, and leaves the file as it is."""
    before = history.path.read_bytes() if history.path.is_file() else b""
    for use in (
        history.sessions,
        history.runs,
        history.facts,
        lambda: history.recall("Where?"),
        lambda: history.add(run_of("One?")),
        lambda: history.remember("One"),
        lambda: history.open_session("one"),
        lambda: history.open_session(),
        history.clear,
    ):
        with pytest.raises(UsageError, match=match) as refusal:
            use()
        assert "\n" not in str(refusal.value) and str(history.path) in str(refusal.value)
    if history.path.is_file():
        assert history.path.read_bytes() == before


def test_what_is_no_database_is_refused_and_stays(history: History) -> None:
    history.path.parent.mkdir()
    history.path.write_bytes(b"These are my notes. " * 1000)
    refused(history, "not a database.*move it away")


def test_a_database_of_something_else_is_refused_and_stays(history: History) -> None:
    history.path.parent.mkdir()
    with closing(sqlite3.connect(history.path)) as db:
        db.execute("CREATE TABLE runs (id)")
    refused(history, "no history of local-react: move it away")


def test_a_newer_version_is_refused_and_stays(history: History) -> None:
    history.add(run_of("One?"))
    with closing(sqlite3.connect(history.path)) as db:
        db.execute(f"PRAGMA user_version = {store.VERSION + 1}")
    refused(history, "newer local-react: update")


def test_a_directory_in_its_place_is_told(history: History) -> None:
    history.path.mkdir(parents=True)
    refused(history, "cannot be used")


def test_a_file_in_the_place_of_its_directory_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    history = History(tmp_path / "data" / "history.sqlite")
    with pytest.raises(UsageError, match="cannot be used"):
        history.add(run_of("One?"))
    assert history.runs() == []


@pytest.mark.parametrize("cut", [100, 5000, -5000])
def test_a_file_that_was_cut_off_is_told(history: History, cut: int) -> None:
    for number in range(20):
        history.add(run_of(f"{number}? " * 100))
    data = history.path.read_bytes()[:cut]
    history.path.write_bytes(data)
    with pytest.raises(UsageError, match=r"(malformed|not a database).*damaged: move it away"):
        history.runs()
        history.add(run_of("One?"))
    assert history.path.read_bytes() == data


def test_any_damage_is_told_in_one_line_or_does_no_harm(history: History) -> None:
    for number in range(15):
        history.add(run_of(f"{number}? " * 50), transcript=TRANSCRIPT, session=f"s{number % 3}")
        history.remember(f"fact {number}")
    whole, chance = history.path.read_bytes(), random.Random(5)
    told = 0
    for number in range(90):
        data, at = bytearray(whole), chance.randrange(len(whole))
        data[at : at + 300] = (chance.randbytes(300), bytes(300), b"\xff" * 300)[number % 3]
        history.path.write_bytes(data[: len(whole)])
        for use in (
            history.sessions,
            lambda: [history.run(run.id) for run in history.runs()],
            lambda: [history.transcript(run.id) for run in history.runs()],
            lambda: history.recall("Which fact?"),
            lambda: history.add(run_of("One?"), session="s1"),
        ):
            try:
                use()
            except UsageError as error:
                told += 1
                assert "\n" not in str(error)
    assert told > 20


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE runs SET time = 'noon'",
        "UPDATE runs SET model = x'00'",
        "UPDATE sessions SET updated = x'00'",
        "UPDATE facts SET text = x'00'",
    ],
)
def test_what_was_never_written_there_is_damage(history: History, change: str) -> None:
    history.add(run_of("One?"), session="one")
    history.remember("I have a cat")
    with closing(sqlite3.connect(history.path)) as db, db:
        db.execute(change)
    with pytest.raises(UsageError, match="damaged: move it away"):
        [*history.runs(), *history.sessions(), *history.recall("Which cat?")]


def test_what_a_killed_writer_left_to_be_wiped_the_next_reader_wipes(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = [f"secretmark{number}" for number in range(40)]
    ids = [history.add(run_of(f"{mark} " * 30)) for mark in marks]
    with monkeypatch.context() as patch:  # as if it were killed before it could
        patch.setattr(store, "_remove_traces", lambda db: None)
        for number in ids[:-1]:
            history.remove(number)
    assert len(history.runs()) == 1
    with closing(sqlite3.connect(history.path)) as db:
        assert db.execute("SELECT count(*) FROM traces").fetchone() == (0,)
    data = history.path.read_bytes()
    assert not [mark for mark in marks[:-1] if f"{mark} ".encode() in data]


def test_a_run_that_cannot_be_read_leaves_the_others_alone(history: History) -> None:
    bad, good = history.add(run_of("Bad?")), history.add(run_of("Good?"))
    with closing(sqlite3.connect(history.path)) as db, db:
        db.execute("UPDATE wholes SET run = x'00' WHERE number = 1")
    assert len(history.runs()) == 2
    assert history.run(good) == run_of("Good?")
    with pytest.raises(UsageError, match=f"the run {bad} is damaged"):
        history.run(bad)
    with closing(sqlite3.connect(history.path)) as db, db:
        db.execute("UPDATE wholes SET run = ? WHERE number = 1", (store.packed('{"a": 1}'),))
    with pytest.raises(UsageError, match=f"the run {bad} was kept by another version"):
        history.run(bad)
    history.remove(bad)
    assert [run.id for run in history.runs()] == [good]


def test_somebody_who_holds_the_file_for_long_is_told_of(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.add(run_of("One?"))
    monkeypatch.setattr(store, "_WAIT", 0.01)
    with closing(sqlite3.connect(history.path, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        refused(history, "locked.*another process is busy with it: try again later")
    assert len(history.runs()) == 1


def test_somebody_who_is_about_to_write_keeps_nobody_from_reading(history: History) -> None:
    history.add(run_of("One?"))
    with store.writing(history.path) as db:
        db.execute("DELETE FROM runs")
        assert len(history.runs()) == 1
    assert history.runs() == []


@posix
def test_where_nothing_may_be_written_what_is_there_is_read(unprivileged: Path) -> None:
    history = History(unprivileged / "history.sqlite")
    id_ = history.add(run_of("One?"), session="trip")
    history.remember("I live in Bern")
    history.path.chmod(0o400)
    unprivileged.chmod(0o500)
    assert history.run(id_) == run_of("One?")
    assert len(history.sessions()) == len(history.recall("Where do I live?")) == 1
    for use in (lambda: history.add(run_of("Two?")), lambda: history.forget("1"), history.clear):
        with pytest.raises(UsageError, match=r"cannot be used.*make it yours to write"):
            use()
    assert len(history.runs()) == 1
    unprivileged.chmod(0)
    with pytest.raises(UsageError, match="cannot be used"):
        history.sessions()
