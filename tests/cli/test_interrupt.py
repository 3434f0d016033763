"""Ctrl-C at the command line: what there is of the run is not lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from local_react import Agent, Malformed, ScriptedModel
from local_react.cli.show import Display

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another signal there")


def interrupted(tiny_path: Path, *arguments: str) -> tuple[int, str, str]:
    """Return exit code, output and errors of a process that gets Ctrl-C while it writes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "local_react", "-m", str(tiny_path), "-t", "1", "--temp", "2",
         "--thought-tokens", "1000000", *arguments, "q"],
        # Whoever runs the tests in the background may have had SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    first = process.stderr.read(10)  # it is writing its first Thought
    process.send_signal(signal.SIGINT)
    out, rest = process.communicate(timeout=60)
    return process.returncode, out.decode(), (first + rest).decode(errors="replace")


def test_as_json_the_partial_run_is_printed(tiny_path: Path) -> None:
    code, out, err = interrupted(tiny_path, "--json", "--no-tools")
    run = json.loads(out)
    assert (code, run["stop_reason"], run["answer"]) == (130, "interrupted", "")
    (step,) = run["steps"]
    assert step["action"]["reason"] == "it was interrupted"
    assert step["action"]["malformed"].startswith("Thought: ")
    assert step["usage"]["generated"] > 0
    assert "Traceback" not in err


def test_as_text_there_is_no_answer_line_and_the_prompt_comes_on_a_new_line(
    tiny_path: Path,
) -> None:
    code, out, err = interrupted(tiny_path, "--no-tools")
    assert (code, out) == (130, "")
    assert err.startswith("Thought: ")
    assert err.endswith("\n")
    assert "local-react:" not in err


class Pressed(Display):
    """Ctrl-C comes while it prints a word."""

    def _write(self, text: str, *, dim: bool = False) -> None:
        super()._write(text, dim=dim)
        if "two" in text:
            raise KeyboardInterrupt


@pytest.mark.parametrize("reply", ["Thought: one\ntwo\nthree", 'Thought: t\nAction: two {"a": 1}'])
def test_ctrl_c_while_something_is_printed_ends_the_run(
    capsys: pytest.CaptureFixture[str], reply: str
) -> None:
    run = Pressed().follow(Agent(ScriptedModel([reply])).stream("q"))
    assert run.stop_reason == "interrupted"
    written = reply.partition("two")[0] + "two"
    assert [step.action for step in run.steps] == [Malformed(written, "it was interrupted")]
    assert capsys.readouterr().err == f"{written}\n"


def test_ctrl_c_a_second_time_ends_it_there(capsys: pytest.CaptureFixture[str]) -> None:
    class Again(Pressed):
        def _line(self, text: str) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Again().follow(Agent(ScriptedModel(["Thought: two"])).stream("q"))
