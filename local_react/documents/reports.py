"""What adding tells: how far it is, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Progress:
    """How far adding is."""

    done: int
    total: int
    """Files that need a look, and how many there are."""
    bytes: int
    total_bytes: int
    path: str = ""
    """The file that was last done."""
    waiting: bool = False
    """Whether another process that adds or removes is waited for."""


Watch: TypeAlias = Callable[[Progress], None]


@dataclass(slots=True)
class Added:
    """What came of adding."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Files that could not be read, and folders not looked into, with the reason."""
    other: int = 0
    """Files of kinds that are never read, such as pictures."""
    passages: int = 0
    bytes: int = 0
    """Of the text that was taken in."""
    seconds: float = 0.0
