"""`local-react calc`: the calculator from the shell."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def calc(*arguments: str, piped: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "local_react", "calc", *arguments],
        input=piped,
        stdin=None if piped is not None else subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["15% of 80"], "12"),
        (["-5^2"], "-25"),
        (["--2"], "2"),
        (["2", "+", "3"], "5"),
        (["5", "km", "in", "m"], "5000 m"),
        (["½ × π"], "pi/2 (1.57079632679)"),
    ],
)
def test_it_prints_the_answer_alone(arguments: list[str], answer: str) -> None:
    done = calc(*arguments)
    assert (done.returncode, done.stdout.decode().strip(), done.stderr) == (0, answer, b"")


def test_a_refusal_is_one_line_and_exit_code_2() -> None:
    done = calc("age * 2")
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("local-react: unknown name 'age': ")


def test_piped_lines_are_steps() -> None:
    assert calc(piped=b"a = 3\r\nb = 2*a\r\na + b\r\n").stdout.strip() == b"9"


def test_json_has_the_expression_with_its_answer_or_error() -> None:
    done = calc("--json", "1/3")
    assert json.loads(done.stdout) == {"expression": "1/3", "answer": "1/3 (0.333333333333)"}
    done = calc("--json", "1/0")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"].startswith("division by zero")


@pytest.mark.parametrize("piped", [b"", b"\xff\xfe\x00garbage", b"7" * 10_000_000])
def test_what_is_piped_may_be_anything(piped: bytes) -> None:
    done = calc(piped=piped)
    assert (done.returncode, done.stdout) == (2, b"")
    assert len(done.stderr.splitlines()) == 1
    assert len(done.stderr) < 400


def test_no_other_command_loads_what_it_needs() -> None:
    program = """
import sys
from local_react.cli.main import run
assert run(["--help"]) == 0
heavy = {"sympy", "mpmath", "pint", "lark", "dateutil"} & set(sys.modules)
sys.exit(f"{heavy}" if heavy else 0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
