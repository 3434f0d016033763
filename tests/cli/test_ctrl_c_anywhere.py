"""Ctrl-C while a model is loaded, a search waits, or a download comes: 130, and no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from download_server import HubServer, Reply
from loopback import Loopback

from local_react.catalog import load_catalogue
from local_react.download.part import Part

CAME = b"GGUF" + bytes(150_000)
LOADING = """
import os, signal, sys
import llama_cpp
real = llama_cpp.llama_model_load_from_file
def pressed(*arguments):
    os.kill(os.getpid(), signal.SIGINT)
    return real(*arguments)
llama_cpp.llama_model_load_from_file = pressed
from local_react.cli.main import run
sys.exit(run(sys.argv[1:]))
"""
SEARCHING = """
import sys
from pathlib import Path
from ddgs.engines.duckduckgo import Duckduckgo
import local_react.backends.llama as llama
from local_react.backends.scripted import ScriptedModel
from local_react.cli.main import run
from local_react.tools.search import instant_answer

class Engine:
    reading = (0, 0)

class Model(ScriptedModel):
    has_template, threads, repack = True, 1, False
    path, engine = Path("m"), Engine()

Duckduckgo.search_url = instant_answer.ADDRESS = sys.argv.pop(1)
llama.LlamaModel = lambda *arguments, **options: Model(
    ['Thought: t\\nAction: search {"query": "rain"}', 'Thought: t\\nAction: Finish {"answer": "x"}']
)
sys.exit(run(sys.argv[1:]))
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal there")


def begun(*command: str, **environment: str) -> subprocess.Popen[str]:
    """Start a command that Ctrl-C can end, whoever runs the tests."""
    return subprocess.Popen(
        [sys.executable, *command],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def ends_plainly(process: subprocess.Popen[str]) -> str:
    """Return what it wrote on standard error, after checking how it ended."""
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), err
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    return err


@pytest.mark.usefixtures("own_places")
def test_while_the_model_is_loaded(tiny_path: Path) -> None:
    ends_plainly(begun("-c", LOADING, "-m", str(tiny_path), "-t", "1", "Who?"))


@pytest.mark.usefixtures("own_places")
def test_while_a_search_waits() -> None:
    arrived, hold = threading.Event(), threading.Event()
    server = Loopback(hold=hold, saw=arrived.set)
    with server.serve():
        process = begun(
            "-c", SEARCHING, server.url, "--network", "allow", "--tool", "search",
            "--votes", "1", "Where does it rain?",
        )  # fmt: skip
        assert arrived.wait(60), process.stderr
        process.send_signal(signal.SIGINT)
        ends_plainly(process)


@pytest.mark.usefixtures("own_places")
def test_while_a_model_is_fetched_what_came_is_kept(tmp_path: Path) -> None:
    model = load_catalogue().find("smollm2-135m")
    hold = threading.Event()
    reply = Reply(headers={"Content-Length": str(model.bytes)}, hold=hold)
    with HubServer(CAME, reply) as server:
        process = begun(
            "-m", "local_react", "pull", model.name, "--source", "hub", "--dir", str(tmp_path),
            HF_ENDPOINT=server.url,
        )  # fmt: skip
        while Part.size_beside(tmp_path / model.file) < len(CAME):
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        ends_plainly(process)
        hold.set()
    assert not (tmp_path / model.file).exists()
    assert Part.size_beside(tmp_path / model.file) == len(CAME)
