"""What a surrounding is: what is done before a command runs, and how it is then run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from trials.stage import Stage


class Skip(Exception):
    """It cannot be arranged on this machine; the message says why."""


@dataclass(frozen=True)
class There:
    """A surrounding that is arranged."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Of Stage.run."""
    silent: bool = False
    """Whether complaints cannot be heard."""
    destroys: bool = False
    """Whether what was there before is gone by what was arranged."""
    check: Callable[[], str] | None = None
    """Returns what else went wrong."""


Arrange: TypeAlias = Callable[[Stage], AbstractContextManager[There]]
