"""`local-react sessions`: listed, shown, renamed, deleted and exported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import click
import pytest
from kept_runs import TRANSCRIPT, run_of
from wcwidth import wcswidth

from local_react.as_dict import run_from_dict
from local_react.cli.sessions import sessions
from local_react.errors import UsageError
from local_react.history import History

Run = Callable[..., str]

posix = pytest.mark.skipif(os.name == "nt", reason="SKIPPED: no pseudo-terminals there")


@pytest.fixture
def history(own_places: None) -> History:
    """The history of this test alone, which the command looks at."""
    return History()


@pytest.fixture
def run(history: History, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command and gives what it prints, on standard output
    alone."""

    def call(*arguments: object) -> str:
        assert not sessions.main([str(argument) for argument in arguments], standalone_mode=False)
        told = capsys.readouterr()
        assert told.err == ""
        return told.out

    return call


def ask(history: History, question: str, session: str | None = None, answer: str = "12") -> None:
    history.add(
        run_of(question, answer),
        transcript=TRANSCRIPT,
        session=session or history.open_session().id,
    )


def on_a_terminal(*arguments: str, columns: int = 80, keys: str = "") -> tuple[str, int]:
    """Return what the command prints on a terminal of that width, and its exit code."""
    import pexpect

    child = pexpect.spawn(
        sys.executable,
        ["-m", "local_react", "sessions", *arguments],
        dimensions=(24, columns),
        encoding="utf-8",
        timeout=120,
        env={name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")},
    )
    if keys:
        child.expect(r"\[y/N\]")
        child.send(keys)
    child.expect(pexpect.EOF)
    child.close()
    return str(child.before).replace("\r\n", "\n"), int(child.exitstatus or 0)


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "local_react", "sessions", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )


def test_nothing_yet(run: Run, history: History) -> None:
    assert run() == run("list") == "no session is kept yet: `local-react chat` begins one\n"
    assert json.loads(run("list", "--json")) == []
    with pytest.raises(UsageError, match="none is kept yet"):
        run("show", "trip")
    assert not history.path.exists()


def test_the_list_tells_name_turns_time_and_first_question(run: Run, history: History) -> None:
    ask(history, "What is\n15% of 80?")
    ask(history, "Where?", "trip")
    ask(history, "When?", "trip")
    when = f"{datetime.now().astimezone():%Y-%m-%d}"
    first, second = run().splitlines()
    assert first.startswith(f"trip              2 turns  {when}") and first.endswith("  Where?")
    assert second.startswith(f"what-is-15-of-80   1 turn  {when}")
    assert second.endswith("  What is 15% of 80?")
    assert run("list", "-n", "1").startswith("trip  2 turns  ")
    told = json.loads(run("list", "--json", "-n", "1"))
    assert [(info["name"], info["turns"], info["question"]) for info in told] == [
        ("trip", 2, "Where?")
    ]
    assert told[0]["id"] == history.find_session("trip").id


def test_what_is_no_terminal_gets_the_whole_of_it(run: Run, history: History) -> None:
    ask(history, "many words " * 18)
    assert run().endswith(f"  {('many words ' * 18).strip()}\n")


@posix
@pytest.mark.parametrize("columns", [20, 44, 57, 80])
def test_the_list_fits_the_terminal_and_is_aligned(history: History, columns: int) -> None:
    for question in ("What is the capital?", "日本の首都はどこですか" * 9, "e\u0301 👍🏽 ok " * 20):
        ask(history, question, f"{question[:2]} x")
    lines = on_a_terminal("list", columns=columns)[0].splitlines()
    assert len(lines) == 3
    assert len({wcswidth(line[: line.index("1 turn")]) for line in lines}) == 1
    if columns > 40:  # name, turns and time are never cut
        assert all(wcswidth(line) <= columns for line in lines)
    assert any(line.endswith("…") for line in lines) == (columns > 44)


def test_a_name_or_question_steers_no_terminal(run: Run, history: History) -> None:
    ask(history, "a\x1b[31m \u202e red\x07?", answer="\x1b]0;title\x07 12")
    for told in (run(), run("show", history.sessions()[0].id), run("show", "--steps", "a-31m-red")):
        assert not set(told) & set("\x1b\x07\u202e")
        assert "red" in told


def test_a_session_is_shown_with_its_answers(run: Run, history: History) -> None:
    ask(history, "What is 15% of 80?\nPlease.", "sums")
    history.add(run_of("And then?", ""), session="sums", conversed=False)
    head, blank, *rest = run("show", "sums").splitlines()
    assert head.startswith("sums: 1 turn, the last 2") and not blank
    assert rest == [
        *("> What is 15% of 80?", "> Please.", "12", ""),
        *("> And then?", "(no answer)", "[the conversation does not go on from it]"),
    ]


def test_a_session_is_shown_with_its_steps(run: Run, history: History) -> None:
    ask(history, "What is 15% of 80?", "sums", "It is\n12.")
    assert run("show", "sums", "--steps").splitlines()[2:] == [
        "> What is 15% of 80?",
        "Thought: Multiply.",
        'Action: calculator {"expression": "0.15 * 80"}',
        "Observation: 12",
        'Action: lookup {"word": "Bern", "most": 2}',
        "Observation: found",
        "Thought: Hm.",
        "Action: none, since it has no Action line: Act",
        "Observation: again",
        "Thought: Done.",
        "It is",
        "12.",
    ]


@posix
@pytest.mark.parametrize("plain", [True, False])
def test_on_a_terminal_the_steps_are_dim_unless_no_color_is_set(
    history: History, monkeypatch: pytest.MonkeyPatch, plain: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if plain:
        monkeypatch.setenv("NO_COLOR", "1")
    ask(history, "What?", "sums")
    told, code = on_a_terminal("show", "--steps", "sums")
    assert code == 0
    assert ("\x1b[2mThought: Multiply." in told) != plain
    assert ("\x1b" in told) != plain


def test_a_session_is_renamed(run: Run, history: History) -> None:
    ask(history, "What?")
    assert run("rename", "what", "my sums") == "renamed: my sums\n"
    with pytest.raises(UsageError, match="did you mean 'my sums'"):
        run("rename", "my sum", "x")
    assert [info.name for info in history.sessions()] == ["my sums"]


def test_sessions_are_deleted(run: Run, history: History) -> None:
    for name in ("one", "two", "three"):
        ask(history, "What?", name)
    with pytest.raises(UsageError, match="no session 'four'"):
        run("delete", "one", "four", "--yes")
    assert len(history.sessions()) == 3
    assert run("delete", "one", "two", "one", "-y") == "deleted: one (1 turn), two (1 turn)\n"
    assert [info.name for info in history.sessions()] == ["three"]


def test_all_sessions_are_deleted_and_what_was_outside_of_them(run: Run, history: History) -> None:
    ask(history, "What?", "one")
    history.add(run_of("Alone?"))
    history.remember("I live in Bern")
    assert run("delete", "--all", "--yes") == (
        "deleted: all sessions (1) and all runs (2), those outside of sessions too\n"
    )
    assert not history.sessions() and not history.runs()
    assert len(history.facts()) == 1


def test_it_is_said_what_to_delete(run: Run) -> None:
    for arguments in ((), ("one", "--all")):
        with pytest.raises(UsageError, match="name the sessions to delete, or give --all"):
            run("delete", *arguments, "--yes")


def test_where_nobody_can_be_asked_nothing_is_deleted(history: History) -> None:
    ask(history, "What?", "one")
    for arguments in (["one"], ["--all"]):
        done = process("delete", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "nobody to ask: --yes" in done.stderr and done.stderr.count("\n") == 1
    assert len(history.sessions()) == 1


@posix
def test_on_a_terminal_it_is_asked_before_something_is_deleted(history: History) -> None:
    ask(history, "What?", "one")
    for keys, exit_code in (("n\n", 0), ("\n", 0), ("\x03", 130), ("\x04", 130)):
        told, code = on_a_terminal("delete", "one", keys=keys)
        assert code == exit_code and "deleted: one" not in told
        assert len(history.sessions()) == 1
    told, code = on_a_terminal("delete", "one", keys="y\n")
    assert code == 0 and "deleted: one (1 turn)\n" in told
    assert not history.sessions()


def test_a_session_is_exported_as_json(run: Run, history: History) -> None:
    ask(history, "What?\x1b", "sums")
    ask(history, "And?", "sums")
    text = run("export", "sums")
    assert "\x1b" not in text
    told, info = json.loads(text), history.find_session("sums")
    runs = told.pop("runs")
    assert told == {
        "id": info.id,
        "name": "sums",
        "created": info.created,
        "updated": info.updated,
    }
    assert [run_from_dict(one) for one in runs] == [run_of("What?\x1b"), run_of("And?")]
    assert [one["id"] for one in runs] == [one.id for one in history.runs()]


def test_a_session_is_exported_as_lines(run: Run, history: History) -> None:
    ask(history, "What?\n\u2028", "sums")
    ask(history, "And?", "sums")
    lines = run("export", "sums", "--format", "jsonl").split("\n")
    assert lines.pop() == ""
    told = [json.loads(line) for line in lines]
    assert [run_from_dict(one) for one in told] == [run_of("What?\n\u2028"), run_of("And?")]
    assert {one["session"] for one in told} == {"sums"}


def test_a_session_is_exported_as_markdown(run: Run, history: History) -> None:
    ask(history, "What is it?\nSay.", "sums", "It is 12 [1].")
    title, _, *rest = run("export", "sums", "--format", "markdown").splitlines()
    assert title == "# sums"
    assert rest[:3] == ["> What is it?", "> Say.", ""]
    assert rest[3:7] == ["It is 12 [1].", "", "- [1] Bern (https://example.org/bern)", ""]
    assert rest[7].startswith("*smollm2-135m, 2") and rest[7].endswith(", 1.5 s*")


def test_a_file_is_written_as_a_whole_and_not_over_another(
    run: Run, history: History, tmp_path: Path
) -> None:
    ask(history, "What \udc80?", "sums")
    file = tmp_path / "new" / "sums.json"
    assert run("export", "sums", "-o", file) == ""
    assert json.loads(file.read_text("utf-8"))["runs"][0]["question"] == "What \udc80?"
    if os.name != "nt":
        assert file.stat().st_mode & 0o777 == 0o600
    file.write_text("mine")
    with pytest.raises(UsageError, match="is there already: --force"):
        run("export", "sums", "-o", file)
    assert file.read_text() == "mine"
    run("export", "sums", "-o", file, "--force", "--format", "markdown")
    assert file.read_text("utf-8").startswith("# sums")
    assert [path.name for path in file.parent.iterdir()] == ["sums.json"]
    assert run("export", "sums", "-o", "-").startswith("{")


def test_what_is_no_file_is_not_written_over(run: Run, history: History, tmp_path: Path) -> None:
    ask(history, "What?", "sums")
    (tmp_path / "file").touch()
    for place, why in (
        (tmp_path, "choose another name"),
        (tmp_path / "file" / "x", "cannot be written"),
        (os.devnull, "choose another name"),
    ):
        with pytest.raises(UsageError, match=why):
            run("export", "sums", "-o", place, "--force")


def test_an_unknown_form_is_refused(run: Run) -> None:
    with pytest.raises(click.BadParameter, match="markdown"):
        run("export", "sums", "--format", "yaml")


def test_a_damaged_history_is_told_in_one_line(history: History) -> None:
    history.path.parent.mkdir()
    history.path.write_bytes(b"notes" * 1000)
    done = process("list")
    assert (done.returncode, done.stdout) == (2, "")
    assert "move it away" in done.stderr and done.stderr.count("\n") == 1
