"""Which files a folder holds, and that none is come to twice."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from local_react.documents import walking
from local_react.documents.walking import walk


def test_a_folder_within_itself_is_looked_into_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a/b", "c"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("a/1.txt", "a/b/2.txt", "c/3.txt"):
        (tmp_path / name).touch()
    again = walking._identity(tmp_path)
    real = walking._identity
    # As where the folder is mounted at a/b once more.
    monkeypatch.setattr(
        walking, "_identity", lambda folder: again if folder.name == "b" else real(folder)
    )
    assert [found.path.name for found in walk(tmp_path)] == ["1.txt", "3.txt"]


def test_a_folder_that_became_a_link_is_not_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.txt").touch()
    (tmp_path / "in" / "deep").mkdir(parents=True)
    found = walk(tmp_path / "in")
    real = walking._identity

    def changing(folder: Path) -> tuple[int, int] | None:
        if folder.name == "deep":
            folder.rmdir()
            folder.symlink_to(tmp_path / "out", target_is_directory=True)
        return real(folder)

    monkeypatch.setattr(walking, "_identity", changing)
    assert list(found) == []


def test_folders_as_deep_as_names_may_be_are_walked(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(400):
        deep = deep / "d"
    os.makedirs(deep)  # noqa: PTH103 - mkdir of pathlib would recurse
    (deep / "file.txt").touch()
    assert [found.path for found in walk(tmp_path)] == [deep / "file.txt"]
