"""What a worked example is: a question and the steps that answer it well."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ExampleStep:
    """One step of an example; the last one's tool is Finish and shows nothing."""

    thought: str
    tool: str
    arguments: dict[str, Any]
    observation: str = ""
    also: tuple[tuple[str, dict[str, Any], str], ...] = ()
    """Further calls of the same reply, and what they show."""

    @property
    def text(self) -> str:
        """The step as the model should write it."""
        calls = [(self.tool, self.arguments), *((name, given) for name, given, _ in self.also)]
        actions = [f"Action: {n} {json.dumps(given, ensure_ascii=False)}" for n, given in calls]
        return "\n".join([f"Thought: {self.thought}", *actions])

    @property
    def observations(self) -> list[str]:
        """What its calls show; nothing after a Finish."""
        shown = [self.observation, *(text for _, _, text in self.also)]
        return [text for text in shown if text]


@dataclass(frozen=True, slots=True)
class Example:
    """A question and the steps that answer it well."""

    question: str
    steps: tuple[ExampleStep, ...]

    def fits(self, tools: Collection[str]) -> bool:
        """Return whether all its tools are among these names."""
        return all(step.tool in tools for step in self.steps[:-1])
