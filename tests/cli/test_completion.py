"""Completion at TAB: what each shell is told, in a real bash too, and that it is quick."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from local_react.cli.commands import COMMANDS
from local_react.cli.completing import BUILTIN_TOOLS, model_names, session_names, tool_names
from local_react.cli.completion import SWITCHED_ON
from local_react.cli.main import run
from local_react.cli.root import HELP
from local_react.network import Network
from local_react.tools import builtin_tools

VARIABLE = "_LOCAL_REACT_COMPLETE"


def asked(
    line: str, shell: str = "bash", word: int | str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Ask as a shell does, at the end of a line; return what it is told."""
    words = line.split()
    number = len(words) - (0 if line.endswith(" ") else 1)
    return subprocess.run(
        [sys.executable, "-m", "local_react"],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={
            **os.environ,
            VARIABLE: f"{shell}_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(number if word is None else word),
            **environment,
        },
    )


def told(line: str, **environment: str) -> list[str]:
    """Return what bash is told, after checking that nothing went wrong."""
    done = asked(line, **environment)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_the_first_word_may_become_a_command() -> None:
    assert told("local-react ") == [f"plain,{name}" for name in (*COMMANDS, HELP)]
    assert told("local-react do") == ["plain,docs", "plain,doctor"]
    assert told("local-react help do") == ["plain,docs", "plain,doctor"]
    assert told("local-react What") == []


def test_the_options_of_a_question_are_offered_wherever_one_may_be_asked() -> None:
    first, of_ask = told("local-react -"), told("local-react ask -")
    assert set(of_ask) < set(first)
    assert len(first) == len(set(first))
    assert {"plain,--model", "plain,--offline", "plain,--help", "plain,--version"} <= {*first}
    assert "plain,--offline" in told("local-react -q --json --off")
    assert "plain,--offline" in told("local-react hello --off")


def test_what_a_command_takes_is_offered() -> None:
    assert told("local-react docs a") == ["plain,add"]
    assert told("local-react docs search --j") == ["plain,--json"]
    assert told("local-react ask --network ") == ["plain,ask", "plain,allow", "plain,deny"]
    assert told("local-react completion p") == ["plain,powershell"]
    assert told("local-react docs add ./x") == ["file,./x"]


def test_models_are_offered_by_name_and_else_files() -> None:
    assert "plain,smollm2-135m" in told("local-react -m ")
    assert told("local-react -m smollm2") == ["plain,smollm2-135m"]
    assert told("local-react ask --model=smollm2") == ["plain,smollm2-135m"]
    assert told("local-react -m ./my") == ["file,./my"]


def test_tools_are_offered_by_name() -> None:
    assert told("local-react -T calc") == ["plain,calculator"]
    named = [tool.name for tool in builtin_tools(Network("deny"), everything=True)]
    assert list(BUILTIN_TOOLS) == named


@pytest.mark.usefixtures("own_places")
@pytest.mark.parametrize("completer", [model_names, session_names, tool_names])
def test_a_name_that_cannot_be_found_out_is_not_offered_and_nothing_is_said(
    completer: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("no directory")
    for variable in ("LOCAL_REACT_DATA_DIR", "LOCAL_REACT_MODELS", "LOCAL_REACT_CONFIG"):
        monkeypatch.setenv(variable, str(tmp_path / "file"))
    assert callable(completer)
    assert [item.value for item in completer(None, None, "zzz") if item.type == "plain"] == []
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("line", "shell", "word"),
    [
        ("local-react doc", "bash", "seven"),
        ("local-react doc", "nonsense", None),
        ("local-react 'doc", "bash", None),
        ("local-react -- --mo", "bash", None),
        ("", "bash", 0),
    ],
)
def test_a_strange_line_is_not_answered_and_nothing_is_said(
    line: str, shell: str, word: int | str | None
) -> None:
    done = asked(line, shell, word)
    assert done.stderr == ""
    assert "Traceback" not in done.stdout


def test_each_shell_is_told_in_its_own_way() -> None:
    line = COMMANDS["docs"].help
    assert asked("local-react docs", "zsh").stdout == f"plain\ndocs\n{line}\n"
    fish = asked("local-react docs", "fish", "docs", COMP_WORDS="local-react docs")
    assert "docs" in fish.stdout
    assert asked("local-react docs", "powershell").stdout == f"plain\ndocs\n{line}\n"


HEAVY = """
import sys
from local_react.cli.main import run
try:
    run([])
except SystemExit:
    pass
heavy = {"llama_cpp", "numpy", "pydantic", "rich", "sympy", "httpx2", "ddgs", "prompt_toolkit",
         "huggingface_hub", "local_react.agent", "local_react.protocol"}
print(*sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "line", ["local-react ", "local-react -", "local-react -m ", "local-react -T ",
             "local-react docs ", "local-react ask --"]
)  # fmt: skip
def test_a_tab_does_not_wait_for_what_it_does_not_need(line: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HEAVY],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            VARIABLE: "bash_complete",
            "COMP_WORDS": line,
            "COMP_CWORD": str(len(line.split()) - (not line.endswith(" "))),
        },
    )
    assert done.stdout
    assert done.stderr == "\n"


@pytest.mark.parametrize("shell", SWITCHED_ON)
def test_the_script_of_a_shell_asks_us(shell: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    out, err = capfd.readouterr()
    assert f"{VARIABLE}" in out
    assert f"{shell}_complete" in out
    assert "local-react" in out
    assert err == ""  # a shell may read it each time that it starts


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "pwsh"])
def test_the_script_is_one_that_the_shell_can_read(shell: str, tmp_path: Path) -> None:
    if not (program := shutil.which(shell)):
        pytest.skip(f"SKIPPED, {shell} is not installed: its script is not tried")
    script = subprocess.run(
        [sys.executable, "-m", "local_react", "completion", shell.replace("pwsh", "powershell")],
        capture_output=True,
        check=True,
    ).stdout
    file = tmp_path / ("script.ps1" if shell == "pwsh" else "script")
    file.write_bytes(script)
    options = ["-NoProfile", "-File"] if shell == "pwsh" else ["-n"]
    done = subprocess.run([program, *options, str(file)], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_unknown_shell_is_refused_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["completion", "tcsh"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert all(shell in err for shell in SWITCHED_ON)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH on which the program is."""
    program = tmp_path / "local-react"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m local_react "$@"\n')
    program.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


READY = {
    "bash": (["--norc", "--noprofile", "-i"], 'bind "set bell-style none"'),
    "zsh": (["-f", "-i"], "autoload -Uz compinit; compinit -D; PROMPT='READY> '"),
}
"""How a shell is started, and what it has to do before it completes."""


@pytest.mark.skipif(os.name == "nt", reason="a terminal is made otherwise there")
@pytest.mark.parametrize("shell", READY)
def test_in_a_real_shell_tab_completes(shell: str, path: str) -> None:
    pexpect = pytest.importorskip("pexpect", reason="SKIPPED, no pexpect: no shell is tried")
    if not shutil.which(shell):
        pytest.skip(f"SKIPPED, {shell} is not installed: TAB is not tried in it")
    options, before = READY[shell]
    child = pexpect.spawn(
        shell,
        options,
        env={**os.environ, "PATH": path, "PS1": "READY> ", "TERM": "dumb", "INPUTRC": os.devnull},
        encoding="utf-8",
        dimensions=(40, 200),
        timeout=30,
    )
    try:
        child.sendline(f'{before}; eval "$(local-react completion {shell})"; echo "o""n"')
        child.expect("on\r\n")
        child.expect("READY> ")
        for typed, completed in {
            "local-react comp\tpow\t": "powershell",
            "local-react doct\t--js\t": "--json",
            "local-react pull smollm2\t": "smollm2-135m",
            "local-react docs\tad\t": "add",
        }.items():
            child.send(typed)
            child.expect_exact(completed)
            child.sendcontrol("u")
        child.send("local-react doc\t\t")
        child.expect(r"docs\s.*doctor")
    finally:
        child.close(force=True)


def test_in_a_real_fish_tab_completes(path: str, tmp_path: Path) -> None:
    if not (fish := shutil.which("fish")):
        pytest.skip("SKIPPED, fish is not installed: TAB is not tried in it")
    script = 'local-react completion fish | source; complete -C "local-react pull smollm2"'
    done = subprocess.run(
        [fish, "--no-config", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path, "HOME": str(tmp_path)},
    )
    assert (done.stdout, done.stderr) == ("smollm2-135m\n", "")
