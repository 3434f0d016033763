"""What is measured of a model: real processes with the tiny one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from local_react import LlamaModel
from local_react.benchmark import Speed, compare, speed, speed_in_child, warm_start
from local_react.errors import ModelError

posix = pytest.mark.skipif(os.name == "nt", reason="other signals there")


def check(found: Speed, path: Path) -> None:
    assert found.threads == 1
    assert found.file_bytes == path.stat().st_size
    assert found.cache_bytes > 0
    assert min(found.load_seconds, found.read_rate, found.write_rate, found.bare_rate) > 0
    spent = found.load_seconds + 100 / found.read_rate + 100 / found.write_rate
    assert found.question_seconds == pytest.approx(spent)


def test_a_model_is_measured_in_this_process(tiny_path: Path) -> None:
    found = speed(str(tiny_path), threads=1, repack=False, rounds=1)
    check(found, tiny_path)
    assert found.repack is False


@pytest.mark.parametrize("repack", [True, False])
def test_a_model_is_measured_in_a_process_of_its_own(tiny_path: Path, repack: bool) -> None:
    found = speed_in_child(str(tiny_path), threads=1, repack=repack)
    check(found, tiny_path)
    assert found.repack is repack


def test_what_is_not_said_is_as_it_would_be(tiny_path: Path) -> None:
    found = speed_in_child(str(tiny_path), threads=None, repack=None)
    with LlamaModel(tiny_path) as model:
        assert (found.threads, found.repack) == (model.threads, model.repack)


def test_the_memory_is_that_of_the_process_itself(tiny_path: Path) -> None:
    ballast = bytearray(os.urandom(4096)) * 100_000  # 400 MB in this one
    found = speed_in_child(str(tiny_path), threads=1, repack=False)
    assert 10_000_000 < found.peak_bytes < len(ballast)


def test_several_replies_are_measured_too(tiny: LlamaModel) -> None:
    pair = compare(tiny, sequences=2, tokens=8, rounds=1, temperature=1.0)
    assert min(pair.ours, pair.bare) > 0
    assert pair.ratio == pytest.approx(pair.bare / pair.ours)


def test_a_first_start_and_a_later_one(tiny_path: Path) -> None:
    found = warm_start(str(tiny_path), ["--threads", "1"], rounds=1)
    for seconds, parts in ((found.cold, found.cold_parts), (found.warm, found.warm_parts)):
        assert min(parts.model, parts.instructions) >= 0
        assert parts.rest > 0
        assert parts.model + parts.instructions + parts.rest == pytest.approx(seconds)
    assert found.ratio == found.warm / found.cold


def test_a_file_of_the_current_directory_is_not_taken_for_a_library(
    tiny_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("json", "click", "numpy", "local_react"):
        (tmp_path / f"{module}.py").write_text('raise SystemExit("taken from here")')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(Path(p).absolute()) for p in sys.path if p])
    check(speed_in_child(str(tiny_path), threads=1, repack=False), tiny_path)
    assert warm_start(str(tiny_path), ["--threads", "1"], rounds=1).cold > 0


def test_a_name_may_begin_with_a_dash(
    tiny_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(tiny_path, tmp_path / "-x.gguf")
    # Paths to the packages that are relative would lead nowhere from there.
    monkeypatch.setattr(sys, "path", [str(Path(p).absolute()) for p in sys.path if p])
    monkeypatch.chdir(tmp_path)
    check(speed_in_child("-x.gguf", threads=1, repack=False), tiny_path)
    assert warm_start("-x.gguf", ["--threads", "1"], rounds=1).cold > 0


def test_a_model_that_cannot_be_loaded_is_one_line(tiny_path: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny_path.read_bytes()[:20_000])
    for measure in (
        lambda: speed_in_child(str(cut), threads=1, repack=False),
        lambda: warm_start(str(cut), rounds=1),
    ):
        with pytest.raises(ModelError) as caught:
            measure()
        assert "cannot be loaded" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert "local-react:" not in str(caught.value)


@posix
@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("kill -9 $$", "ended by signal 9"),
        ("exit 7", "exit code 7"),
        ("echo one >&2; echo two >&2; exit 1", "two"),
    ],
)
def test_how_a_process_failed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, told: str
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(ModelError, match=f"m could not be measured: .*{told}"):
        speed_in_child("m", threads=1, repack=False)
    with pytest.raises(ModelError, match=f"m could not be measured: .*{told}"):
        warm_start("m", rounds=1)


@posix
@pytest.mark.parametrize(
    "call", ["speed_in_child('m', threads=1, repack=False)", "warm_start('m')"]
)
def test_ctrl_c_leaves_no_process_behind(tmp_path: Path, call: str) -> None:
    """The signal goes to the first process alone, as from another program, and the second
    would go on for long."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 600\n")
    python.chmod(0o700)
    code = f"""
import sys
sys.path[:] = {sys.path!r}
from local_react.benchmark import *
sys.executable = {str(python)!r}
{call}
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        # Whoever runs the tests in the background may have had SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stderr=subprocess.DEVNULL,
    )
    child = waited_for(process)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) != 0
    left = child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    if left:
        child.kill()
    assert not left


def waited_for(process: subprocess.Popen[bytes]) -> psutil.Process:
    """Wait until a process has started `sleep` and waits for it; return the latter."""
    this = psutil.Process(process.pid)
    while process.poll() is None:
        for child in this.children():
            if child.name() == "sleep" and this.status() == psutil.STATUS_SLEEPING:
                return child
    raise AssertionError("it ended, and had started none")
