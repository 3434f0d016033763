"""`local-react doctor`: what it tells, and what to do about it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tiny_model import write_tiny_model

from local_react.cli.doctor import doctor
from local_react.errors import ModelError
from local_react.network import Ledger
from local_react.profiles import Profile, save_profile

Run = Callable[..., tuple[int, str]]


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 8 GiB, room on its disk, no GPU, a CPU that does not say what it can,
    and directories of its own."""
    for name in ("MODELS", "CACHE", "DATA_DIR", "CONFIG"):
        monkeypatch.setenv(f"LOCAL_REACT_{name}", str(tmp_path / name))
    monkeypatch.setattr("local_react.hardware.available_memory", lambda: 8 * 2**30)
    monkeypatch.setattr("local_react.hardware.gpus", lambda: ())
    monkeypatch.setattr("local_react.hardware.cpu_features", lambda: None)
    monkeypatch.setattr("shutil.disk_usage", room_of(50_000_000_000))
    monkeypatch.delenv("LOCAL_REACT_NETWORK", raising=False)
    monkeypatch.setattr("local_react.backends.llama.supports_gpu", lambda: False)


def room_of(free: int) -> Callable[[object], SimpleNamespace]:
    return lambda _: SimpleNamespace(free=free)


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
    """Return the line of that label, which comes second."""
    return next(line for line in out.splitlines() if line[9:].startswith(f"{label} "))


def statuses(out: str) -> set[str]:
    """Return how the lines begin, but for the last one, which sums up."""
    return {line.split()[0] for line in out.splitlines()[:-1]}


def test_all_is_well_with_a_model_that_fits(tiny_path: Path, tmp_path: Path, run: Run) -> None:
    code, out = run("-m", str(tiny_path))
    assert code == 0
    assert " 3." in line(out, "Python")
    assert "llama-cpp-python" in line(out, "llama.cpp")
    assert "8.0 GiB available" in line(out, "memory")
    assert "runs on the CPU only" in line(out, "GPU")
    assert str(tiny_path) in line(out, "model")
    assert "4096 tokens of context" in line(out, "needs")  # as many as the model has
    assert line(out, "needs").endswith(": fits")
    assert str(tmp_path / "DATA_DIR") in line(out, "directories")
    assert statuses(out) == {"ok"}
    assert out.endswith("\nall is well\n")


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
    assert {line["status"] for line in told["lines"]} == {"ok"}
    assert [line["label"] for line in told["lines"]] == [
        *("local-react", "Python", "platform", "llama.cpp", "CPU", "memory", "GPU", "model"),
        *("needs", "disk", "directories", "config", "network", "terminal", "optional"),
    ]


def test_a_model_that_is_missing_is_a_problem_that_says_what_to_do(run: Run) -> None:
    code, told = as_json(run)
    assert code == ModelError.exit_code
    assert told["model"] == "qwen2.5-coder-1.5b"
    assert not told["ok"]
    assert "local-react pull qwen2.5-coder-1.5b" in told["problems"][0]
    code, out = run("-m", "smollm2-135m")
    assert code == ModelError.exit_code
    assert line(out, "model").startswith("problem")
    assert "local-react pull smollm2-135m" in line(out, "model")
    assert out.endswith("\n1 problem: the model cannot be used yet\n")


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
    told = line(out, "GPU")
    assert told.startswith("warning")
    assert told.count(flag) == 1  # two alike need one build
    assert f"to use the {gpu}" in told
    assert out.endswith("\n1 warning, and nothing that keeps the model from being used\n")


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
        assert line(done.stdout, "local-react").startswith("ok")
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


def test_a_cpu_that_does_more_than_the_build_gets_advice(
    tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(**features: str) -> None:
        system = " | ".join(f"{name} = {value}" for name, value in features.items())
        monkeypatch.setattr(
            "llama_cpp.llama_print_system_info",
            lambda: f"CUDA : ARCHS = 520,610 | USE_GRAPHS = 1 | CPU : {system} | ".encode(),
        )

    monkeypatch.setattr("local_react.hardware.cpu_features", lambda: frozenset({"avx2", "fma"}))
    built(SSE3="1", FMA="1", LLAMAFILE="0")
    code, out = run("-m", str(tiny_path))
    assert code == 0
    assert "CUDA: ARCHS 520,610, USE_GRAPHS; CPU: SSE3, FMA" in line(out, "llama.cpp")
    assert "LLAMAFILE" not in line(out, "llama.cpp")
    assert line(out, "CPU").startswith("warning")
    assert "the CPU has AVX2, and" in line(out, "CPU")
    assert "-DGGML_NATIVE=on" in line(out, "CPU")
    built(AVX2="1", FMA="1")
    assert line(run("-m", str(tiny_path))[1], "CPU").startswith("ok")
    # Off is as good as not there.
    built(AVX2="0", FMA="1")
    assert "the CPU has AVX2, and" in line(run("-m", str(tiny_path))[1], "CPU")


def test_a_cpu_that_does_not_say_what_it_can_is_no_fault(tiny_path: Path, run: Run) -> None:
    _, told = as_json(run, "-m", str(tiny_path))
    assert told["cpu_features"] is None
    assert told["build"]["CPU"]
    assert "not known" in line(run("-m", str(tiny_path))[1], "CPU")


def test_a_disk_without_room_gets_advice(
    tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", room_of(1_050_000_000))
    _, told = as_json(run, "-m", str(tiny_path))
    assert told["disk_free"] == {"models": 1_050_000_000, "data": 1_050_000_000}
    assert len(told["advice"]) == 1  # it is enough for the data, and not for the default model
    assert "LOCAL_REACT_MODELS" in told["advice"][0]
    assert "1.1 GB should be" in told["advice"][0]
    monkeypatch.setattr("shutil.disk_usage", room_of(10))
    assert "LOCAL_REACT_DATA_DIR" in as_json(run, "-m", str(tiny_path))[1]["advice"][1]


@pytest.mark.parametrize("place", ["MODELS", "DATA_DIR", "CONFIG", "CACHE"])
def test_a_directory_that_cannot_be_made_gets_advice(
    tiny_path: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(f"LOCAL_REACT_{place}", str(tmp_path / "file" / "inside"))
    out = run("-m", str(tiny_path))[1]
    assert line(out, "directories").startswith("warning")
    assert f"set LOCAL_REACT_{place} to" in line(out, "directories")


def test_what_is_there_is_told_from_what_is_not(tiny_path: Path, tmp_path: Path, run: Run) -> None:
    assert line(run("-m", str(tiny_path))[1], "directories").count("(not made yet)") == 4
    assert as_json(run, "-m", str(tiny_path))[1]["config_file"] is None
    assert not (tmp_path / "DATA_DIR").exists()  # to look makes nothing
    (tmp_path / "CONFIG").mkdir()
    (tmp_path / "CONFIG" / "config.toml").touch()
    out = run("-m", str(tiny_path))[1]
    assert line(out, "directories").count("(not made yet)") == 3
    assert str(tmp_path / "CONFIG" / "config.toml") in line(out, "config")


def test_who_may_always_send_is_told(
    tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ledger().allow("search")
    _, told = as_json(run, "-m", str(tiny_path))
    assert (told["network_mode"], told["always_allowed"]) == ("ask", ["search"])
    assert "asked each time, but for search" in line(run("-m", str(tiny_path))[1], "network")
    monkeypatch.setenv("LOCAL_REACT_NETWORK", "allow")
    assert "you are not asked" in line(run("-m", str(tiny_path))[1], "network")


def test_an_encoding_that_cannot_show_all_gets_advice(tiny_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "local_react", "doctor", "-m", str(tiny_path)]
    done = subprocess.run(command, capture_output=True, env=environment, check=False, timeout=120)
    told = line(done.stdout.decode("cp1252"), "terminal")
    assert told.startswith("warning")
    assert "cp1252" in told
    assert "PYTHONUTF8=1" in told


def test_what_cannot_be_found_out_is_a_warning_with_the_reason(
    tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the probe\nbroke")

    for probe in (
        *("hardware.total_memory", "hardware.gpus", "hardware.cpu_name"),
        *("cli.doctor.surroundings.config_dir", "cli.doctor.machine.version_of"),
        *("cli.doctor.model.resolve", "network.Network.from_environment"),
    ):
        monkeypatch.setattr(f"local_react.{probe}", fail)
    monkeypatch.setattr("shutil.disk_usage", fail)
    monkeypatch.setattr("rich.console.Console", fail)
    code, out = run("-m", str(tiny_path))
    assert code == 0
    assert statuses(out) == {"ok", "warning"}
    assert out.count("put this right: the probe broke") == 11
    assert line(out, "disk").startswith("warning")
    _, told = as_json(run, "-m", str(tiny_path))
    assert [one["status"] for one in told["lines"]].count("warning") == 11


def test_a_wrong_setting_of_the_network_is_told(
    tiny_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_REACT_NETWORK", "maybe")
    out = run("-m", str(tiny_path))[1]
    assert "LOCAL_REACT_NETWORK is 'maybe'" in line(out, "network")


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_the_terminal_is_told(tiny_path: Path) -> None:
    pexpect = pytest.importorskip("pexpect")
    for added, colours in (({"NO_COLOR": "1"}, r"no colours \(NO_COLOR\)"), ({}, "256 colours")):
        plain = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        environment = {**plain, "TERM": "xterm-256color", "COLORTERM": "", **added}
        child = pexpect.spawn(
            sys.executable,
            ["-m", "local_react", "doctor", "-m", str(tiny_path)],
            env=environment,
            dimensions=(30, 300),
            encoding="utf-8",
            timeout=60,
        )
        child.expect(f"terminal +300 x 30, {colours}, utf-8")
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0
