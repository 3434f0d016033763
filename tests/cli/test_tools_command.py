"""`local-react tools`: the built-in tools and the user's own, listed, shown and called."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from local_react.cli.offered import named_tool
from local_react.cli.tools import tools
from local_react.errors import UsageError
from local_react.network import Network
from local_react.tools import builtin_tools
from local_react.tools.base import tool

Run = Callable[..., tuple[int, str, str]]

MINE = '''
from typing import Literal

from local_react import Findings, Passage, ToolError, tool

print("while it is loaded")


def weigh(breed: str, unit: Literal["lbs", "kg"] = "lbs") -> str:
    """Return the average weight of a dog breed. As the kennel club has it."""
    print("during the call")
    if breed == "cat":
        raise ToolError("a cat is no dog: name a breed of dogs")
    return f"37 {unit}\\x1b[2J"


@tool(may=["reads files"])
def read(name: str) -> Findings:
    """Read a note."""
    return Findings((Passage("It is\\nlong.", f"{name}, line 1", "A note"),), "one of 1")


def bad(x):
    """It has no hint."""
'''


@pytest.fixture(autouse=True)
def places(own_places: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No tools of other tests, and no terminal to ask at."""
    monkeypatch.setattr(sys, "stdin", None)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file with two tools, and a function that makes none."""
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command and gives its exit code and output."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = tools.main(list(map(str, arguments)), standalone_mode=False) or 0
        return (code, *capsys.readouterr())

    return call


def test_list_tells_of_each_tool_where_it_comes_from_and_what_it_may(run: Run, mine: Path) -> None:
    code, out, err = run("list", "--functions", mine)
    lines = {line.split()[0]: line for line in out.splitlines()}
    builtin = builtin_tools(Network("deny"), everything=True)
    assert [*lines] == [*(tool.name for tool in builtin), "weigh", "read"]
    assert code == 0
    for one in builtin:
        assert "  built-in  " in lines[one.name]
        assert ("reads network" in lines[one.name]) == one.network
    assert str(mine) in lines["weigh"]
    assert lines["weigh"].endswith("Return the average weight of a dog breed")
    assert "reads files" in lines["read"]
    assert f"local-react: {mine}, line 23: tool bad: x has no type hint" in err


def test_list_as_json(run: Run, mine: Path) -> None:
    _, out, _ = run("list", "--json", "--functions", mine)
    told = {one["name"]: one for one in json.loads(out)}
    assert told["search"]["network"] is True
    assert told["search"]["origin"] == "built-in"
    assert told["read"] == {
        "name": "read",
        "origin": str(mine),
        "may": ["reads files"],
        "network": False,
        "effects": False,
        "description": "Read a note.",
    }


def test_show_tells_the_schema_and_the_grammar(run: Run, mine: Path) -> None:
    code, out, _ = run("show", "weigh", "--functions", mine)
    assert code == 0
    assert out.startswith(
        "weigh: Return the average weight of a dog breed. As the kennel club has it.\n"
        f"from: {mine}\nmay: only computes\n"
    )
    schema, grammar = out.split("JSON schema:\n")[1].split("\n\ngrammar of what follows Action:\n")
    assert json.loads(schema)["properties"]["unit"]["enum"] == ["lbs", "kg"]
    assert "root ::= " in grammar
    told = json.loads(run("show", "weigh", "--json", "--functions", mine)[1])
    assert told["schema"] == json.loads(schema)
    assert told["grammar"] == grammar
    assert told["origin"] == str(mine)


def test_every_built_in_tool_can_be_shown(run: Run) -> None:
    for one in builtin_tools(Network("deny"), everything=True):
        told = json.loads(run("show", one.name, "--json")[1])
        assert (told["name"], told["schema"]) == (one.name, one.schema)


def test_test_calls_a_tool(run: Run, mine: Path) -> None:
    assert run("test", "calculator", '{"expression": "0.15 * 80"}')[:2] == (0, "12\n")
    code, out, err = run("test", "weigh", '{"breed": "x", "unit": "kg"}', "--functions", mine)
    assert (code, out) == (0, "37 kg[2J\n")
    assert err.startswith("while it is loaded\n")
    assert err.endswith("during the call\n")


def test_test_shows_what_was_found_with_its_source(run: Run, mine: Path) -> None:
    _, out, _ = run("test", "read", '{"name": "a.txt"}', "--functions", mine)
    assert out == "one of 1\n\n[1] A note: a.txt, line 1\nIt is\nlong.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("weigh", '{"breed": "cat"}'), 1, "a cat is no dog: name a breed of dogs"),
        (("weigh", '{"unit": "lbs"}'), 2, "weigh: argument breed: Field required"),
        (("weigh",), 2, "weigh: argument breed: Field required"),
        (("weigh", '{"breed": "x", "unit": "st"}'), 2, "weigh: argument unit: "),
        (("weigh", '{"breed": "x", "more": 1}'), 2, "weigh: argument more: "),
        (("search", '{"query": "x"}', "--offline"), 5, "which is switched off"),
        (("search", '{"query": "x"}'), 5, "there is no terminal to ask at"),
    ],
)
def test_a_failure_is_one_line_and_an_exit_code(
    run: Run, mine: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    done, out, err = run("test", *arguments, "--functions", mine)
    assert (done, out) == (code, "")
    (line,) = [line for line in err.splitlines() if told in line]
    assert line.startswith("local-react: ")


def test_what_was_not_sent_is_told(run: Run) -> None:
    _, _, err = run("test", "search", '{"query": "x"}', "--offline")
    assert err.splitlines()[-1] == "nothing left this machine; not sent: search: not allowed"
    assert run("test", "calculator", '{"expression": "1"}')[2] == ""


@pytest.mark.parametrize("text", ["x", "[1]", '{"breed": ', "{" * 5000, "null"])
def test_arguments_that_are_no_object_are_refused(run: Run, mine: Path, text: str) -> None:
    with pytest.raises(UsageError) as raised:
        run("test", "weigh", text, "--functions", mine)
    assert str(raised.value) == (
        """the arguments of weigh are a JSON object: '{"breed": ..., "unit": ...}'"""
    )


@pytest.mark.parametrize("action", ["show", "test"])
def test_a_wrong_name_is_told_with_the_nearest(run: Run, action: str) -> None:
    with pytest.raises(UsageError, match="there is no tool 'calcul': did you mean calculator"):
        run(action, "calcul")
    with pytest.raises(UsageError, match="the tools are calculator, current_time, "):
        run(action, "zzzz")


def test_a_tool_is_found_by_its_name() -> None:
    @tool
    def one(x: int) -> int:
        """Return x."""
        return x

    assert named_tool("one", [one]) is one
    with pytest.raises(UsageError, match="there is no tool 'on': did you mean one"):
        named_tool("on", [one])


def test_a_file_that_does_not_exist_is_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        run("list", "--functions", tmp_path / "none.py")


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "local_react", "tools", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_standard_output_holds_the_result_alone(mine: Path) -> None:
    call: dict[str, Any] = {"breed": "x", "unit": "kg"}
    done = process("test", "weigh", json.dumps(call), "--functions", str(mine))
    assert (done.returncode, done.stdout) == (0, "37 kg[2J\n")
    done = process("test", "weigh", "{}", "--functions", str(mine))
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
