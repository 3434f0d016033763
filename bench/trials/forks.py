"""Commands of ours as processes that start at once: forked from one that has imported all.

Each is a process of its own, in a session and so a process group of its own, with its own
environment and output, or at a terminal; it can be killed like any other. What a start of
Python takes is saved, so that a hundred kills take minutes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

_WARM: Final = (
    "local_react.cli.main local_react.cli.chat local_react.cli.batch local_react.cli.docs"
    " local_react.cli.pull local_react.cli.config local_react.cli.memory local_react.download"
    " local_react.documents local_react.history local_react.backends.llama local_react.agent"
    " local_react.batch local_react.cli.batch_asking local_react.settings.editing"
    " local_react.cli.chat.opening local_react.cli.chat.talking local_react.network.answers"
    " local_react.tools local_react.transcript numpy huggingface_hub httpx2 filelock rich"
    " prompt_toolkit pydantic"
)
"""What is imported before anything is asked for."""
_PATIENCE: Final = 90.0
"""Seconds after which a process hangs."""
HANGS: Final = -999
"""In place of its exit code."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a process: a negative code is the signal that it died of."""

    code: int
    out: str
    err: str

    @property
    def frightens(self) -> str:
        """What is wrong with what it said; nothing where a person can read it."""
        if self.code == HANGS:
            return "it hangs"
        for mark in ("Traceback", "internal error", "Exception ignored"):
            if mark in self.err:
                return f"it said {mark!r}: {self.err.strip().splitlines()[-1][:200]}"
        return ""


class Child:
    """A process that was started."""

    def __init__(self, forks: Forks, pid: int, out: Path) -> None:
        self.pid = pid
        self._forks = forks
        self._out = out

    def kill(self, how: int = signal.SIGKILL, *, group: bool = False) -> None:
        """Kill it, or it and all that it started."""
        with suppress(ProcessLookupError):  # it has ended by itself
            (os.killpg if group else os.kill)(self.pid, how)

    def said(self) -> str:
        """Return what it has put out so far."""
        return self._out.read_text("utf-8", "replace")

    def ended(self) -> Ended:
        """Wait for its end."""
        code = self._forks.asked({"wait": self.pid})
        err = self._out.with_suffix(".err").read_text("utf-8", "replace")
        return Ended(code, self.said(), err)


class Forks:
    """Starts processes, one thread's at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        # Not through the standard streams: what is forked has those for itself.
        asks, self._asks = os.pipe()
        self._told, told = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(asks), str(told)],
            pass_fds=(asks, told),
            stdin=subprocess.DEVNULL,
        )
        os.close(asks)
        os.close(told)
        self._answers: IO[str] = os.fdopen(self._told, "r")
        self._answers.readline()

    def start(
        self, *argv: str, env: Mapping[str, str], before: str = "", tty: str = "", stdin: str = ""
    ) -> Child:
        """Start a command of ours, or, without arguments, nothing but `before`: lines of
        Python that come first. `tty` is the terminal that it has, else it reads `stdin`."""
        self._count += 1
        out = self._folder / f"{self._count}.out"
        for path, text in (
            (out, ""),
            (out.with_suffix(".err"), ""),
            (out.with_suffix(".in"), stdin),
        ):
            path.write_text(text)
        request = {"argv": argv, "env": dict(env), "before": before, "tty": tty, "out": str(out)}
        return Child(self, self.asked(request), out)

    def run(self, *argv: str, env: Mapping[str, str], **options: str) -> Ended:
        """Start a command and wait for its end."""
        return self.start(*argv, env=env, **options).ended()

    def asked(self, request: Mapping[str, Any]) -> int:
        """Return the number that the forking process answers."""
        os.write(self._asks, json.dumps(request).encode() + b"\n")
        return int(self._answers.readline())

    def close(self) -> None:
        """End the forking process."""
        os.close(self._asks)
        self._answers.close()
        self._process.wait()


@contextmanager
def forking() -> Iterator[Forks]:
    """Give what starts processes, in a temporary folder that goes at the end."""
    with tempfile.TemporaryDirectory() as name:
        forks = Forks(Path(name))
        try:
            yield forks
        finally:
            forks.close()


def _serve(asks: IO[str], told: IO[str]) -> None:
    """Do what is asked for, line by line, until there is no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks ends it
    for module in _WARM.split():
        __import__(module)
    print("ready", file=told, flush=True)
    for line in asks:
        request = json.loads(line)
        if pid := request.get("wait"):
            answer = _awaited(pid)
        elif (answer := os.fork()) == 0:
            os._exit(_forked(request, (asks.fileno(), told.fileno())))
        print(answer, file=told, flush=True)


def _awaited(pid: int) -> int:
    """Return the exit code of a process once it ends; HANGS, and kill it, where it does not."""
    latest = time.monotonic() + _PATIENCE
    while time.monotonic() < latest:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return HANGS


def _forked(request: Mapping[str, Any], pipes: Sequence[int]) -> int:
    """Be the process that was asked for; return its exit code."""
    code = 70
    try:
        for pipe in pipes:
            os.close(pipe)
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(request["env"])
        _open_streams(request)
        exec(request["before"], {"__name__": "__main__"})  # noqa: S102 - the trial's own
        code = 0
        if request["argv"]:
            from local_react.cli.main import run

            code = run(list(request["argv"]))
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001 - what Python would print at its end
        traceback.print_exc()
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    return code


def _open_streams(request: Mapping[str, Any]) -> None:
    out = request["out"]
    names = [out.removesuffix(".out") + ".in", out, out.removesuffix(".out") + ".err"]
    if tty := request["tty"]:
        import fcntl
        import termios

        names = [tty] * 3
        fcntl.ioctl(os.open(tty, os.O_RDWR), termios.TIOCSCTTY, 0)
    for number, name in enumerate(names):
        flags = os.O_RDONLY if number == 0 and not tty else os.O_RDWR | os.O_CREAT
        handle = os.open(name, flags, 0o600)
        os.dup2(handle, number)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115


if __name__ == "__main__":
    _serve(os.fdopen(int(sys.argv[1])), os.fdopen(int(sys.argv[2]), "w"))
