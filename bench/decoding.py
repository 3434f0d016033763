#!/usr/bin/env python3
"""What does the grammar cost? Tokens per second with it and without it.

    python bench/decoding.py [--tokens 96] [--rounds 5] [--model NAME ...] [--check]

For each model that is present, the same prompt is continued with and without the
grammar of a step, in turn, in one process; the ratio of the medians is the figure,
because the machine's speed changes by the minute and a ratio of neighbours does not.
Loading and reading the prompt are not counted, nor is compiling the grammar.
With --check the exit code is 1 where a ratio is below 0.95.
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from statistics import median
from time import perf_counter

from local_react import LlamaModel, Network, Sampling, builtin_tools
from local_react.catalog import load_catalogue, models_dir, resolve
from local_react.errors import LocalReactError, ModelError
from local_react.protocol import opening, step_grammar

BAR = 0.95
QUESTION = "Explain, step by step, how a bicycle stays upright, and then compute 12 * 7."


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    names = options.model or _present()
    if not names:
        print("no model is present: fetch one with `local-react pull smollm2-135m`")
        return 1
    print(f"{'model':<36} {'without':>9} {'with':>9} {'ratio':>6}   (tokens/s, median)")
    ratios = {}
    for name in names:
        without, within = _rates(name, options.tokens, options.rounds)
        ratios[name] = within / without
        print(f"{name:<36} {without:>9.1f} {within:>9.1f} {ratios[name]:>6.3f}", flush=True)
    missed = {name: ratio for name, ratio in ratios.items() if ratio < BAR}
    for name, ratio in missed.items():
        print(f"missed: {name} should reach {BAR}, and has {ratio:.3f}")
    return 1 if options.check and missed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tokens", type=int, default=96, help="tokens written in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", action="append", help="a name or file; may be repeated")
    parser.add_argument("--check", action="store_true", help=f"exit 1 below a ratio of {BAR}")
    return parser.parse_args()


def _present() -> list[str]:
    """Return the models of the catalogue that are here, and other GGUF files beside them."""
    found = []
    for model in load_catalogue().models:
        try:
            resolve(model.name)
        except ModelError:
            continue
        found.append(model.name)
    known = {model.file for model in load_catalogue().models}
    others = [path for path in sorted(models_dir().glob("*.gguf")) if path.name not in known]
    return found + [str(path) for path in others]


def _rates(name: str, tokens: int, rounds: int) -> tuple[float, float]:
    """Return the median tokens per second without and with the grammar."""
    rates: dict[bool, list[float]] = {False: [], True: []}
    with LlamaModel(name) as model:
        for number in range(rounds + 1):
            for constrained in (False, True) if number % 2 else (True, False):
                rate = _rate(model, tokens, constrained)
                if number:  # the first round warms up
                    rates[constrained].append(rate)
    return median(rates[False]), median(rates[True])


def _rate(model: LlamaModel, tokens: int, constrained: bool) -> float:
    """Return tokens per second over as many replies as it takes to write the tokens:
    a reply under the grammar may be short, and its end costs time too."""
    tools = builtin_tools(Network())
    grammar = step_grammar(tools) if constrained else None
    written, seconds = 0, 0.0
    while written < tokens:
        context = model.start(opening(tools, f"{QUESTION} ({written})"))
        context.force("" if constrained else "Thought:")
        reply = context.generate(grammar, Sampling())
        next(reply)  # reads the prompt, compiles the grammar
        before, started = context.usage.evaluated, perf_counter()
        for _ in islice(reply, tokens - written):
            pass
        seconds += perf_counter() - started
        # Counted as evaluated, because the end of a reply costs a token that is not seen.
        written += context.usage.evaluated - before
    return written / seconds


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LocalReactError as error:
        sys.exit(f"{error}")
