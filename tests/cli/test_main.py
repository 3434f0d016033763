"""The command line as a person meets it: a real process, a real (random) model."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from tiny_model import write_tiny_model

from local_react.cli.ask import ask
from local_react.cli.chat import chat
from local_react.cli.commands import COMMANDS
from local_react.cli.main import run
from local_react.cli.root import Root
from local_react.gguf_header import read_header
from local_react.memory import estimate, gib

FAST = ("--thought-tokens", "12", "-t", "1", "--max-steps", "2")


def local_react(
    *arguments: str, piped: str | bytes = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    data = piped.encode() if isinstance(piped, str) else piped
    done = subprocess.run(
        [sys.executable, "-m", "local_react", *arguments],
        input=data,
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def one_line(done: subprocess.CompletedProcess[str], code: int) -> str:
    """Return the one line of an error, after checking that it is one and the exit code."""
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def test_the_answer_alone_goes_to_standard_output(tiny_path: Path) -> None:
    done = local_react("-m", str(tiny_path), *FAST, "hello")
    assert done.returncode in (0, 4)
    assert done.stderr.startswith("Thought: ")
    assert "\nAction:" in done.stderr
    assert "Thought:" not in done.stdout
    assert "llama" not in done.stderr


def test_quiet_shows_nothing_but_the_answer(tiny_path: Path) -> None:
    done = local_react("-q", "-m", str(tiny_path), *FAST, "--no-tools", "hello")
    assert done.stderr in ("", "local-react: the answer was cut off\n")


def test_json_is_the_whole_run(tiny_path: Path) -> None:
    done = local_react("--json", "-m", str(tiny_path), *FAST, "--offline", "hello", "you")
    run = json.loads(done.stdout)
    assert run["question"] == "hello you"
    assert run["model"] == "tiny.gguf"
    assert 1 <= len(run["steps"]) <= 2
    assert set(run) == {
        "question", "answer", "sources", "stop_reason", "confidence", "computed", "votes",
        "guards", "model", "steps", "usage", "seconds", "egress"
    }  # fmt: skip
    assert set(run["steps"][0]) == {
        "thought", "action", "observation", "sources", "usage", "seconds", "reply"
    }  # fmt: skip
    assert (run["sources"], run["egress"]) == ([], [])
    assert done.returncode == (0 if run["stop_reason"] == "finish" else 4)


def test_verbose_twice_shows_prompt_grammar_and_native_log(tiny_path: Path) -> None:
    done = local_react("-vv", "-m", str(tiny_path), *FAST, "-T", "calculator", "hello")
    assert "<|im_start|>system" in done.stderr
    assert "Question: hello" in done.stderr
    assert "root ::= " in done.stderr
    assert "llama_model_loader" in done.stderr
    assert "tokens read" in done.stderr
    assert "search" not in done.stderr.split("--- grammar")[1]


def test_piped_text_is_attached_to_the_question(tiny_path: Path) -> None:
    arguments = ("--json", "-m", str(tiny_path), *FAST, "--no-tools")
    both = json.loads(local_react(*arguments, "summarise", piped="a letter\n").stdout)
    alone = json.loads(local_react(*arguments, piped=b"caf\xe9?\n").stdout)
    assert both["question"] == "summarise\n\nText:\na letter"
    assert alone["question"] == "café?"


def test_piped_bytes_that_are_no_text_are_refused(tiny_path: Path) -> None:
    done = local_react("-m", str(tiny_path), "q", piped=b"\x89PNG\r\n\x1a\n\x00\x01\x02" * 20)
    assert "standard input cannot be read: not text" in one_line(done, 2)


def test_with_piped_text_nothing_can_be_sent_out_unless_asked_for(tiny_path: Path) -> None:
    arguments = ("-vv", "-m", str(tiny_path), *FAST, "summarise")
    grammar = local_react(*arguments, piped="a letter").stderr.split("--- grammar")[1]
    assert "calculator" in grammar
    assert "search" not in grammar
    allowed = ("--network", "allow", *arguments)
    assert "search" not in local_react(*allowed, piped="x").stderr.split("--- grammar")[1]
    named = local_react(*allowed, "-T", "search", piped="a letter").stderr
    assert "search" in named.split("--- grammar")[1]


def test_without_a_terminal_nothing_is_sent_unless_allowed(tiny_path: Path) -> None:
    arguments = ("-vv", "-m", str(tiny_path), *FAST, "q")
    asked = local_react(*arguments).stderr
    assert "search" not in asked.split("--- grammar")[1]
    assert "nothing left this machine" in asked
    allowed = local_react(*arguments, LOCAL_REACT_NETWORK="allow").stderr
    assert "search" in allowed.split("--- grammar")[1]
    denied = local_react("-T", "search", *arguments)
    assert "--network allow" in one_line(denied, 5)
    assert "it can be ask, allow, deny" in one_line(local_react("q", LOCAL_REACT_NETWORK="on"), 2)


def test_control_characters_of_the_reply_do_not_reach_the_terminal(tiny_path: Path) -> None:
    for seed in range(3):
        options = ("--temp", "2", "--seed", str(seed), "--no-tools")
        done = local_react("-m", str(tiny_path), *FAST, *options, "hello")
        assert not {"\x1b", "\x07", "\x00"} & set(done.stderr + done.stdout)


@pytest.mark.parametrize("question", ["", "   "])
def test_an_empty_question_is_a_usage_error(question: str) -> None:
    assert "empty" in one_line(local_react(question), 2)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("-m", "qwen2.5-codr-1.5b"), 3, "qwen2.5-coder-1.5b"),
        (("-m", "nothing/here.gguf"), 3, "there is no file"),
        (("-m", "EMPTY", "--tool", "calculater"), 2, "calculator"),
        (("-T", "zzzzz"), 2, "calculator, current_time"),
        (("-m", "TINY", "--max-steps", "0"), 2, "--max-steps"),
        (("-m", "TINY", "--ctx-size", "0"), 2, "--ctx-size"),
        (("-m", "TINY", "--ctx-size", "1000000000"), 2, "trained for a context of 4096 tokens"),
        (("-m", "TINY", "--threads", "-3"), 2, "--threads"),
        (("--no-tools", "--tool", "calculator"), 2, "contradict"),
        (("--temperature", "-1"), 2, "temperature"),
        (("--top-p", "7"), 2, "top-p"),
        (("--offline", "--tool", "search"), 5, "search"),
        (("-m", "TEXT"), 3, "not a GGUF"),
        (("-m", "EMPTY"), 3, "empty"),
        (("-m", "CUT"), 3, "cannot be loaded"),
        (("-m", "NEW"), 3, "unknown model architecture: 'zzz9'"),
        (("-m", "DIRECTORY"), 3, "directory"),
        (("-m", "smollm2-135m"), 3, "local-react pull smollm2-135m"),
    ],
)
def test_bad_input_is_one_line_and_its_exit_code(
    tiny_path: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    files = {name: tmp_path / f"{name}.gguf" for name in ("TEXT", "EMPTY", "CUT", "NEW")}
    files["TEXT"].write_text("no model at all")
    files["EMPTY"].write_bytes(b"")
    files["CUT"].write_bytes(tiny_path.read_bytes()[:20_000])
    write_tiny_model(files["NEW"], architecture="zzz9")
    places = {**files, "TINY": tiny_path, "DIRECTORY": tmp_path}
    filled = [str(places.get(argument, argument)) for argument in arguments]
    done = local_react(*filled, "q", LOCAL_REACT_MODELS=str(tmp_path / "none"))
    assert told in one_line(done, code)


@pytest.mark.parametrize(
    ("missing", "told"),
    [("all", "take a smaller one"), ("one byte", "a smaller --ctx-size")],
)
def test_what_the_memory_cannot_hold_is_refused_with_figures(
    tiny_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    missing: str,
    told: str,
) -> None:
    needed = estimate(tiny_path, read_header(tiny_path), 4096).total
    available = 0 if missing == "all" else needed - 1
    monkeypatch.setattr("local_react.backends.llama.loading.available_memory", lambda: available)
    monkeypatch.setattr(sys, "stdin", None)
    assert run(["-m", str(tiny_path), *FAST, "q"]) == 3
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert told in err
    assert f"needs {gib(needed)}" in err
    assert f"{gib(available)} are available" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--nonsense", "q"), "--nonsense"),
        (("-5 + 3",), "put -- before"),
        (("--temperature", "abc", "q"), "abc"),
        (("pull", "a", "b"), "b"),
    ],
)
def test_what_click_refuses_is_one_line_too(arguments: tuple[str, ...], told: str) -> None:
    assert told in one_line(local_react(*arguments), 2)


def test_a_question_longer_than_the_context_is_refused_with_figures(tiny_path: Path) -> None:
    done = local_react("-m", str(tiny_path), *FAST, "summarise", piped="x" * 9000)
    assert "4096" in one_line(done, 2)


def test_offline_by_the_environment_leaves_the_network_tools_out(tiny_path: Path) -> None:
    done = local_react("-vv", "-m", str(tiny_path), *FAST, "q", LOCAL_REACT_OFFLINE="1")
    grammar = done.stderr.split("--- grammar")[1]
    assert "current_time" in grammar
    assert "search" not in grammar
    assert "read-page" not in grammar
    assert "exchange-rate" in grammar  # it answers from the rates that are kept


def test_help_and_version() -> None:
    for arguments in (("--help",), ("-h",), ("ask", "--help")):
        done = local_react(*arguments)
        assert done.returncode == 0
        assert "Exit codes:" in done.stdout
    for arguments in (("--version",), ("-V",)):
        assert local_react(*arguments).stdout.startswith("local-react, version ")


def test_a_word_that_is_no_command_is_a_question(tiny_path: Path) -> None:
    arguments = ("--json", "-m", str(tiny_path), *FAST, "--no-tools", "models")
    assert json.loads(local_react("ask", *arguments).stdout)["question"] == "models"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Led(NamedTuple):
    """Which command the arguments lead to, and what it is given."""

    command: str
    arguments: list[str]


@pytest.fixture
def led(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Led]:
    """Tells where arguments lead; nothing is run there."""
    seen = list[Led]()

    def stand_in(root: Root, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        settings = {"ignore_unknown_options": True, "help_option_names": []}

        @click.command(name, context_settings=settings)
        @click.argument("words", nargs=-1, type=click.UNPROCESSED)
        def command(words: tuple[str, ...]) -> None:
            seen.append(Led(name, list(words)))

        return command

    monkeypatch.setattr(Root, "get_command", stand_in)

    def lead(*arguments: str) -> Led:
        assert run(list(arguments)) == 0
        return seen.pop()

    return lead


@pytest.mark.parametrize(
    ("arguments", "command", "words"),
    [
        (["What is 2 + 2?"], "ask", ["What is 2 + 2?"]),
        (["what", "is", "this"], "ask", ["what", "is", "this"]),
        (["paris"], "ask", ["paris"]),
        ([""], "ask", [""]),
        (["-c", "and in euros?"], "ask", ["-c", "and in euros?"]),
        (["-m", "x", "q"], "ask", ["-m", "x", "q"]),
        (["-m", "x", "doctor"], "ask", ["-m", "x", "doctor"]),
        (["--", "-5 + 3"], "ask", ["-5 + 3"]),
        (["ask", "doctr"], "ask", ["doctr"]),
        (["ask", "ask", "help"], "ask", ["ask", "help"]),
        (["mean", "of", "3", "and", "5"], "ask", ["mean", "of", "3", "and", "5"]),
        (["modles are what?"], "ask", ["modles are what?"]),
        (["help", "me", "with", "this"], "ask", ["help", "me", "with", "this"]),
        (["help me"], "ask", ["help me"]),
        (["calc 2"], "ask", ["calc 2"]),
        (["-q", "doctr"], "ask", ["-q", "doctr"]),
        (["calc", "2+2"], "calc", ["2+2"]),
        (["docs", "what"], "docs", ["what"]),
    ],
)
def test_what_begins_with_no_command_is_a_question(
    led: Callable[..., Led], arguments: list[str], command: str, words: list[str]
) -> None:
    assert led(*arguments) == (command, words)


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (["doctr"], "doctor"),
        (["modles"], "models"),
        (["modles", "list"], "models"),
        (["doctr", "--json"], "doctor"),
        (["Doctor"], "doctor"),
        (["completions", "bash"], "completion"),
        (["helpp"], "help"),
    ],
)
def test_a_misspelt_command_is_no_question(
    arguments: list[str], near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"did you mean `local-react {near}`?" in err
    assert "`local-react ask`" in err


@pytest.mark.parametrize(
    ("stdin", "stdout", "command"),
    [
        (Terminal(), Terminal(), "chat"),
        (Terminal(), io.StringIO(), "ask"),
        (io.StringIO("a letter"), Terminal(), "ask"),
        (None, Terminal(), "ask"),
    ],
)
def test_without_arguments_a_terminal_opens_the_chat(
    led: Callable[..., Led],
    monkeypatch: pytest.MonkeyPatch,
    stdin: io.StringIO | None,
    stdout: io.StringIO,
    command: str,
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(sys, "stdout", stdout)
    assert led() == (command, [])


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["--offline", "-m", "x"], "chat"),
        (["-c"], "chat"),
        (["--offline", "What is it?"], "ask"),
        (["--json"], "ask"),
        (["--dry-run"], "ask"),
        (["-f", "letter.txt"], "ask"),
        (["ask", "--offline"], "ask"),
    ],
)
def test_options_alone_are_for_a_chat_where_it_has_them(
    own_places: None, monkeypatch: pytest.MonkeyPatch, arguments: list[str], command: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys, "stdout", Terminal())
    seen = list[str]()
    for one in (ask, chat):
        monkeypatch.setattr(one, "callback", lambda name=one.name, **_: seen.append(name))
    assert run(arguments) == 0
    assert seen == [command]


def test_what_is_set_to_last_is_the_default_of_a_question_and_of_no_help(
    own_places: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], tiny_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "stdin", None)
    settings = tmp_path / "config" / "config.toml"
    settings.parent.mkdir()
    settings.write_text("max-steps = 0\n")
    arguments = ["-m", str(tiny_path), *FAST[:4], "q"]
    assert run(arguments) == 2
    assert "max" in capsys.readouterr().err
    assert run(["--max-steps", "1", *arguments]) in (0, 4)
    settings.write_text("this is no TOML")
    assert run(arguments) == 2
    assert str(settings) in capsys.readouterr().err
    for spared in (["ask", "--help"], ["doctor", "--help"], ["--help"], ["completion", "zsh"]):
        assert run(spared) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_what_a_terminal_cannot_show_is_replaced(tmp_path: Path, encoding: str) -> None:
    name = "≤ 中 😀"
    done = local_react("-m", name, "q", PYTHONIOENCODING=f"{encoding}:strict")
    assert done.returncode == 3
    assert "internal error" not in done.stderr


def test_a_reader_that_goes_away_is_no_traceback(tiny_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "local_react", "-q", "-m", str(tiny_path), *FAST, "q"],
        stdin=subprocess.DEVNULL,
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
        timeout=120,
    )
    os.close(write)
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


def shell(command: str) -> subprocess.CompletedProcess[bytes]:
    line = f"{sys.executable} -m local_react {command}"
    return subprocess.run(line, shell=True, capture_output=True, check=False, timeout=120)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_standard_error_that_is_closed_or_full_does_not_cost_the_answer(tiny_path: Path) -> None:
    ask = f"--json -m {tiny_path} {' '.join(FAST)} --no-tools hi </dev/null"
    for redirection in ("2>&-", "2>/dev/full"):
        done = shell(f"{ask} {redirection}")
        assert json.loads(done.stdout)["question"] == "hi"
        assert done.returncode in (0, 4)
    assert shell("-m nope.gguf hi 2>&-").returncode == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_answer_that_cannot_be_written_is_told(tiny_path: Path) -> None:
    done = shell(f"-q --json -m {tiny_path} {' '.join(FAST)} hi </dev/null >/dev/full")
    assert done.returncode == 1
    assert b"cannot be written" in done.stderr
    assert b"internal" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another signal there")
def test_ctrl_c_ends_with_130_and_no_traceback(tiny_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "local_react", "-m", str(tiny_path), "-t", "1", "--temp", "2",
         "--thought-tokens", "1000000", "q"],
        # Whoever runs the tests in the background may have had SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    process.stderr.read(10)  # it is writing its first Thought
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err


def test_models_lists_the_catalogue_and_what_is_here(tmp_path: Path) -> None:
    done = local_react("models", LOCAL_REACT_MODELS=str(tmp_path))
    assert done.returncode == 0
    assert "qwen2.5-coder-1.5b" in done.stdout
    assert "[default]" in done.stdout
    assert not any(line.startswith("*") for line in done.stdout.splitlines())
    assert local_react("pull", "--list").stdout.count("\n") == done.stdout.count("\n")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("qwen3",), 3, "qwen3"),
        (("smollm2-135m", "--verify"), 3, "smollm2-135m"),
        (("smollm2-135m", "--source", "nowhere"), 2, "nowhere"),
    ],
)
def test_pull_tells_what_is_wrong_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    done = local_react("pull", *arguments, "--dir", str(tmp_path))
    assert done.returncode == code, done.stderr
    assert told in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_pull_tells_a_file_by_its_size(tmp_path: Path) -> None:
    file = tmp_path / "on a stick.gguf"
    with file.open("wb") as sparse:
        sparse.write(b"GGUF")
        sparse.truncate(98_362_432)  # the bytes of smollm2-135m, and not its hash
    done = local_react("pull", "--source", str(file), "--dir", str(tmp_path / "models"))
    assert done.returncode == 3
    assert "smollm2-135m" in done.stderr or "SmolLM2-135M" in done.stderr


def test_pull_offline_fetches_nothing(tmp_path: Path) -> None:
    done = local_react("pull", "smollm2-135m", "--dir", str(tmp_path), LOCAL_REACT_OFFLINE="1")
    assert done.returncode == 5
    assert [path.suffix for path in tmp_path.iterdir() if path.suffix == ".gguf"] == []
