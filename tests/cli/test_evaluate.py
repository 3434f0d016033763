"""`local-react eval`: asked, kept, gone on with, told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from local_react import LlamaModel
from local_react.cli import INTERRUPTED
from local_react.cli.evaluate import evaluate
from local_react.cli.main import run
from local_react.errors import UsageError
from local_react.evaluation.sets import NAMES

LINES = (
    {"question": "What is 2 + 2?", "answer": 4},
    {"question": "Is Oslo in Norway?", "answer": "yes"},
)
QUICK = ("--arm", "bare", "--arm", "agent:thought_tokens=8,action_tokens=24,max_steps=1,tools=none")


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    return path


def ask(*arguments: object) -> int:
    code = evaluate.main([str(argument) for argument in arguments], standalone_mode=False)
    assert isinstance(code, int)
    return code


@pytest.mark.parametrize("together", [1, 2])
def test_questions_are_asked_and_kept_and_not_asked_again(
    tiny_path: Path,
    questions: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    together: int,
) -> None:
    out = questions.with_name("out.jsonl")
    arguments = (questions, *QUICK, "-m", tiny_path, "-t", 1, "--together", together, "--out", out)
    assert ask(*arguments) == 0
    first = capsys.readouterr()
    assert first.out.startswith(f"{tiny_path}, 95 % intervals\n")
    assert "mine agent:thought_tokens=8" in first.out
    assert first.err.startswith("4/4, ")
    assert len(out.read_text().splitlines()) == 4

    def fail(*arguments: object, **options: object) -> None:
        raise AssertionError("no model is needed")

    monkeypatch.setattr(LlamaModel, "__init__", fail)
    assert ask(*arguments) == 0
    again = capsys.readouterr()
    assert (again.out, again.err) == (first.out, "")

    monkeypatch.undo()
    out.write_bytes(out.read_bytes()[:-5])
    assert ask(*arguments) == 0
    assert capsys.readouterr().err.startswith(f"3 are in {out} and not asked again\n1/1, ")
    assert len(out.read_text().splitlines()) == 5  # and the cut one


def test_the_first_so_many(
    tiny_path: Path, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(questions, "--n", 1, "--arm", "bare", "-m", tiny_path, "-t", 1) == 0
    assert capsys.readouterr().err.startswith("1/1, ")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "the sets are gsm8k"),
        (("gsm9k",), "did you mean gsm8k?"),
        (("FILE", "--arm", "agnet"), "did you mean agent?"),
        (("FILE", "--arm", "retrieval"), "the arm retrieval fits none of the sets"),
        (("FILE", "--file", "FILE"), "--file belongs to one set"),
        (("gsm8k", "--scorer", "text"), "--scorer is for a file of your own"),
        (("FILE", "--scorer", "number"), "the scorer number cannot use 'yes'"),
        (("svamp", "--data", "nowhere"), "nowhere"),
        (("FILE", "--out", "FILE"), "holds no results"),
    ],
)
def test_what_cannot_be_used_is_told(
    questions: Path, arguments: tuple[str, ...], told: str, tiny_path: Path
) -> None:
    given = [str(questions) if one == "FILE" else one for one in arguments]
    with pytest.raises(UsageError) as raised:
        ask(*given, "-m", tiny_path)
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


def test_exit_codes(questions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", "gsm9k"]) == 2
    assert run(["eval", str(questions), "--together", "0"]) == 2
    assert run(["eval", str(questions), "-m", "no-such-model"]) == 3
    for line in capsys.readouterr().err.splitlines():
        assert line.startswith("local-react: ")


def test_help_names_every_set_and_arm() -> None:
    with click.Context(evaluate) as context:
        words = evaluate.get_help(context).split()
    assert {*NAMES, "bare", "cot", "retrieval", "agent"} <= set(words)


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another signal there")
@pytest.mark.parametrize("together", ["1", "2"])
def test_ctrl_c_keeps_what_is_done(tiny_path: Path, questions: Path, together: str) -> None:
    out = questions.with_name("out.jsonl")
    with questions.open("a") as file:
        for number in range(500):
            file.write(f'{{"question": "What is {number} + 1?", "answer": {number + 1}}}\n')
    process = subprocess.Popen(
        [sys.executable, "-m", "local_react", "eval", str(questions), "-m", str(tiny_path),
         "-t", "1", "--arm", "bare", "--together", together, "--out", str(out)],
        # Whoever runs the tests in the background may have had SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    while not out.exists() or not out.stat().st_size:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    printed, err = process.communicate(timeout=120)
    done = len(out.read_text().splitlines())
    assert process.returncode == INTERRUPTED
    assert f"interrupted: {done} answers are in {out}: the same command goes on" in err
    assert "Traceback" not in err
    assert f"mine bare {done:>4} " in printed


@pytest.mark.model
def test_two_questions_with_a_real_model(
    smollm: LlamaModel, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = questions.with_name("out.jsonl")
    arms = ("--arm", "cot", "--arm", "agent:max_steps=2,thought_tokens=60")
    assert ask(questions, *arms, "-m", smollm.path, "--together", 2, "--out", out) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 4
    assert not any(row["error"] for row in rows)
    assert all(row["tokens"] > 0 and row["trace"] for row in rows)
    assert capsys.readouterr().out.count("mine ") == 2
