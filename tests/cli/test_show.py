"""What is shown of a run."""

from __future__ import annotations

import json

import pytest

from local_react import Agent, ScriptedModel, tool
from local_react.cli.show import Display, complain, json_text, printable, run_as_dict

ESCAPE = "\x1b[2J\x9b31m\x07\x08"


@tool
def page() -> str:
    """Return a page that tries to steer the terminal."""
    return f"clean{ESCAPE} text"


def test_a_tool_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    replies = ["Thought: t\nAction: page {}", 'Thought: t\nAction: Finish {"answer": "a"}']
    run = Display(verbosity=1).follow(Agent(ScriptedModel(replies), [page]).stream("q"))
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "\x1b" not in shown.err
    assert "Observation: clean [2J 31m   text\n" in shown.err
    assert "tokens read" in shown.err
    assert run_as_dict(run)["steps"][0]["action"] == {"tool": "page", "arguments": {}}
    assert run_as_dict(run)["steps"][1]["action"] == {"finish": "a"}


def test_printable_keeps_lines_and_every_script() -> None:
    text = "a\tb\nc é 中 😀 עברית"
    assert printable(text) == text
    assert printable(ESCAPE) == "[2J31m"


def test_neither_a_complaint_nor_json_steers_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    complain("cannot add a\x1b]0;b\x07\x9bc\u202e")
    assert capsys.readouterr().err == "local-react: cannot add a]0;bc\n"
    value = {"a": "x\x1b\x9b\u202e\u200f 北京\n"}
    text = json_text(value)
    assert json.loads(text) == value
    assert "北京" in text
    assert printable(text) == text
