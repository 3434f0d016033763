"""The tool that keeps what the user tells, and that it does so only where it is asked to."""

from __future__ import annotations

import sys

import pytest

from local_react import Agent, Call, Run, ScriptedModel
from local_react.cli.main import run
from local_react.history import History
from local_react.tools.remember import make_remember


class Templated(ScriptedModel):
    has_template = True


CALL = 'Thought: t\nAction: remember {"fact": "The user lives in Oslo."}'
DONE = 'Thought: t\nAction: Finish {"answer": "done"}'


@pytest.mark.parametrize("yes", [True, False])
def test_a_fact_is_kept_where_the_user_says_yes(own_places: None, yes: bool) -> None:
    asked = list[Call]()

    def approve(call: Call) -> bool:
        asked.append(call)
        return yes

    tools = [make_remember(History().remember)]
    told = Agent(ScriptedModel([CALL, DONE]), tools, approve=approve).run("I live in Oslo.")
    assert isinstance(told, Run)
    assert len(asked) == 1
    facts = [fact.text for fact in History().facts()]
    assert facts == (["The user lives in Oslo."] if yes else [])


@pytest.mark.parametrize(
    ("options", "kept"), [((), 0), (("--remember",), 0), (("--remember", "-y"), 1)]
)
def test_the_command_offers_it_where_it_is_wanted_and_asks(
    own_places: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    kept: int,
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    model = Templated([CALL, DONE])
    monkeypatch.setattr("local_react.cli.wiring.load_model", lambda *a, **k: model)
    assert run(["-n", "--offline", *options, "Remember that I live in Oslo."]) == 0
    assert len(History().facts()) == kept
    assert ("remember {" in model.seen[0].content) == bool(options)


def test_what_writes_nothing_cannot_remember(
    own_places: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert run(["--private", "--remember", "Remember it."]) == 2
    assert "give one of them" in capsys.readouterr().err
