"""The calculator's worker: kept warm, stopped when it overruns, always back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from local_react.errors import ToolError
from local_react.tools.calculator import process
from local_react.tools.calculator.process import Worker, shared_worker

ROOT = Path(__file__).resolve().parents[2]
ENDLESS = "diff(sin(x)^sin(x)^sin(x), x, 12)"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


def test_it_starts_when_asked_and_stays(worker: Worker) -> None:
    assert worker.pid is None
    assert worker.evaluate("2 + 2") == "4"
    first = worker.pid
    assert first is not None
    assert worker.evaluate("2 + 3") == "5"
    assert worker.pid == first


def test_a_refusal_does_not_cost_the_process(worker: Worker) -> None:
    worker.evaluate("1 + 1")
    first = worker.pid
    with pytest.raises(ToolError, match="division by zero"):
        worker.evaluate("1/0")
    assert worker.pid == first


def test_what_takes_too_long_is_stopped_and_the_worker_replaced(worker: Worker) -> None:
    worker.evaluate("1 + 1")
    first = worker.pid
    assert first is not None
    with pytest.raises(ToolError, match=r"too large: it takes more than 1\.5 seconds"):
        worker.evaluate(ENDLESS)
    assert worker.pid is None
    assert not psutil.pid_exists(first)
    assert worker.evaluate("2 + 2") == "4"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_worker_is_replaced(worker: Worker) -> None:
    worker.evaluate("1 + 1")
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    try:
        told = worker.evaluate("2 + 2")
    except ToolError as error:  # it may be asked before its end is known
        assert "gave up" in str(error)
        told = worker.evaluate("2 + 2")
    assert told == "4"


def test_memory_beyond_the_limit_is_noticed() -> None:
    hog = "import sys; data = bytearray(300 << 20); print(1, flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hog], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        with pytest.raises(ToolError, match="too much memory"):
            process._Watch(child.pid).check()
        child.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the address space")
def test_the_worker_bounds_its_own_memory(worker: Worker) -> None:
    worker.evaluate("5 km in m")  # with the units loaded
    assert worker.pid is not None
    used = psutil.Process(worker.pid)
    soft, _ = used.rlimit(psutil.RLIMIT_AS)
    spare = soft - used.memory_info().vms
    assert used.memory_info().rss + spare < process.MEMORY_LIMIT


def test_threads_take_turns(worker: Worker) -> None:
    told: dict[int, str] = {}

    def ask(number: int) -> None:
        told[number] = worker.evaluate(f"{number} * 10")

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == {number: f"{number * 10}" for number in range(8)}


def test_an_interrupted_question_is_not_answered_to_the_next(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.evaluate("1 + 1")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(process._Watch, "check", interrupt)
        with pytest.raises(KeyboardInterrupt):
            worker.evaluate(ENDLESS)
    assert worker.evaluate("2 + 2") == "4"


def test_a_process_that_cannot_start_says_so(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_COMMAND", "raise SystemExit(1)")
    with pytest.raises(ToolError, match="does not start"):
        worker.evaluate("1 + 1")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ToolError, match="cannot be started"):
        worker.evaluate("1 + 1")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_after_a_fork_each_process_has_a_worker_of_its_own() -> None:
    program = """
import os
from local_react.tools.calculator import evaluate
from local_react.tools.calculator.process import shared_worker
evaluate("1 + 1")
mine = shared_worker().pid
child = os.fork()
told = [evaluate(f"{n} * 2") for n in range(20)]
assert told == [str(n * 2) for n in range(20)], told
if child == 0:
    assert shared_worker().pid != mine
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert shared_worker().pid == mine
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_it_ends_when_nobody_is_left_to_end_it() -> None:
    program = """
import threading, time
from local_react.tools.calculator import evaluate
from local_react.tools.calculator.process import shared_worker
evaluate("1 + 1")
print(shared_worker().pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env=ENVIRONMENT, text=True
    ) as parent:
        assert parent.stdout is not None
        worker = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    worker.wait(timeout=30)


def test_a_file_in_the_working_directory_is_not_imported(tmp_path: Path) -> None:
    for name in ("sympy", "lark", "pint", "json", "queue"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    # As the installed command does: the working directory is not on its path.
    program = f"import sys; sys.path[0] = {str(ROOT)!r}; " + (
        "from local_react.cli import main; sys.argv = ['local-react', 'calc', '5 km in m']; main()"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    assert (done.stdout, done.stderr) == ("5000 m\n", "")


RIGHTS = """
import socket, subprocess
from local_react.tools.calculator.worker import _give_up_rights
_give_up_rights()
def refused(action):
    try:
        action()
    except PermissionError:
        return True
    return False
import os
print(
    refused(lambda: open("written.txt", "w")),
    refused(lambda: os.remove("kept.txt")),
    refused(lambda: os.system("echo run > written.txt")),
    refused(lambda: subprocess.run(["echo"])),
    refused(lambda: socket.create_connection(("127.0.0.1", 9))),
)
"""


def test_the_worker_has_no_right_to_write_run_or_connect(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("kept", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RIGHTS],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=ENVIRONMENT,
    )
    assert done.stdout.split() == ["True"] * 5, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["kept.txt"]


def test_the_shared_worker_is_one() -> None:
    assert shared_worker() is shared_worker()
