"""Files that are attached to a question: each with its name, of any kind that can be read."""

from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path

import pytest

from local_react.cli.attached import attached
from local_react.errors import UsageError
from local_react.readers.document import MOST_TEXT


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("\n  milk\n\neggs  \n\n")
    (tmp_path / "prices.csv").write_bytes("a;1,50 €\r\nb;2\r\n".encode("cp1252"))
    (tmp_path / "page.html").write_text("<!doctype html><title>T</title><p>Hello <b>you</b>.</p>")
    (tmp_path / "old.txt").write_bytes("é".encode("utf-16"))
    return tmp_path


def given(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_each_text_stands_below_its_name(notes: Path) -> None:
    assert attached(["notes.txt"]) == "File notes.txt:\n  milk\n\neggs"
    both = attached(["notes.txt", "prices.csv"])
    assert both == "File notes.txt:\n  milk\n\neggs\n\nFile prices.csv:\na;1,50 €\nb;2"
    assert attached([]) == ""


def test_it_reads_what_readers_read(notes: Path) -> None:
    assert attached(["page.html"]) == "File page.html:\nHello you."
    assert attached(["old.txt"]) == "File old.txt:\né"
    assert attached([str(notes / "notes.txt")]).startswith(f"File {notes}")


def test_a_file_that_is_named_twice_is_attached_once(notes: Path) -> None:
    assert attached(["notes.txt", "notes.txt"]) == attached(["notes.txt"])


def test_a_dash_is_standard_input(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, b"caf\xe9 at noon\n")
    assert attached(["-", "old.txt"]) == "Standard input:\ncafé at noon\n\nFile old.txt:\né"


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
def test_a_pipe_is_read_to_its_end(notes: Path) -> None:
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text("from a command\n"))
    writer.start()
    assert attached(["pipe"]) == "File pipe:\nfrom a command"
    writer.join(60)


def test_a_name_steers_no_terminal_and_ends_no_line(notes: Path) -> None:
    odd = "a\x1b[2J\nb.txt"
    Path(odd).write_text("text")
    assert attached([odd]) == "File a\\x1b[2J b.txt:\ntext"


@pytest.mark.parametrize(
    ("name", "held", "told"),
    [
        ("none.txt", None, "there is no such file"),
        ("folder", "folder", "it is a folder"),
        ("empty.txt", b"", "empty"),
        ("blank.txt", b" \n\n", "empty"),
        ("picture.png", b"\x89PNG\r\n\x1a\n", "a picture, not text"),
        ("model.txt", b"GGUF" + b"\0" * 100, "a model, not text"),
        ("noise.txt", bytes(range(256)) * 20, "not text"),
        ("bad.pdf", b"%PDF-1.4 and nothing else", ""),
    ],
)
def test_what_cannot_be_attached_is_named_in_one_line(
    notes: Path, name: str, held: bytes | str | None, told: str
) -> None:
    if held == "folder":
        Path(name).mkdir()
    elif isinstance(held, bytes):
        Path(name).write_bytes(held)
    with pytest.raises(UsageError) as error:
        attached(["notes.txt", name])
    line = str(error.value)
    assert line.startswith(f"{name} cannot be attached: ")
    assert told in line
    assert "\n" not in line


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_device_is_not_waited_for() -> None:
    with pytest.raises(UsageError, match="not a regular file"):
        attached(["/dev/zero"])


def test_what_is_too_large_is_refused(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (notes / "long.txt").write_bytes(b"a" * (MOST_TEXT + 1))
    monkeypatch.setattr("local_react.readers.document.MOST_TEXT", 5)
    given(monkeypatch, b"123456")
    for path in ("-", "long.txt"):
        with pytest.raises(UsageError, match="larger than"):
            attached([path])


def test_no_standard_input_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="standard input is closed"):
        attached(["-"])
    given(monkeypatch, b"\n")
    with pytest.raises(UsageError, match="- cannot be attached: empty"):
        attached(["-"])
