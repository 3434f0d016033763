#!/usr/bin/env python3
"""How much sooner does the next process show its first token?

    python bench/warm_start.py [--rounds 5] [--model NAME ...] [--check]

Whole processes of `local-react` are started in pairs: the first with an empty cache, the
second with what the first left there. Measured from the start of the process to its first
token, with the parts as the process tells them: the model's loading, the instructions
(read, or fetched from the cache), and the rest: Python, imports, and reading the question.
With --check the exit code is 1 where a second start takes more than a quarter of the
first.
"""

from __future__ import annotations

import argparse

from common import names, parser, run, verdict

from local_react.benchmark import Parts, warm_start

BAR = 0.25


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    missed = []
    print(f"{'model':<36} {'start':>5} {'first token':>11} {'model':>6} {'instr.':>6} {'rest':>5}")
    for name in names(options):
        found = warm_start(name, rounds=options.rounds)
        label = name.rsplit("/", 1)[-1]
        print(_line(label, "first", found.cold, found.cold_parts))
        print(_line(label, "next", found.warm, found.warm_parts), f"   ratio {found.ratio:.3f}")
        if found.ratio > BAR:
            missed.append(f"{label}: {found.ratio:.3f}, and should be at most {BAR}")
    return verdict(missed, options)


def _line(name: str, which: str, seconds: float, parts: Parts) -> str:
    return (
        f"{name:<36} {which:>5} {seconds:>9.2f} s {parts.model:>6.2f} {parts.instructions:>6.2f}"
        f" {parts.rest:>5.2f}"
    )


def _options() -> argparse.Namespace:
    found = parser(__doc__)
    found.add_argument("--rounds", type=int, default=5)
    return found.parse_args()


if __name__ == "__main__":
    run(main)
