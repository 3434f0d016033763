"""`local-react bench`: the table, the JSON, and what is remembered."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import pytest

from local_react.benchmark import Parts, Speed, WarmStart, warm_start
from local_react.cli.bench import bench
from local_react.cli.main import run as run_command
from local_react.hardware import fingerprint
from local_react.profiles import Profile, load_profile, save_profile

Run = Callable[..., str]

SLOW = Speed(
    threads=1,
    repack=False,
    load_seconds=0.5,
    read_rate=50.0,
    bare_rate=10.0,
    write_rate=9.0,
    peak_bytes=900_000_000,
    file_bytes=400_000_000,
    cache_bytes=100_000_000,
)
PARTS = Parts(model=0.5, instructions=1.0, rest=0.5)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of this test's own for what is remembered. To be quick, one CPU, and a
    single pair of starts."""
    monkeypatch.setenv("LOCAL_REACT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr("local_react.hardware.usable_cpus", lambda *_: 1)
    monkeypatch.setattr("local_react.hardware.default_threads", lambda *_: 1)
    monkeypatch.setattr("local_react.benchmark.warm_start", partial(warm_start, rounds=1))
    return tmp_path / "data"


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int | None, bool | None]]:
    """Nothing is measured: figures are given, with repack the better ones. Returns the
    list of what was asked for."""
    asked: list[tuple[int | None, bool | None]] = []

    def speed(name: str, *, threads: int, repack: bool) -> Speed:
        asked.append((threads, repack))
        rate = 9.0 + 1.0 * repack
        return replace(SLOW, threads=threads, repack=repack, write_rate=rate)

    monkeypatch.setattr("local_react.benchmark.speed_in_child", speed)
    monkeypatch.setattr(
        "local_react.benchmark.warm_start", lambda *_: WarmStart(2.0, 0.5, PARTS, PARTS)
    )
    return asked


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command and gives its output."""

    def call(*arguments: str) -> str:
        assert not bench.main(list(arguments), standalone_mode=False)
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return call


def test_as_json_what_real_processes_measured_and_the_best_is_kept(
    tiny_path: Path, run: Run
) -> None:
    told = json.loads(run("-m", str(tiny_path), "--json"))
    assert set(told) == {"model", "machine", "speeds", "best", "warm_start"}
    assert (told["model"], told["machine"]) == (str(tiny_path), fingerprint())
    assert [(s["threads"], s["repack"]) for s in told["speeds"]] == [(1, False), (1, True)]
    for speed in told["speeds"]:
        assert all(value > 0 for key, value in speed.items() if key != "repack")
        assert speed["peak_bytes"] > speed["file_bytes"] + speed["cache_bytes"]
    plain, repacked = (float(speed["question_seconds"]) for speed in told["speeds"])
    repack = repacked < 0.95 * plain  # which has to gain clearly
    assert told["best"] == {"threads": 1, "repack": repack}
    start = told["warm_start"]
    assert start["ratio"] == pytest.approx(start["warm"] / start["cold"])
    assert load_profile(tiny_path.name) == Profile(1, repack)


def test_as_a_table_what_real_processes_measured_and_nothing_is_kept(
    tiny_path: Path, run: Run, data: Path
) -> None:
    out = run("-m", str(tiny_path), "--no-save")
    rows = [line for line in out.splitlines() if line.lstrip().startswith("1 ")]
    assert [row.split()[1] for row in rows] == ["no", "yes"]
    assert [row.endswith("best") for row in rows].count(True) == 1
    assert fingerprint() in out
    assert "from now on" not in out
    assert not data.exists()


def test_the_table_says_what_its_figures_are(
    tiny_path: Path, run: Run, measured: list[tuple[int, bool]]
) -> None:
    out = run("-m", str(tiny_path))
    heads, first, second = out.splitlines()[2:5]
    assert heads.split() == [
        "threads", "repack", "load", "read", "write", "bare", "share", "memory", "question",
    ]  # fmt: skip
    assert first.split() == [
        "1", "no", "0.50", "s", "50.0", "9.0", "10.0", "90%", "900.0", "MB", "13.6", "s",
    ]  # fmt: skip
    assert second.split()[-1] == "best"
    ends = [heads.index(word) + len(word) for word in ("bare", "share")]
    assert [first[:end].split()[-1] for end in ends] == ["10.0", "90%"]
    assert max(map(len, out.splitlines()[1:])) <= 80
    assert "400.0 MB file, 100.0 MB context, 400.0 MB the rest" in out
    assert "2.00 s after a first start, 0.50 s (25%) after a later one" in out
    assert out.splitlines()[-1].startswith("The best is used from now on")
    assert load_profile(tiny_path.name) == Profile(1, True)


def test_memory_that_was_not_all_used_is_not_less_than_none(
    tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, measured: list[tuple[int, bool]]
) -> None:
    thrifty = replace(SLOW, peak_bytes=300_000_000)
    monkeypatch.setattr("local_react.benchmark.speed_in_child", lambda *_, **__: thrifty)
    assert "0 bytes the rest" in run("-m", str(tiny_path))


@pytest.mark.parametrize(
    ("cpus", "cores", "threads"),
    [(1, 1, [1]), (2, 2, [1, 2]), (8, 4, [2, 4, 8]), (3, 2, [1, 2, 3]), (6, 6, [3, 6])],
)
def test_all_cpus_the_cores_and_half_of_them_are_tried(
    tiny_path: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    measured: list[tuple[int, bool]],
    cpus: int,
    cores: int,
    threads: list[int],
) -> None:
    monkeypatch.setattr("local_react.hardware.usable_cpus", lambda *_: cpus)
    monkeypatch.setattr("local_react.hardware.default_threads", lambda *_: cores)
    run("-m", str(tiny_path))
    assert measured == [(count, repack) for count in threads for repack in (False, True)]


def test_without_saving_what_was_kept_before_stays(
    tiny_path: Path, run: Run, measured: list[tuple[int, bool]]
) -> None:
    save_profile(tiny_path.name, Profile(7, False))
    run("-m", str(tiny_path), "--no-save")
    run("-m", str(tiny_path), "--no-save", "--json")
    assert load_profile(tiny_path.name) == Profile(7, False)


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_figures_that_cannot_be_kept_are_shown_all_the_same(
    tiny_path: Path,
    data: Path,
    capsys: pytest.CaptureFixture[str],
    measured: list[tuple[int, bool]],
    arguments: tuple[str, ...],
) -> None:
    data.write_text("a file where the directory should be")
    assert run_command(["bench", "-m", str(tiny_path), *arguments]) == 1
    out, err = capsys.readouterr()
    assert "13.6" in out
    assert err.count("\n") == 1
    assert str(data) in err
    assert "from now on" not in out


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("nothing/here.gguf", "there is no file"),
        ("qwen2.5-codr-1.5b", "qwen2.5-coder-1.5b"),
        ("smollm2-135m", "local-react pull smollm2-135m"),
        ("CUT", "cannot be loaded"),
        ("TEXT", "not a GGUF"),
    ],
)
@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_a_model_that_cannot_be_used_is_one_line(
    tiny_path: Path,
    tmp_path: Path,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    model: str,
    told: str,
) -> None:
    files = {name: tmp_path / f"{name}.gguf" for name in ("CUT", "TEXT")}
    files["CUT"].write_bytes(tiny_path.read_bytes()[:20_000])
    files["TEXT"].write_text("no model at all")
    monkeypatch.setenv("LOCAL_REACT_MODELS", str(tmp_path / "none"))
    code = run_command(["bench", "-m", str(files.get(model, model)), *arguments])
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert told in err
    assert err.startswith("local-react: ")
    assert err.count("local-react: ") == 1
    assert not data.exists()


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another signal there")
def test_ctrl_c_ends_with_130_and_leaves_no_process(tiny_path: Path, data: Path) -> None:
    """As at a terminal: all processes of the command get the signal."""
    process = subprocess.Popen(
        [sys.executable, "-m", "local_react", "bench", "-m", str(tiny_path)],
        # Whoever runs the tests in the background may have had SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    this = psutil.Process(process.pid)
    while not (children := this.children(recursive=True)):
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.strip()) == (130, b"", b"")
    gone, left = psutil.wait_procs(children, timeout=60)
    assert (len(gone), left) == (len(children), [])
    assert not data.exists()


def test_the_help_says_what_is_changed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "local_react", "bench", "--help"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "remember" in done.stdout
    assert "--no-save" in done.stdout


def test_what_was_the_best_can_be_forgotten(
    tiny_path: Path, run: Run, measured: list[tuple[int, bool]]
) -> None:
    run("-m", str(tiny_path))
    assert load_profile(tiny_path.name) == Profile(1, True)
    assert "default settings" in run("-m", str(tiny_path), "--forget")
    assert load_profile(tiny_path.name) == Profile()
    assert len(measured) == 2
