"""What llama.cpp itself takes: bare decoding, to measure everything else against.

The loops here do nothing but call llama_decode: no choice of a token, no text, no
bookkeeping. They are given the tokens that a real reply came to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import llama_cpp

from local_react.backends.llama.context import LlamaContext
from local_react.backends.llama.model import LlamaModel
from local_react.core import Request


def bare_seconds(
    model: LlamaModel, context: LlamaContext, replies: Sequence[Sequence[int]]
) -> float:
    """Return the seconds that llama_decode alone takes to read replies after a context,
    one token of each in one batch after the other, as they were when they were written.

    The context is read but for its last token, with which every reply begins.
    """
    rows = [[context.tokens[-1], *reply] for reply in replies]
    forks = context.fork(len(rows))
    slots = [model.engine.slot_of(fork) for fork in forks]
    native = model.native_context
    with model.lock, _batch(len(rows)) as batch:
        started = perf_counter()
        for step in range(max(map(len, rows))):
            index = 0
            for slot, row in zip(slots, rows, strict=True):
                if step < len(row):
                    batch.token[index] = row[step]
                    batch.pos[index] = slot.length + step
                    batch.seq_id[index][0] = slot.sequence
                    index += 1
            batch.n_tokens = index
            if llama_cpp.llama_decode(native, batch) != 0:
                raise AssertionError("llama_decode failed on what it had read before")
        seconds = perf_counter() - started
        for slot in slots:
            model.engine.give_up(slot)
    return seconds


@contextmanager
def _batch(size: int) -> Iterator[Any]:
    """Yield a batch for one token each of so many sequences."""
    batch = llama_cpp.llama_batch_init(size, 0, 1)
    for index in range(size):
        batch.n_seq_id[index], batch.logits[index] = 1, 1
    try:
        yield batch
    finally:
        llama_cpp.llama_batch_free(batch)


def our_seconds(
    model: LlamaModel, context: LlamaContext, requests: Sequence[tuple[str | None, Any, int]]
) -> tuple[float, list[list[int]]]:
    """Return the seconds that our own replies take after a context, written at the same
    time, and the tokens that were read for each beyond the context.

    A request is a grammar, a Sampling, and the most tokens.
    """
    forks = context.fork(len(requests))
    jobs = [
        Request(fork, grammar, sampling, most)
        for fork, (grammar, sampling, most) in zip(forks, requests, strict=True)
    ]
    started = perf_counter()
    for _ in model.generate_many(jobs):
        pass
    seconds = perf_counter() - started
    # The first token read was the context's last.
    read = [fork.tokens[len(context.tokens) :][: fork.usage.evaluated - 1] for fork in forks]
    return seconds, [list(tokens) for tokens in read]
