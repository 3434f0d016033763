"""The scripts that bring a fresh clone to an answer: what they say and decide."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "scripts"
sys.path.insert(0, str(SCRIPTS))

import audit  # noqa: E402
import bootstrap  # noqa: E402
import run  # noqa: E402

LOCKED = f"--require-hashes -r {bootstrap.LOCK}"


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
        (("", "", "test", "test", ""), ["-e .", LOCKED, "--no-deps --no-build-isolation -e ."]),
        (("test", "", "test"), [LOCKED, "--no-deps --no-build-isolation -e ."]),
    ],
)
def test_what_is_installed_is_reused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: tuple[str, ...], done: list[str]
) -> None:
    installed: list[str] = []
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "_make_venv", lambda: None)
    monkeypatch.setattr(bootstrap, "_check_compiler", lambda: None)
    monkeypatch.setattr(bootstrap, "_pip_install", lambda what: installed.append(" ".join(what)))
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


@pytest.mark.parametrize("script", ["run", "test", "download_model", "bootstrap", "audit"])
def test_the_scripts_import_the_standard_library_alone(script: str) -> None:
    code = f"import sys; sys.path.insert(0, {str(SCRIPTS)!r}); import {script}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], check=False)
    assert done.returncode == 0


def test_a_python_that_the_lock_file_is_not_for_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bootstrap, "_LOCKED", ((3, 0), (3, 1)))
    assert bootstrap._wanted("test") == [["-e", ".[test]"]]
    assert "NOT LOCKED" in capsys.readouterr().err


def test_a_change_of_the_lock_file_installs_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lock = tmp_path / "lock"
    lock.write_text("a==1")
    monkeypatch.setattr(bootstrap, "LOCK", lock)
    before = bootstrap._fingerprint("test"), bootstrap._fingerprint()
    lock.write_text("a==2")
    assert bootstrap._fingerprint("test") != before[0]
    assert bootstrap._fingerprint() == before[1]


FLAW = {"id": "X-1", "fix_versions": ["2"]}


@pytest.mark.parametrize(
    ("answer", "code", "told"),
    [
        ([{"name": "a", "version": "1", "vulns": []}], 0, "1 packages audited, 0 known"),
        ([{"name": "a", "version": "1", "vulns": [FLAW]}], 1, "a 1: X-1, mended in ['2']"),
        ([{"name": "a", "skip_reason": "not found"}], 0, "SKIPPED"),
        (
            [
                {"name": "b", "skip_reason": "not found"},
                {"name": "a", "version": "1", "vulns": [FLAW]},
            ],
            1,
            "SKIPPED",
        ),
        (None, 0, "SKIPPED, the audit of the dependencies: no route to it"),
    ],
)
def test_what_the_audit_finds_fails_and_what_it_cannot_ask_is_told(
    capsys: pytest.CaptureFixture[str], answer: object, code: int, told: str
) -> None:
    text = "" if answer is None else json.dumps({"dependencies": answer})
    assert audit.judged(text, "noise\nno route to it\n") == code
    assert told in capsys.readouterr().out
