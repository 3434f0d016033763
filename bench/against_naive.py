#!/usr/bin/env python3
"""Is it worth it? Our engine against the plain way to do the same.

    python bench/against_naive.py [--model NAME] [--rounds 1] [--check]

Ten questions, the same model, loop, prompts, grammars and number of threads. The plain
way is llama-cpp-python's Llama.create_completion with the grammar, given the whole prompt
at every step (it keeps what is alike at the beginning by itself). The two take turns,
question by question, at temperature 0. Neither has a warm start from disk, and the time
to load is not counted. Because sums are rounded in another order, the texts are not always
the same, nor as long: what counts is the time for as many tokens written, over all
questions, prompts and all.
With --check the exit code is 1 where ours is less than 2 times as fast so.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from threading import Event
from typing import Any

import llama_cpp
from common import run

from local_react import Agent, LlamaModel, Network, Run, Sampling, builtin_tools
from local_react.backends.chat_template import Segment
from local_react.core import Context, Message, Request, Usage, Weighed

BAR = 2.0
QUESTIONS = (
    "What is 15% of 1,299.99, plus 7?",
    "What time is it in Tokyo?",
    "Why is the sky blue?",
    "How much is 3 kg of apples at 2.35 a kilo and 2 loaves at 3.10?",
    "Is 1,001 divisible by 7?",
    "What is the square root of 1,764?",
    "Name three fruits that grow on trees.",
    "If a train leaves at 9:40 and needs 2 h 35 min, when does it arrive?",
    "What is 2 to the power of 40?",
    "Who wrote Hamlet, and in which century?",
)


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    with LlamaModel(options.model, warm_start=False) as model:
        plain = PlainModel(model)
        tools = builtin_tools(Network("deny"))
        agents = {
            "plain": Agent(plain, tools, max_steps=5),
            "ours": Agent(model, tools, max_steps=5),
        }
        runs: dict[str, list[Run]] = {name: [] for name in agents}
        for round_ in range(options.rounds):
            for number, question in enumerate(QUESTIONS):
                order = list(agents) if (round_ + number) % 2 else list(agents)[::-1]
                for name in order:
                    runs[name].append(agents[name].run(question))
    print(f"{options.model}, {len(runs['ours'])} questions, {model.threads} threads")
    print(f"{'':<6} {'s/question':>10} {'evaluated':>10} {'generated':>10} {'s/100 gen.':>10}")
    for name, done in runs.items():
        print(_line(name, done))
    times = _pace(runs["plain"]) / _pace(runs["ours"])
    pairs = zip(runs["plain"], runs["ours"], strict=True)
    middle = median(plain.seconds / ours.seconds for plain, ours in pairs)
    print(
        f"ours is {times:.2f} times as fast for a token written; the median question takes"
        f" the plain way {middle:.2f} times as long"
    )
    if times < BAR:
        print(f"missed: {times:.2f} times as fast, and should be {BAR}")
    return 1 if options.check and times < BAR else 0


def _pace(runs: Sequence[Run]) -> float:
    """Return the seconds for a token written, over all runs, with all that it took."""
    return sum(run.seconds for run in runs) / sum(run.usage.generated for run in runs)


def _line(name: str, runs: Sequence[Run]) -> str:
    usage = sum((run.usage for run in runs), Usage())
    seconds = sum(run.seconds for run in runs)
    return (
        f"{name:<6} {seconds / len(runs):>10.2f} {usage.evaluated:>10} {usage.generated:>10}"
        f" {100 * _pace(runs):>10.2f}"
    )


class PlainModel:
    """The plain way, as a backend for the same loop."""

    name = "plain"

    def __init__(self, model: LlamaModel) -> None:
        self.like = model
        self.context_size = model.context_size
        self.longest_context = model.longest_context
        self.llama: Any = llama_cpp.Llama(
            str(model.path),
            n_ctx=model.context_size,
            n_threads=model.threads,
            n_threads_batch=model.threads,
            verbose=False,
        )
        self.evaluated = 0
        evaluate = self.llama.eval

        def counted(tokens: Sequence[int]) -> None:
            self.evaluated += len(tokens)
            evaluate(tokens)

        self.llama.eval = counted

    def start(
        self, messages: Sequence[Message], *, fixed: bool = False, cancel: Event | None = None
    ) -> PlainContext:
        """Return a context that holds the messages as text."""
        return PlainContext(self, _text(self.like.template.opening(messages)))

    def count(self, text: str) -> int:
        """Return how many tokens the text is."""
        return self.like.count(text)

    def check(self, grammar: str) -> None:
        """Raise GrammarError where the grammar does not compile."""
        self.like.check(grammar)

    def weigh(
        self, messages: Sequence[Message], options: Sequence[str], *, cancel: Event | None = None
    ) -> Weighed:
        """Return what ours says: the choice is no part of what is compared."""
        return self.like.weigh(messages, options, cancel=cancel)

    def generate_many(self, requests: Sequence[Request]) -> Iterator[tuple[int, str]]:
        """Yield one reply after the other."""
        for number, request in enumerate(requests):
            for piece in request.context.generate(request.grammar, request.sampling):
                yield number, piece


@dataclass
class PlainContext:
    """A chat as one string, sent whole."""

    model: PlainModel
    prompt: str
    usage: Usage = field(default=Usage())

    @property
    def room(self) -> int:
        """Tokens that still fit, not counted again at every token."""
        return self.model.context_size - 2048

    def think(self, most: int, seed: int = 0) -> Iterator[str]:
        """Yield nothing."""
        return iter(())

    def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
        """Yield what create_completion streams."""
        compiled = llama_cpp.LlamaGrammar.from_string(grammar or "", verbose=False)
        before = self.model.evaluated
        for chunk in self.model.llama.create_completion(
            self.prompt, grammar=compiled, temperature=0.0, max_tokens=800, stream=True
        ):
            text = chunk["choices"][0]["text"]
            self.prompt += text
            self.usage += Usage(generated=bool(text))
            yield text
        self.usage += Usage(evaluated=self.model.evaluated - before)

    def force(self, text: str) -> None:
        """Append text to the prompt."""
        self.prompt += text

    def append(self, message: Message) -> None:
        """Append a turn to the prompt."""
        self.prompt += _text(self.model.like.template.next_turn(message))

    def fork(self, count: int) -> Sequence[Context]:
        """Return copies."""
        return [PlainContext(self.model, self.prompt) for _ in range(count)]


def _text(segments: Sequence[Segment]) -> str:
    return "".join(segment.text for segment in segments)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="qwen2.5-coder-0.5b")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--check", action="store_true", help=f"exit 1 below {BAR} times")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
