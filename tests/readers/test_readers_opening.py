"""A file is opened as what it is at that moment, and where no link may be, through none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from local_react.readers import Unreadable, opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "file").write_bytes(b"inside")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "file").write_bytes(b"outside")
    return (tmp_path / "in").resolve()


def test_a_plain_file_is_open_from_its_beginning(folder: Path) -> None:
    for links in (True, False):
        with opened(folder / "deep" / "file", links=links) as file:
            assert file.read() == b"inside"


@pytest.mark.parametrize("where", ["deep/link", "link/file", "link/../deep/link"])
def test_a_link_anywhere_on_the_way_is_not_followed(folder: Path, where: str) -> None:
    (folder / "deep" / "link").symlink_to(folder.parent / "out" / "file")
    (folder / "link").symlink_to(folder.parent / "out", target_is_directory=True)
    with pytest.raises(OSError, match="a link, which is not followed"):
        opened(folder / where, links=False)
    if ".." not in where:
        with opened(folder / where) as file:
            assert file.read() == b"outside"


@pytest.mark.parametrize("stepwise", [True, False])
def test_nor_is_one_that_was_put_there_just_now(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stepwise: bool
) -> None:
    monkeypatch.setattr("local_react.readers.opening._STEPWISE", stepwise)
    real, path = os.open, folder / "deep" / "file"

    def changing(name: object, *arguments: object, **options: object) -> int:
        if os.fspath(str(name)).endswith("file"):  # it was looked at, and is opened now
            monkeypatch.setattr(os, "open", real)
            path.unlink()
            path.symlink_to(folder.parent / "out" / "file")
        return real(name, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", changing)
    with pytest.raises(OSError, match=r"link|symbolic"):
        opened(path, links=False)
    assert path.is_symlink()


@pytest.mark.skipif(os.name != "posix", reason="SKIPPED: Windows has no such pipes")
@pytest.mark.parametrize("links", [True, False])
def test_nothing_waits_for_a_pipe_or_takes_a_device(folder: Path, links: bool) -> None:
    os.mkfifo(folder / "pipe")
    for path in (folder / "pipe", folder / "deep", Path("/dev/zero")):
        with pytest.raises(Unreadable, match="not a regular file"):
            opened(path, links=links)


def test_no_handle_is_left_open(folder: Path) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("SKIPPED: only Linux tells the handles of a process")
    before = len(list(Path("/proc/self/fd").iterdir()))
    (folder / "link").symlink_to(folder)
    for path in (folder / "missing" / "x", folder / "link" / "x", folder / "deep", folder / "x"):
        with pytest.raises((OSError, Unreadable)):
            opened(path, links=False)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
