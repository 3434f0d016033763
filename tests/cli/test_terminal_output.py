"""What is printed, in the terminals there are: without colour, narrow, none, of an old
encoding."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import pytest

from local_react.cli.commands import COMMANDS
from local_react.cli.front_page import EXAMPLES
from local_react.cli.main import run
from local_react.cli.root import root

ANSWER = "a ≤ b → 中 😀 end"
PROGRAM = """
import sys
from pathlib import Path

import local_react.backends.llama as llama
from local_react.backends.scripted import ScriptedModel
from local_react.cli.main import run

class Engine:
    reading = (0, 0)

class Model(ScriptedModel):
    has_template = True
    path = Path("model.gguf")
    threads = 1
    repack = False
    engine = Engine()

answer = sys.argv.pop(1)
reply = f'Thought: {answer}\\nAction: Finish {{"answer": "{answer}"}}'
llama.LlamaModel = lambda *arguments, **options: Model([reply] * 9)
sys.exit(run(sys.argv[1:]))
"""
QUESTION = ("--no-tools", "--votes", "1", "Who?")
OLD = {
    "cp1252": {"PYTHONIOENCODING": "cp1252:strict"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""},
}
"""Environments whose terminal can't show all that we print."""
STEERING = "\x1b"


@pytest.fixture
def program(tmp_path: Path, own_places: None) -> list[str]:
    """The program, with a model that gives a fixed answer."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    return [sys.executable, str(file), ANSWER]


def piped(
    command: Sequence[str], environment: Mapping[str, str], encoding: str = "utf-8"
) -> tuple[int, str, str]:
    """Run it without a terminal; return exit code, output and errors."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout.decode(encoding), done.stderr.decode(encoding)


def on_terminal(
    command: Sequence[str], environment: Mapping[str, str], columns: int = 80
) -> tuple[int, str]:
    """Run it on a real terminal; return the exit code and all that it wrote there."""
    pty = pytest.importorskip("pexpect", reason="SKIPPED, no pexpect: no terminal is tried")
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    child = pty.spawn(
        command[0],
        list(command[1:]),
        env={"TERM": "xterm-256color", **plain, **environment},
        encoding="utf-8",
        dimensions=(24, columns),
        timeout=120,
    )
    child.expect(pty.EOF)
    child.close()
    return child.exitstatus, child.before


def on_screen(shown: str, columns: int) -> list[str]:
    """Return the lines that a person sees, where a terminal was sent this."""
    pyte = pytest.importorskip("pyte", reason="SKIPPED, no pyte: no screen is looked at")
    screen = pyte.Screen(columns, 400)
    pyte.Stream(screen).feed(shown)
    return [line.rstrip() for line in screen.display]


def ours(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "local_react", *arguments]


@pytest.mark.parametrize("encoding", OLD)
def test_an_answer_is_printed_as_far_as_the_encoding_goes(
    program: list[str], encoding: str
) -> None:
    code, out, err = piped([*program, *QUESTION], OLD[encoding], "cp1252")
    assert code == 0
    for told in (out, err):
        assert told.index("a ") < told.index(" b ") < told.index(" end")
    assert "≤" not in out
    assert "Traceback" not in err
    assert "internal error" not in err


@pytest.mark.parametrize("encoding", OLD)
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--help",), 0),
        (("ask", "--help"), 0),
        (("help", "docs", "add"), 0),
        (("models",), 0),
        (("-m", "≤ 中 😀", "Who?"), 3),
        (("--nonsense≤", "Who?"), 2),
        (("doctr",), 2),
    ],
    ids=str,
)
def test_help_and_errors_too(
    arguments: tuple[str, ...], code: int, encoding: str, own_places: None
) -> None:
    ended, out, err = piped(ours(*arguments), OLD[encoding], "cp1252")
    assert ended == code, err
    assert "Traceback" not in err
    assert "internal error" not in err
    assert bool(out) == (code == 0)
    assert code == 0 or err.count("\n") == 1


@pytest.mark.parametrize("encoding", OLD)
def test_a_kept_run_too(program: list[str], encoding: str) -> None:
    assert piped([*program, *QUESTION], OLD[encoding], "cp1252")[0] == 0
    code, out, err = piped(ours("trace", "show", "last"), OLD[encoding], "cp1252")
    assert (code, err) == (0, "")
    assert out.index("a ") < out.index(" b ") < out.index(" end")


def test_without_a_terminal_there_is_no_colour_and_the_answer_alone_on_standard_output(
    program: list[str],
) -> None:
    code, out, err = piped([*program, *QUESTION], {"TERM": "xterm-256color"})
    assert (code, out) == (0, f"{ANSWER}\n")
    assert STEERING not in err


def test_a_terminal_shows_wide_characters_and_the_steps_dim(program: list[str]) -> None:
    code, shown = on_terminal([*program, *QUESTION], {})
    assert code == 0
    assert ANSWER in on_screen(shown, 80)
    assert "\x1b[2m" in shown


def test_no_color_means_none(program: list[str]) -> None:
    code, shown = on_terminal([*program, *QUESTION], {"NO_COLOR": "1"})
    assert code == 0
    assert ANSWER in shown
    assert STEERING not in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("ask", "--help"),
        ("models",),
        ("network",),
        ("doctr",),
        ("-m", "none.gguf", "q"),
    ],
    ids=str,
)
@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_escape_reaches_a_terminal_that_wants_none(
    arguments: tuple[str, ...], environment: dict[str, str], own_places: None
) -> None:
    _, shown = on_terminal(ours(*arguments), environment)
    assert shown
    assert STEERING not in shown


def test_a_dumb_terminal_is_not_steered(program: list[str]) -> None:
    code, shown = on_terminal([*program, *QUESTION], {"TERM": "dumb"})
    assert code == 0
    assert ANSWER in shown
    assert STEERING not in shown


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        *((name, columns) for name in ("", *COMMANDS) for columns in (50, 80, 200)),
        # click leaves a list of options too little room in a narrower one.
        *((name, 40) for name in ("", "ask", "completion", "man")),
    ],
)
def test_help_fits_into_the_terminal(
    name: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run(["help", *name.split()]) == 0
    whole = as_they_are(root.get_command(click.Context(root), name) if name else root)
    lines = capsys.readouterr().out.splitlines()
    broken = [line for line in lines if line.strip() not in whole]
    assert len(broken) > 5
    assert max(map(len, broken)) <= min(columns, 80)


def as_they_are(command: click.Command | None) -> set[str]:
    """Return the lines that are longer than a terminal where they must be: what is to be
    typed, and what stands in columns."""
    assert command is not None
    context = click.Context(command)
    options = [one for one in command.get_params(context) if isinstance(one, click.Option)]
    records = [record for option in options if (record := option.get_help_record(context))]
    texts = (inspect.cleandoc(text or "") for text in (command.help, command.epilog))
    paragraphs = "\n\n".join(texts).split("\n\n")
    kept = [lines for lines in paragraphs if lines.startswith("\b\n")]
    return {*EXAMPLES, *(words for words, _ in records)} | {
        line.strip() for lines in kept for line in lines.splitlines()
    }


def test_a_terminal_of_forty_columns_shows_each_line_of_the_help_whole() -> None:
    code, shown = on_terminal(ours("--help"), {}, 40)
    assert code == 0
    seen = on_screen(shown, 40)
    lines = [line.rstrip() for line in shown.split("\r\n")]
    assert len(lines) > 50
    assert [line for line in lines if line.strip() not in EXAMPLES and line not in seen] == []
