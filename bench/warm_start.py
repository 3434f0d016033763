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
import sys

from present import present

from local_react.benchmark import Parts, warm_start
from local_react.errors import LocalReactError

BAR = 0.25


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    names = options.model or present()
    if not names:
        print("no model is present: fetch one with `local-react pull`")
        return 1
    missed = []
    print(f"{'model':<36} {'start':>5} {'first token':>11} {'model':>6} {'instr.':>6} {'rest':>5}")
    for name in names:
        found = warm_start(name, rounds=options.rounds)
        label = name.rsplit("/", 1)[-1]
        print(_line(label, "first", found.cold, found.cold_parts))
        print(_line(label, "next", found.warm, found.warm_parts), f"   ratio {found.ratio:.3f}")
        if found.ratio > BAR:
            missed.append(f"{label}: {found.ratio:.3f}, and should be at most {BAR}")
    for line in missed:
        print(f"missed: {line}")
    return 1 if options.check and missed else 0


def _line(name: str, which: str, seconds: float, parts: Parts) -> str:
    return (
        f"{name:<36} {which:>5} {seconds:>9.2f} s {parts.model:>6.2f} {parts.instructions:>6.2f}"
        f" {parts.rest:>5.2f}"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", action="append", help="a name or file; may be repeated")
    parser.add_argument("--check", action="store_true", help="exit 1 where the bar is missed")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LocalReactError as error:
        sys.exit(f"{error}")
