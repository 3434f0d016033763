"""What the README says is run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from local_react import LlamaModel
from local_react.catalog import load_catalogue, models_dir
from local_react.cli.ask import ask
from local_react.cli.bench import bench
from local_react.cli.cache import cache
from local_react.cli.calc import calc
from local_react.cli.docs import docs
from local_react.cli.doctor import doctor
from local_react.cli.evaluate import evaluate as evaluation
from local_react.errors import LocalReactError
from local_react.tools.calculator import evaluate

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


@pytest.mark.model
def test_the_examples_in_python_run_as_they_stand(
    qwen: LlamaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, votes = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
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


def test_the_options_it_names_exist() -> None:
    options = {
        name
        for command in (ask, bench, cache, calc, doctor, evaluation, *docs.commands.values())
        for param in command.params
        for name in (*param.opts, *param.secondary_opts)
    }
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README.split("## Models")[0]))
    pips = {"--extra-index-url", "--force-reinstall", "--no-cache-dir", "--no-deps", "--install"}
    assert named - pips - {"--help"} <= options


def test_the_exit_codes_are_those_of_the_errors() -> None:
    def codes(error: type[LocalReactError]) -> set[int]:
        return {error.exit_code}.union(*map(codes, error.__subclasses__()))

    table = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert table == codes(LocalReactError) | {0, 4, 6, 130}
    for code in table:
        assert re.search(rf"^  {code}  ", ask.epilog or "", re.MULTILINE)


def test_the_models_it_names_are_in_the_catalogue() -> None:
    catalogue = load_catalogue()
    assert f"The default, `{catalogue.default}`" in README
    assert f"`{catalogue.recommended}` is recommended" in README
    assert len(catalogue.models) == 10
    assert sum(model.index is not None for model in catalogue.models) == 3


@pytest.mark.parametrize(
    ("expression", "answer"), re.findall(r'local-react calc "(.*)" +# (.*)', README)
)
def test_the_calculator_answers_as_it_says(expression: str, answer: str) -> None:
    assert evaluate(expression) == answer


def test_the_calculator_takes_what_it_lists() -> None:
    table = README.split("| it takes | such as |")[1].split("\n\n")[0]
    table = re.sub(r"\| functions .*", "", table)  # names alone
    for example in re.findall(r"`([^`]+)`", table.replace("\\|", "|")):
        if re.search(r"[0-9]", example):
            assert evaluate(example)
