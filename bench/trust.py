#!/usr/bin/env python3
"""Does anything break it, get out of it, or lose what it keeps?

    python bench/trust.py [--only NAME]... [--short] [--attempts N] [--seed 8] [--check]

Every trial of the package `trials` is made as often as its `whole` says: one line of the table
each, with what failed below. Most need no model; the others take the small ones that are here.
The tests make the same trials, less often (--short). With --check the exit code is 1 where an
attempt failed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from random import Random
from time import monotonic

from common import run, verdict
from trials import TRIALS, Report, Trial

from local_react.errors import ModelError

_TOLD = 5
"""Failures of one trial that are told."""


def main() -> int:
    """Make the trials and print the table; return the exit code."""
    options = _options()
    chosen = [trial for trial in TRIALS if not options.only or trial.name in options.only]
    width = max(len(trial.name) for trial in chosen)
    print(f"{'trial':<{width}} {'tried':>7} {'failed':>7} {'seconds':>8}  what")
    failed: list[str] = []
    for trial in chosen:
        attempts = options.attempts or (trial.short if options.short else trial.whole)
        began = monotonic()
        report = attempted(trial, attempts, options.seed)
        seconds = monotonic() - began
        told = "; ".join(filter(None, (trial.what, report.figures, report.skipped)))
        print(
            f"{trial.name:<{width}} {report.tried:>7,} {len(report.failures):>7,}"
            f" {seconds:>8.1f}  {told}",
            flush=True,
        )
        failed += [f"{trial.name}: {line}" for line in _first(report.failures)]
    return verdict(failed, options)


def attempted(trial: Trial, attempts: int, seed: int) -> Report:
    """Return what became of so many attempts of a trial, each trial with its own numbers."""
    try:
        return trial.run(attempts, Random(f"{seed} {trial.name}"))
    except ModelError as error:
        return Report(0, skipped=f"SKIPPED, {error}")


def _first(failures: Sequence[str]) -> list[str]:
    more = len(failures) - _TOLD
    return [*failures[:_TOLD], *([f"and {more} more"] if more > 0 else [])]


def _options() -> argparse.Namespace:
    found = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [trial.name for trial in TRIALS]
    found.add_argument("--only", action="append", choices=names, help="this trial alone")
    found.add_argument("--short", action="store_true", help="as often as the tests do")
    found.add_argument("--attempts", type=int, help="so often, each of them")
    found.add_argument("--seed", type=int, default=8, help="of what is drawn at random")
    found.add_argument("--check", action="store_true", help="exit 1 where an attempt failed")
    return found.parse_args(sys.argv[1:])


if __name__ == "__main__":
    run(main)
