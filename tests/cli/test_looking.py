"""Looking inside a run before it is made, and how long it may take."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from local_react.cli.main import run
from local_react.history import History


@pytest.fixture(autouse=True)
def alone(own_places: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)


def test_a_dry_run_prints_prompt_grammar_and_tokens_and_asks_nothing(
    tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--offline", "--dry-run", "-m", str(tiny_path), "Who are you?"]) == 0
    out, err = capsys.readouterr()
    assert "Question: Who are you?" in out
    assert re.search(r"^root ::= ", out, re.MULTILINE)
    counts = re.search(r"instructions (\d+), question (\d+), left (\d+), context (\d+)", out)
    assert counts
    instructions, question, left, context = map(int, counts.groups())
    assert instructions + question + left == context
    assert (err, History().runs()) == ("", [])


def test_a_dry_run_as_json_after_a_session(
    tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--offline", "-m", str(tiny_path), "--max-steps", "1", "-t", "1", "--no-tools"]
    assert run([*small, "--thought-tokens", "8", "Who are you?"]) in (0, 4)
    capsys.readouterr()
    code = run(["-c", "--dry-run", "--json", *small, "And who am I?"])
    told = json.loads(capsys.readouterr().out)
    assert code == 0
    assert set(told) == {"prompt", "grammar", "tokens"}
    asked = told["prompt"].index("Question: And who am I?")
    if History().run("last").answer:
        assert told["prompt"].index("Question: Who are you?") < asked


def test_a_question_that_takes_too_long_ends_with_what_there_is(
    tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--offline", "--timeout", "0.01", "-m", str(tiny_path), "-t", "1", "--json"]
    assert run([*arguments, "Who are you?"]) == 4
    out, err = capsys.readouterr()
    assert json.loads(out)["stop_reason"] == "timeout"
    assert "--timeout" in err


def test_a_time_that_is_none_is_refused(
    tiny_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--offline", "--timeout", "0", "-m", str(tiny_path), "Who?"]) == 2
    assert "--timeout must be above 0" in capsys.readouterr().err
