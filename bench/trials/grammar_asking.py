"""Asks processes of grammar_worker.py, one behind another as they die."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Timer
from typing import IO, Any

_BENCH = Path(__file__).parents[1]


def answers(jobs: Sequence[dict[str, Any]], *, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield the answer to each job; {"died": ...} for one that ended its process, or that took
    longer than so many seconds."""
    done = 0
    with TemporaryDirectory() as folder:
        while done < len(jobs):
            for answer in _answers(jobs[done:], seconds, folder):
                done += 1
                yield answer


def _answers(
    jobs: Sequence[dict[str, Any]], seconds: float, folder: str
) -> Iterator[dict[str, Any]]:
    """Yield the answers of one process, the last of them of what it died of."""
    with (
        TemporaryFile() as said,
        subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("grammar_worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            encoding="utf-8",
            env=_environment(folder),
        ) as worker,
    ):
        assert worker.stdin is not None
        assert worker.stdout is not None
        for job in jobs:
            with _Alarm(worker, seconds):
                try:
                    worker.stdin.write(json.dumps(job) + "\n")
                    worker.stdin.flush()
                    line = worker.stdout.readline()
                except BrokenPipeError:
                    line = ""
            if not line:
                yield {"died": f"the process ended with {worker.wait()}: {_last_line(said)}"}
                return
            yield json.loads(line)


def _last_line(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "it said nothing")


class _Alarm:
    """Ends a process that is not done with a job in time."""

    def __init__(self, worker: subprocess.Popen[str], seconds: float) -> None:
        self._timer = Timer(seconds, worker.kill)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _environment(folder: str) -> dict[str, str]:
    places = ("LOCAL_REACT_DATA_DIR", "LOCAL_REACT_CACHE", "LOCAL_REACT_CONFIG")
    paths = os.pathsep.join([str(_BENCH), str(_BENCH.parent)])
    return {**os.environ, **dict.fromkeys(places, folder), "PYTHONPATH": paths}
