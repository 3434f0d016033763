"""A question whose answer is known, and a set of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

Scorer: TypeAlias = Literal["number", "text", "yesno", "label", "calls"]
"""How an answer is compared: scoring.py and bfcl_match.py say by what rules."""

Function: TypeAlias = Mapping[str, Any]
"""A function as BFCL describes it."""


@dataclass(frozen=True, slots=True)
class Item:
    """One question. `expected` is what the set gives as its answer, in JSON's types."""

    id: str
    text: str
    expected: Any
    scorer: Scorer
    asked: str = ""
    """How to answer: the same for all arms, behind the question."""
    choices: tuple[str, ...] = ()
    """The labels, where the answer is one of them."""
    functions: tuple[Function, ...] = ()
    """What may be called; these and no other tools."""

    @property
    def question(self) -> str:
        """The question, and how to answer it."""
        return f"{self.text} {self.asked}".strip()


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions of one kind, and the documents that they are answered from, if any."""

    name: str
    items: tuple[Item, ...]
    documents: tuple[Path, ...] = ()
    """Files of paragraphs, and files or folders of a user's own."""
    tokens: int = 1200
    """What a question takes of the context beyond what all share; a guess."""

    def first(self, count: int | None) -> QuestionSet:
        """Return the set of the first so many items, or of all."""
        return replace(self, items=self.items[:count])

    @property
    def calls_functions(self) -> bool:
        """Whether it asks for calls, and each item brings its own functions."""
        return any(item.functions for item in self.items)
