"""Options that set limits: refused in one line where they cannot be, and passed on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def asked(tiny_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "local_react", "-m", str(tiny_path), "-t", "1", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--repeat-penalty", "0.5"),
        ("--repeat-penalty", "7"),
        ("--observation-tokens", "0"),
        ("--thinking-tokens", "-1"),
    ],
)
def test_a_limit_that_cannot_be_is_told_in_one_line(
    tiny_path: Path, option: str, value: str
) -> None:
    done = asked(tiny_path, option, value, "q")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert option.removeprefix("--") in done.stderr
    assert value in done.stderr


def test_the_repeat_penalty_changes_what_is_written(tiny_path: Path) -> None:
    def written(*arguments: str) -> str:
        done = asked(tiny_path, "--json", "--no-tools", "--thought-tokens", "40", *arguments, "q")
        return "".join(step["thought"] for step in json.loads(done.stdout)["steps"])

    assert written("--repeat-penalty", "1") == written() != written("--repeat-penalty", "1.9")


def test_a_question_without_room_for_an_answer_is_refused_with_figures(tiny_path: Path) -> None:
    done = asked(tiny_path, "--no-tools", "--ctx-size", "1500", "x" * 3000)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the question is 3000 tokens" in done.stderr
    assert "1500" in done.stderr
    assert "--ctx-size" in done.stderr
