"""Code that is not ours: while it runs, what is printed is not this program's answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_RUNS: Final = ContextVar("foreign code runs", default=False)


@contextmanager
def foreign() -> Iterator[None]:
    """Mark what the thread does within the block as a tool's doing."""
    before = _RUNS.set(True)
    try:
        yield
    finally:
        _RUNS.reset(before)


def runs_foreign() -> bool:
    """Return whether the thread is within such a block."""
    return _RUNS.get()
