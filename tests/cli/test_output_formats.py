"""A run as other programs read it: lines of events, one object, and the exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from threading import Event as Flag
from typing import Any, get_args

import pytest

from local_react import Agent, ScriptedModel, calculator
from local_react.as_dict import run_from_dict
from local_react.backends.scripted import ScriptedContext
from local_react.cli.output import (
    STOPPED_AT_A_LIMIT,
    Format,
    Stream,
    exit_code_of,
    json_line,
    output_format,
)
from local_react.cli.show import Display
from local_react.core import Event, Run, Sampling, StopReason, Text
from local_react.errors import ContextFull, UsageError

ADD = 'Thought: add\nAction: calculator {"expression": "1 + 2"}'
FINISH = 'Thought: so\nAction: Finish {"answer": "3"}'


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def agent(*replies: str) -> Agent:
    return Agent(ScriptedModel(replies), [calculator])


def test_a_run_is_a_line_for_each_event(capsys: pytest.CaptureFixture[str]) -> None:
    stream = Stream()
    stream.start("Add them.", model="scripted", settings={"max_steps": 8}, run="abc")
    events = stream.followed(agent(ADD, FINISH).stream("Add them."))
    run = Display(quiet=True).follow(events)
    stream.end(run, answer=run.answer, egress=[{"tool": "search"}], exit_code=0)
    first, *between, last = printed(capsys)
    assert (first["type"], first["question"], first["model"]) == ("start", "Add them.", "scripted")
    assert (first["settings"], first["run"]) == ({"max_steps": 8}, "abc")
    assert first["version"]
    assert {told["type"] for told in between} == {"text", "step"}
    text = "".join(told["text"] for told in between if told["type"] == "text")
    assert "calculator" in text and "Finish" in text
    steps = [told for told in between if told["type"] == "step"]
    assert [step["observation"] for step in steps] == ["3", None]
    assert (last["type"], last["egress"], last["exit_code"]) == ("run", [{"tool": "search"}], 0)
    assert run_from_dict(last) == run


def test_an_answer_that_is_not_told_is_not_in_the_last_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = agent(FINISH).run("q")
    Stream().end(run, answer="", egress=[], exit_code=6)
    (last,) = printed(capsys)
    assert (last["answer"], last["exit_code"]) == ("", 6)


def test_an_error_is_the_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    def events() -> Generator[Event, None, None]:
        yield Text("a")
        raise ContextFull("it is too long")

    with pytest.raises(ContextFull):
        list(Stream().followed(events()))
    assert printed(capsys) == [
        {"type": "text", "text": "a"},
        {"type": "error", "error": "it is too long", "exit_code": 2},
    ]


def test_ctrl_c_while_a_line_is_printed_makes_the_run_come_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Pressed(Stream):
        def _print(self, told: Any) -> None:
            super()._print(told)
            if told["type"] == "step":
                raise KeyboardInterrupt

    run = Display(quiet=True).follow(Pressed().followed(agent(ADD, FINISH).stream("q")))
    assert (run.stop_reason, len(run.steps)) == ("interrupted", 1)


def test_ctrl_c_in_the_run_goes_on_as_it_does_there() -> None:
    class Breaking(ScriptedContext):
        def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
            yield "Thought: "
            raise KeyboardInterrupt

    model = ScriptedModel([])
    context = Breaking(model, iter([]), iter([]), Flag(), 1000)
    model.start = lambda *_, **__: context  # type: ignore[method-assign]
    events = Stream().followed(Agent(model).stream("q"))
    assert Display(quiet=True).follow(events).stop_reason == "interrupted"
    with pytest.raises(KeyboardInterrupt):
        list(Stream().followed(Agent(model).stream("q")))


PROGRAM = """
import sys
from itertools import count
from local_react import Agent, ScriptedModel
from local_react.backends.scripted import ScriptedContext
from local_react.cli.output import Stream

ended = []

def generate(self, grammar, sampling):
    try:
        yield "Thought: "
        yield from (f"word{n} " for n in count())
    finally:
        ended.append(True)

ScriptedContext.generate = generate
stream, events = Stream(), Agent(ScriptedModel([]), thought_tokens=10**9).stream("q")
stream.start("q", model="m", settings={})
try:
    for event in stream.followed(events):
        pass
except BrokenPipeError:
    sys.stdout = None
    sys.exit(130 if ended else 1)
"""


@pytest.mark.skipif(os.name == "nt", reason="a closed pipe is another error there")
def test_a_reader_that_has_read_enough_ends_the_run() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert json.loads(child.stdout.readline())["type"] == "start"  # flushed, line by line
        assert json.loads(child.stdout.readline())["type"] == "text"
        child.stdout.close()
        assert child.wait(60) == 130


def test_one_line_holds_no_character_that_steers() -> None:
    told = {"a": "x\x1b[2J\u202e\x7f\x85\ny", "é": "中 😀", "n": [1, None]}
    line = json_line(told)
    assert json.loads(line) == told
    assert "\n" not in line
    assert not {"\x1b", "\u202e", "\x7f", "\x85"} & set(line)
    assert "中 😀" in line
    assert json_line({"a": "plain"}) == '{"a": "plain"}'


@pytest.mark.parametrize(
    ("as_json", "chosen", "wanted"),
    [
        (False, None, "text"),
        (True, None, "json"),
        (True, "json", "json"),
        *((False, one, one) for one in get_args(Format)),
    ],
)
def test_the_format_that_is_wanted(as_json: bool, chosen: str | None, wanted: str) -> None:
    assert output_format({"as_json": as_json, "output_format": chosen}) == wanted


@pytest.mark.parametrize("chosen", ["text", "stream-json"])
def test_two_formats_contradict(chosen: str) -> None:
    with pytest.raises(UsageError, match=f"--json and --output-format {chosen} contradict"):
        output_format({"as_json": True, "output_format": chosen})


@pytest.mark.parametrize(
    ("reason", "answer", "options", "code"),
    [
        ("finish", "3", {}, 0),
        ("finish", "3", {"refused": True}, 0),
        ("finish", "3", {"doubted": True}, 6),
        ("max_steps", "3", {}, STOPPED_AT_A_LIMIT),
        ("no_progress", "", {}, STOPPED_AT_A_LIMIT),
        ("no_progress", "", {"refused": True}, 5),
        ("max_steps", "3", {"refused": True}, STOPPED_AT_A_LIMIT),
        ("interrupted", "", {"refused": True}, 130),
    ],
)
def test_the_exit_code_tells_how_it_ended(
    reason: StopReason, answer: str, options: dict[str, bool], code: int
) -> None:
    run = Run(question="q", steps=(), answer=answer, stop_reason=reason, model="m")
    assert exit_code_of(run, **options) == code


# -- as a person meets it --------------------------------------------------------------


def local_react(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "local_react", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_each_line_of_a_real_run_is_an_event(tiny_path: Path) -> None:
    options = ("-m", tiny_path, "-t", 1, "--thought-tokens", 12, "--no-tools")
    process = local_react("--output-format", "stream-json", *options, "hello")
    out, err = process.communicate(timeout=120)
    first, *between, last = [json.loads(line) for line in out.splitlines()]
    assert (first["type"], first["question"]) == ("start", "hello")
    assert between[0]["type"] == "text"
    assert (last["type"], last["exit_code"]) == ("run", process.returncode)
    assert "Thought:" not in err


@pytest.mark.skipif(os.name == "nt", reason="a closed pipe is another error there")
def test_head_ends_it_with_130_and_no_complaint(tiny_path: Path) -> None:
    options = ("-m", tiny_path, "-t", 1, "--temp", 2, "--thought-tokens", 10**6, "--no-tools")
    with local_react("--output-format", "stream-json", *options, "hello") as process:
        assert process.stdout is not None and process.stderr is not None
        assert json.loads(process.stdout.readline())["type"] == "start"
        process.stdout.close()
        assert process.wait(120) == 130
        assert process.stderr.read() == ""
