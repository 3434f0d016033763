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
from contextlib import nullcontext
from statistics import median
from unittest.mock import patch

from common import names, parser, run, verdict

from local_react import LlamaModel, Network, Sampling, builtin_tools
from local_react.backends.llama import LlamaContext, replies
from local_react.backends.llama.measure import our_seconds
from local_react.benchmark import QUESTION
from local_react.protocol import opening, step_grammar


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    missed = []
    print(f"{'model':<36} {'chosen':>7} {'forced':>7} {'ratio':>6}   (ms for a token, medians)")
    for name in names(options):
        with LlamaModel(name, warm_start=False) as model:
            context = model.start(opening(builtin_tools(Network("allow")), QUESTION), fixed=True)
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
    return verdict([f"{line}: nothing is gained" for line in missed], options)


def _pace(model: LlamaModel, context: LlamaContext, tokens: int, *, is_forced: bool) -> float:
    """Return the seconds for a token of a step that goes on from the context."""
    grammar = step_grammar(builtin_tools(Network("allow")))
    choosing = patch.object(replies, "forced_beginning", return_value="")
    with nullcontext() if is_forced else choosing:
        seconds, [read] = our_seconds(model, context, [(grammar, Sampling(), tokens)])
    return seconds / (len(read) + 1)


def _options() -> argparse.Namespace:
    found = parser(__doc__)
    found.add_argument("--tokens", type=int, default=48, help="tokens of each step")
    found.add_argument("--rounds", type=int, default=9)
    return found.parse_args()


if __name__ == "__main__":
    run(main)
