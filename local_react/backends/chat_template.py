"""A model's own chat template, split into what is trusted and what is data.

The Jinja template is rendered with place holders where the contents go, and the
result is split on them. The template's own text may become control tokens; the
contents never do, whatever they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from local_react.core import Message
from local_react.errors import ModelError

Render: TypeAlias = Callable[[list[dict[str, str]]], str]
"""Renders messages (role, content) and opens the assistant's reply."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a prompt. Only a trusted one may hold control tokens."""

    text: str
    trusted: bool


def chatml(messages: list[dict[str, str]]) -> str:
    """Render ChatML: the stated default for a model that brings no template."""
    turns = [f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages]
    return "".join(turns) + "<|im_start|>assistant\n"


class ChatTemplate:
    """Turns messages into segments. Raises ModelError where the template cannot."""

    def __init__(self, render: Render) -> None:
        self._render = render

    def opening(self, messages: Sequence[Message]) -> list[Segment]:
        """Return the segments of a chat that ends with an open assistant's reply."""
        try:
            pieces = self._split(messages)
        except _Refused:
            messages = _system_into_user(messages)
            pieces = self._split(messages)
        return _interleaved(pieces, messages)

    def next_turn(self, message: Message) -> list[Segment]:
        """Return what closes the assistant's reply, holds the message, and opens the
        next reply."""
        chat = [Message("user", ""), Message("assistant", ""), message]
        return _interleaved(self._split(chat)[2:], [message])

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
            raise _Refused(f"the model's chat template failed: {error}") from error
        pieces = []
        for mark in marks:
            piece, found, text = text.partition(mark)
            if not found:
                raise _Refused("the model's chat template leaves a message out")
            pieces.append(piece)
        return [*pieces, text]


class _Refused(ModelError):
    """The template does not take these messages."""


def _system_into_user(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with the system text in front of the first question: the
    way to instruct a model whose template knows no system role."""
    if len(messages) < 2 or messages[0].role != "system":
        raise ModelError("the model's chat template takes no plain question")
    first = Message("user", f"{messages[0].content}\n\n{messages[1].content}")
    return [first, *messages[2:]]


def _interleaved(pieces: Sequence[str], messages: Sequence[Message]) -> list[Segment]:
    segments = []
    for piece, message in zip(pieces, messages, strict=False):
        segments += [Segment(piece, True), Segment(message.content, False)]
    return [*segments, Segment(pieces[-1], True)]
