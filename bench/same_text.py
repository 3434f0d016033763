#!/usr/bin/env python3
"""Is the text the same, whatever the engine does to be quick?

    python bench/same_text.py [--model NAME ...] [--check]

At temperature 0, under the grammar of all built-in tools, the first step of eight
questions is written (64 tokens at most) by a fresh model that reads everything, and then:

    warm     by a fresh model that fetches the instructions from the cache on disk
    reused   by one model, one question after the other, twice over
    another  by one model, while another chat's tokens lie in the cache
    forks    by five forks of one prompt, together in one batch
    batch    all eight questions together in one batch

The first two are promised bit for bit, because the same batches are computed in the same
cells of the cache, and --check exits with 1 where they differ. The others llama.cpp
cannot promise: a batch of several rows takes other paths through its kernels than one row
alone, and other cells change the order of the sums in attention; the last bits of the
logits differ, and where two tokens are nearly as likely, so may the text.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence

from common import names, parser, run, verdict

from local_react import LlamaModel, Network, Sampling, builtin_tools
from local_react.backends.llama import LlamaContext
from local_react.core import Request
from local_react.protocol import opening, step_grammar

QUESTIONS = (
    "What is 15% of 1,299.99, plus 7?",
    "What time is it in Tokyo?",
    "Why is the sky blue?",
    "Name three fruits that grow on trees.",
    "What is 2 to the power of 40?",
    "Сколько будет 7 умножить на 8?",
    "Who wrote Hamlet, and in which century?",
    "I have 3 dogs and 2 cats. How many legs do they have together?",
)
TOKENS = 64
ARMS = ("warm", "reused", "another", "forks", "batch")
PROMISED = ("warm", "reused")


def main() -> int:
    """Run the bench; return the exit code."""
    options = parser(__doc__).parse_args()
    missed = []
    print(f"{'model':<36} " + " ".join(f"{arm:>8}" for arm in ARMS) + "   (the same text)")
    for name in names(options):
        with tempfile.TemporaryDirectory() as cache:
            os.environ["LOCAL_REACT_CACHE"] = cache
            shares = _shares(name)
        label = name.rsplit("/", 1)[-1]
        cells = [f"{same} of {all_}" for same, all_ in (shares[arm] for arm in ARMS)]
        print(f"{label:<36} " + " ".join(f"{cell:>8}" for cell in cells), flush=True)
        missed += [f"{label}, {arm}" for arm in PROMISED if shares[arm][0] < shares[arm][1]]
    return verdict([f"{line}: the text should always be the same" for line in missed], options)


def _shares(name: str) -> dict[str, tuple[int, int]]:
    """Return for each arm how many texts are those of the fresh model, and of how many."""
    fresh, warm = [], []
    for question in QUESTIONS:
        with LlamaModel(name, warm_start=False) as model:
            fresh.append(_text(model, question))
    for question in QUESTIONS:
        with LlamaModel(name) as model:
            warm.append(_text(model, question))
    with LlamaModel(name) as model:
        reused = [_text(model, question) for question in QUESTIONS * 2]
        other = model.start(opening([], QUESTIONS[-1] * 9))
        _written(model, [other])
        another = [_text(model, question) for question in QUESTIONS]
        del other
        forks = [_written(model, _start(model, question).fork(5)) for question in QUESTIONS]
        batch = _written(model, [_start(model, question) for question in QUESTIONS])
    return {
        "warm": _same(warm[1:], fresh[1:]),  # the first filled the cache
        "reused": _same(reused, fresh * 2),
        "another": _same(another, fresh),
        "forks": _same(
            [text for five in forks for text in five], [t for t in fresh for _ in range(5)]
        ),
        "batch": _same(batch, fresh),
    }


def _same(texts: Sequence[str], expected: Sequence[str]) -> tuple[int, int]:
    pairs = list(zip(texts, expected, strict=True))
    return sum(text == other for text, other in pairs), len(pairs)


def _start(model: LlamaModel, question: str) -> LlamaContext:
    return model.start(opening(builtin_tools(Network("allow")), question), fixed=True)


def _text(model: LlamaModel, question: str) -> str:
    return _written(model, [_start(model, question)])[0]


def _written(model: LlamaModel, contexts: Sequence[LlamaContext]) -> list[str]:
    grammar = step_grammar(builtin_tools(Network("allow")))
    texts = [""] * len(contexts)
    requests = [Request(context, grammar, Sampling(), TOKENS) for context in contexts]
    for number, piece in model.generate_many(requests):
        texts[number] += piece
    return texts


if __name__ == "__main__":
    run(main)
