#!/usr/bin/env python3
"""What is gained where the grammar leaves no choice?

    python bench/forced_text.py [--model NAME ...] [--tokens 48] [--rounds 9] [--check]

A step begins with "Thought:". That is not chosen, token by token, but read in one batch
with the end of the prompt; the text that may follow is the same. A step of so many tokens
is written with and without this, in turn, at temperature 0; the figure is the median of
the ratios of the time for a token.
With --check the exit code is 1 where nothing is gained.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from statistics import median
from unittest.mock import patch

from present import present

from local_react import LlamaModel, Network, Sampling, builtin_tools
from local_react.backends.llama import LlamaContext, replies
from local_react.backends.llama.measure import our_seconds
from local_react.benchmark import QUESTION
from local_react.errors import LocalReactError
from local_react.protocol import opening, step_grammar


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    names = options.model or present()
    if not names:
        print("no model is present: fetch one with `local-react pull smollm2-135m`")
        return 1
    missed = []
    print(f"{'model':<36} {'chosen':>7} {'forced':>7} {'ratio':>6}   (ms for a token, medians)")
    for name in names:
        with LlamaModel(name, warm_start=False) as model:
            context = model.start(opening(builtin_tools(Network()), QUESTION), fixed=True)
            chosen: list[float] = []
            forced: list[float] = []
            for round_ in range(options.rounds + 1):
                for arm in (chosen, forced) if round_ % 2 else (forced, chosen):
                    arm.append(_pace(model, context, options.tokens, is_forced=arm is forced))
        pairs = list(zip(chosen, forced, strict=True))[1:]  # the first round warms up
        ratio = median(after / before for before, after in pairs)
        figures = (1000 * median(chosen[1:]), 1000 * median(forced[1:]), ratio)
        print(
            f"{model.name:<36} {figures[0]:>7.1f} {figures[1]:>7.1f} {figures[2]:>6.3f}", flush=True
        )
        if ratio >= 1.0:
            missed.append(model.name)
    for name in missed:
        print(f"missed: {name}: nothing is gained")
    return 1 if options.check and missed else 0


def _pace(model: LlamaModel, context: LlamaContext, tokens: int, *, is_forced: bool) -> float:
    """Return the seconds for a token of a step that goes on from the context."""
    grammar = step_grammar(builtin_tools(Network()))
    choosing = patch.object(replies, "forced_beginning", return_value="")
    with nullcontext() if is_forced else choosing:
        seconds, [read] = our_seconds(model, context, [(grammar, Sampling(), tokens)])
    return seconds / (len(read) + 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", action="append", help="a name or file; may be repeated")
    parser.add_argument("--tokens", type=int, default=48, help="tokens of each step")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--check", action="store_true", help="exit 1 where nothing is gained")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LocalReactError as error:
        sys.exit(f"{error}")
