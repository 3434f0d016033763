"""A model's file is tried in a process of its own, before it is loaded into this one.

Native code answers some damage of a file by ending the process, or never comes back from
it: what a check of the header cannot foresee. The process is a plain child that gets one
question and ends.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from local_react.errors import ModelError
from local_react.search_path import search_path

_SECONDS: Final = 30.0
_BYTES_A_SECOND: Final = 20_000_000
"""Of a slow disk; the reading of a few words by a large model takes less."""
_ROOM: Final = 2 << 30
"""Bytes of memory beyond what the model is said to take."""

_FATAL: Final = {
    getattr(signal, name).value
    for name in ("SIGABRT", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGXCPU", "SIGTRAP")
    if os.name == "posix"
}
"""The signals that native code ends by."""
_FATAL_ON_WINDOWS: Final = 3
"""The exit code of an abort; those of other breakdowns are far above."""

_COMMAND: Final = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from local_react.backends.llama.rehearsal import main; main()"
)
_COMPLAINT: Final = re.compile(r"(GGML_\w+\(.*|.*what\(\):.*|.*error.*)", re.IGNORECASE)


class Breakdown(ModelError):
    """Native code ended the process that tried the file: it would do so again."""


def can_try() -> bool:
    """Return whether this program can be started a second time, to try a file in it."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def try_file(path: Path, size: int, memory: int, options: Mapping[str, Any]) -> None:
    """Load a model of `size` bytes that is to take so many bytes of memory in another process,
    with those options of LlamaModel, and put a question to it.

    Raises Breakdown where native code ends the process, and ModelError where the model cannot
    be used, does not answer in time, or no process can be started.
    """
    seconds = _SECONDS + size / _BYTES_A_SECOND
    limits = {"memory": memory + _ROOM, "seconds": int(seconds * (os.cpu_count() or 1))}
    request = {"path": os.fsencode(path).hex(), "limits": limits, "options": dict(options)}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _COMMAND, json.dumps(search_path())],
            input=json.dumps(request).encode() + b"\n",
            capture_output=True,
            timeout=seconds,
            check=False,
            env={**os.environ, "GGML_NO_BACKTRACE": "1"},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired:
        raise ModelError(
            f"{path} cannot be loaded: tried in a process of its own it did not answer within"
            f" {seconds:.0f} s: close other programs, or take another conversion of the model"
        ) from None
    except OSError as error:
        raise ModelError(
            f"{path} cannot be tried in a process of its own ({error.strerror or error}), and is"
            " not loaded without: close other programs"
        ) from error
    _judge(path, done)


def _judge(path: Path, done: subprocess.CompletedProcess[bytes]) -> None:
    """Raise ModelError where the process did not answer that the file can be used."""
    try:
        error = json.loads(done.stdout)["error"]
    except (ValueError, KeyError, TypeError):
        raise _broken(path, done) from None
    if error is not None:
        told = _plain(str(error))
        raise ModelError(told if path.name in told else f"{path} cannot be used: {told}")


def _broken(path: Path, done: subprocess.CompletedProcess[bytes]) -> ModelError:
    """Return why the process gave no answer: by the file's doing, or by something else's that
    need not be so another time, such as a lack of memory."""
    begun = f"{path} cannot be loaded:"
    if -done.returncode in _FATAL or (os.name == "nt" and done.returncode >= _FATAL_ON_WINDOWS):
        return Breakdown(
            f"{begun} llama.cpp broke down over it in a trial ({_cause(done)}):"
            " take another conversion of the model, or update llama-cpp-python"
        )
    return ModelError(
        f"{begun} the process that was to try it ended without an answer ({_cause(done)}):"
        " close other programs, and see whether `local-react doctor` finds something"
    )


def _cause(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return how the process ended, and what it complained of last."""
    told = done.stderr.decode("utf-8", "replace").splitlines()
    complaints = [match[1].strip() for line in told if (match := _COMPLAINT.search(line))]
    ended = f"exit code {done.returncode}"
    if done.returncode < 0:
        try:
            ended = signal.Signals(-done.returncode).name
        except ValueError:
            ended = f"signal {-done.returncode}"
    return _plain(": ".join([ended, *complaints[-1:]]))[:300]


def _plain(text: str) -> str:
    """Return a text in one line: what native code says may hold anything of the file."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
