#!/usr/bin/env python3
"""Is the calculator right, bounded and back again, whatever comes in?

    python bench/calculator_fuzz.py [--seconds 120] [--seed 0] [--kind steps] [--check]

Draws expressions with hypothesis, in batches, until the seconds are spent: any text and
broken expressions, and expressions made together with their value by Python's fractions,
dates and tables of factors (calculator_arithmetic.py, calculator_beyond.py). The same
seed draws the same ones. Prints one table, then each example that failed, as short as it
could be made.
Failed is: another value; no value where there is one, or one where there is none; an
exception other than ToolError; a worker that broke; more than 2 seconds or 256 MiB; and a
wrong sum right after the worker was replaced. With --check the exit code is then 1.

The seconds are those of the clock for one expression, without the start of a worker; the
memory is what the worker's process held at most, as the system counts it.
"""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Final

import calculator_arithmetic as basic
import calculator_beyond as beyond
import psutil
from common import run, verdict
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from local_react.errors import ToolError
from local_react.tools.calculator import evaluate
from local_react.tools.calculator.process import shared_worker

MOST_SECONDS: Final = 2.0
MOST_MEMORY: Final = 256 * 2**20
BATCH: Final = 100
SHRINKING_SECONDS: Final = 5
MOST_SHORTENED: Final = 3
"""Failures of a kind that are made shorter; later ones are told as they were drawn."""

MOST_SHOWN: Final = 6
"""Failures of a kind that are printed."""

KINDS: Final[dict[str, st.SearchStrategy[basic.Case]]] = {
    "any text": basic.ANY_TEXT,
    "pieces": basic.PIECES_TEXT,
    "mutations": basic.mutations(),
    "arithmetic": basic.arithmetic(),
    "comparisons": basic.comparisons(),
    "steps": basic.steps(),
    "calls": beyond.calls(),
    "equations": beyond.equations(),
    "inequalities": beyond.inequalities(),
    "calculus": beyond.calculus(),
    "units": beyond.units(),
    "dates": beyond.dates(),
    "matrices": beyond.matrices(),
    "bases": beyond.bases(),
    "complex": beyond.complexes(),
}


@dataclass
class Tally:
    """What came of the expressions of a kind."""

    expressions: int = 0
    values: int = 0
    refused: int = 0
    disagreements: int = 0
    worst_seconds: float = 0.0
    peak: int = 0
    examples: dict[str, None] = field(default_factory=dict)
    """Each failure once, in the order found."""

    def row(self, kind: str) -> str:
        """Return the kind's row of the table."""
        return (
            f"{kind:<14} {self.expressions:>11} {self.values:>8} {self.refused:>8} "
            f"{self.disagreements:>13} {self.worst_seconds:>13.2f} {self.peak / 2**20:>8.0f}"
        )


HEADER: Final = (
    f"{'kind':<14} {'expressions':>11} {'values':>8} {'refused':>8} "
    f"{'disagreements':>13} {'worst seconds':>13} {'peak MB':>8}"
)


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    kinds = options.kind or list(KINDS)
    tallies = {kind: Tally() for kind in kinds}
    evaluate("2 + 3")  # the worker starts
    end = perf_counter() + options.seconds
    for number in count():
        for kind in kinds:
            if perf_counter() >= end:
                return _report(tallies, options)
            _batch(kind, f"{options.seed} {kind} {number}", tallies[kind], end)
    raise AssertionError("unreachable")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="may be repeated")
    parser.add_argument("--check", action="store_true", help="exit 1 where an example failed")
    return parser.parse_args()


def _report(tallies: dict[str, Tally], options: argparse.Namespace) -> int:
    print(HEADER)
    for kind, tally in tallies.items():
        print(tally.row(kind))
    missed = [f"{kind}: {one}" for kind in tallies for one in _shown(tallies[kind])]
    empty = [kind for kind, tally in tallies.items() if not tally.expressions]
    missed += [f"{kind}: no expression was drawn; give it more seconds" for kind in empty]
    return verdict(missed, options)


INSIDES: Final = re.compile(
    r"\b(?:zoo|nan|oo|I|Traceback|[A-Z]\w*(?:Error|Exception|Of|Set)|Piecewise|Integral|Symbol)\b"
)
"""Words of Python and sympy, which are none of a calculator's."""


def _shown(tally: Tally) -> list[str]:
    examples = list(tally.examples)
    rest = len(examples) - MOST_SHOWN
    return examples[:MOST_SHOWN] + ([f"and {rest} more like these"] if rest > 0 else [])


class _Enough(BaseException):
    """Ends a batch: no Exception, which hypothesis would take for a failure."""


def _batch(kind: str, random: str, tally: Tally, end: float) -> None:
    """Draw and try a batch of expressions; the first that fails ends it."""
    failures: list[tuple[basic.Case, str]] = []
    last = [end]

    def tried(case: basic.Case) -> None:
        if perf_counter() >= last[0]:
            raise _Enough
        found = _Trial(case)
        if not failures:
            _count(tally, found)
        if found.fault:
            if not failures:
                last[0] = perf_counter() + SHRINKING_SECONDS
            failures.append((case, found.fault))
            if tally.disagreements >= MOST_SHORTENED:
                raise _Enough
            raise AssertionError(found.fault)

    with contextlib.suppress(_Enough, Exception):
        _with_hypothesis(tried, KINDS[kind], random)()
    if failures:
        tally.disagreements += 1
        case, fault = min(failures, key=lambda failure: len(failure[0].text))
        tally.examples[f"{case.text!a}: {fault}"] = None


def _with_hypothesis(
    tried: Callable[[basic.Case], None], cases: st.SearchStrategy[basic.Case], random: str
) -> Callable[[], None]:
    limits = settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    return seed(random)(limits(given(cases)(tried)))


def _count(tally: Tally, trial: _Trial) -> None:
    tally.expressions += 1
    tally.values += trial.outcome == "value"
    tally.refused += trial.outcome == "refused"
    tally.worst_seconds = max(tally.worst_seconds, trial.seconds)
    tally.peak = max(tally.peak, trial.peak)


class _Trial:
    """One expression: what was told, what it took, and what is wrong with it, or ""."""

    def __init__(self, case: basic.Case) -> None:
        before = _running()
        _forget_peak(before)
        began = perf_counter()
        self.outcome, self.told = _evaluated(case.text)
        self.seconds = perf_counter() - began
        after = shared_worker().pid
        self.peak = _peak(before) if after == before else 0
        self.fault = self._limits() or self._form(case.text) or self._answer(case)
        if after != before and not self.fault:
            self.fault = _next_sum()

    def _limits(self) -> str:
        if self.seconds > MOST_SECONDS:
            return f"took {self.seconds:.2f} seconds: {self.told[:80]!a}"
        if self.peak > MOST_MEMORY:
            return f"took {self.peak / 2**20:.0f} MiB: {self.told[:80]!a}"
        return ""

    def _form(self, text: str) -> str:
        """Return what is wrong with the answer or the error, whatever was asked."""
        if self.outcome == "fault":
            return f"raised {self.told[:200]!a}"
        if "gave up" in self.told:
            return f"broke the worker: {self.told!a}"
        if not self.told.isprintable() or not self.told or len(self.told) > 5000:
            return f"told no line: {self.told[:200]!a}"
        found = INSIDES.search(self.told)
        # An expression may have said so itself, and is quoted where it is refused.
        if found and not (self.outcome == "refused" and found[0] in text):
            return f"told of our insides: {self.told[:200]!a}"
        return ""

    def _answer(self, case: basic.Case) -> str:
        if case.outcome == "either":
            return ""
        if case.outcome != self.outcome or not case.agrees(self.told):
            return f"{self.outcome} {self.told[:200]!a}, wanted {case.outcome} {case.wanted}"
        return ""


def _evaluated(text: str) -> tuple[str, str]:
    try:
        return "value", evaluate(text)
    except ToolError as error:
        return "refused", str(error)
    except Exception as error:  # noqa: BLE001 - that there is none is what is shown
        return "fault", f"{type(error).__name__}: {error}"


def _next_sum() -> str:
    outcome, told = _evaluated("2 + 3")
    return "" if told == "5" else f"then 2 + 3 was {outcome} {told!a}"


def _running() -> int | None:
    """Return the worker's process number; where none runs, it is started first."""
    worker = shared_worker()
    if worker.pid is None:
        _evaluated("2 + 3")
    return worker.pid


def _forget_peak(pid: int | None) -> None:
    """Let the system count the peak anew (Linux, proc_pid_clear_refs(5))."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


def _peak(pid: int | None) -> int:
    """Return the most bytes that a process held: its peak where the system tells
    (Linux, proc_pid_status(5), and Windows), else what it holds now."""
    try:
        memory = psutil.Process(pid).memory_info()
        status = Path(f"/proc/{pid}/status")
        peak = re.search(r"VmHWM:\s*(\d+) kB", status.read_text()) if status.exists() else None
    except (psutil.Error, OSError):
        return 0
    return int(peak[1]) * 1024 if peak else int(getattr(memory, "peak_wset", memory.rss))


if __name__ == "__main__":
    run(main)
