"""Signals at any moment: the command ends at once and as documented, with all its processes,
and what it kept is whole."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from trials.stage import FAST, SECONDS, Ended, Stage, ended
from trials.trial import Report, Trial

_LONG: Final = ("--thought-tokens", "100000", "--temperature", "2")
_READY: Final = b"\x1b[?2004h"
"""So a prompt asks a terminal to tell it what is pasted,"""
_TAKEN: Final = b"\x1b[?2004l"
"""and no longer: what was typed is taken, and an answer is on its way."""
_PATIENCE: Final = 10.0
"""Seconds in which its other processes end."""
_LATEST: Final = 1.5
"""Seconds after its first signal handler is there until the signal comes, at most."""
_MAY_END: Final = ("calc", "tools", "docs")
"""Commands that may have ended when the signal comes."""


@dataclass(frozen=True)
class _Case:
    signals: tuple[str, ...]
    code: int
    ignored: str = ""
    """A signal that whoever starts it has it ignore."""


_CASES: Final = (
    _Case(("SIGTERM",), 143),
    _Case(("SIGTERM",), 143, "SIGINT"),
    _Case(("SIGTERM", "SIGTERM"), 143),
    _Case(("SIGHUP",), 129),
    _Case(("SIGHUP", "SIGTERM"), 129, "SIGPIPE"),
    _Case(("SIGINT",), 130),
    _Case(("SIGINT", "SIGINT"), 130),
    _Case(("SIGTSTP", "SIGCONT", "SIGINT"), 130),
    _Case(("SIGSTOP", "SIGCONT", "SIGTERM"), 143),
)


def _commands(stage: Stage) -> Mapping[str, list[str]]:
    """Return the arguments of what takes long, by a name."""
    ask = ["-m", stage.model, *FAST, *_LONG]
    papers = stage.root / "papers"
    for number in range(300):
        (papers / f"{number}.txt").write_text(f"A pear, {number} of them.\n" * 50)
    return {
        "ask": [*ask, "hello"],
        "ask json": [*ask, "--json", "hello"],
        "ask stream": [*ask, "--output-format", "stream-json", "hello"],
        "batch": [
            *("batch", str(stage.root / "questions.txt"), "--format", "text"),
            *("-o", str(stage.root / "out" / "answers.jsonl"), *ask),
        ],
        "docs add": ["docs", "add", str(papers)],
        "calc": ["calc", "factorial(factorial(9))"],
        "tools test": ["tools", "test", "calculator", '{"expression": "7**7**7**7"}'],
    }


def _signals(attempts: int, random: Random) -> Report:
    if sys.platform != "linux":
        return Report(0, skipped="SKIPPED, it looks into /proc for what a process hears")
    failures = list[str]()
    with Stage() as stage:
        for _ in range(attempts):
            stage.fresh()
            name, arguments = random.choice(list(_commands(stage).items()))
            case = random.choice(_CASES)
            moment = random.uniform(0, _LATEST)
            if fault := _fault(stage, arguments, case, moment) or stage.damage(name):
                told = f"{' '.join(case.signals)} {case.ignored} after {moment:.2f} s"
                failures.append(f"{name}: {told}: {fault}")
    return Report(attempts, failures)


def _fault(stage: Stage, arguments: list[str], case: _Case, moment: float) -> str:
    child = subprocess.Popen(
        stage.line(arguments),
        env=stage.environment(),
        cwd=stage.root / "work",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: _dispose(case.ignored),
    )
    heard = False

    def hears() -> bool:
        nonlocal heard
        heard = _hears(child.pid)
        return heard or child.poll() is not None

    if not _wait(hears) or not heard:
        child.kill()
        return f"it does not hear SIGTERM: {ended(child).err[-200:]}"
    with suppress(subprocess.TimeoutExpired):
        child.wait(moment)
    for name in case.signals:
        with suppress(ProcessLookupError):
            child.send_signal(getattr(signal, name))
        time.sleep(0.02)
    done = ended(child)
    # It may have ended by itself before. One that comes when Python hears none any more ends it
    # all the same, and a shell tells that as the same code.
    late = len(case.signals) > 1 or arguments[0] in _MAY_END
    deaf = late and done.code in [-getattr(signal, name) for name in case.signals]
    if done.code not in (case.code, 0, 1, 2, 4) and not deaf:
        return done.fault() or f"exit code {done.code} and not {case.code}"
    if not _wait(lambda: not _any_left(child.pid)):
        os.killpg(child.pid, signal.SIGKILL)
        return "a process of it is left"
    fault = "" if deaf else done.fault(silent=True)
    return fault or _untold(arguments, case, done)


def _untold(arguments: list[str], case: _Case, done: Ended) -> str:
    """Return what is missing where a program reads what is printed of a run that has begun."""
    wants_json = "--json" in arguments or "stream-json" in arguments
    begun = "Thought" in done.err or done.out
    # A second signal may come while it is printed.
    if not wants_json or not begun or done.code != case.code or len(case.signals) > 1:
        return ""
    return "" if '"interrupted"' in done.out else f"no JSON tells of it: {done.err[-200:]}"


def _dispose(ignored: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever runs this may have had it ignored
    if ignored:
        signal.signal(getattr(signal, ignored), signal.SIG_IGN)


def _hears(process: int) -> bool:
    """Return whether it has got as far as to hear SIGTERM."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
    return False


def _any_left(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _wait(until: Callable[[], bool]) -> bool:
    """Return whether it comes true within a time that is generous."""
    latest = time.monotonic() + _PATIENCE
    while not (true := until()) and time.monotonic() < latest:
        time.sleep(0.01)
    return true


# A chat on a terminal


def _terminals(attempts: int, random: Random) -> Report:
    if sys.platform == "win32":
        return Report(0, skipped="SKIPPED, Windows has no such terminals")
    failures = list[str]()
    with Stage() as stage:
        for number in range(attempts):
            stage.fresh()
            name, code = random.choice([("SIGTERM", 143), ("SIGHUP", 129)])
            busy = number % 2 == 1
            if fault := _left_chat(stage, name, code, busy=busy) or stage.damage("chat"):
                failures.append(
                    f"{name} {'while it answers' if busy else 'at its prompt'}: {fault}"
                )
    return Report(attempts, failures)


def _left_chat(stage: Stage, name: str, code: int, *, busy: bool) -> str:
    import fcntl
    import pty
    import termios

    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    child = subprocess.Popen(
        stage.line(["chat", "-m", stage.model, *FAST, *_LONG]),
        env=stage.environment({"TERM": "xterm"}),
        cwd=stage.root / "work",
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    try:
        shown = _read_until(ours, _READY)
        if busy:
            os.write(ours, b"hello\r")
            shown += _read_until(ours, _TAKEN)
        child.send_signal(getattr(signal, name))
        latest = time.monotonic() + SECONDS
        while child.poll() is None and time.monotonic() < latest:
            shown += _read(ours, 0.1)
        if child.poll() is None:
            return f"it hangs: {shown[-200:]!r}"
        if child.returncode != code or b"Traceback" in shown:
            return f"exit code {child.returncode} and not {code}: {shown[-300:]!r}"
        return "" if termios.tcgetattr(theirs) == before else "the terminal is not as it was"
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        os.close(ours)
        os.close(theirs)


def _read_until(terminal: int, wanted: bytes) -> bytes:
    """Return what is shown until this is, or it takes too long."""
    shown, latest = b"", time.monotonic() + SECONDS
    while wanted not in shown and time.monotonic() < latest:
        shown += _read(terminal, 0.2)
    return shown


def _read(terminal: int, seconds: float) -> bytes:
    if not select.select([terminal], [], [], seconds)[0]:
        return b""
    try:
        return os.read(terminal, 65_536)
    except OSError:  # nobody has it any more
        return b""


TRIALS: tuple[Trial, ...] = (
    Trial("signals", "SIGTERM, SIGHUP, Ctrl-C and a stop at any moment", _signals, 60, 8),
    Trial("signals-chat", "SIGTERM and SIGHUP to a chat on a terminal", _terminals, 12, 2),
)
