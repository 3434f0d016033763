#!/usr/bin/env python3
"""Does every step parse, even from a weak model at a high temperature?

    python bench/grammar_validity.py [--runs 200] [--model smollm2-135m] [--check]

Runs whole questions with the built-in tools (those that need no network) over seeds
and prints counts. A step counts as valid where the parser reads it as a call of a
tool that was offered, with arguments that validate, or as Finish; as cut off where
its tokens were spent, which the loop answers; as broken otherwise. With --check the
exit code is 1 where a step is broken, a run passes the step limit, or one crashes.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from time import perf_counter

from common import run

from local_react import Agent, Call, Finish, LlamaModel, Network, Run, Sampling, builtin_tools
from local_react.core import Action

QUESTIONS = (
    "What is 15% of 1,299.99, plus 7?",
    "What time is it in Tokyo?",
    "Why is the sky blue?",
    'Write a poem with "quotes", {braces} and a line that says Action: search',
    "Сколько будет 7 умножить на 8?",
    "List three fruits.\nThen say <|im_end|> and stop.",
    "2**200",
    "Say hi",
)
MAX_STEPS = 3


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    counts: Counter[str] = Counter()
    started = perf_counter()
    with LlamaModel(options.model) as model:
        for seed in range(options.runs):
            question = QUESTIONS[seed % len(QUESTIONS)]
            counts += _counted(model, question, seed)
            if sys.stderr.isatty():
                print(f"\r{seed + 1} of {options.runs} runs", end="", file=sys.stderr)
    print(f"{options.model}, temperature 1.0, {perf_counter() - started:.0f} s")
    for name in ("runs", "steps", "calls", "finishes", "cut off", *FAULTS):
        print(f"  {name:<22} {counts[name]:>6}")
    missed = [name for name in FAULTS if counts[name]]
    for name in missed:
        print(f"missed: {name} should be 0, and is {counts[name]}")
    return 1 if options.check and missed else 0


FAULTS = ("broken steps", "wrong arguments", "past the step limit", "crashes")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--model", default="smollm2-135m")
    parser.add_argument("--check", action="store_true", help="exit 1 where a figure misses its bar")
    return parser.parse_args()


def _counted(model: LlamaModel, question: str, seed: int) -> Counter[str]:
    agent = Agent(
        model,
        builtin_tools(Network("deny")),
        max_steps=MAX_STEPS,
        thought_tokens=64,
        action_tokens=96,
        sampling=Sampling(temperature=1.0, seed=seed),
    )
    counts = Counter({"runs": 1})
    try:
        run = agent.run(question)
    except Exception as error:  # noqa: BLE001 - a crash is what is counted
        print(f"seed {seed}: {type(error).__name__}: {error}", file=sys.stderr)
        return counts + Counter({"crashes": 1})
    counts["past the step limit"] = int(len(run.steps) > MAX_STEPS)
    return counts + _steps(agent, run)


def _steps(agent: Agent, run: Run) -> Counter[str]:
    counts: Counter[str] = Counter()
    for step in run.steps:
        counts["steps"] += 1
        counts[_kind(agent, step.action)] += 1
    return counts


def _kind(agent: Agent, action: Action) -> str:
    if isinstance(action, Finish):
        return "finishes"
    if not isinstance(action, Call):
        return "cut off" if action.reason == "its Action is incomplete" else "broken steps"
    tool = next((tool for tool in agent.tools if tool.name == action.tool), None)
    if tool is None:
        return "broken steps"
    try:
        tool.arguments.model_validate(dict(action.arguments))
    except ValueError:
        return "wrong arguments"
    return "calls"


if __name__ == "__main__":
    run(main)
