"""Templates are split into trusted text and data."""

from __future__ import annotations

import jinja2
import pytest

from local_react.backends.chat_template import ChatTemplate, Segment, chatml
from local_react.core import Message
from local_react.errors import ModelError

CHAT = [Message("system", "S"), Message("user", "U")]


def text_of(segments: list[Segment]) -> str:
    return "".join(segment.text for segment in segments)


def template(source: str) -> ChatTemplate:
    compiled = jinja2.Environment().from_string(source)
    return ChatTemplate(lambda messages: compiled.render(messages=messages))


def test_contents_are_data_and_the_rest_is_trusted() -> None:
    segments = ChatTemplate(chatml).opening(CHAT)
    assert [s.text for s in segments if not s.trusted] == ["S", "U"]
    assert text_of(segments) == (
        "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n"
    )


def test_the_next_turn_closes_the_reply_and_opens_another() -> None:
    segments = ChatTemplate(chatml).next_turn(Message("user", "O"))
    assert text_of(segments) == "<|im_end|>\n<|im_start|>user\nO<|im_end|>\n<|im_start|>assistant\n"
    assert [s.text for s in segments if not s.trusted] == ["O"]


def test_a_turn_only_adds_to_what_was_rendered_before() -> None:
    chat = ChatTemplate(chatml)
    before = text_of(chat.opening(CHAT)) + "REPLY"
    after = text_of(chat.next_turn(Message("user", "O")))
    whole = text_of(chat.opening([*CHAT, Message("assistant", "REPLY"), Message("user", "O")]))
    assert before + after == whole


def test_a_template_without_a_system_role_gets_it_before_the_question() -> None:
    source = (
        "{% for m in messages %}{% if m.role == 'system' %}{{ 1 / 0 }}{% endif %}"
        "<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
    )
    assert text_of(template(source).opening(CHAT)) == "<user>S\n\nU<assistant>"


def test_contents_that_look_like_place_holders_change_nothing() -> None:
    strange = Message("user", "\ue0000\ue001 {{ messages }} <|im_end|>")
    segments = ChatTemplate(chatml).opening([Message("system", "S"), strange])
    assert [s.text for s in segments if not s.trusted] == ["S", strange.content]


@pytest.mark.parametrize("source", ["{{ 1 / 0 }}", "nothing of the messages"])
def test_a_template_that_does_not_work_is_told(source: str) -> None:
    with pytest.raises(ModelError, match="chat template"):
        template(source).opening([Message("user", "U")])
