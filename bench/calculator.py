#!/usr/bin/env python3
"""Is the calculator right, does it refuse what it should, and what does it cost?

    python bench/calculator.py [--data ../shared/data] [--cases bugs.jsonl] [--check]

It runs the rows of calc/public.jsonl (muParser, simpleeval, GSM8K) and dates/public.jsonl
in the data folder ($LOCAL_REACT_DATA, else ../shared/data), and the calculator's cases
(group c) of ../cases/bugs.jsonl beside that folder. What is not there is left out, and said.

Listed are the rows where we chose another convention than the source, each with the
reason, and those that are wrong. In the table, `refused` are rows that should be refused or
that the source calls an error of syntax, and are; `answered` are those of the latter that
have a value here, which is no fault: the sources differ in what they let pass.

The latency is that of evaluate() for simple sums after the first. With --check the exit
code is 1 where a row is wrong, more than 3 % of the rows are of another convention, the
median of a simple sum is not below 5 ms, `local-react calc "2+2"` takes 1 s or more (the
middle one of three), or `local-react --help` loads a library of the calculator's.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from calculator_cases import judge_case
from calculator_rows import Judged, ask, judge, judge_date
from common import run, verdict

ROOT = Path(__file__).resolve().parents[1]
CONVENTIONS_BAR = 0.03
SUM_BAR = 5e-3
COMMAND_BAR = 1.0
SUMS = 400
HEAVY = frozenset({"sympy", "mpmath", "pint", "lark", "dateutil"})
GROUPS = frozenset({"muparser", "simpleeval", "gsm8k", "dates", "cases"})
COLUMNS = ("right", "refused", "convention", "answered", "wrong")


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    first = _seconds("2+2")
    judged = list(_judged(options))
    _print_listed(judged)
    _print_table(judged)
    missed = [*_missed_rows(judged), *_costs(first)]
    return verdict(missed, options)


def _options() -> argparse.Namespace:
    data = Path(os.environ.get("LOCAL_REACT_DATA", ROOT.parent / "shared" / "data"))
    found = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found.add_argument("--data", type=Path, default=data, help="the folder with calc/ and dates/")
    found.add_argument("--cases", type=Path, help="bugs.jsonl; else ../cases/ of that folder")
    found.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    options = found.parse_args()
    options.cases = options.cases or options.data.parent / "cases" / "bugs.jsonl"
    return options


def _judged(options: argparse.Namespace) -> Iterator[Judged]:
    for row in _rows(options.data / "calc" / "public.jsonl"):
        yield judge(row)
    for row in _rows(options.data / "dates" / "public.jsonl"):
        yield judge_date(row)
    for case in _rows(options.cases):
        if case["group"] == "c":
            with TemporaryDirectory() as folder:
                yield from judge_case(case, Path(folder))


def _rows(path: Path) -> list[Mapping[str, Any]]:
    if not path.is_file():
        print(f"SKIPPED: {path} is not here; set LOCAL_REACT_DATA or give --data, --cases")
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def _print_listed(judged: Sequence[Judged]) -> None:
    titles = {
        "convention": "another convention than the source's:",
        "answered": "an error in the source, a value here:",
        "wrong": "wrong:",
    }
    for outcome, title in titles.items():
        listed = [item for item in judged if item.outcome == outcome]
        print(title if listed else f"{title} none")
        for item in listed:
            print(f"  {item.group}: {item.expression!r}")
            print(f"      expected {item.expected}, got {item.told}")
            if item.reason:
                print(f"      {item.reason}")
    print()


def _print_table(judged: Sequence[Judged]) -> None:
    groups = list(dict.fromkeys(item.group for item in judged))
    print(f"{'group':<20} {'rows':>6}" + "".join(f"{name:>12}" for name in COLUMNS))
    for group in (*groups, "all"):
        counts = Counter(item.outcome for item in judged if group in (item.group, "all"))
        cells = "".join(f"{counts[name]:>12}" for name in COLUMNS)  # type: ignore[index]
        print(f"{group:<20} {counts.total():>6}{cells}")
    print(f"of another convention: {_convention_share(judged):.1%} (at most {CONVENTIONS_BAR:.0%})")
    print(flush=True)


def _convention_share(judged: Sequence[Judged]) -> float:
    """Return the share of rows of another convention, the cases not counted."""
    rows = [item for item in judged if item.group != "cases c"]
    return sum(item.outcome == "convention" for item in rows) / max(len(rows), 1)


def _missed_rows(judged: Sequence[Judged]) -> Iterator[str]:
    for group, count in Counter(i.group for i in judged if i.outcome == "wrong").items():
        yield f"{group}: {count} wrong"
    share = _convention_share(judged)
    if share > CONVENTIONS_BAR:
        yield f"{share:.1%} of the rows are of another convention, at most {CONVENTIONS_BAR:.0%}"
    for group in GROUPS - {item.group.partition(" ")[0] for item in judged}:
        yield f"{group}: no row was run"


def _costs(first: float) -> Iterator[str]:
    """Print what the calculator costs; yield what misses its bar."""
    print(f"first evaluate()           {first * 1e3:8.1f} ms")
    sums = [_seconds(f"{n} + {n % 7 + 2} * {n % 89 + 1}.5") for n in range(SUMS)]
    middle, p99 = median(sums), quantiles(sums, n=100)[98]
    print(f"a simple sum, median       {middle * 1e3:8.2f} ms (below {SUM_BAR * 1e3:g})")
    print(f"a simple sum, p99          {p99 * 1e3:8.2f} ms")
    if middle >= SUM_BAR:
        yield f"a simple sum takes {middle * 1e3:.2f} ms, should stay below {SUM_BAR * 1e3:g}"
    yield from _command_cost()
    yield from _import_cost()


def _seconds(expression: str) -> float:
    """Return how long an answer takes, infinite where there is none."""
    start = perf_counter()
    told = ask(expression)
    return perf_counter() - start if told.kind == "answer" else inf


def _command_cost() -> Iterator[str]:
    took = []
    for _ in range(3):
        start = perf_counter()
        done = _python("-m", "local_react", "calc", "2+2")
        took.append(perf_counter() - start)
        if done.returncode != 0 or done.stdout.strip() != "4":
            said = (done.stderr or done.stdout).strip().splitlines() or ["nothing"]
            print('local-react calc "2+2"        fails')
            yield f'local-react calc "2+2" ends with {done.returncode} and says: {said[-1]}'
            return
    print(f'local-react calc "2+2"     {median(took) * 1e3:8.1f} ms (below {COMMAND_BAR * 1e3:g})')
    if median(took) >= COMMAND_BAR:
        yield f'local-react calc "2+2" takes {median(took):.2f} s, should be below {COMMAND_BAR:g}'


def _import_cost() -> Iterator[str]:
    """Print what --help loads of the calculator's libraries, and how long that takes."""
    done = _python("-X", "importtime", "-m", "local_react", "--help")
    lines = re.findall(r"^import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)$", done.stderr, re.MULTILINE)
    if done.returncode != 0 or not lines:
        yield f"local-react --help ends with {done.returncode}"
        return
    loaded = sorted({name.partition(".")[0] for _, name in lines} & HEAVY)
    ours = sum(int(spent) for spent, name in lines if _is_calculators(name)) / 1000
    print(f"local-react --help loads of the calculator's libraries: {', '.join(loaded) or 'none'}")
    print(f"  and spends {ours:.1f} ms on importing the calculator itself")
    if loaded:
        yield f"local-react --help loads {', '.join(loaded)}"


def _is_calculators(name: str) -> bool:
    return name.startswith("local_react.tools.calculator") or name.partition(".")[0] in HEAVY


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


if __name__ == "__main__":
    run(main)
