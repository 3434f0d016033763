"""Reading in a process of its own: what hangs, grows or breaks down there ends there."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import psutil
import pytest

from local_react.readers import Unreadable, read_file
from local_react.readers.apart import fault_of, read_bytes_apart, read_file_apart

PAGE = b"<title>Rhine</title><p>" + b"The Rhine rises in the Alps and ends in the sea. " * 20


def test_it_is_the_same_document(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(PAGE)
    assert read_file_apart(tmp_path / "page.html") == read_file(tmp_path / "page.html")
    found = read_bytes_apart(PAGE, content_type="text/html", url="https://example.org/rhine")
    assert "Alps" in found.parts[0].text


def test_why_not_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    with pytest.raises(Unreadable, match="empty"):
        read_file_apart(tmp_path / "empty.txt")
    with pytest.raises(FileNotFoundError):
        read_file_apart(tmp_path / "gone.txt")
    with pytest.raises(Unreadable):
        read_bytes_apart(b"%PDF-1.7 and nothing")


def test_what_takes_too_long_is_ended() -> None:
    before = set(psutil.Process().children())
    with pytest.raises(Unreadable, match="takes longer than"):
        read_bytes_apart(PAGE, seconds=0.001)
    assert set(psutil.Process().children()) <= before


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_a_reader_that_is_killed_is_told() -> None:
    before = set(psutil.Process().children())
    done = threading.Event()

    def kill() -> None:
        while not done.is_set():
            for child in set(psutil.Process().children()) - before:
                child.send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with pytest.raises(Unreadable, match="broke down over it"):
            read_bytes_apart(PAGE)
    finally:
        done.set()
        killer.join()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), "takes too much memory"),
        (RecursionError(), "is nested too deeply"),
        (KeyError("x"), "cannot be read (KeyError)"),
        (PermissionError(13, "Permission denied"), "permission denied"),
    ],
)
def test_what_a_library_raises_is_a_few_words(error: Exception, told: str) -> None:
    assert fault_of(error) == told
