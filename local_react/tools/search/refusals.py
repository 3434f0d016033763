"""Who has refused us, and until when we leave them alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

FIRST_PAUSE = 60.0
"""Seconds an engine is left alone after it refused, twice as long each time."""
LONGEST_PAUSE = 3600.0


@dataclass
class Refusals:
    """The memory of one tool: asking on while refused makes a refusal last longer."""

    now: Callable[[], float] = time.monotonic
    _until: dict[str, float] = field(default_factory=dict)
    _pauses: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def left(self, engine: str) -> float:
        """Return the seconds for which an engine is to be left alone, 0 where it isn't."""
        with self._lock:
            return max(0.0, self._until.get(engine, 0.0) - self.now())

    def add(self, engine: str, after: float | None) -> float:
        """Remember that an engine refused, and asked to be left alone for `after` seconds
        where it said so; return for how many it will be."""
        with self._lock:
            pause = self._pauses.get(engine, FIRST_PAUSE)
            self._pauses[engine] = min(2 * pause, LONGEST_PAUSE)
            pause = min(max(pause, after or 0.0), LONGEST_PAUSE)
            self._until[engine] = self.now() + pause
            return pause

    def forget(self, engine: str) -> None:
        """Remember nothing against an engine: it has answered."""
        with self._lock:
            self._until.pop(engine, None)
            self._pauses.pop(engine, None)
