"""A line of the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Status: TypeAlias = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Line:
    """What was found, what `--json` has of it, and what to do about it."""

    label: str
    text: str
    data: dict[str, Any] = field(default_factory=dict)
    advice: tuple[str, ...] = ()
    """What could be better, each with what to do."""
    problems: tuple[str, ...] = ()
    """What keeps the model from working at all, each with what to do."""

    @property
    def status(self) -> Status:
        """How good it is."""
        return "problem" if self.problems else "warning" if self.advice else "ok"

    def __str__(self) -> str:
        """Return it for a person, without its status."""
        told = "; ".join([self.text, *self.problems, *self.advice])
        return f"{self.label:<11}  {' '.join(told.split())}"
