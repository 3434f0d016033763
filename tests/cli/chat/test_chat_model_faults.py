"""A chat whose model breaks down says so in one line, and goes on."""

from __future__ import annotations

import pytest
from chatting import finish, opened, said

from local_react import ScriptedModel


@pytest.mark.usefixtures("own_places")
def test_a_chat_whose_model_breaks_down_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    chat = opened([finish("12")])
    model = chat.session.agent.model
    assert isinstance(model, ScriptedModel)
    start, left = model.start, [RuntimeError("empty grammar stack")]

    def breaks_once(*arguments: object, **options: object) -> object:
        if left:
            raise left.pop()
        return start(*arguments, **options)  # type: ignore[arg-type]

    model.start = breaks_once  # type: ignore[method-assign, assignment]
    said(chat, "one?", "two?")
    told = [line for line in capsys.readouterr().err.splitlines() if "grammar stack" in line]
    assert len(told) == 1
    assert [turn.answer for turn in chat.session.turns] == ["12"]
