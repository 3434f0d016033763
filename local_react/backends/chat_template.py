"""A model's own chat template, split into what is trusted and what is data.

The Jinja template is rendered with place holders where the contents go, and the
result is split on them. The template's own text may become control tokens; the
contents never do, whatever they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from local_react.core import Message
from local_react.errors import ModelError

Render: TypeAlias = Callable[[list[dict[str, str]]], str]
"""Renders messages (role, content) and opens the assistant's reply."""

_KNOWN: Final[Mapping[str, object]] = {
    "add_generation_prompt": True,
    # Off in the template, because the grammar begins at the first token; templates without
    # the switch ignore it.
    "enable_thinking": False,
    "tools": None,
    "functions": None,
    "function_call": None,
}
"""What a template is told beside the messages."""
_LONGEST_REASON: Final = 200
_ANOTHER: Final = "take another model, or another file of it"


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a prompt. Only a trusted one may hold control tokens."""

    text: str
    trusted: bool


def chatml(messages: list[dict[str, str]]) -> str:
    """Render ChatML: the stated default for a model that brings no template."""
    turns = [f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages]
    return "".join(turns) + "<|im_start|>assistant\n"


def jinja(source: str, *, bos_token: str, eos_token: str) -> Render:
    """Return what renders a model's own template, within limits, since it is a program of
    somebody else's. Raises ModelError where it is none."""
    from local_react.backends.template_limits import Limited

    try:
        render = Limited().compiled(source)
    except Exception as error:
        raise ModelError(f"the model's chat template is broken{_why(error)}") from error
    return lambda messages: render(
        messages=messages, bos_token=bos_token, eos_token=eos_token, **_KNOWN
    )


class ChatTemplate:
    """Turns messages into segments. Raises ModelError where the template cannot."""

    def __init__(self, render: Render) -> None:
        self._render = render

    def opening(self, messages: Sequence[Message]) -> list[Segment]:
        """Return the segments of a chat that ends with an open assistant's reply. The
        last but one is the content of the last message, alone."""
        contents = [[message.content] for message in messages]
        try:
            pieces = self._split(messages)
        except _Refused:
            # A template without a system role gets its text before the first question.
            if len(messages) < 2 or messages[0].role != "system":
                raise
            pieces = self._split(messages[1:])
            contents = [[f"{messages[0].content}\n\n", messages[1].content], *contents[2:]]
        return _interleaved(pieces, contents)

    def next_turn(self, message: Message) -> list[Segment]:
        """Return what closes the assistant's reply, holds the message, and opens the
        next reply."""
        chat = [Message("user", ""), Message("assistant", ""), message]
        return _interleaved(self._split(chat)[2:], [[message.content]])

    def own_text(self) -> list[str]:
        """Return what the template itself writes around the messages of a chat."""
        opening = self.opening([Message("system", ""), Message("user", "")])
        return [part.text for part in [*opening, *self.next_turn(Message("user", ""))]]

    def _split(self, messages: Sequence[Message]) -> list[str]:
        """Return the template's own text around the contents: one piece more than
        there are messages."""
        marks = [f"\ue000{number}\ue001" for number in range(len(messages))]
        turns = [
            {"role": message.role, "content": mark}
            for message, mark in zip(messages, marks, strict=True)
        ]
        try:
            text = self._render(turns)
        except Exception as error:  # the template is a program of somebody else's
            raise _Refused(f"the model's chat template failed{_why(error)}") from error
        pieces = []
        for mark in marks:
            piece, found, text = text.partition(mark)
            if not found:
                raise _Refused(f"the model's chat template leaves a message out: {_ANOTHER}")
            pieces.append(piece)
        return [*pieces, text]


def _why(error: Exception) -> str:
    """Return what a template, or Jinja, gives as the reason, which may be any text."""
    reason = " ".join((str(error) or type(error).__name__).split())
    return f" ({reason[:_LONGEST_REASON]}): {_ANOTHER}"


class _Refused(ModelError):
    """The template does not take these messages."""


def _interleaved(pieces: Sequence[str], contents: Sequence[Sequence[str]]) -> list[Segment]:
    segments = []
    for piece, parts in zip(pieces, contents, strict=False):
        segments += [Segment(piece, True), *(Segment(part, False) for part in parts)]
    return [*segments, Segment(pieces[-1], True)]
