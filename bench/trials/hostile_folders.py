"""Folders of documents that lead out, hang, explode or change while they are read."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import psutil

from local_react.documents import Library
from trials.bombs import BOMBS
from trials.trial import Report, Trial

_WORD: Final = "unicornsecret"
"""What is only outside of the folder."""
_SECONDS: Final = 30.0
"""That reading a file may take."""
_MEMORY: Final = 1 << 30
"""Bytes that reading any of the files takes at most."""
Make = Callable[[Path, Path], object]
"""Makes something at the first path; the second is a folder with what is secret."""


def _lead_out(at: Path, outside: Path) -> None:
    at.symlink_to(outside / "secret.txt")


def _chain(at: Path, outside: Path) -> None:
    for number in range(30):
        (at.parent / f"link{number}.txt").symlink_to(
            outside / "secret.txt" if number == 0 else at.parent / f"link{number - 1}.txt"
        )


def _socket(at: Path, outside: Path) -> None:
    here = os.open(at.parent, os.O_RDONLY)
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(f"/proc/self/fd/{here}/{at.name}"[:100])
    os.close(here)


def _device(at: Path, outside: Path) -> None:
    with suppress(PermissionError):  # not in a container
        os.mknod(at, 0o020666, os.makedev(1, 5))  # zeros without end


def _huge(at: Path, outside: Path) -> None:
    with at.open("wb") as file:
        file.truncate(1 << 40)


def _deep(at: Path, outside: Path) -> None:
    for _ in range(900):  # as far as a path goes
        at = at / "d"
    os.makedirs(at)  # noqa: PTH103 - mkdir of pathlib would recurse
    (at / "deep.txt").write_text("deep")


_MADE: Final[Mapping[str, Make]] = {
    "link.txt": _lead_out,
    "link": lambda at, outside: at.symlink_to(outside, target_is_directory=True),
    "chain": _chain,
    "dots.txt": lambda at, outside: at.symlink_to(f"../{outside.name}/secret.txt"),
    "loop": lambda at, outside: at.symlink_to("."),
    "self.txt": lambda at, outside: at.symlink_to(at),
    "process.txt": lambda at, outside: at.symlink_to("/proc/self/environ"),
    "kernel": lambda at, outside: at.symlink_to("/proc", target_is_directory=True),
    "pipe.txt": lambda at, outside: os.mkfifo(at),
    "socket.txt": _socket,
    "device.txt": _device,
    "huge.txt": _huge,
    "deep": _deep,
    "new\nline\x1b[2J.txt": lambda at, outside: at.write_text("odd"),
    "right\u202eto left.txt": lambda at, outside: at.write_text("odd"),
    os.fsdecode(b"no text \xff\xfe.txt"): lambda at, outside: at.write_text("odd"),
    "a" * 250 + ".txt": lambda at, outside: at.write_text("odd"),
    "-rf.txt": lambda at, outside: at.write_text("odd"),
}


class _Place:
    """A folder of documents with one that is good, one outside of it, and an index."""

    def __init__(self, root: Path) -> None:
        self.folder, self.outside = root / "notes", root / "outside"
        for folder in (self.folder, self.outside):
            folder.mkdir()
        (self.folder / "good.txt").write_text("all is well here")
        (self.outside / "secret.txt").write_text(f"the {_WORD} is here\n" * 50)
        self.library = Library(root / "data")

    def fault(self) -> str:
        """Return what is wrong with the index."""
        if hits := self.library.search(_WORD):
            return f"{hits[0].name!r} holds what is outside"
        if [hit.name for hit in self.library.search("well")] != ["good.txt"]:
            return "the good file is not found"
        return ""


@contextmanager
def _place() -> Iterator[_Place]:
    with TemporaryDirectory(prefix="folders-", ignore_cleanup_errors=True) as name:
        yield _Place(Path(name).resolve())


def _folders(count: int, random: Random) -> Report:
    """Add folders with one odd thing each, or several."""
    failures: list[str] = []
    for number in range(count):
        names = list(_MADE) if number >= len(_MADE) else [list(_MADE)[number]]
        with _place() as place:
            for name in random.sample(names, len(names)):
                _MADE[name](place.folder / name, place.outside)
            place.library.add([place.folder], seconds=_SECONDS, workers=1)
            if fault := place.fault():
                failures.append(f"{names}: {fault}"[:200])
    return Report(count, failures)


def _race(count: int, random: Random) -> Report:
    """Add a folder in which files and folders turn into links and back all the time."""
    failures: list[str] = []
    with _place() as place, _turning(place, random) as turns:
        for number in range(count):
            added = place.library.add([place.folder], seconds=_SECONDS, workers=1)
            if fault := place.fault():
                failures.append(f"round {number}: {fault}, {added}")
                break
        figures = f"{turns[0]} turns"
    return Report(count, failures, figures=figures)


@contextmanager
def _turning(place: _Place, random: Random) -> Iterator[list[int]]:
    """Turn some of the files and folders into links and back; yields how often."""
    ended, turns = threading.Event(), [0]
    things = [_Turning(place, number) for number in range(8)]

    def turn() -> None:
        while not ended.is_set():
            random.choice(things).turn()
            turns[0] += 1

    thread = threading.Thread(target=turn)
    thread.start()
    try:
        yield turns
    finally:
        ended.set()
        thread.join()


class _Turning:
    """A file, or a folder with one, that is a link every other time."""

    def __init__(self, place: _Place, number: int) -> None:
        self._at = place.folder / f"{number}{'.txt' if number % 2 else ''}"
        self._spare = place.outside.parent / f"spare{number}"
        self._target = place.outside / "secret.txt" if number % 2 else place.outside
        self._is_link = False
        if number % 2:
            self._at.write_text("plain " * number)
        else:
            self._at.mkdir()
            (self._at / "secret.txt").write_text("plain " * number)

    def turn(self) -> None:
        if self._is_link:
            self._at.unlink()
            self._spare.rename(self._at)
        else:
            self._at.rename(self._spare)
            self._at.symlink_to(self._target)
        self._is_link = not self._is_link


def _explode(count: int, random: Random) -> Report:
    """Add files that would take all memory or time, each beside a good one."""
    names = random.sample(list(BOMBS), len(BOMBS)) * (count // len(BOMBS) + 1)
    failures: list[str] = []
    slowest, largest = (0.0, ""), (0, "")
    for name in names[:count]:
        with _place() as place, _watched() as most:
            (place.folder / name).write_bytes(BOMBS[name]())
            before, began = _everything(place), time.monotonic()
            place.library.add([place.folder], seconds=_SECONDS, workers=1)
            seconds = time.monotonic() - began
            failures += [f"{name}: {fault}" for fault in _damage(place, name, before, most[0])]
        slowest, largest = max(slowest, (seconds, name)), max(largest, (most[0], name))
    figures = f"at most {largest[0] >> 20} MB ({largest[1]}), {slowest[0]:.0f} s ({slowest[1]})"
    return Report(count, failures, figures=figures)


def _damage(place: _Place, name: str, before: Sequence[Path], memory: int) -> Iterator[str]:
    if memory > _MEMORY:
        yield f"reading it took {memory >> 20} MB"
    if new := set(_everything(place)) - set(before):
        yield f"it wrote {sorted(new)}"
    if fault := place.fault():
        yield fault
    if place.library.search("root bash nologin"):
        yield "it read a file of the system"
    known = {Path(file.path).name: file for file in place.library.files()}
    if name not in known:
        yield "it is not even listed"


def _everything(place: _Place) -> list[Path]:
    top = place.folder.parent
    return [path for path in top.rglob("*") if "data" not in path.parts]


@contextmanager
def _watched() -> Iterator[list[int]]:
    """Yield the most memory that a child of ours has taken within the block."""
    ended, most = threading.Event(), [0]

    def watch() -> None:
        while not ended.wait(0.05):
            for child in psutil.Process().children():
                with suppress(psutil.Error):
                    most[0] = max(most[0], child.memory_info().rss)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        ended.set()
        thread.join()


TRIALS: tuple[Trial, ...] = (
    Trial("odd-folders", "documents beside links, pipes, devices, odd names", _folders, 22, 5),
    Trial("racing-links", "documents that turn into links while they are read", _race, 150, 5),
    Trial("bombs", "archives, XML, PDF, mail and text made to explode", _explode, 60, 5),
)
