"""`local-react docs`: added, listed, searched, removed, and told."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from local_react.cli import INTERRUPTED
from local_react.cli.docs import docs
from local_react.documents import Library
from local_react.errors import UsageError

Run = Callable[..., str]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of this test's own."""
    monkeypatch.setenv("LOCAL_REACT_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "plan.md").write_text("# Plan\n\nWe buy a \x1b[31mlighthouse\u202e.\n")
    (folder / "empty.txt").touch()
    (folder / "pic.png").write_bytes(b"\x89PNG")
    return folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command and gives its output."""

    def call(*arguments: object) -> str:
        assert not docs.main([str(argument) for argument in arguments], standalone_mode=False)
        return capsys.readouterr().out

    return call


def test_without_a_command_there_is_help(run: Run) -> None:
    assert "status" in run() and "remove" in run()


def test_nothing_yet(run: Run, data: Path) -> None:
    assert run("list") == "nothing was added yet: `local-react docs add PATH`\n"
    assert run("search", "word") == run("list")
    assert run("status").startswith(f"{data / 'documents.sqlite'}\n0 files in 0 places")
    assert json.loads(run("list", "--json")) == []


def test_adding_tells_what_came_of_it(run: Run, notes: Path) -> None:
    told = run("add", notes).splitlines()
    assert told[0].startswith("1 added: 1 new passage from ")
    assert told[1] == "1 file of kinds that are not read, such as pictures"
    assert told[2].startswith(f"not read: {notes / 'empty.txt'}: ")
    assert len(told) == 3
    assert run("add", notes).startswith("1 unchanged: 0 new passages from 0 bytes of text")


def test_adding_as_json(run: Run, notes: Path) -> None:
    told = json.loads(run("add", "--json", notes))
    assert (told["added"], told["other"], told["passages"], told["archives"]) == (1, 1, 1, [])
    (skipped,) = told["skipped"]
    assert skipped["path"] == str(notes / "empty.txt") and skipped["reason"]


def test_a_passage_is_shown_with_its_place_and_steers_no_terminal(run: Run, notes: Path) -> None:
    run("add", notes)
    told = run("search", "buy", "lighthouse")
    assert told.startswith("[1] plan.md, lines 1-3 (document ")
    assert "lighthouse." in told
    assert "\x1b" not in told and "\u202e" not in told
    (hit,) = json.loads(run("search", "lighthouse", "--json"))
    assert (hit["name"], hit["place"], hit["title"]) == ("plan.md", "lines 1-3", "Plan")


def test_only_so_many_are_shown(run: Run, notes: Path) -> None:
    for number in range(7):
        (notes / f"{number}.txt").write_text(f"walrus {number}")
    run("add", notes)
    assert len(json.loads(run("search", "walrus", "--json"))) == 5
    assert len(json.loads(run("search", "walrus", "-n", 2, "--json"))) == 2


def test_listing_tells_roots_and_files(run: Run, notes: Path) -> None:
    run("add", notes)
    assert run("list").startswith(f"{notes}  1 file, ")
    files = run("list", "--files")
    assert f"{notes / 'plan.md'}  1 passage" in files
    assert f"{notes / 'empty.txt'}  not read: " in files
    (root,) = json.loads(run("list", "--json"))
    assert (root["path"], root["files"], root["skipped"]) == (str(notes), 1, 2)
    assert len(json.loads(run("list", "--files", "--json"))) == 3


def test_the_status_tells_what_was_left_out_and_what_changed(run: Run, notes: Path) -> None:
    run("add", notes)
    (notes / "plan.md").write_text("another plan, and a longer one than the first")
    told = run("status")
    assert "1 file in 1 place, 1 passage, " in told
    assert "1 file changed or gone since: add the folder again" in told
    assert "1 file left out: .png files are not read" in told
    assert f"not read: {notes / 'empty.txt'}: " in told
    as_json = json.loads(run("status", "--json"))
    assert (as_json["files"], as_json["changed"]) == (1, 1)
    assert as_json["other"] == {".png files are not read": 1}


def test_removing(run: Run, notes: Path) -> None:
    run("add", notes)
    assert run("remove", notes) == "removed 3 files from the index\n"
    assert run("list").startswith("nothing was added yet")
    with pytest.raises(UsageError, match="nothing was added at"):
        docs.main(["remove", str(notes)], standalone_mode=False)


def test_a_path_that_is_not_there_is_named(notes: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot add .*nowhere: no such file"):
        docs.main(["add", str(notes / "nowhere")], standalone_mode=False)


def test_what_is_no_archive_is_not_added_as_one(notes: Path) -> None:
    (notes / "wiki.zim").write_text("no archive")
    with pytest.raises(UsageError, match="no ZIM archive"):
        docs.main(["add", str(notes / "wiki.zim")], standalone_mode=False)


def test_an_archive_is_listed_and_removed(run: Run, notes: Path) -> None:
    path = notes / "wiki.zim"
    path.touch()
    Library().add_archive(path, "Wikipedia \x1b[2J")
    assert run("list") == f"{path}  archive: Wikipedia [2J\n"
    assert json.loads(run("list", "--json"))[0]["path"] == str(path)
    assert run("remove", path) == "removed 1 file from the index\n"


def test_interrupted_it_says_how_to_go_on(
    notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def press(*arguments: object, **settings: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Library, "add", press)
    assert docs.main(["add", str(notes)], standalone_mode=False) == INTERRUPTED
    assert "it goes on where it stopped" in capsys.readouterr().err


def test_progress_is_one_line_where_nobody_watches(
    notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs.main(["add", str(notes)], standalone_mode=False)
    size = (notes / "plan.md").stat().st_size
    assert capsys.readouterr().err == f"docs: reading 2 files, {size} bytes\n"


def test_progress_is_a_bar_on_a_terminal(notes: Path) -> None:
    main, child = pty.openpty()
    code = "from local_react.cli.docs import docs; docs()"
    done = subprocess.run(
        [sys.executable, "-c", code, "add", str(notes)],
        stdout=subprocess.PIPE,
        stderr=child,
        check=True,
        timeout=120,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(child)
    drawn = os.read(main, 1 << 16)
    os.close(main)
    assert b"2/2" in drawn
    assert done.stdout.startswith(b"1 added: ")


def test_an_empty_path_is_not_the_current_folder() -> None:
    for command in ("add", "remove"):
        with pytest.raises(click.BadParameter, match="a path is empty"):
            docs.main([command, ""], standalone_mode=False)
