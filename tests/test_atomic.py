"""Files that are written as a whole, by several at once and by killed ones; locks beside them."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from local_react.atomic import NoFile, read_whole, sweep, write_whole
from local_react.locking import Busy, alone, changing

posix = pytest.mark.skipif(os.name == "nt", reason="SKIPPED: other rights, no pipes there")

WRITER = """
import sys
from pathlib import Path
from local_react.atomic import write_whole
for number in range(int(sys.argv[2])):
    write_whole(Path(sys.argv[1]), [b"x" * 50_000, str(number).encode()], lasting=False)
"""
HELD = """
import sys, time
from pathlib import Path
from local_react import atomic
from local_react.locking import alone
path = Path(sys.argv[1])
with alone(path):
    handle, new = atomic._unfinished(path)
    print(new.name, flush=True)
    sys.stdin.read()
"""
CHANGER = """
import sys
from pathlib import Path
from local_react.atomic import read_whole, write_whole
from local_react.locking import changing
path = Path(sys.argv[1])
for _ in range(25):
    with changing(path):
        write_whole(path, [str(int(read_whole(path)) + 1).encode()])
"""


def started(code: str, *arguments: object) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def finish(children: Sequence[subprocess.Popen[str]]) -> None:
    for child in children:
        child.communicate(timeout=120)
    assert {child.returncode for child in children} == {0}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@posix
def test_a_file_is_its_owners_or_goes_on_to_be_for_whom_it_was(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    write_whole(path, [b"a", memoryview(b"bc")])
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"abc", 0o600)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o640)
    write_whole(path, [b"d"], keeps_mode=True)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"d", 0o640)
    assert names(path.parent) == {"file"}


def test_where_it_fails_the_old_file_stays_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fails() -> memoryview:
        raise KeyboardInterrupt

    class Parts(list[bytes | memoryview]):
        def __iter__(self):  # type: ignore[no-untyped-def]
            yield b"new"
            yield fails()

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, Parts())
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == {"file"}


def test_several_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    finish([started(WRITER, tmp_path / "file", 100) for _ in range(3)])
    assert (tmp_path / "file").read_bytes() == b"x" * 50_000 + b"99"
    assert names(tmp_path) == {"file"}


@posix
def test_what_a_killed_process_left_goes_and_what_is_being_written_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    child = started(HELD, path)
    assert child.stdout and child.stdin
    left = child.stdout.readline().strip()
    others = {f"other.{'a' * 8}.new", "file.new", "filex.abc.new"}
    for name in others:
        (tmp_path / name).touch()
    write_whole(path, [b"one"])
    assert names(tmp_path) == {"file", "file.lock", left} | others
    child.send_signal(signal.SIGKILL)
    child.communicate()
    write_whole(path, [b"two"])
    assert names(tmp_path) == {"file", "file.lock"} | others
    sweep(tmp_path)
    assert names(tmp_path) == {"file", "file.lock"} | others - {f"other.{'a' * 8}.new"}


@posix
def test_a_lock_is_refused_while_it_is_held_and_killing_its_holder_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "file"
    child = started(HELD, path)
    assert child.stdout
    child.stdout.readline()
    with pytest.raises(Busy), alone(path):
        pass
    child.kill()
    child.communicate()
    assert "file.lock" in names(tmp_path)
    with alone(path):
        pass
    assert "file.lock" not in names(tmp_path)


def test_what_two_change_at_once_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("0")
    finish([started(CHANGER, path) for _ in range(3)])
    assert path.read_text() == "75"
    assert names(tmp_path) == {"file"}
    with changing(tmp_path / "new" / "file"):
        pass
    assert names(tmp_path / "new") == set()


@posix
def test_a_pipe_or_a_folder_is_no_file_and_nobody_waits_at_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path(os.devnull)):
        with pytest.raises(NoFile):
            read_whole(path)
    with pytest.raises(FileNotFoundError):
        read_whole(tmp_path / "none")
    os.mkfifo(tmp_path / "file.lock")
    with pytest.raises(NoFile), alone(tmp_path / "file"):
        pass
