#!/usr/bin/env python3
"""How much faster are questions that many threads ask of one model?

    python bench/joined.py [--questions 16] [--rounds 3] [--model NAME ...] [--check]

The same questions are put to one agent one after the other, and then by 1, 4 and 16
threads: each calls `agent.run`, and nothing else is said. What the threads write goes
through the model in one batch for all of them. A run is two steps at most, of at most 40
tokens in a Thought and 40 in an Action. The ways take turns in one process and the medians
of the ratios count, because the speed of a machine changes by the minute and a ratio of
neighbours does not. The texts are not the same to the letter (bench/same_text.py), so one
way may have some tokens more to write than another.
With --check the exit code is 1 where a ratio is below its bar. Beside other programs the
ratios are higher than on an idle machine, because one batch waits for them less often than
many (measured on 2 busy CPUs, 135M and 0.5B: 2.5 to 3.4 with 4 threads, 4.2 to 4.5 with
16), so the bars are set below what a batch of so many costs on 2 idle ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from time import perf_counter

from common import parser, run, verdict

from local_react import Agent, LlamaModel, calculator, current_time

BARS = {1: 0.9, 4: 1.2, 16: 1.5}
"""The least that so many threads get done in the time of one question after the other."""


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    missed = []
    print(f"{'model':<36} {'threads':>7} {'questions/min':>13} {'x one by one':>12}")
    for name in options.model or ["qwen2.5-coder-0.5b"]:
        rates = _rates(name, options.questions, options.rounds)
        for threads, bar in BARS.items():
            ratio = median(many / one for many, one in zip(rates[threads], rates[0], strict=True))
            rate = 60 * median(rates[threads])
            print(f"{name:<36} {threads:>7} {rate:>13.1f} {ratio:>12.2f}", flush=True)
            if ratio < bar:
                missed.append(f"{name}, {threads} threads: {ratio:.2f}, should reach {bar}")
    return verdict(missed, options)


def _rates(name: str, count: int, rounds: int) -> dict[int, list[float]]:
    """Return questions a second, round by round, for each number of threads; 0 stands for
    one question after the other, without a thread."""
    rates: dict[int, list[float]] = {threads: [] for threads in (0, *BARS)}
    with LlamaModel(name, warm_start=False) as model:
        tools = [calculator, current_time]
        agent = Agent(model, tools, max_steps=2, thought_tokens=40, action_tokens=40)
        agent.run("What is 2 + 2?")  # reads what every run begins with
        for number in range(rounds):
            questions = _questions(count, number)
            for threads, found in rates.items():
                found.append(count / _seconds(agent, questions, threads))
    return rates


def _questions(count: int, seed: int) -> list[str]:
    return [
        f"A box holds {7 + number} apples. How many do {2 + seed + number} boxes hold?"
        for number in range(count)
    ]


def _seconds(agent: Agent, questions: Sequence[str], threads: int) -> float:
    started = perf_counter()
    if threads == 0:
        for question in questions:
            agent.run(question)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(agent.run, questions))
    return perf_counter() - started


def _options() -> argparse.Namespace:
    found = parser(__doc__)
    found.add_argument("--questions", type=int, default=16)
    found.add_argument("--rounds", type=int, default=3)
    return found.parse_args()


if __name__ == "__main__":
    run(main)
