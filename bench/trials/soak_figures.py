"""What a process holds: memory, files, threads, processes, places in the model's cache."""

from __future__ import annotations

import gc
import itertools
import statistics
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Final

import llama_cpp
import psutil

from local_react import LlamaModel, Sampling
from local_react.core import Message

_SETTLED: Final = 20.0
"""Seconds within which threads that were told to end have ended, on a busy machine."""


@dataclass(frozen=True, slots=True)
class Held:
    """What has to be the same before and after."""

    files: int
    """Open files, sockets and pipes."""
    threads: int
    processes: int
    sequences: int
    """Of the model's cache, which hold anything."""
    temporary: int
    """Files."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What is taken, in bytes."""

    process: int
    """By the process, without what is mapped from files: how much of those counts depends
    on who else reads the same model."""
    python: int
    """By Python's objects that were made since the tracing began."""


@contextmanager
def traced() -> Iterator[None]:
    """Have Python's objects counted within the block."""
    if tracemalloc.is_tracing():  # by whoever wants to know more
        yield
        return
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


def memory() -> Memory:
    """Return what is taken now, once nothing is left that nobody can reach."""
    gc.collect()
    process = psutil.Process()
    info = process.memory_info()
    shared = getattr(info, "shared", None)
    private = process.memory_full_info().uss if shared is None else info.rss - shared
    return Memory(private, tracemalloc.get_traced_memory()[0])


def held(model: LlamaModel, temporary: Path) -> Held:
    """Return what is held while one short reply, and nothing else, has a place."""
    gc.collect()
    context = model.start([Message("user", "Hello")])
    "".join(context.generate('root ::= "Hi"', Sampling()))
    process = psutil.Process()
    files = getattr(process, "num_fds", None) or getattr(process, "num_handles", None)
    return Held(
        files=files() if files else 0,
        threads=process.num_threads(),
        processes=len(process.children(recursive=True)),
        sequences=_sequences(model),
        temporary=sum(1 for _ in temporary.rglob("*")),
    )


def settled(look: Callable[[], Held], wanted: Held) -> Held:
    """Return what is held, once that is no more than wanted, or some time has passed."""
    latest = monotonic() + _SETTLED
    while (found := look()) != wanted and monotonic() < latest:
        sleep(0.1)
    return found


def slope(values: Sequence[float]) -> float:
    """Return by how much the values rise from one to the next: the median of the slopes
    between all pairs (Theil, 1950; Sen, 1968), which a few steps don't change."""
    pairs = itertools.combinations(enumerate(values), 2)
    rises = [(late - early) / (second - first) for (first, early), (second, late) in pairs]
    return statistics.median(rises) if rises else 0.0


def _sequences(model: LlamaModel) -> int:
    memory = llama_cpp.llama_get_memory(model.native_context)
    most = llama_cpp.llama_n_seq_max(model.native_context)
    ends = (llama_cpp.llama_memory_seq_pos_max(memory, number) for number in range(most))
    return sum(end >= 0 for end in ends)
