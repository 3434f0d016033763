"""`local-react doctor`: what it tells, and what to do about it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_model import write_tiny_model

from local_react.cli.doctor import doctor
from local_react.errors import ModelError
from local_react.profiles import Profile, save_profile

Run = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 8 GiB, no GPU, and directories of its own."""
    for name in ("MODELS", "CACHE", "DATA_DIR"):
        monkeypatch.setenv(f"LOCAL_REACT_{name}", str(tmp_path / name))
    monkeypatch.setattr("local_react.hardware.available_memory", lambda: 8 * 2**30)
    monkeypatch.setattr("local_react.hardware.gpus", lambda: ())
    monkeypatch.setattr("local_react.backends.llama.supports_gpu", lambda: False)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command and gives its exit code and output."""

    def call(*arguments: str) -> tuple[int, str]:
        code = doctor.main(list(arguments), standalone_mode=False)
        return code, capsys.readouterr().out

    return call


def as_json(run: Run, *arguments: str) -> tuple[int, dict[str, Any]]:
    code, out = run("--json", *arguments)
    return code, json.loads(out)


def line(out: str, label: str) -> str:
    return next(line for line in out.splitlines() if line.startswith(label))


def test_all_is_well_with_a_model_that_fits(tiny_path: Path, tmp_path: Path, run: Run) -> None:
    code, out = run("-m", str(tiny_path))
    assert code == 0
    assert "Python 3." in line(out, "local-react")
    assert "8.0 GiB available" in line(out, "memory")
    assert "runs on the CPU only" in line(out, "GPU")
    assert str(tiny_path) in line(out, "model")
    assert "4096 tokens of context" in line(out, "needs")  # as many as the model has
    assert line(out, "needs").endswith(": fits")
    assert str(tmp_path / "DATA_DIR") in line(out, "directories")
    assert not [line for line in out.splitlines() if line.startswith(("advice", "problem"))]


def test_json_has_the_same_and_is_json_alone(tiny_path: Path, tmp_path: Path, run: Run) -> None:
    code, told = as_json(run, "-m", str(tiny_path))
    assert code == 0
    assert (told["ok"], told["problems"], told["advice"]) == (True, [], [])
    assert told["file"] == str(tiny_path)
    assert told["bytes"] == tiny_path.stat().st_size
    assert told["fits"] is True
    assert told["needed"]["total"] == sum(
        told["needed"][part] for part in ("weights", "cache", "overhead")
    )
    assert told["memory_available"] == 8 * 2**30
    assert told["models_dir"] == str(tmp_path / "MODELS")
    assert (told["gpus"], told["gpu_build"], told["verified"]) == ([], False, None)


def test_a_model_that_is_missing_is_a_problem_that_says_what_to_do(run: Run) -> None:
    code, told = as_json(run)
    assert code == ModelError.exit_code
    assert told["model"] == "qwen2.5-coder-1.5b"
    assert not told["ok"]
    assert "local-react pull qwen2.5-coder-1.5b" in told["problems"][0]
    code, out = run("-m", "smollm2-135m")
    assert code == ModelError.exit_code
    assert "local-react pull smollm2-135m" in line(out, "problem")


def test_the_model_of_the_environment_is_looked_at(
    tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_REACT_MODEL", str(tiny_path))
    assert as_json(run)[1]["file"] == str(tiny_path)


def test_a_model_that_cannot_fit_is_a_problem_with_the_figures(
    tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_react.hardware.available_memory", lambda: 2**27)
    code, told = as_json(run, "-m", str(tiny_path))
    assert code == ModelError.exit_code
    assert told["fits"] is False
    assert "0.1 GiB are available" in told["problems"][0]


def test_a_model_too_large_for_the_memory_may_fit_on_the_gpu(
    tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_react.hardware.available_memory", lambda: 2**27)
    monkeypatch.setattr("local_react.hardware.gpus", lambda: ("NVIDIA RTX",))
    monkeypatch.setattr("local_react.backends.llama.supports_gpu", lambda: True)
    code, told = as_json(run, "-m", str(tiny_path))
    assert (code, told["problems"]) == (0, [])
    assert "GPU" in told["advice"][0]


def test_a_damaged_model_is_a_problem(tiny_path: Path, tmp_path: Path, run: Run) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny_path.read_bytes()[:100])
    code, told = as_json(run, "-m", str(cut))
    assert code == ModelError.exit_code
    assert "damaged" in told["problems"][0]


def test_a_file_with_other_bytes_than_the_catalogue_s_is_a_problem(
    tmp_path: Path, run: Run
) -> None:
    model = tmp_path / "MODELS" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    model.parent.mkdir()
    write_tiny_model(model)
    with model.open("r+b") as file:
        file.truncate(98_362_432)  # the size of the catalogue's, and not its hash
    code, told = as_json(run, "-m", "smollm2-135m")
    assert code == ModelError.exit_code
    assert told["verified"] is False
    assert "local-react pull --force smollm2-135m" in told["problems"][0]


@pytest.mark.parametrize(
    ("gpu", "flag"),
    [
        ("NVIDIA GeForce RTX 3060", "-DGGML_CUDA=on"),
        ("AMD GPU", "-DGGML_VULKAN=on"),
        ("Apple GPU", "-DGGML_METAL=on"),
    ],
)
def test_a_gpu_that_the_build_cannot_use_gets_advice(
    tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, gpu: str, flag: str
) -> None:
    monkeypatch.setattr("local_react.hardware.gpus", lambda: (gpu, gpu))
    code, out = run("-m", str(tiny_path))
    assert code == 0
    advice = [line for line in out.splitlines() if line.startswith("advice")]
    assert len(advice) == 1  # two alike need one build
    assert gpu in advice[0]
    assert flag in advice[0]


def test_a_gpu_that_the_build_can_use_needs_none(
    tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_react.hardware.gpus", lambda: ("NVIDIA RTX",))
    monkeypatch.setattr("local_react.backends.llama.supports_gpu", lambda: True)
    _, told = as_json(run, "-m", str(tiny_path))
    assert (told["gpus"], told["gpu_build"], told["advice"]) == (["NVIDIA RTX"], True, [])


def test_a_library_that_does_not_load_is_a_problem_and_the_rest_is_told(
    tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> bool:
        raise OSError("libllama.so: wrong\nELF class")

    monkeypatch.setattr("local_react.backends.llama.supports_gpu", fail)
    code, told = as_json(run, "-m", str(tiny_path))
    assert code == ModelError.exit_code
    assert told["gpu_build"] is None
    assert told["fits"] is True
    assert "libllama.so: wrong ELF class" in told["problems"][0]
    assert "reinstall" in told["problems"][0]


def test_the_threads_are_the_measured_ones_where_there_are_any(tiny_path: Path, run: Run) -> None:
    assert as_json(run, "-m", str(tiny_path))[1]["threads_measured"] is False
    save_profile(tiny_path.name, Profile(threads=77))
    _, told = as_json(run, "-m", str(tiny_path))
    assert (told["threads"], told["threads_measured"]) == (77, True)
    assert "local-react bench" in line(run("-m", str(tiny_path))[1], "CPU")


def test_the_switches_are_told(tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert as_json(run, "-m", str(tiny_path))[1]["offline"] is False
    monkeypatch.setenv("LOCAL_REACT_OFFLINE", "1")
    monkeypatch.setenv("LOCAL_REACT_CACHE", "off")
    _, told = as_json(run, "-m", str(tiny_path))
    assert (told["offline"], told["cache_dir"]) == (True, None)
    _, out = run("-m", str(tiny_path))
    assert "LOCAL_REACT_OFFLINE is set" in line(out, "network")
    assert line(out, "directories").endswith("cache off")


@pytest.mark.skipif(os.name == "nt", reason="such file names are refused there")
def test_a_file_s_name_cannot_steer_the_terminal(tiny_path: Path, tmp_path: Path, run: Run) -> None:
    strange = tmp_path / "a\x1b[2Jb.gguf"
    strange.write_bytes(tiny_path.read_bytes())
    assert "\x1b" not in run("-m", str(strange))[1]


def test_as_a_command_it_is_found_and_prints_no_colours(tiny_path: Path) -> None:
    for arguments, code in ((["-m", str(tiny_path)], 0), (["-m", "nothing.gguf"], 3)):
        done = subprocess.run(
            [sys.executable, "-m", "local_react", "doctor", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (done.returncode, done.stderr) == (code, "")
        assert done.stdout.startswith("local-react")
        assert "\x1b" not in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_for_terminals_that_want_them(
    environment: dict[str, str], coloured: bool
) -> None:
    ours, theirs = os.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "local_react", "doctor", "-m", "nothing.gguf"],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, **environment},
        check=False,
        timeout=120,
    )
    os.close(theirs)
    out = b""
    with contextlib.suppress(OSError):  # what a terminal that was hung up gives at its end
        while piece := os.read(ours, 4096):
            out += piece
    os.close(ours)
    assert done.returncode == 3
    assert b"nothing.gguf" in out
    assert (b"\x1b[31m" in out) is coloured
