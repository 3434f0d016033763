#!/usr/bin/env python3
"""What do several replies at once cost?

    python bench/votes.py [--tokens 48] [--rounds 5] [--model NAME ...] [--check]

Replies go on from one prompt, each under a grammar state of its own, at temperature 0.8.
`cost` is the time they take over that of llama_decode alone for the same batches (ours
reads the two tokens with which a step begins in one, so it may be below 1); `x one` is the
bare batch over one bare sequence: what the machine asks for so many. The last figure is
whole: five votes on a prompt that has to be read, over one answer to it.
With --check the exit code is 1 where a cost is above 1.05, or five votes above 3.6.
"""

from __future__ import annotations

import argparse
from statistics import median
from time import perf_counter

from common import names, parser, run, verdict

from local_react import LlamaModel, Network, Sampling, builtin_tools
from local_react.benchmark import QUESTION, compare
from local_react.core import Request
from local_react.protocol import opening, step_grammar

COST_BAR = 1.05
FIVE_BAR = 3.6
SEQUENCES = (1, 2, 4, 5, 8, 16, 32)


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    missed = []
    print(f"{'model':<36} {'votes':>5} {'bare t/s':>8} {'ours t/s':>8} {'cost':>6} {'x one':>6}")
    for name in names(options):
        with LlamaModel(name, warm_start=False) as model:
            one = 0.0
            for count in SEQUENCES:
                pair = compare(
                    model,
                    sequences=count,
                    tokens=options.tokens,
                    rounds=options.rounds,
                    temperature=0.8,
                )
                one = one or pair.bare
                cost, times = 1 / pair.ratio, pair.bare * count / one
                print(
                    f"{model.name:<36} {count:>5} {1 / pair.bare:>8.1f} {1 / pair.ours:>8.1f}"
                    f" {cost:>6.3f} {times:>6.2f}",
                    flush=True,
                )
                if cost > COST_BAR:
                    missed.append(f"{model.name}, {count} votes: cost {cost:.3f}, above {COST_BAR}")
            five = _five(model, options.tokens, options.rounds)
            print(f"{model.name:<36} five votes, prompt and all, over one answer: {five:.2f}")
            if five > FIVE_BAR:
                missed.append(f"{model.name}: five votes take {five:.2f} answers, above {FIVE_BAR}")
    return verdict(missed, options)


def _five(model: LlamaModel, tokens: int, rounds: int) -> float:
    """Return the time of five votes over that of one answer, each with its prompt."""
    return median(
        _seconds(model, 5, tokens, round_) / _seconds(model, 1, tokens, round_)
        for round_ in range(rounds)
    )


def _seconds(model: LlamaModel, votes: int, tokens: int, seed: int) -> float:
    tools = builtin_tools(Network("allow"))
    grammar = step_grammar(tools)
    started = perf_counter()
    context = model.start(opening(tools, f"{QUESTION} ({seed})"))
    requests = [
        Request(fork, grammar, Sampling(0.8, seed=seed * 5 + number), tokens)
        for number, fork in enumerate(context.fork(votes))
    ]
    for _ in model.generate_many(requests):
        pass
    return perf_counter() - started


def _options() -> argparse.Namespace:
    found = parser(__doc__)
    found.add_argument("--tokens", type=int, default=48, help="tokens of each vote")
    found.add_argument("--rounds", type=int, default=5)
    return found.parse_args()


if __name__ == "__main__":
    run(main)
