"""Files of ours are for their owner alone, whatever the umask is and whatever was there."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from local_react.batch import Results
from local_react.errors import UsageError
from local_react.history import History
from local_react.places import cache_dir, data_dir
from local_react.private import appending, followed, own_file, own_folder, write_own

pytestmark = [
    pytest.mark.usefixtures("own_places"),
    pytest.mark.skipif(os.name != "posix", reason="SKIPPED: Windows has no file modes"),
]


@pytest.fixture(autouse=True, params=[0o000, 0o077], ids=["umask 000", "umask 077"])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the system leaves out of the modes of new files."""
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("make", [own_file, lambda path: write_own(path, [b"private"])])
def test_a_file_and_every_folder_above_it_are_its_owners(make: Callable[[Path], None]) -> None:
    path = data_dir() / "a" / "b" / "file"
    make(path)
    assert mode(path) == 0o600
    assert {mode(folder) for folder in (path.parent, path.parent.parent, data_dir())} == {0o700}


@pytest.mark.parametrize("make", [own_file, lambda path: write_own(path, [b"private"])])
def test_what_was_open_to_others_is_closed(make: Callable[[Path], None]) -> None:
    path = data_dir() / "prefixes" / "file"
    path.parent.mkdir(parents=True)
    names = ("file", "file-journal", "file-wal", "file-shm")
    for name in names if make is own_file else names[:1]:
        path.with_name(name).touch()
        path.with_name(name).chmod(0o666)
    for folder in (path.parent, data_dir()):
        folder.chmod(0o777)
    make(path)
    assert {mode(one) for one in path.parent.iterdir()} == {0o600}
    assert mode(path.parent) == mode(data_dir()) == 0o700


@pytest.mark.parametrize("which", ["for all", "home", "above home"])
def test_a_folder_that_holds_more_stays_as_it_is(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(0o1777 if which == "for all" else 0o755)
    monkeypatch.setenv("HOME", str(folder / "me" if which == "above home" else folder))
    monkeypatch.setenv("LOCAL_REACT_DATA_DIR", str(folder))
    if which == "for all":
        monkeypatch.setenv("HOME", str(tmp_path))
    before = mode(folder)
    own_file(folder / "file")
    assert mode(folder) == before
    assert mode(folder / "file") == 0o600


@pytest.mark.parametrize("dangles", [False, True])
def test_a_link_in_its_place_is_not_followed(dangles: bool, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    if not dangles:
        theirs.write_bytes(b"theirs")
        theirs.chmod(0o644)
    data_dir().mkdir()
    path = data_dir() / "history.sqlite"
    path.symlink_to(theirs)
    with pytest.raises(OSError, match="it is a link"):
        own_file(path)
    for use in (History().facts, lambda: History().remember("me")):
        with pytest.raises(UsageError, match=r"it is a link, which may lead to .*: move that away"):
            use()
    write_own(path, [b"ours"])  # what is put in place as a whole takes the link's
    assert not path.is_symlink()
    assert theirs.exists() is not dangles
    assert dangles or (theirs.read_bytes(), mode(theirs)) == (b"theirs", 0o644)


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: only root can be another user")
def test_another_users_file_is_not_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    own_file(path := data_dir() / "file")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(OSError, match="belongs to another user"):
        own_file(path)


def test_a_lock_of_sqlite_is_not_let_go_of() -> None:
    # POSIX lets go of all locks that a process has on a file where it closes it anywhere.
    own_file(path := data_dir() / "file.sqlite")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("CREATE TABLE t (x)")
        db.execute("BEGIN EXCLUSIVE")
        own_file(path)
        taken = (
            "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=0);"
            "db.execute('BEGIN IMMEDIATE')"
        )
        assert _fails_with("database is locked", taken, path)
        os.close(os.open(path, os.O_RDWR))
        assert not _fails_with("database is locked", taken, path)  # so it would be


def _fails_with(told: str, code: str, path: Path) -> bool:
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    return told in done.stderr


def test_a_link_of_the_users_own_is_followed_where_nobody_else_could_have_put_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "kept.toml").touch()
    folder = tmp_path / "folder"
    own_folder(folder)
    (folder / "link").symlink_to(tmp_path / "kept.toml")
    assert followed(folder / "link") == tmp_path / "kept.toml"
    folder.chmod(0o770)
    with pytest.raises(OSError, match="others can write to its folder"):
        followed(folder / "link")


def test_what_the_user_names_is_theirs_and_keeps_its_mode(tmp_path: Path) -> None:
    for name in ("new", "old"):
        path = tmp_path / name
        if name == "old":
            path.touch()
            path.chmod(0o640)
        with appending(path) as file:
            file.write(b"1")
        Results(path.with_name(f"{name}.jsonl")).append("{}")
    assert (mode(tmp_path / "new"), mode(tmp_path / "old")) == (0o600, 0o640)
    assert mode(tmp_path / "new.jsonl") == 0o600
    assert cache_dir() is not None
