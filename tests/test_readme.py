"""What README.md and the pages on the calculator and Python say holds; test_pages.py runs the
commands of all pages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from local_react import LlamaModel
from local_react.catalog import load_catalogue, models_dir
from local_react.cli.ask import ask
from local_react.cli.front_page import EXIT_CODES
from local_react.cli.trace_replay import DIFFERS
from local_react.errors import LocalReactError
from local_react.tools.calculator import evaluate

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
CALCULATOR = (ROOT / "docs" / "calculator.md").read_text("utf-8")
IN_PYTHON = (ROOT / "docs" / "python.md").read_text("utf-8")


@pytest.mark.model
def test_the_examples_in_python_run_as_they_stand(
    qwen: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    (agent,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    *_, votes = re.findall(r"```python\n(.*?)```", IN_PYTHON, re.DOTALL)
    monkeypatch.setenv("LOCAL_REACT_MODELS", str(models_dir()))
    assert "57" in printed(agent)
    assert re.fullmatch(
        r"(?:'[A-Z][a-z]+\.',? ?){5}", printed(f"{votes}\nprint(*map(repr, replies))")
    )


def printed(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_the_exit_codes_are_those_of_the_errors() -> None:
    def codes(error: type[LocalReactError]) -> set[int]:
        return {error.exit_code}.union(*map(codes, error.__subclasses__()))

    table = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert table == codes(LocalReactError) | {0, 4, 6, DIFFERS, 129, 130, 143}
    assert table == set(EXIT_CODES)
    for code in table - {DIFFERS}:  # which no question ends with
        assert re.search(rf"^  {code}  ", ask.epilog or "", re.MULTILINE)


def test_the_models_it_names_are_in_the_catalogue() -> None:
    catalogue = load_catalogue()
    told = " ".join(README.split())
    assert f"The default, `{catalogue.default}`" in told
    assert f"`{catalogue.recommended}` is recommended" in told
    assert len(catalogue.models) == 10
    assert sum(model.index is not None for model in catalogue.models) == 3


@pytest.mark.parametrize(
    ("expression", "answer"), re.findall(r'local-react calc "(.*)"\n(.*)', CALCULATOR)
)
def test_the_calculator_answers_as_it_says(expression: str, answer: str) -> None:
    assert evaluate(expression) == answer


def test_the_calculator_takes_what_it_lists() -> None:
    table = CALCULATOR.split("| it takes | such as |")[1].split("\n\n")[0]
    table = re.sub(r"\| functions .*", "", table)  # names alone
    for example in re.findall(r"`([^`]+)`", table.replace("\\|", "|")):
        if re.search(r"[0-9]", example):
            assert evaluate(example)
