#!/usr/bin/env python3
"""What is gained where the grammar leaves no choice?

    python bench/forced_text.py [--model NAME] [--rounds 3] [--check]

A step begins with "Thought:". That is not chosen, token by token, but read in one batch
with the end of the prompt; the text that may follow is the same. The same questions are
answered with and without this, in turn, at temperature 0; the figure is the time for a
token of the reply, whoever chose it, because the texts need not be the same: a longer
batch makes its sums in another order.
With --check the exit code is 1 where nothing is gained.
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter
from unittest.mock import patch

from local_react import Agent, LlamaModel, Network, Run, builtin_tools
from local_react.backends.llama import replies
from local_react.errors import LocalReactError

QUESTIONS = (
    "What is 15% of 1,299.99, plus 7?",
    "What time is it in Tokyo?",
    "Why is the sky blue?",
    "Name three fruits that grow on trees.",
    "What is 17 * 23 - 5?",
    "Who wrote Hamlet, and in which century?",
)


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    seconds, tokens, steps = [0.0, 0.0], [0, 0], [0, 0]
    with LlamaModel(options.model, warm_start=False) as model:
        agent = Agent(model, builtin_tools(Network(offline=True)), max_steps=4)
        agent.run("Say hi.")
        beginning = model.count("Thought:")
        for round_ in range(options.rounds):
            for question in QUESTIONS:
                for arm in (0, 1) if round_ % 2 else (1, 0):
                    started = perf_counter()
                    run = agent.run(question) if arm else _chosen(agent, question)
                    seconds[arm] += perf_counter() - started
                    steps[arm] += len(run.steps)
                    tokens[arm] += run.usage.generated + arm * beginning * len(run.steps)
    pace = [1000 * spent / count for spent, count in zip(seconds, tokens, strict=True)]
    print(f"{options.model}: {options.rounds} times {len(QUESTIONS)} questions")
    for arm, name in enumerate(("chosen", "forced")):
        print(
            f"{name:<8} {steps[arm]:>4} steps, {tokens[arm]:>5} tokens, {pace[arm]:>6.1f} ms each"
        )
    print(f"gained: {1 - pace[1] / pace[0]:.1%}")
    return 1 if options.check and pace[1] >= pace[0] else 0


def _chosen(agent: Agent, question: str) -> Run:
    """Answer with all of each step chosen by the model."""
    with patch.object(replies, "forced_beginning", return_value=""):
        return agent.run(question)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="exit 1 where nothing is gained")
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LocalReactError as error:
        sys.exit(f"{error}")
