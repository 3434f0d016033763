"""A backend that replies from a list: for testing a loop's logic without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from threading import Event as Flag

from local_react.core import Message, Request, Sampling, Usage, Weighed
from local_react.errors import ContextFull


@dataclass
class ScriptedModel:
    """Gives the replies in turn, token by token. It looks at no grammar, so a script
    can also misbehave; `seen` and `grammars` record what it was given.

    A token is a word, or eight letters of a longer one, and the space before it; a
    message is `message_tokens` more than its text. `thinking` holds what it thinks
    before each reply, as a model does that always thinks.
    """

    replies: Sequence[str]
    name: str = "scripted"
    context_size: int = 100_000
    longest_context: int = 1_000_000
    thinking: Sequence[str] = ()
    message_tokens: int = 4
    seen: list[Message] = field(default_factory=list)
    grammars: list[str] = field(default_factory=list)

    def start(
        self, messages: Sequence[Message], *, fixed: bool = False, cancel: Flag | None = None
    ) -> ScriptedContext:
        """Return a context that begins at the first reply.

        Raises ContextFull where the messages don't fit.
        """
        context = ScriptedContext(
            self, iter(self.replies), iter(self.thinking), cancel or Flag(), self.context_size
        )
        for message in messages:
            context.append(message)
        return context

    def count(self, text: str) -> int:
        """Return the number of tokens."""
        return len(_tokens(text))

    def check(self, grammar: str) -> None:
        """Accept any grammar."""

    def weigh(
        self, messages: Sequence[Message], options: Sequence[str], *, cancel: Flag | None = None
    ) -> Weighed:
        """Hold the first text for certain."""
        return Weighed([0.0, *(-100.0 for _ in options[1:])])

    def generate_many(self, requests: Sequence[Request]) -> Iterator[tuple[int, str]]:
        """Yield a token of each reply in turn, until all are at their ends."""
        replies = {
            number: islice(
                request.context.generate(request.grammar, request.sampling), request.most
            )
            for number, request in enumerate(requests)
        }
        while replies:
            for number, reply in list(replies.items()):
                token = next(reply, None)
                if token is None:
                    del replies[number]
                else:
                    yield number, token


@dataclass
class ScriptedContext:
    """One chat with a ScriptedModel. Raises IndexError when the script is at its end,
    and ContextFull where more is put into it than fits."""

    model: ScriptedModel
    replies: Iterator[str]
    thoughts: Iterator[str]
    cancel: Flag
    room: int
    """Tokens that still fit."""
    usage: Usage = field(default=Usage())

    def think(self, most: int, seed: int = 0) -> Iterator[str]:
        """Yield what is thought before the next reply, to its end or so many tokens."""
        yield from islice(self._write(next(self.thoughts, "")), most)

    def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
        """Yield the next reply token by token."""
        self.model.grammars.append(grammar or "")
        reply = next(self.replies, None)
        if reply is None:
            raise IndexError("the script has no more replies")
        yield from self._write(reply)

    def fork(self, count: int) -> list[ScriptedContext]:
        """Return so many contexts that take the script's next replies in turn."""
        return [replace(self) for _ in range(count)]

    def force(self, text: str) -> None:
        """Count the text."""
        self._take(self.model.count(text))

    def append(self, message: Message) -> None:
        """Record the message."""
        self._take(self.model.count(message.content) + self.model.message_tokens)
        self.model.seen.append(message)

    def _write(self, text: str) -> Iterator[str]:
        for token in _tokens(text):
            if self.cancel.is_set() or not self.room:
                return
            self._take(1)
            self.usage += Usage(generated=1)
            yield token

    def _take(self, tokens: int) -> None:
        if tokens > self.room:
            raise ContextFull(f"{tokens} tokens don't fit: there is room for {self.room}")
        self.room -= tokens
        self.usage += Usage(evaluated=tokens)


def _tokens(text: str) -> list[str]:
    return re.findall(r"\s*\S{1,8}|\s+", text)
