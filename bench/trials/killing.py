"""What the kill trials share: a place for each attempt, when to kill, and what is left then."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final, Protocol, TypeAlias

import psutil

import local_react
from trials.forks import Ended, Forks, forking
from trials.trial import Report

ROOT: Final = Path(local_react.__file__).parent.parent
NO_FORK: Final = "SKIPPED, this system cannot fork, by which a hundred processes start in time"
_AT_ONCE: Final = 2
"""Attempts that are made at the same time."""
_END: Final = 30.0
"""Seconds that orphans have to end by themselves."""
_KEPT: Final = frozenset({"documents.lock"})
_UNFINISHED: Final = (".new", ".part", ".index", ".lock", "-journal", "-wal", "-shm", ".kept")


@dataclass(frozen=True, slots=True)
class Place:
    """The directories of one attempt."""

    root: Path

    @property
    def env(self) -> dict[str, str]:
        """The environment of a process that has its directories there."""
        plain = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {
            **plain,
            "HOME": str(self.root),
            "HF_HOME": str(self.root / "hub"),
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NO_COLOR": "1",
            "TERM": "xterm",
            "LOCAL_REACT_DATA_DIR": str(self.data),
            "LOCAL_REACT_CACHE": str(self.root / "cache"),
            "LOCAL_REACT_CONFIG": str(self.root / "config"),
            "LOCAL_REACT_MODELS": str(self.root / "models"),
        }

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.root / "data"

    def leftovers(self) -> str:
        """Return what lies around that was to be gone by now."""
        found = sorted(
            str(path.relative_to(self.root))
            for path in self.root.rglob("*")
            if path.name.endswith(_UNFINISHED)
            and path.name not in _KEPT
            and not path.name.endswith(".gguf.lock")
            and not _is_spare(path)
        )
        return f"left behind: {', '.join(found)}" if found else ""

    def survivors(self) -> str:
        """Return which processes that were started there do not end by themselves."""
        latest = time.monotonic() + _END
        while there := list(self._processes()):
            if time.monotonic() > latest:
                return f"still alive: {', '.join(there)}"
            time.sleep(0.02)
        return ""

    def _processes(self) -> Iterator[str]:
        mine = str(self.data)
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get("LOCAL_REACT_DATA_DIR") == mine:
                    yield " ".join(process.cmdline())[:80]


class Scene(Protocol):
    """What is killed in the attempts of a trial, prepared once."""

    def attempt(self, forks: Forks, place: Place, random: Random, number: int) -> str:
        """Kill it once, start again, and return what is wrong then, or nothing."""
        ...


Prepare: TypeAlias = Callable[[Forks, Path], Scene]
"""Prepares a scene in a folder."""


def killed(prepare: Prepare) -> Callable[[int, Random], Report]:
    """Return what makes the attempts of a scene, some at once, each in a place of its own."""

    def attempts(count: int, random: Random) -> Report:
        if not hasattr(os, "fork"):
            return Report(0, skipped=NO_FORK)
        seeds = [random.random() for _ in range(count)]
        with TemporaryDirectory(prefix="kills-") as name, forking() as forks:
            folder = Path(name).resolve()
            scene = prepare(forks, folder)
            told = _made(scene, folder, seeds)
        return Report(count, [line for line in told if line])

    return attempts


def _made(scene: Scene, folder: Path, seeds: list[float]) -> list[str]:
    mine = threading.local()

    def one(number: int) -> str:
        place = Place(folder / f"attempt-{number}")
        place.root.mkdir()
        fault = scene.attempt(mine.forks, place, Random(seeds[number]), number)
        return f"attempt {number}: {' '.join(fault.split())}" if fault else ""

    def share(which: int) -> list[str]:
        with forking() as mine.forks:
            return [one(number) for number in range(which, len(seeds), _AT_ONCE)]

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [line for lines in pool.map(share, range(_AT_ONCE)) for line in lines]


def _is_spare(path: Path) -> bool:
    """Return whether a file is a journal of SQLite's that would undo nothing: it is there for
    the next change, which removes it."""
    return path.name.endswith("-journal") and path.read_bytes()[:1] in (b"", b"\0")


def moment(random: Random, seconds: float) -> float:
    """Wait for some part of so many seconds, and return how long that was."""
    pause = random.uniform(0.0, seconds)
    time.sleep(pause)
    return pause


def timed(start: Callable[[], Ended]) -> float:
    """Return the seconds that a process takes which is not killed.

    Raises RuntimeError where it fails.
    """
    began = time.monotonic()
    ended = start()
    if ended.code not in (0, 4) or ended.frightens:
        raise RuntimeError(f"it fails unkilled: {ended.code}: {ended.err[-500:]}")
    return time.monotonic() - began


def unsound(path: Path) -> str:
    """Return what SQLite finds wrong in a file of its own, or nothing."""
    try:
        with closing(sqlite3.connect(path)) as db:
            (said,) = db.execute("PRAGMA integrity_check").fetchone()
    except sqlite3.Error as error:
        said = error
    return "" if said == "ok" else f"{path.name}: {said}"
