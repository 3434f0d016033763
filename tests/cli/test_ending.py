"""SIGTERM and SIGHUP end a command as Ctrl-C does, for good."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from local_react.history import History

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
LONG = ("-t", "1", "--temp", "2", "--thought-tokens", "1000000", "--no-tools", "--votes", "1")


def ended_by(
    name: str, arguments: tuple[str, ...], ignored: str = "", *, stdin: int = subprocess.DEVNULL
) -> tuple[int, str, str]:
    """Return exit code, output and errors of a process that gets a signal while it writes."""

    def dispose() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if ignored:
            signal.signal(getattr(signal, ignored), signal.SIG_IGN)

    process = subprocess.Popen(
        [sys.executable, "-m", "local_react", *arguments],
        preexec_fn=dispose,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    first = process.stderr.read(10)  # it is writing its first Thought
    process.send_signal(getattr(signal, name))
    out, rest = process.communicate(timeout=60)
    return process.returncode, out.decode(), (first + rest).decode(errors="replace")


@pytest.mark.parametrize(
    ("name", "code", "ignored"),
    [
        ("SIGTERM", 143, ""),
        ("SIGTERM", 143, "SIGINT"),
        ("SIGHUP", 129, ""),
    ],
)
def test_what_there_is_of_a_run_is_told_and_kept(
    name: str, code: int, ignored: str, tiny_path: Path, own_places: None
) -> None:
    ended, out, err = ended_by(name, ("-m", str(tiny_path), *LONG, "--json", "q"), ignored)
    assert ended == code, err
    assert json.loads(out)["stop_reason"] == "interrupted"
    assert "Traceback" not in err
    (info,) = History().runs()
    assert info.stop_reason == "interrupted"


def test_one_that_is_to_be_ignored_is(tiny_path: Path, own_places: None) -> None:
    arguments = ("-m", str(tiny_path), *LONG[:4], "--max-steps", "1", *LONG[6:], "q")
    ended, _, _ = ended_by("SIGHUP", arguments, "SIGHUP")
    assert ended in (0, 4)


LOST = """
import gc, os, signal, sys, time
from local_react.cli.ending import Ending

class Freed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        sum(range(10))  # where the signal is heard

ending = Ending()
ending.listen()
try:
    freed = Freed()
    del freed
    while True:
        time.sleep(0.01)
except KeyboardInterrupt:
    pass
sys.exit(ending.exit_code(130))
"""
CLASS = """
import sys
from local_react.cli.ending import Ending

ending = Ending()
ending.listen()
try:
    exec("raise KeyboardInterrupt")  # as where a dataclass is made
except KeyboardInterrupt:
    pass
sys.exit(ending.exit_code(130))
"""


@pytest.mark.parametrize(("program", "code"), [(LOST, 143), (CLASS, 130)], ids=["freed", "class"])
def test_no_moment_is_a_bad_one(program: str, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (code, "")
