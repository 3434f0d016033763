"""What a trial of bench/trust.py is, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a trial."""

    tried: int
    """How many attempts were really made."""
    failures: Sequence[str] = ()
    """A line for each attempt that ended badly: what was done, and what came of it."""
    figures: str = ""
    """What was measured beside, in a few words, such as "98 % of valid instances accepted"."""
    skipped: str = ""
    """Why nothing, or only a part, could be tried on this machine; else empty."""


Attempts: TypeAlias = Callable[[int, Random], Report]
"""Makes so many attempts, with what is random drawn from the generator."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing that must not break, and how to try to break it."""

    name: str
    """Lower case, words joined by hyphens, such as "kill-download"."""
    what: str
    """What is tried, in some ten words, for the table."""
    run: Attempts
    whole: int
    """Attempts of `bench/trust.py`."""
    short: int
    """Attempts in the tests: seconds."""
    model: bool = False
    """Whether it needs a real model; it raises ModelError where there is none."""
