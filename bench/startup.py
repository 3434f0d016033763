#!/usr/bin/env python3
"""How long is it before a command has said what it has to say?

    python bench/startup.py [--rounds 10] [--runs 1000] [--check]

Whole processes, each started in turn so that a busy moment spoils a round of all and not
one of them, with directories of their own and the file of compiled modules warm: the median
and the best of the rounds, as milliseconds and as a multiple of what Python alone takes.
The history is filled with so many runs first; what opening it takes is told above the front
page, which does nothing but print. With --check the exit code is 1 where the best of the
front page takes more than 150 ms, or the best of the history more than 100 ms above it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from common import run, verdict

from local_react.core import Finish, Run, Step, Usage
from local_react.history import History

BARE, FRONT_PAGE = "python -c pass", "--help"
FRONT_PAGE_BAR, HISTORY_BAR = 0.150, 0.100
"""Seconds."""


@dataclass
class Measured:
    """A command line, and the seconds of each round."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        places = ("LOCAL_REACT_DATA_DIR", "LOCAL_REACT_CACHE", "LOCAL_REACT_CONFIG")
        environment = {place: str(Path(folder) / place) for place in places}
        _fill(Path(environment["LOCAL_REACT_DATA_DIR"]), options.runs)
        rows = _rows()
        for number in range(options.rounds + 1):  # the first warms the files
            for row in rows:
                spent = _timed(row, environment)
                if number:
                    row.seconds.append(spent)
    return verdict(_told({row.name: row for row in rows}), options)


def _rows() -> list[Measured]:
    commands = (
        FRONT_PAGE, "--version", "ask --help", "help docs add", "calc 2+2", "doctor",
        "trace list", "sessions list",
    )  # fmt: skip
    program = (sys.executable, "-m", "local_react")
    lines = {"TAB, a command": "local-react do", "TAB, an option": "local-react --",
             "TAB, a model": "local-react -m "}  # fmt: skip
    return [
        Measured(BARE, (sys.executable, "-c", "pass")),
        *(Measured(command, (*program, *command.split())) for command in commands),
        *(Measured(name, program, _at_tab(line)) for name, line in lines.items()),
    ]


def _at_tab(line: str) -> dict[str, str]:
    """Return what a bash sets where TAB is pressed at the end of a line."""
    word = len(line.split()) - (not line.endswith(" "))
    return {
        "_LOCAL_REACT_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(word),
    }


def _timed(row: Measured, environment: Mapping[str, str]) -> float:
    """Return the seconds that a process takes. One that fails ends the bench."""
    whole = {**os.environ, **environment, **row.environment}
    began = perf_counter()
    done = subprocess.run(
        row.command, env=whole, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    spent = perf_counter() - began
    # The doctor's is 3 where the model is missing.
    if done.returncode not in ((0, 3) if row.name == "doctor" else (0,)):
        sys.exit(f"{row.name} ended with {done.returncode}: {done.stderr.decode()}")
    return spent


def _fill(data: Path, count: int) -> None:
    """Put so many runs into the history, ten to a session."""
    history = History(data / "history.sqlite")
    for number in range(count):
        question = f"Question {number}: how many eggs are in {number} baskets of twelve?"
        answer = f"There are {12 * number} eggs."
        thought = "Each basket holds twelve eggs, so this is a product. " * 4
        step = Step(thought, Finish(answer), None, usage=Usage(700, 60), seconds=4.2)
        asked = Run(question, (step,) * 3, answer, "finish", "qwen2.5-coder-1.5b")
        history.add(asked, session=f"session-{number // 10}")


def _told(rows: Mapping[str, Measured]) -> list[str]:
    """Print the table, and return what missed its bar."""
    bare, front = rows[BARE], rows[FRONT_PAGE]
    print(f"{'command':<16} {'median':>9} {'best':>9} {'of Python':>10} {'above --help':>13}")
    for row in rows.values():
        print(
            f"{row.name:<16} {row.median * 1000:>6.0f} ms {row.best * 1000:>6.0f} ms"
            f" {row.best / bare.best:>9.1f}x {(row.best - front.best) * 1000:>10.0f} ms"
        )
    missed = []
    if front.best > FRONT_PAGE_BAR:
        missed.append(f"--help: {front.best * 1000:.0f} ms, and should be at most 150")
    for name in ("trace list", "sessions list"):
        own = rows[name].best - front.best
        if own > HISTORY_BAR:
            missed.append(f"{name}: {own * 1000:.0f} ms above --help, and should be at most 100")
    return missed


def _options() -> argparse.Namespace:
    found = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    found.add_argument("--rounds", type=int, default=10, help="how often each is run")
    found.add_argument("--runs", type=int, default=1000, help="how many are in the history")
    return found.parse_args()


if __name__ == "__main__":
    run(main)
