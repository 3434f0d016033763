"""What one question leaves on disk, and what it knows of those before it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from local_react import ScriptedModel
from local_react.cli.main import run
from local_react.history import History
from local_react.transcript import parsed

Ask = Callable[..., tuple[int, str, str]]


class Templated(ScriptedModel):
    has_template = True
    path = Path("model.gguf")
    threads = 1
    repack = False


def answer(text: str) -> str:
    return f'Thought: t\nAction: Finish {{"answer": "{text}"}}'


@pytest.fixture
def model() -> Templated:
    return Templated([answer("Paris")])


@pytest.fixture
def asked(
    own_places: None,
    model: Templated,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Ask:
    """Asks, and returns exit code, output and errors."""
    monkeypatch.setattr(sys, "stdin", None)
    monkeypatch.setattr("local_react.cli.wiring.load_model", lambda *a, **k: model)
    monkeypatch.setattr("local_react.transcript.model_hash.model_sha256", lambda path: "0" * 64)

    def ask(*arguments: str) -> tuple[int, str, str]:
        code = run(["--offline", *arguments])
        return code, *capsys.readouterr()

    return ask


def test_a_question_is_kept_with_its_transcript_and_the_first_time_that_is_told(asked: Ask) -> None:
    code, out, err = asked("What is the capital of France?")
    assert (code, out) == (0, "Paris\n")
    assert "--no-log keeps nothing" in err
    assert "--no-log" not in asked("What is the capital of France?")[2]
    assert [info.answer for info in History().runs()] == ["Paris", "Paris"]
    transcript = parsed(History().transcript("last"), "last")
    assert transcript.run.question == "What is the capital of France?"


def test_the_next_question_goes_on_where_it_is_told_to(asked: Ask, model: Templated) -> None:
    asked("What is the capital of France?")
    asked("And of Italy?")
    assert not any("France" in message.content for message in model.seen[-1:])
    asked("-c", "And of Spain?")
    said = [message.content for message in model.seen]
    assert "Question: And of Italy?" in said[-2:] and said[-1] == "Question: And of Spain?"
    first = asked("--session", "trip", "Where to?")
    assert first[0] == 0
    asked("--session", "trip", "And then?")
    assert [info.name for info in History().sessions(1)] == ["trip"]
    assert len(History().turns("trip")) == 2


@pytest.mark.parametrize("option", ["--no-log", "--private"])
def test_nothing_is_kept_where_that_is_said(asked: Ask, tmp_path: Path, option: str) -> None:
    assert asked(option, "What is the capital of France?")[:2] == (0, "Paris\n")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_is_kept_can_be_gone_on_with_and_left_as_it_is(asked: Ask) -> None:
    asked("--session", "trip", "Where to?")
    assert asked("-n", "--session", "trip", "And then?")[0] == 0
    assert len(History().turns("trip")) == 1
    code, _, err = asked("-n", "--session", "none", "And then?")
    assert (code, "none" in err) == (2, True)


@pytest.mark.parametrize("arguments", [["-c"], ["-c", "--session", "trip"]])
def test_a_session_that_there_is_not_is_told(asked: Ask, arguments: list[str]) -> None:
    code, out, err = asked(*arguments, "And then?")
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_what_is_remembered_is_told_to_the_model_and_shown(asked: Ask, model: Templated) -> None:
    History().remember("My dog is called Rex.")
    assert "remembered: My dog is called Rex." in asked("What is my dog called?")[2]
    assert "- My dog is called Rex." in model.seen[-1].content


def test_a_damaged_history_costs_no_answer(asked: Ask) -> None:
    History().remember("My dog is called Rex.")
    damaged = b"this is no database" * 1000
    History().path.write_bytes(damaged)
    code, out, err = asked("-n", "What is my dog called?")
    assert (code, out) == (0, "Paris\n")
    assert "left out" in err
    code, out, err = asked("-q", "What is my dog called?")
    assert (code, out, err.count("\n")) == (0, "Paris\n", 1)
    assert "nothing is kept" in err and "move it away" in err
    assert History().path.read_bytes() == damaged
    code, out, err = asked("-c", "And my cat?")  # what cannot be read cannot be gone on with
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_a_transcript_is_written_where_it_is_wanted(asked: Ask, tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    assert asked("-n", "--transcript", str(file), "What is the capital of France?")[0] == 0
    assert parsed(file.read_text("utf-8"), "run.jsonl").run.answer == "Paris"
    assert file.stat().st_mode & 0o077 == 0 or sys.platform == "win32"


def test_the_figures_of_each_step_are_shown_where_they_are_wanted(asked: Ask) -> None:
    lines = asked("--stats", "-q", "What is the capital of France?")[2].splitlines()
    assert [line.split()[:2] for line in lines] == [["1", "Finish"], ["in", "all"]]


def test_what_the_user_wants_kept_to_stands_before_the_question(
    asked: Ask, model: Templated, tmp_path: Path
) -> None:
    asked("-s", "Answer in French.", "What is it?")
    assert model.seen[-1].content == "Answer in French.\n\nQuestion: What is it?"
    file = tmp_path / "system.txt"
    file.write_text("Be brief.\n")
    asked("--system-file", str(file), "What is it?")
    assert model.seen[-1].content.startswith("Be brief.\n\n")
    assert asked("-s", "x", "--system-file", str(file), "What is it?")[0] == 2
    assert asked("--system-file", str(tmp_path / "none"), "What is it?")[0] == 2


def test_a_transcript_replaces_another_one_and_nothing_else(asked: Ask, tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    for _ in range(2):
        assert asked("-n", "--transcript", str(file), "Who?")[0] == 0
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear all")
    for target in (letter, tmp_path, tmp_path / "none" / "run.jsonl"):
        code, out, err = asked("--transcript", str(target), "-f", str(letter), "Who?")
        assert (code, out, err.count("\n")) == (2, "", 1)
    assert letter.read_text() == "Dear all"


def test_an_answer_is_kept_before_it_is_told(asked: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    there = list[int]()

    def shown(text: str) -> str:
        there.append(len(History().runs()))
        return text

    monkeypatch.setattr("local_react.cli.show.printable", shown)
    asked("-q", "What is the capital of France?")
    assert there == [1]


def test_what_cannot_be_printed_is_kept_all_the_same(
    asked: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, *given: object) -> int:
        raise BrokenPipeError

    monkeypatch.setattr("local_react.cli.ask._Told.run", fail)
    with pytest.raises(BrokenPipeError):
        from local_react.cli.ask import ask

        ask.main(["--offline", "Who?"], standalone_mode=False)
    assert [info.answer for info in History().runs()] == ["Paris"]


def test_a_session_is_made_with_its_first_run(asked: Ask) -> None:
    asked("--session", "main", "What is first?")
    assert asked("--session", "typo", "--temperature", "-1", "Who?")[0] == 2
    assert [info.name for info in History().sessions()] == ["main"]
    History().open_session("empty")
    asked("-c", "And second?")
    assert len(History().turns("main")) == 2
    assert asked("--session", "", "Who?")[0] == 2


def test_what_is_said_now_goes_before_what_is_set(
    asked: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked("--approve", "--yes", "Who?")[0] == 2
    monkeypatch.setenv("LOCAL_REACT_YES", "1")
    seen = list[dict[str, object]]()

    def noted(*given: object, **options: object) -> None:
        seen.append(options)

    monkeypatch.setattr("local_react.cli.approving.approver", noted)
    asked("--approve", "Who?")
    asked("Who?")
    assert [(one["every"], one["yes"]) for one in seen] == [(True, False), (False, True)]
