"""A model that breaks down, is larger than the machine, or is given more than there is: one
line, and nobody hangs."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tiny_model
from tiny_model import write_tiny_model

from local_react import LlamaModel
from local_react.cli.main import run

STACK = "Unexpected empty grammar stack after accepting piece: <unused7>"
FAST = ("--thought-tokens", "12", "-t", "1", "--max-steps", "2", "--no-tools")

BROKEN = """
import sys
from pathlib import Path
import local_react.backends.llama as llama
from local_react.backends.scripted import ScriptedContext, ScriptedModel
from local_react.cli.main import run

def breaks(self, grammar, sampling):
    raise RuntimeError(sys.argv[1])
    yield

class Engine:
    reading = (0, 0)

class Model(ScriptedModel):
    has_template, threads, repack = True, 1, False
    path, engine = Path("m"), Engine()

ScriptedContext.generate = breaks
llama.LlamaModel = lambda *arguments, **options: Model([])
sys.exit(run(sys.argv[2:]))
"""


def program(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def alone(own_places: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is piped to a command that runs in this process."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))


@pytest.mark.parametrize("fault", [STACK, "decode: failed\nto find a slot, \x1b[31mé"])
@pytest.mark.usefixtures("own_places")
def test_a_model_that_breaks_down_costs_one_line_and_the_exit_code(fault: str) -> None:
    done = program(BROKEN, fault, "--no-tools", "-q", "Who?")
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr
    assert " ".join(fault.replace("\x1b", "").split()) in done.stderr


@pytest.mark.usefixtures("alone")
def test_the_context_is_not_as_large_as_the_model_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:

    monkeypatch.setattr(tiny_model, "CONTEXT", 1_048_576)
    path = write_tiny_model(tmp_path / "vast.gguf")
    with LlamaModel(path, threads=1) as model:
        assert model.context_size == 8192
    run(["-v", "-m", str(path), *FAST, "Who?"])
    assert "8192 tokens of context" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--threads", value) for value in ("0", "-3", "2.5", "many")),
        *(("--ctx-size", value) for value in ("0", "-1", "100000000", "1e3")),
    ],
)
@pytest.mark.usefixtures("alone")
def test_a_figure_that_cannot_be_is_refused(
    tiny_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    assert run(["-m", str(tiny_path), option, value, "Who?"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    assert option in shown.err


STREAMS = """
import io, sys
sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
from local_react import Agent, LlamaModel
with LlamaModel(sys.argv[1], threads=1) as model:
    run = Agent(model, thought_tokens=8, action_tokens=8).run("Who?")
told = sys.stdout.getvalue() + sys.stderr.getvalue()
print(repr((told, len(run.steps))), file=sys.__stdout__)
LlamaModel(sys.argv[1], threads=1)  # nobody closes it
"""


def test_where_the_streams_are_no_files_a_model_loads_and_prints_nothing(tiny_path: Path) -> None:
    done = program(STREAMS, str(tiny_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("('', ")
    assert done.stderr == ""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this platform")
@pytest.mark.parametrize(("threads", "told"), [(None, ""), ("64", "1 threads are used, not 64")])
def test_no_more_threads_are_used_than_this_process_has_cpus(
    tiny_path: Path, threads: str | None, told: str
) -> None:
    one = min(os.sched_getaffinity(0))
    given = ["--threads", threads] if threads else []
    code = f"import os; os.sched_setaffinity(0, [{one}])\n" + (
        "import sys; from local_react.cli.main import run; sys.exit(run(sys.argv[1:]))"
    )
    done = program(code, "-v", "-m", str(tiny_path), "--thought-tokens", "8", *given, "Who?")
    assert done.returncode in (0, 4)
    assert "threads: 1" in done.stderr
    assert told in done.stderr
    assert ("threads are used, not" in done.stderr) == bool(told)


@pytest.mark.usefixtures("alone")
def test_a_model_without_a_chat_template_is_answered_in_one_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_tiny_model(tmp_path / "bare.gguf", template=None)
    run(["-m", str(path), *FAST, "Who?"])
    told = capsys.readouterr().err
    assert told.count("has no chat template: ChatML is used") == 1
    assert "[INST]" not in told
