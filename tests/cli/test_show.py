"""What is shown of a run."""

from __future__ import annotations

import io
import json

import pytest

from local_react import Agent, ScriptedModel, tool
from local_react.as_dict import run_as_dict
from local_react.cli.output import json_line
from local_react.cli.show import Display, _spinner, complain, json_text, printable

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


@tool
def weight(breed: str) -> str:
    """Return a weight."""
    return f"{len(breed)} lbs"


FINISH = 'Thought: t\nAction: Finish {"answer": "a"}'


def shown(
    capsys: pytest.CaptureFixture[str], *replies: str, verbosity: int = 0, thinking: str = ""
) -> str:
    thoughts = [thinking] * len(replies) if thinking else []
    model = ScriptedModel(replies, thinking=thoughts)
    Display(verbosity=verbosity).follow(Agent(model, [weight]).stream("q"))
    return capsys.readouterr().err


def test_the_observations_of_one_reply_are_numbered(capsys: pytest.CaptureFixture[str]) -> None:
    both = 'Thought: t\nAction: weight {"breed": "poodle"}\nAction: weight {"breed": "collie dog"}'
    one = 'Thought: u\nAction: weight {"breed": "pug"}'
    told = f"{both}\nObservation 1: 6 lbs\nObservation 2: 10 lbs\n"
    assert shown(capsys, both, one, FINISH) == f"{told}{one}\nObservation: 3 lbs\n{FINISH}\n"


def test_what_is_thought_before_a_reply_makes_it_no_longer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = 'Thought: u\nAction: weight {"breed": "pug"}'
    thinking = "\nThought: x\nAction: a {}\nAction: b {}\n"
    assert "Observation: 3 lbs" in shown(capsys, one, FINISH, thinking=thinking)


def test_the_figures_of_a_reply_are_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    both = 'Thought: t\nAction: weight {"breed": "poodle"}\nAction: weight {"breed": "collie dog"}'
    told = shown(capsys, both, FINISH, verbosity=1)
    assert told.count(" written, ") == 3  # two replies, and all of it
    assert "[0 tokens read, 0 written" not in told


def test_json_tells_which_steps_are_of_one_reply_and_what_went_round() -> None:
    same = 'Thought: t\nAction: weight {"breed": "pug"}'
    both = f'{same}\nAction: weight {{"breed": "poodle"}}'
    told = run_as_dict(Agent(ScriptedModel([both, same, FINISH]), [weight]).run("q"))
    assert [step["reply"] for step in told["steps"]] == [1, 1, 2, 3]
    assert json.loads(json_text(told))["guards"] == {"repeated call": 1}


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252"])
def test_json_is_whole_in_any_encoding(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    value = {"a": "é 北京 😀 \udc80 \ud83d \u202e\u206a"}
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
        texts = [json_text(value), json_line(value)]
    for text in texts:
        assert json.loads(text.encode(encoding).decode()) == value
    assert "\n" not in texts[1]


def test_what_is_waited_for_is_no_markup(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    with _spinner("loading a[/b]\x1b[2J.gguf"):
        pass
    assert "loading a[/b][2J.gguf" in capsys.readouterr().err
