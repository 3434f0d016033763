"""Hundreds of questions in one process, and many threads at one model.

What a question leaves behind is seen from the slope of what the process holds over the
questions, after those with which caches fill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from random import Random
from typing import Final

from local_react import LlamaModel
from local_react.catalog import resolve
from trials.at_once import MODEL, at_once
from trials.endings import endings
from trials.own_places import own_places
from trials.soak_figures import Memory, held, memory, settled, slope, traced
from trials.soak_mix import KINDS, Mix
from trials.trial import Report, Trial

_WARM: Final = 0.4
"""The share of the questions that comes before the measurements, and all kinds once: the C
library sets memory aside for threads, of which the first hundred add to it."""
PYTHON: Final = 1.0
"""KiB for a question that Python's objects may grow by: one that left behind its tokens, its
steps or its prompt would take ten times as much."""
PROCESS: Final = 8.0
"""KiB for a question that the process may grow by: 10,000 questions, and it is 80 MB. What one
leaves in the model's cache would take a hundred times as much."""
_NOISE: Final = Memory(process=2400, python=64)
"""KiB by which looks may differ with nothing left behind: where questions are few, that is
the slope there may be."""


def _soak(attempts: int, dice: Random) -> Report:
    path = resolve(MODEL)
    with own_places() as root, LlamaModel(path, context_size=2048, threads=1) as model, traced():
        (root / "documents").mkdir()
        mix, temporary = Mix(model, root / "documents"), root / "temporary"
        look = partial(held, model, temporary)
        failures, memories, warm = (
            list[str](),
            list[Memory](),
            max(len(KINDS), int(attempts * _WARM)),
        )
        for number in range(attempts):
            name, ask = KINDS[number % len(KINDS)]
            try:
                fault = ask(mix, number, dice)
            except Exception as error:  # noqa: BLE001 - told, and the next is asked
                fault = f"{type(error).__name__}: {error}"
            failures += [f"question {number}, {name}: {fault}"] if fault else []
            if number + 1 == warm:
                before = look()
            elif number >= warm:
                memories.append(memory())
        mix.session.clear()
        failures += _left(asdict(before), asdict(settled(look, before)))
    missed, figures = _grown(memories)
    return Report(attempts, failures + missed, figures)


def _left(before: dict[str, int], after: dict[str, int]) -> list[str]:
    return [
        f"{what} held: {before[what]} after the first questions, {count} after the last"
        for what, count in after.items()
        if count > before[what]
    ]


def _grown(memories: Sequence[Memory]) -> tuple[list[str], str]:
    """Return which memory grows, and by how much each does."""
    missed, figures = [], []
    for what, bar in (("process", PROCESS), ("python", PYTHON)):
        rise = slope([getattr(one, what) / 1024 for one in memories])
        most = max(bar, getattr(_NOISE, what) / max(1, len(memories)))
        figures.append(f"{what} {rise:+.2f} KiB a question (at most {most:.1f})")
        if rise > most:
            missed.append(f"the memory grows: {figures[-1]}")
    return missed, f"{len(memories)} measured: {', '.join(figures)}"


TRIALS: tuple[Trial, ...] = (
    Trial(
        name="soak",
        what="questions of all kinds in one process: nothing is left behind",
        run=_soak,
        whole=500,
        short=16,
        model=True,
    ),
    Trial(
        name="at-once",
        what="8 threads or tasks share an agent, a session and the rest: nothing is mixed up",
        run=at_once,
        whole=240,
        short=16,
        model=True,
    ),
    Trial(
        name="bad-endings",
        what="closed, forked, dropped, interrupted or asked from within: told plainly",
        run=endings,
        whole=260,
        short=26,
    ),
)
