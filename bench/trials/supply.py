"""Model files that were spoilt, or put in the place of another."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from tiny_model import ARCHITECTURES, write_tiny_model

import local_react
from local_react.catalog import load_catalogue, resolve
from trials.mutations import mutated
from trials.trial import Report, Trial

_SECONDS: Final = 60.0
"""For a file and a question to it, and more the larger it is."""
_BYTES_A_SECOND: Final = 10_000_000
_WORKERS: Final = 2
_SMALL: Final = "smollm2-135m"


def _spoilt(attempts: int, random: Random) -> Report:
    """Load spoilt files: nothing but an answer, or one line that names the file."""
    ends, failures = Counter[str](), list[str]()
    with TemporaryDirectory() as folder:
        files = _files(Path(folder), attempts, random)
        with ThreadPoolExecutor(_WORKERS) as pool:
            shares = [files[number::_WORKERS] for number in range(_WORKERS)]
            for told in pool.map(_loaded, shares, [Path(folder)] * _WORKERS):
                for what, end, said in told:
                    ends[end] += 1
                    if end not in _GOOD:
                        failures.append(f"{what}: {end}: {said}")
    figures = ", ".join(f"{ends[end]} {told}" for end, told in _GOOD.items())
    return Report(ends.total(), failures, figures)


_GOOD: Final = {
    "header": "refused by their header",
    "llama.cpp": "by llama.cpp",
    "broke down": "broke down in the trial",
    "answered": "answered",
}


def _files(folder: Path, count: int, random: Random) -> list[tuple[str, bytes]]:
    """Return what was done to each file, and the file."""
    sound = {
        name: write_tiny_model(folder / "sound.gguf", architecture=name).read_bytes()
        for name in ARCHITECTURES
    }
    names, files = list(sound), []
    for number in range(count):
        name = names[number % len(names)]
        what, data = mutated(sound[name], random)
        files.append((f"{name}: {what}", data))
    return files


def _loaded(files: Sequence[tuple[str, bytes]], folder: Path) -> list[tuple[str, str, str]]:
    """Return, for each file, what was done to it, where that ended, and what was said."""
    ends: list[tuple[str, str, str]] = []
    path = folder / f"spoilt-{threading.get_ident()}.gguf"
    while len(ends) < len(files):
        with _worker(folder) as worker:
            for what, data in files[len(ends) :]:
                path.write_bytes(data)
                end, said = _given(worker, path, len(data))
                ends.append((what, end, said))
                if end in ("died", "hung"):
                    break
    return ends


def _given(worker: subprocess.Popen[str], path: Path, size: int) -> tuple[str, str]:
    """Return where it ended when the worker was given a file, and what it said."""
    assert worker.stdin is not None and worker.stdout is not None
    late = threading.Event()

    def end() -> None:
        late.set()
        worker.kill()

    timer = threading.Timer(_SECONDS + size / _BYTES_A_SECOND, end)
    timer.start()
    try:
        worker.stdin.write(json.dumps(str(path)) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
    except OSError:
        line = ""
    finally:
        timer.cancel()
    if line:
        told = json.loads(line)
        return told["end"], told["told"]
    return ("hung", "") if late.is_set() else ("died", f"exit code {worker.wait()}")


@contextmanager
def _worker(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that loads what it is told to."""
    worker = subprocess.Popen(
        [sys.executable, "-c", "from trials.loading_worker import main; main()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=_environment(folder),
    )
    try:
        yield worker
    finally:
        worker.kill()
        worker.communicate()


def _environment(folder: Path, models: Path | None = None) -> dict[str, str]:
    places = {
        "LOCAL_REACT_DATA_DIR": str(folder / "data"),
        "LOCAL_REACT_CONFIG": str(folder / "config"),
        "LOCAL_REACT_CACHE": "off",  # so that each file is tried, whatever was before
        "LOCAL_REACT_MODELS": str(models or folder / "models"),
    }
    bench, package = Path(__file__).parents[1], Path(local_react.__file__).parents[1]
    return {**os.environ, **places, "PYTHONPATH": os.pathsep.join(map(str, (bench, package)))}


def _changed(attempts: int, random: Random) -> Report:
    """Flip one bit of a model that was verified: every command that uses it tells."""
    model = load_catalogue().find(_SMALL)
    sound = resolve(_SMALL)
    with TemporaryDirectory() as folder:
        models = Path(folder) / "models"
        models.mkdir()
        path = Path(shutil.copy(sound, models / model.file))
        failures = _expect(models, ["models", "verify", _SMALL], 0, "verified")
        for _ in range(attempts):
            place = random.randrange(8 * model.bytes)
            _flip(path, place)
            command = random.choice(_COMMANDS)
            found = _expect(models, command, 3, f"--force {_SMALL}")
            failures += [f"bit {place} flipped: {line}" for line in found]
            _flip(path, place)
        failures += _expect(models, ["models", "verify", _SMALL], 0, "verified")
    return Report(attempts, failures)


_COMMANDS: Final = (
    ["models", "verify"],
    ["models", "verify", _SMALL],
    ["-m", _SMALL, "--offline", "--no-log", "hello"],
    ["chat", "-m", _SMALL, "--offline", "--no-log"],
)


def _expect(models: Path, command: Sequence[str], code: int, word: str) -> list[str]:
    """Return what is wrong with how a command ends: its exit code, and what it says."""
    done = subprocess.run(
        [sys.executable, "-m", "local_react", *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env=_environment(models.parent, models),
        timeout=300,
    )
    said = (done.stdout + done.stderr).strip()
    if done.returncode == code and word in said:
        return []
    return [f"{' '.join(command)}: exit code {done.returncode}: {said[-300:]}"]


def _flip(path: Path, place: int) -> None:
    with path.open("r+b") as file:
        file.seek(place // 8)
        (byte,) = file.read(1)
        file.seek(place // 8)
        file.write(bytes([byte ^ 1 << place % 8]))


TRIALS: tuple[Trial, ...] = (
    Trial("spoilt-models", "load and ask a spoilt GGUF file", _spoilt, whole=1000, short=40),
    Trial(
        "changed-model",
        "one bit of a verified model flipped: verify, ask and chat tell",
        _changed,
        whole=40,
        short=3,
        model=True,
    ),
)
