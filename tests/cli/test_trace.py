"""`local-react trace`: what a person does with the runs that were kept."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import HOSTILE, USUAL, calls, finish, recorded, tools

from local_react import Agent, LlamaModel, Run, Sampling
from local_react.cli.main import run
from local_react.cli.recording import transcript_of
from local_react.history import History
from local_react.transcript import Recorder, parsed

pytestmark = pytest.mark.usefixtures("own_places")

LOADED = {
    "gpu_layers": -1,
    "flash_attention": "auto",
    "cache_type_k": "f16",
    "cache_type_v": "f16",
}


def kept(question: str = "What is the weather in Oslo?", **options: Any) -> str:
    """Keep a run of the script, and return its id."""
    made, transcript = recorded(question=question, **options)
    return History().add(made, transcript=transcript.text)


class Said:
    """What a command printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str, code: int | tuple[int, ...] = 0) -> str:
        found = run(["trace", *arguments])
        out, self.err = self._capsys.readouterr()
        assert found in (code if isinstance(code, tuple) else (code,)), self.err
        assert "Traceback" not in self.err
        return out


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    return Said(capsys)


# list


def test_without_a_run_there_is_nothing_to_list(said: Said) -> None:
    assert said() == said("list") == "no run is kept yet\n"


def test_a_line_tells_id_time_seconds_question_and_answer(said: Said) -> None:
    first, second = kept("What is one?"), kept("What is two?")
    lines = said().splitlines()
    assert [line[:8] for line in lines] == [second, first]
    assert "What is two?  21 degrees, 38 lbs" in lines[0]
    assert " s  " in lines[0]
    assert HOSTILE not in lines[0]


def test_runs_are_found_by_words_number_and_session(said: Said) -> None:
    made, _ = recorded(question="About trains?")
    first = History().add(made, session="journey")
    second = kept("About cats?")
    assert said("list", "--containing", "TRAIN").startswith(first)
    assert said("list", "--session", "journey").split()[0] == first
    assert said("list", "-n", "1").split()[0] == second
    assert said("list", "--containing", "dogs") == "no run that is kept fits\n"
    assert [one["id"] for one in json.loads(said("list", "--json"))] == [second, first]


def test_an_unknown_session_is_named(said: Said) -> None:
    said("list", "--session", "nothing", code=2)
    assert "nothing" in said.err


def on_a_terminal(columns: int, *arguments: str) -> str:
    """Return what is printed on a terminal so wide."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "local_react", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"},
    ) as process:
        os.close(theirs)
        parts = list(_all_of(ours))
        process.wait()
    os.close(ours)
    return b"".join(parts).decode().replace("\r\n", "\n")


def _all_of(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # how Linux says that the other side is closed
            return
        if not part:
            return
        yield part


@pytest.mark.skipif(sys.platform == "win32", reason="no pty")
@pytest.mark.parametrize("columns", [20, 40, 60, 200])
def test_a_line_fits_into_the_terminal(columns: int) -> None:
    from rich.cells import cell_len

    kept("東京の天気はどうですか、そして明日は？" * 3)
    [line] = on_a_terminal(columns, "trace").splitlines()
    assert cell_len(line) <= max(columns, 36)
    assert ("東京" in line) == (columns >= 60)


# show


def test_a_run_is_shown_with_its_steps_and_figures(said: Said) -> None:
    name = kept()
    text = said("show", name[:4])
    for part in (
        f"{name}: scripted, ",
        "> What is the weather in Oslo?",
        "Thought: First the weather.",
        'Action: weather {"city": "Oslo"}',
        "Observation: ",
        "[step 5: ",
        "21 degrees, 38 lbs",
        "[1] Weather (https://weather.test/)",
        "nothing left this machine",
    ):
        assert part in text
    assert text.count("[step ") == 5
    assert not set(text) & set("\x00\x1b\u202e\u2066")


def test_what_left_is_shown(said: Said) -> None:
    sent = {"tool": "weather", "host": "weather.test", "text": f"Oslo {HOSTILE}"}
    kept(egress=[{**sent, "bytes_sent": 1, "bytes_received": 2, "result": "200"}])
    text = said("show", "last")
    assert "left this machine: weather to weather.test: Oslo" in text
    assert "\x1b" not in text


def test_raw_is_the_transcript_itself(said: Said) -> None:
    name = kept()
    assert said("show", "last", "--raw") == History().transcript(name)


def test_a_run_without_a_transcript_is_shown_but_has_none(said: Said) -> None:
    made, _ = recorded()
    History().add(made)
    assert "Thought: First the weather." in said("show", "last")
    said("show", "last", "--raw", code=2)
    assert "no transcript" in said.err
    said("replay", "last", code=2)
    assert "cannot be replayed" in said.err


def test_a_file_is_a_run_too(said: Said, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(recorded()[1].text, encoding="utf-8")
    assert said("show", str(path)).startswith(f"{path}: scripted")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("last", "no run is kept yet"),
        ("abcd", "there is no run"),
        ("nothing", "there is no run"),
        ("gone.jsonl", "there is no file gone.jsonl"),
        ("a/b", "there is no file a/b"),
        ("x" * 5000, "there is no run"),
        ("a\0b", "there is no run"),
    ],
)
def test_what_is_no_run_is_named_in_one_line(said: Said, name: str, told: str) -> None:
    assert said("show", name, code=2) == ""
    assert told in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"hello", b"", b"[[["])
def test_what_is_no_transcript_is_named(said: Said, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    said("show", str(path), code=2)
    assert "run.jsonl" in said.err
    assert said.err.count("\n") == 1


# export


def test_a_run_is_exported_as_lines_and_read_again(said: Said, tmp_path: Path) -> None:
    name, path = kept(), tmp_path / "out.jsonl"
    assert said("export", name, "-o", str(path)) == ""
    assert path.read_text("utf-8") == History().transcript(name) == said("export", name)
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0
    assert "21 degrees" in said("show", str(path))
    said("export", name, "-o", str(path), code=2)
    assert "--force" in said.err
    said("export", name, "-o", str(path), "--force")


def test_a_run_is_exported_as_a_page(said: Said) -> None:
    kept()
    text = said("export", "last", "--html")
    assert text.startswith("<!DOCTYPE html>")
    assert "<script" not in text


def test_a_run_is_exported_as_one_object(said: Said) -> None:
    kept()
    told = json.loads(said("export", "last", "--json"))
    assert told["question"] == "What is the weather in Oslo?"
    assert [step["reply"] for step in told["steps"]] == [1, 2, 2, 3, 4]
    assert (len(told["calls"]), told["egress"]) == (4, [])


def test_a_run_is_exported_as_markdown_that_nothing_closes(said: Said) -> None:
    _, transcript = recorded([*USUAL[:3], finish("````\nx\n```")])
    made = transcript.run
    History().add(made, transcript=transcript.text)
    text = said("export", "last", "--markdown")
    assert text.startswith("> What is the weather in Oslo?\n")
    assert "`````text\n````\nx\n```\n`````" in text
    assert "### Step 5" in text
    assert not set(text) & set("\x00\x1b\u202e")


@pytest.mark.parametrize("form", ["--jsonl", "--html", "--json", "--markdown"])
def test_a_redacted_run_says_nothing(said: Said, form: str) -> None:
    kept("What about Mrs Smith?")
    text = said("export", "last", form, "--redact")
    for part in ("Smith", "Oslo", "degrees", "poodle", "First the weather"):
        assert part not in text
    assert "[text 1: 21 characters]" in text


# rm


def test_runs_are_deleted_once_the_user_agrees(said: Said) -> None:
    first, second, third = kept("one?"), kept("two?"), kept("three?")
    said("rm", first, code=2)
    assert "nobody to ask" in said.err
    assert said("rm", "--yes", first, second[:4]).startswith(f"deleted: {first} (one?), {second}")
    assert [one.id for one in History().runs()] == [third]


def test_nothing_is_deleted_where_one_is_unknown(said: Said) -> None:
    name = kept()
    said("rm", "--yes", name, "nothing", code=2)
    assert [one.id for one in History().runs()] == [name]
    said("rm", "--yes", code=2)


# replay


@pytest.fixture
def real(tiny: LlamaModel) -> tuple[str, Run]:
    """A run of a real, random model, with what it was made of."""
    recorder = Recorder()
    agent = Agent(
        tiny,
        recorder.tools(tools(calls())),
        max_steps=3,
        thought_tokens=12,
        action_tokens=40,
        sampling=Sampling(temperature=0.7, seed=4),
    )
    made = agent.run("What is the weather in Oslo?")
    text = transcript_of(recorder, made, agent, tiny, LOADED)
    return History().add(made, transcript=text), made


def test_a_replay_is_identical(said: Said, real: tuple[str, Run]) -> None:
    name, made = real
    count = "1 step" if len(made.steps) == 1 else f"{len(made.steps)} steps"
    assert said("replay", "-q", name).startswith(f"identical: {count}, answer ")
    assert said.err == ""
    head = parsed(History().transcript(name), "it").head
    assert head["settings"]["loading"]["threads"] == 1
    assert len(head["model_sha256"]) == 64


def test_a_model_is_found_where_it_was_whatever_it_was_called(
    said: Said, real: tuple[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript = parsed(History().transcript(real[0]), "it")
    path = tmp_path / "run.jsonl"
    head = {**transcript.head, "model": "./tiny.gguf"}  # of where it was asked
    path.write_text(replace(transcript, head=head).text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert said("replay", "-q", str(path)).startswith("identical: ")


def test_a_replay_says_where_it_differs(said: Said, real: tuple[str, Run], tmp_path: Path) -> None:
    name, _ = real
    transcript = parsed(History().transcript(name), "it")
    steps = [{**transcript.steps[0], "thought": "Something else."}, *transcript.steps[1:]]
    path = tmp_path / "other.jsonl"
    path.write_text(replace(transcript, steps=steps).text, encoding="utf-8")
    told = said("replay", "-q", str(path), code=7).splitlines()
    assert told[0] == "differs at step 1, its thought:"
    assert told[1] == "  recorded: Something else."
    assert told[2].startswith("  now:      ")
    object_ = json.loads(said("replay", "-q", "--json", str(path), code=7))
    assert (object_["identical"], object_["difference"]["part"]) == (False, "thought")
    assert object_["difference"]["recorded"] == "Something else."


def test_a_difference_is_shown_where_it_begins(
    said: Said, real: tuple[str, Run], tmp_path: Path
) -> None:
    name, made = real
    transcript = parsed(History().transcript(name), "it")
    question = {"question": made.question}
    path = tmp_path / "other.jsonl"
    end = {**transcript.end, "answer": f"{made.answer}, and more"}
    path.write_text(replace(transcript, end=end, head={**transcript.head, **question}).text)
    told = said("replay", "-q", str(path), code=7).splitlines()
    assert told[0] == "differs at its end: the answer:"
    assert told[1].endswith(", and more")


def test_a_branch_prints_the_new_answer_and_where_it_parts(
    said: Said, real: tuple[str, Run], tmp_path: Path
) -> None:
    name, _ = real
    path = tmp_path / "branch.jsonl"
    options = ("--seed", "99", "--save", "--transcript", str(path))
    answer = said("replay", name, *options, code=(0, 4))
    assert "kept as " in said.err
    assert "differs at step 1" in said.err
    assert "identical" not in answer
    assert [one.id for one in History().runs()][:1] == [name]
    branch = parsed(path.read_text("utf-8"), "it")
    assert branch.head["branch"] == {"run": name, "step": 1}
    assert branch.head["settings"]["sampling"]["seed"] == 99
    assert branch.text == History().transcript("last")
    assert said("replay", "-q", "last").startswith("identical: ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--from", "99"), "there is no step 99"),
        (("--observation", "x"), "no step before step 1"),
        (("-m", "nothing"), "nothing"),
        (("--temperature", "99"), "temperature"),
    ],
)
def test_a_branch_that_cannot_be_is_named(
    said: Said, real: tuple[str, Run], arguments: tuple[str, ...], told: str
) -> None:
    assert said("replay", "-q", real[0], *arguments, code=(2, 3)) == ""
    assert told in said.err
    assert said.err.count("\n") == 1


def test_a_redacted_run_is_not_replayed(said: Said, real: tuple[str, Run], tmp_path: Path) -> None:
    path = tmp_path / "redacted.jsonl"
    said("export", real[0], "--redact", "-o", str(path))
    said("replay", str(path), "-m", "nothing", code=2)
    assert "redacted" in said.err


def test_a_model_that_is_gone_is_named(said: Said) -> None:
    kept()
    said("replay", "last", code=3)
    assert "scripted" in said.err
