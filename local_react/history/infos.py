"""What a list tells of a session, a run and a fact."""

from __future__ import annotations

from dataclasses import dataclass

from local_react.core import StopReason, Usage


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A conversation. Times are ISO 8601, UTC, in seconds."""

    id: str
    """Eight hexadecimal digits, which stay when the name changes."""
    name: str
    """Empty until the first question, where the user gave none."""
    created: str
    updated: str
    """When the last question was answered."""
    turns: int
    """Runs that the conversation goes on from."""
    question: str
    """The beginning of the first question, 200 characters at most."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run, without its steps."""

    id: str
    """Eight hexadecimal digits."""
    time: str
    """When it was kept: ISO 8601, UTC, in seconds."""
    session: str | None
    """The name of the session that it belongs to."""
    conversed: bool
    """Whether the conversation goes on from it."""
    question: str
    answer: str
    stop_reason: StopReason
    model: str
    seconds: float
    usage: Usage

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.usage.evaluated + self.usage.generated


@dataclass(frozen=True, slots=True)
class FactInfo:
    """Something that the user wants remembered."""

    number: int
    """Never given twice, so that an old number forgets nothing new."""
    text: str
    time: str
    """When it was told first: ISO 8601, UTC, in seconds."""
