"""The index survives: kills, hangs, crashes, two at once, damage."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from filelock import FileLock

from local_react.documents import Library, Progress
from local_react.documents.store import LOCK
from local_react.documents.workers import Workers
from local_react.errors import UsageError

FILES = 30

KILLED = """
import os, signal, sys
from pathlib import Path
import psutil
from local_react.documents import Library, indexing

indexing._BATCH = 0  # each file is a transaction

def watch(at):
    if at.done == 12:
        print(*[child.pid for child in psutil.Process().children()], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

Library(Path(sys.argv[1])).add([Path(sys.argv[2])], watch)
"""
BUSY = """
import threading, time
from pathlib import Path
import psutil
from local_react.documents import workers

workers._COMMAND = (
    "import json, sys, time; sys.path[:] = json.loads(sys.argv[1]); "
    "from local_react.documents import worker; "
    "worker.reply = lambda *_: time.sleep(600); worker.main()"
)
reading = workers.Workers(seconds=600.0, count=1).read([("job", Path("file"), "")])
threading.Thread(target=next, args=(reading,), daemon=True).start()
while not (children := psutil.Process().children()):
    time.sleep(0.02)
time.sleep(1.0)  # it is at it, or about to be
print(children[0].pid, flush=True)
time.sleep(600)
"""
ADDS = """
import sys
from pathlib import Path
from local_react.documents import Library
print(Library(Path(sys.argv[1])).add([Path(sys.argv[2])]).added)
"""


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "data")


def fill(folder: Path) -> Path:
    folder.mkdir()
    for number in range(FILES):
        text = f"ship {number} of {folder.name}, word{number}\n" * 60
        (folder / f"{number:02}.txt").write_text(text)
    return folder


def start(code: str, library: Library, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, os.fspath(library.path.parent), os.fspath(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def found(library: Library) -> list[list[tuple[str, str]]]:
    questions = [f"word{number} ship" for number in range(FILES)]
    return [
        sorted((hit.name, hit.place) for hit in library.search(question)) for question in questions
    ]


def is_sound(library: Library) -> bool:
    with closing(sqlite3.connect(library.path)) as connection:
        (told,) = connection.execute("PRAGMA integrity_check").fetchone()
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    return bool(told == "ok")


@pytest.mark.skipif(os.name == "nt", reason="SKIPPED: Windows has no SIGKILL")
def test_a_killed_process_leaves_an_index_that_goes_on(library: Library, tmp_path: Path) -> None:
    folder = fill(tmp_path / "fleet")
    child = start(KILLED, library, folder)
    told, _ = child.communicate(timeout=120)
    assert child.returncode == -signal.SIGKILL
    assert is_sound(library)
    there = library.status().files
    assert 0 < there < FILES
    assert library.search("word3")[0].name == "03.txt"
    (root,) = library.roots()
    assert root.indexed == 0
    rest = library.add([folder])
    assert (rest.added, rest.removed) == (FILES - there, 0)
    assert library.roots()[0].indexed > 0
    whole = Library(tmp_path / "whole")
    whole.add([folder])
    assert found(library) == found(whole)
    assert is_sound(library)
    orphans = [psutil.Process(int(pid)) for pid in told.split() if psutil.pid_exists(int(pid))]
    _, alive = psutil.wait_procs(orphans, timeout=60)
    assert told.split() and not alive


@pytest.mark.skipif(os.name == "nt", reason="SKIPPED: Windows has no SIGKILL")
def test_a_reader_ends_with_whoever_started_it_whatever_it_is_at(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    reader = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    _, alive = psutil.wait_procs([reader], timeout=60)
    assert not alive


def test_ctrl_c_keeps_what_was_done_and_ends_the_readers(library: Library, tmp_path: Path) -> None:
    folder = fill(tmp_path / "fleet")

    def press(at: Progress) -> None:
        if at.done == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.add([folder], press)
    assert library.status().files == 12
    assert readers_left() == []
    assert library.add([folder]).added == FILES - 12
    assert is_sound(library)


def readers_left() -> list[psutil.Process]:
    """Return the processes that read for us; the calculator's is kept warm by design."""
    return [
        child
        for child in psutil.Process().children()
        if child.is_running() and "calculator" not in " ".join(child.cmdline())
    ]


def test_two_processes_that_add_at_once_take_turns(library: Library, tmp_path: Path) -> None:
    folders = [fill(tmp_path / name) for name in ("one", "two")]
    children = [start(ADDS, library, folder) for folder in folders]
    assert [child.communicate(timeout=120)[0].strip() for child in children] == ["30", "30"]
    assert library.status().files == 2 * FILES
    assert is_sound(library)


def test_who_waits_says_so(library: Library, tmp_path: Path) -> None:
    folder = fill(tmp_path / "fleet")
    library.path.parent.mkdir()
    lock = FileLock(library.path.parent / LOCK)
    seen: list[bool] = []

    def watch(at: Progress) -> None:
        seen.append(at.waiting)
        lock.release()

    lock.acquire()
    assert library.add([folder], watch).added == FILES
    assert seen[:2] == [True, False]


def test_it_can_be_searched_while_it_is_written(library: Library, tmp_path: Path) -> None:
    library.add([fill(tmp_path / "fleet")])
    answers: list[int] = []

    def watch(at: Progress) -> None:
        answers.append(len(library.search("word3 ship")))

    library.add([fill(tmp_path / "other")], watch)
    assert len(answers) == FILES + 1
    assert set(answers) == {5}


@pytest.fixture
def workers() -> Iterator[Workers]:
    with closing(Workers(seconds=1.0, count=1)) as made:
        yield made


HANGS = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); import threading; "
    "from local_react.documents import worker; told = worker.read_opened; "
    "worker.read_opened = lambda file, name: "
    "threading.Event().wait() if name == 'hangs' else told(file, name); worker.main()"
)
"""A process that reads as ours does, but for one file."""


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("local_react.documents.workers._COMMAND", HANGS)
    (tmp_path / "hangs").write_text("good")
    return tmp_path / "hangs"


def test_a_file_over_which_reading_hangs_is_given_up(hanging: Path, workers: Workers) -> None:
    (hung,) = workers.read([("it", hanging, "")])
    assert hung[0] == "it"
    assert hung[1].header["fault"] == "took longer than 1 s"
    assert readers_left() == []


def test_closing_ends_what_hangs(hanging: Path, tmp_path: Path) -> None:
    workers = Workers(seconds=600.0, count=1)
    (tmp_path / "first.txt").write_text("good")
    jobs = [("first", tmp_path / "first.txt", ""), ("it", hanging, "")]
    replies = workers.read(jobs)
    assert next(replies)[0] == "first"
    workers.close()
    assert readers_left() == []


def test_a_reader_that_breaks_down_is_replaced(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    dies = "import sys; sys.stdout.buffer.write(bytes(8)); sys.stdout.flush(); sys.stdin.readline()"
    monkeypatch.setattr("local_react.documents.workers._COMMAND", dies)
    replies = list(workers.read([(number, Path("x"), "") for number in range(2)]))
    assert [reply.header["fault"] for _, reply in replies] == [
        "the reader of its kind broke down over it"
    ] * 2


def test_readers_that_do_not_start_are_told_of(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_react.documents.workers._COMMAND", "raise SystemExit(1)")
    with pytest.raises(UsageError, match="does not start"):
        list(workers.read([("x", Path("x"), "")]))


def assert_refused(library: Library, folder: Path, match: str) -> None:
    for use in (
        lambda: library.search("word"),
        library.status,
        lambda: library.read(1),
        lambda: library.add([folder]),
        lambda: library.remove(folder),
        library.archives,
    ):
        with pytest.raises(UsageError, match=match) as caught:
            use()
        assert "\n" not in str(caught.value)


def test_what_is_no_index_is_refused(library: Library, tmp_path: Path) -> None:
    folder = fill(tmp_path / "fleet")
    library.path.parent.mkdir()
    library.path.write_bytes(b"This is no database at all. " * 100)
    assert_refused(library, folder, "file is not a database.*move it away")


@pytest.mark.parametrize("pragma", ["user_version = 99", "application_id = 7"])
def test_an_index_of_another_version_is_refused(
    library: Library, tmp_path: Path, pragma: str
) -> None:
    folder = fill(tmp_path / "fleet")
    library.add([folder])
    with closing(sqlite3.connect(library.path)) as connection:
        connection.execute(f"PRAGMA {pragma}")
    assert_refused(library, folder, "another version.*add your documents again")


def test_a_damaged_index_says_so(library: Library, tmp_path: Path) -> None:
    folder = fill(tmp_path / "fleet")
    library.add([folder])
    with library.path.open("r+b") as file:
        for page in range(1, library.path.stat().st_size // 8192):
            file.seek(page * 8192)
            file.write(b"\xa5" * 4096)
    with pytest.raises(UsageError, match=r"cannot be used.*move it away") as caught:
        library.search("word3")
    assert "\n" not in str(caught.value)


def test_a_file_that_was_never_set_up_is_an_empty_index(library: Library, tmp_path: Path) -> None:
    library.path.parent.mkdir()
    library.path.touch()
    assert library.is_empty
    assert library.search("word") == []
    assert library.add([fill(tmp_path / "fleet")]).added == FILES


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="SKIPPED: all may be written here"
)
def test_a_folder_that_cannot_be_written_can_be_searched(library: Library, tmp_path: Path) -> None:
    folder = fill(tmp_path / "fleet")
    library.add([folder])
    library.path.parent.chmod(0o500)
    try:
        assert library.search("word3")
        with pytest.raises(UsageError, match="cannot"):
            library.add([folder])
    finally:
        library.path.parent.chmod(0o700)


def test_a_file_and_a_folder_may_take_each_others_place(tmp_path: Path) -> None:
    library, place = Library(tmp_path / "data"), tmp_path / "thing"
    place.write_text("zebra alone")
    library.add([place])
    place.unlink()
    (place / "deep").mkdir(parents=True)
    for name in ("a.txt", "deep/a.txt", "thing"):
        (place / name).write_text(f"zebra in {name}")
    added = library.add([place])
    assert (added.added + added.changed, len(library.search("zebra"))) == (3, 3)
    assert {Path(file.path).relative_to(place).as_posix() for file in library.files()} == {
        "a.txt", "deep/a.txt", "thing"
    }  # fmt: skip
    shutil.rmtree(place)
    place.write_text("zebra once more")
    library.add([place])
    assert [hit.text for hit in library.search("zebra")] == ["zebra once more"]
    assert [file.path for file in library.files()] == [str(place)]


def test_folders_may_lie_in_each_other_a_thousand_deep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    monkeypatch.chdir(root)
    for _ in range(1100):
        Path("a").mkdir()
        os.chdir("a")
    Path("x.txt").write_text("at the bottom")
    added = Library(tmp_path / "data").add([root])
    Path("x.txt").unlink()
    for _ in range(1100):  # pytest could not remove it
        os.chdir("..")
        Path("a").rmdir()
    assert (added.added, added.skipped) == (1, [])


def test_a_file_too_large_to_be_read_is_not_even_hashed(tmp_path: Path) -> None:
    path = tmp_path / "holes.txt"
    with path.open("wb") as file:
        file.truncate(1 << 36)  # which would take minutes
    library = Library(tmp_path / "data")
    assert library.add([path]).skipped == [(str(path), "larger than 64 MB")]
    assert library.add([path]).skipped == [(str(path), "larger than 64 MB")]


def test_nothing_is_removed_by_a_path_of_a_folder_that_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library(tmp_path / "data")
    (tmp_path / "a.txt").write_text("a text")
    library.add([tmp_path / "a.txt"])
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UsageError, match="nothing was added at x"):
        library.remove(Path("x"))
    os.chdir(tmp_path)


def test_of_a_whole_text_its_first_words_are_looked_for(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("zebra\n" + " ".join(f"word{n}" for n in range(300)))
    library = Library(tmp_path / "data")
    library.add([tmp_path / "a.txt"])
    noise = " ".join(f"noise{n}" for n in range(300))
    assert library.search(f"zebra {noise}")
    assert not library.search(f"{noise} zebra")
