"""The scripts that bring a fresh clone to an answer: what they say and decide."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "scripts"
sys.path.insert(0, str(SCRIPTS))

import bootstrap  # noqa: E402
import run  # noqa: E402


def test_without_a_compiler_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "_answers", lambda arguments: False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("os.name", "posix")
    with pytest.raises(SystemExit) as ended:
        bootstrap._check_compiler()
    assert ended.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    for name in ("apt", "dnf", "xcode-select", "Visual Studio", "prebuilt"):
        assert name in line


def test_with_llama_cpp_at_hand_no_compiler_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_answers", lambda arguments: True)
    monkeypatch.setenv("PATH", "")
    bootstrap._check_compiler()


@pytest.mark.parametrize(
    ("asked", "done"),
    [
        (("", "", "test", "test", ""), [".", ".[test]"]),
        (("test", "", "test"), [".[test]"]),
    ],
)
def test_what_is_installed_is_reused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: tuple[str, ...], done: list[str]
) -> None:
    installed: list[str] = []
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "_make_venv", lambda: None)
    monkeypatch.setattr(bootstrap, "_check_compiler", lambda: None)
    monkeypatch.setattr(bootstrap, "_pip_install", installed.append)
    for extra in asked:
        bootstrap.install(extra)
    assert installed == done


def test_progress_is_told_in_tenths_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    progress = bootstrap._Progress(0.0)
    for step in range(1, 201):
        progress.read(f"  [{step}/200] Building CXX object x.o\n")
    progress.close()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert "compiling llama-cpp-python: 200 of 200" in lines[-1]


@pytest.mark.parametrize(
    ("log", "told"),
    [
        ("x\nERROR: No matching distribution\n", "No matching distribution"),
        ("CMake Error: CMAKE_C_COMPILER not set\nERROR: Failed building\n", "CMake Error"),
        ("nothing", "no reason"),
    ],
)
def test_the_line_that_says_most_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: str, told: str
) -> None:
    monkeypatch.setattr(bootstrap, "LOG", tmp_path / "log")
    bootstrap.LOG.write_text(log)
    assert told in bootstrap._last_error()


@pytest.mark.parametrize(
    ("arguments", "needs_none"),
    [
        (["What is 2 + 2?"], False),
        (["-q", "hi"], False),
        (["-q", "--offline", "hi"], True),
        ([], False),
        (["--help"], True),
        (["models"], True),
        (["pull", "smollm2-135m"], True),
        (["-m", "x.gguf", "hi"], True),
        (["--model=x.gguf", "hi"], True),
    ],
)
def test_the_default_model_is_fetched_only_where_it_is_used(
    arguments: list[str], needs_none: bool
) -> None:
    assert run._needs_no_fetch(arguments) is needs_none


@pytest.mark.parametrize("script", ["run", "test", "download_model", "bootstrap"])
def test_the_scripts_import_the_standard_library_alone(script: str) -> None:
    code = f"import sys; sys.path.insert(0, {str(SCRIPTS)!r}); import {script}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], check=False)
    assert done.returncode == 0
