"""Processes that are killed at a call of the system, and what calls they make, by strace."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psutil

from trials.forks import Child, Ended, Forks

NO_STRACE: Final = "SKIPPED, without strace no process can be stopped at a call of the system"
STOPPED: Final = "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n"
"""What a process begins with that is to be traced."""
_CHANGES: Final = (
    "write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,ftruncate,"
    "flock,chmod,fchmod,mkdir"
)
"""Calls that change what is on the disk, or say so."""
_LINE: Final = re.compile(
    r"(?:\[pid +\d+\] |\d+ +)?(?P<name>\w+)\((?P<rest>.*)\) += (?P<value>-?\d+)"
)
_FILE: Final = re.compile(r"^\d+<(?P<path>[^>]*)>")
_TEXT: Final = re.compile(r'"(?P<path>[^"]*)"')


@dataclass(frozen=True, slots=True)
class Call:
    """A call that succeeded, and the files that it was about."""

    name: str
    paths: tuple[str, ...]


def can_trace() -> bool:
    """Return whether processes can be traced here."""
    if shutil.which("strace") is None:
        return False
    done = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    return done.returncode == 0


def killed_at(
    name: str, number: int, forks: Forks, log: Path, argv: Sequence[str], how: Mapping[str, Any]
) -> Ended:
    """Kill a process as its main thread begins its call of that name and number, from 1, and
    return how it ended."""
    inject = f"inject={name}:signal=SIGKILL:when={number}"
    return _run(forks, log, argv, how, "-e", f"trace={name}", "-e", inject)


def calls_of(
    forks: Forks, log: Path, argv: Sequence[str], how: Mapping[str, Any], *, all_threads: bool
) -> tuple[Ended, list[Call]]:
    """Run a process to its end; return how that was, and the calls of its main thread or all
    that changed something."""
    more = ["-f"] if all_threads else []
    ended = _run(forks, log, argv, how, "-y", "-e", f"trace={_CHANGES}", *more)
    return ended, list(_calls(log))


def _run(
    forks: Forks, log: Path, argv: Sequence[str], how: Mapping[str, Any], *options: str
) -> Ended:
    child = forks.start(*argv, **{**how, "before": STOPPED + how.get("before", "")})
    tracer = _traced(child, log, *options)
    ended = child.ended()
    tracer.wait()
    return ended


def _calls(log: Path) -> Iterator[Call]:
    """Yield what a log of strace holds."""
    for line in log.read_text("utf-8", "replace").splitlines():
        if (found := _LINE.match(line)) and int(found["value"]) >= 0:
            file = _FILE.match(found["rest"])
            paths = (file["path"],) if file else tuple(_TEXT.findall(found["rest"]))
            yield Call(found["name"], paths)


def _traced(child: Child, log: Path, *options: str) -> subprocess.Popen[bytes]:
    """Trace a process that waits for that, and have it go on."""
    _wait_for(child, psutil.STATUS_STOPPED)
    tracer = subprocess.Popen(
        ["strace", "-qqq", "-o", str(log), "-p", str(child.pid), *options],
        stderr=subprocess.DEVNULL,
    )
    with suppress(psutil.Error):
        while _tracer_of(child.pid) == 0 and tracer.poll() is None:
            time.sleep(0.002)
        psutil.Process(child.pid).resume()
    return tracer


def _wait_for(child: Child, status: str) -> None:
    with suppress(psutil.Error):
        while psutil.Process(child.pid).status() not in (status, psutil.STATUS_ZOMBIE):
            time.sleep(0.002)


def _tracer_of(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("TracerPid:"):
                return int(line.split()[1])
    return 0
