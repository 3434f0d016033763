"""A backend that replies from a list: for testing a loop's logic without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from local_react.core import Message, Sampling, Usage


@dataclass
class ScriptedModel:
    """Gives the replies in turn, word by word. It looks at no grammar, so a script
    can also misbehave; `seen` and `grammars` record what it was given."""

    replies: Sequence[str]
    name: str = "scripted"
    room: int = 100_000
    seen: list[Message] = field(default_factory=list)
    grammars: list[str] = field(default_factory=list)

    def start(self, messages: Sequence[Message]) -> ScriptedContext:
        """Return a context that begins at the first reply."""
        self.seen.extend(messages)
        return ScriptedContext(self, iter(self.replies))

    def count(self, text: str) -> int:
        """Return the number of words."""
        return len(text.split())

    def check(self, grammar: str) -> None:
        """Accept any grammar."""


@dataclass
class ScriptedContext:
    """One chat with a ScriptedModel. Raises IndexError when the script is at its end."""

    model: ScriptedModel
    replies: Iterator[str]
    usage: Usage = field(default=Usage())

    @property
    def room(self) -> int:
        """Tokens that still fit."""
        return self.model.room - self.usage.evaluated

    def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
        """Yield the next reply word by word."""
        self.model.grammars.append(grammar or "")
        reply = next(self.replies, None)
        if reply is None:
            raise IndexError("the script has no more replies")
        for word in reply.splitlines(keepends=True):
            self.usage += Usage(evaluated=1, generated=1)
            yield word

    def force(self, text: str) -> None:
        """Count the text as one token."""
        self.usage += Usage(evaluated=1)

    def append(self, message: Message) -> None:
        """Record the message."""
        self.model.seen.append(message)
        self.usage += Usage(evaluated=self.model.count(message.content))
