"""What was measured on this machine, and that no file can do harm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local_react import profiles
from local_react.errors import LocalReactError
from local_react.places import data_dir
from local_react.profiles import Profile, load_profile, save_profile

BEST = Profile(threads=3, repack=True)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCAL_REACT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(profiles, "fingerprint", lambda: "this machine")
    return tmp_path / "data"


def test_what_was_saved_is_loaded(directory: Path) -> None:
    assert load_profile("a.gguf") == Profile()
    save_profile("a.gguf", BEST)
    assert load_profile("a.gguf") == BEST
    assert load_profile("/somewhere/else/a.gguf") == BEST
    assert [file.name for file in directory.iterdir()] == ["machine.json"]


def test_other_models_are_kept() -> None:
    save_profile("a.gguf", BEST)
    save_profile("b.gguf", Profile(threads=1))
    assert load_profile("a.gguf") == BEST
    assert load_profile("b.gguf") == Profile(threads=1)


def test_each_machine_finds_its_own(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_profile("a.gguf", BEST)
    monkeypatch.setattr(profiles, "fingerprint", lambda: "another")
    save_profile("a.gguf", Profile(threads=9))
    save_profile("b.gguf", Profile(threads=8))
    monkeypatch.setattr(profiles, "fingerprint", lambda: "this machine")
    assert load_profile("a.gguf") == BEST
    assert load_profile("b.gguf") == Profile()


DAMAGED = [
    b"",
    b"{",
    b"\xff\xfe",
    b"[]",
    b"3",
    b"[" * 100_000,
    b'{"this machine": 3}',
    b'{"this machine": {"a.gguf": [1]}}',
    b'{"this machine": {"a.gguf": {"threads": "3", "repack": 1}}}',
    b'{"this machine": {"a.gguf": {"threads": 0}}}',
    b'{"this machine": {"a.gguf": {"threads": true, "repack": null}}}',
]


@pytest.mark.parametrize("data", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_is_empty_and_is_replaced(directory: Path, data: bytes) -> None:
    directory.mkdir()
    (directory / "machine.json").write_bytes(data)
    assert load_profile("a.gguf") == Profile()
    save_profile("a.gguf", BEST)
    assert load_profile("a.gguf") == BEST


def test_what_newer_versions_keep_there_stays(directory: Path) -> None:
    directory.mkdir()
    (directory / "machine.json").write_text('{"format": 2, "this machine": {"b": {"x": 1}}}')
    save_profile("a.gguf", BEST)
    stored = json.loads((directory / "machine.json").read_text())
    assert stored["format"] == 2
    assert stored["this machine"]["b"] == {"x": 1}


def test_a_directory_that_cannot_be_written_is_one_line_that_names_it(directory: Path) -> None:
    directory.write_text("a file where the directory should be")
    with pytest.raises(LocalReactError) as caught:
        save_profile("a.gguf", BEST)
    assert str(directory / "machine.json") in str(caught.value)
    assert "LOCAL_REACT_DATA_DIR" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert load_profile("a.gguf") == Profile()


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_profile("a.gguf", BEST)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(LocalReactError, match="No space left"):
        save_profile("a.gguf", Profile(threads=1))
    assert load_profile("a.gguf") == BEST
    assert [file.name for file in directory.iterdir()] == ["machine.json"]


def test_the_directory_is_the_platforms_unless_it_is_set(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert data_dir() == directory
    monkeypatch.delenv("LOCAL_REACT_DATA_DIR")
    assert data_dir().name == "local-react"
