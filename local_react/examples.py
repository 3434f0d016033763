"""Worked examples for the prompt, one per situation, chosen by the tools present.

A small model learns from them when no tool is needed, which tool fits, and when to
stop; without them it was seen to search for what it knows and to call tools at
random. They are short, because every token of them is read before the first answer.
"""

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

    @property
    def text(self) -> str:
        """The step as the model should write it."""
        arguments = json.dumps(self.arguments, ensure_ascii=False)
        return f"Thought: {self.thought}\nAction: {self.tool} {arguments}"


@dataclass(frozen=True, slots=True)
class Example:
    """A question and the steps that answer it well."""

    question: str
    steps: tuple[ExampleStep, ...]


def examples_for(tools: Collection[str]) -> list[Example]:
    """Return the examples whose tools are all among the names given."""
    return [
        example for example in _EXAMPLES if all(step.tool in tools for step in example.steps[:-1])
    ]


_EXAMPLES = (
    Example(
        "Why do we see lightning before we hear thunder?",
        (
            ExampleStep(
                "I know this, so I need no tool.",
                "Finish",
                {"answer": "Because light travels far faster than sound."},
            ),
        ),
    ),
    Example(
        "Tickets cost 12.50 each. What do 8 people pay in all with 20% off and a fee of 4?",
        (
            ExampleStep(
                "8 tickets cost 8 * 12.50.\n20% off leaves 80% of that.\nThe fee of 4 is added.",
                "calculator",
                {"expression": "8 * 12.50 * 80% + 4"},
                "84",
            ),
            ExampleStep("The result is the price in all.", "Finish", {"answer": "84"}),
        ),
    ),
    Example(
        "How many times would the Eiffel Tower fit into the height of Mount Fuji?",
        (
            ExampleStep(
                "I need both heights. First the tower's.",
                "search",
                {"query": "Eiffel Tower height metres"},
                "1. Eiffel Tower - It is 330 metres tall. (example.org)",
            ),
            ExampleStep(
                "Now the mountain's.",
                "search",
                {"query": "Mount Fuji height metres"},
                "1. Mount Fuji - It rises to 3,776 metres. (example.org)",
            ),
            ExampleStep(
                "Now I divide the heights.",
                "calculator",
                {"expression": "3776 / 330"},
                "1888/165 (11.4424242424)",
            ),
            ExampleStep("I have the result.", "Finish", {"answer": "About 11.4 times"}),
        ),
    ),
)
