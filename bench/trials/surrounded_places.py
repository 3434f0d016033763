"""Directories in which nothing can be kept: full, read-only, none at all."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Final

from trials.arranging import Arrange, Skip, There
from trials.stage import Stage

_PLACES: Final = ("data", "cache", "config", "models", "out", "work", "tmp")
_KEPT: Final = ("data", "cache", "config", "models")
_NOBODY: Final = 65_534
_STRANGER: Final = ("unshare", "-U", "--map-user=54321", "--map-group=54321")
"""Makes us a user that no list of users names, as a container may run for: what was ours is
that user's, and nothing else."""

_BEGIN: Final = """
place=$1; after=$2; shift 2
cp -a "$place" "$after" && mount -t tmpfs -o size=1m none "$place" && cp -a "$after/." "$place" &&
rm -rf "$after" || exit 99
"""
_FULL: Final = """
head -c 2m /dev/zero > "$place/fill" 2>/dev/null
truncate -s "-$left" "$place/fill"
"""
_READ_ONLY: Final = """
mount -o remount,ro "$place" || exit 99
"""
_END: Final = """
"$@"; code=$?
mount -o remount,rw "$place"; rm -f "$place/fill"; cp -a "$place" "$after"; exit $code
"""


@cache
def _own_mounts() -> tuple[str, ...]:
    """Return what gives a command mounts of its own. Raises Skip where nothing does."""
    for words in (("unshare", "-m"), ("unshare", "-rm")):
        if not shutil.which("unshare"):
            break
        line = [*words, "sh", "-c", "mount -t tmpfs none /mnt"]
        if subprocess.run(line, capture_output=True, check=False).returncode == 0:
            return words
    raise Skip("no file system can be mounted here, not even in a namespace of one's own")


@contextmanager
def _mounted(stage: Stage, *, name: str, script: str) -> Iterator[There]:
    place = stage.root / name
    place.mkdir(exist_ok=True)
    prefix = [*_own_mounts(), "sh", "-c", _BEGIN + script + _END, "sh"]
    yield There(
        {
            "prefix": [*prefix, str(place), str(stage.spare / name)],
            "environment": {"TMPDIR": str(place)} if name == "tmp" else {},
        }
    )


def _full(name: str, left: int) -> Arrange:
    return partial(_mounted, name=name, script=f"left={left}{_FULL}")


FULL: Final[Mapping[str, Arrange]] = {
    f"{name} full but for {left >> 10} KiB": _full(name, left)
    for name in _PLACES
    for left in (0, 4 << 10, 16 << 10, 64 << 10)
}
READ_ONLY: Final[Mapping[str, Arrange]] = {
    f"{name} read-only": partial(_mounted, name=name, script=_READ_ONLY) for name in _PLACES
}


@contextmanager
def _odd(stage: Stage, *, name: str, make: Callable[[Path], object]) -> Iterator[There]:
    place = stage.root / name
    if place.exists():
        place.rename(stage.spare / name)
    make(place)
    yield There(destroys=True)


def _file(place: Path) -> None:
    place.write_text("a file")


def _broken_link(place: Path) -> None:
    place.symlink_to(place.parent / "nothing" / "here")


def _loop(place: Path) -> None:
    place.symlink_to(place)


def _fifo(place: Path) -> None:
    os.mkfifo(place)


def _device(place: Path) -> None:
    place.symlink_to(os.devnull)


@contextmanager
def _below_a_file(stage: Stage, *, name: str) -> Iterator[There]:
    variables = {"data": "DATA_DIR", "cache": "CACHE", "config": "CONFIG", "models": "MODELS"}
    below = str(stage.root / "questions.txt" / "below")
    yield There({"environment": {f"LOCAL_REACT_{variables[name]}": below}})


@contextmanager
def _anothers(stage: Stage, *, name: str) -> Iterator[There]:
    place = stage.root / name
    place.mkdir(exist_ok=True)
    root = os.getuid() == 0
    if root:
        _check_stranger()
        os.chown(place, _NOBODY, _NOBODY)
    place.chmod(0o700 if root else 0)
    try:
        yield There({"prefix": _STRANGER if root else ()})
    finally:
        place.chmod(0o700)


@cache
def _check_stranger() -> None:
    """Raise Skip where we cannot become somebody else."""
    line = [*_STRANGER, "true"]
    if not shutil.which("unshare") or subprocess.run(line, capture_output=True).returncode:
        raise Skip("there are no namespaces of users here")


@contextmanager
def _inside(stage: Stage, *, file: str, make: Callable[[Path], object]) -> Iterator[There]:
    """A file of ours is something else."""
    path = stage.root / file
    path.parent.mkdir(exist_ok=True, parents=True)
    if path.exists():
        path.rename(stage.spare / path.name)
    make(path)
    yield There(destroys=True)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100 << 20)


def _not_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00max" * 100)


def _folder(path: Path) -> None:
    path.mkdir()


_FILES: Final = (
    "config/config.toml",
    "work/.local-react.toml",
    "data/history.sqlite",
    "data/documents.sqlite",
    "data/network.sqlite",
    "data/models.json",
    "data/machine.json",
    "data/exchange_rates.json",
    "cache/answers.sqlite",
    "cache/model_hashes.json",
    "cache/prefixes",
    "config/tools",
    "config/tools/own.py",
    "out/answers.jsonl",
)
_KINDS: Final[Mapping[str, Callable[[Path], object]]] = {
    "a file": _file,
    "a broken link": _broken_link,
    "a link to itself": _loop,
    "a pipe": _fifo,
    "a device": _device,
}
ODD: Final[Mapping[str, Arrange]] = {
    **{
        f"{name} is {kind}": partial(_odd, name=name, make=make)
        for name in _KEPT
        for kind, make in _KINDS.items()
    },
    **{f"{name} is below a file": partial(_below_a_file, name=name) for name in _KEPT},
    **{f"{name} is another user's": partial(_anothers, name=name) for name in _KEPT},
    **{
        f"{file} is {kind}": partial(_inside, file=file, make=make)
        for file in _FILES
        for kind, make in {
            **{kind: make for kind, make in _KINDS.items() if kind != "a file"},
            "a folder": _folder,
            "of 100 MB": _huge,
            "no text": _not_text,
        }.items()
        if (file, kind) not in {("config/tools", "a folder"), ("cache/prefixes", "a folder")}
    },
}


_NONE: Final[Mapping[str, str | None]] = dict.fromkeys(
    (
        *("LOCAL_REACT_DATA_DIR", "LOCAL_REACT_CACHE", "LOCAL_REACT_CONFIG"),
        *("LOCAL_REACT_MODELS", "HOME", "USER", "LOGNAME"),
        *("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"),
    )
)


@contextmanager
def _home(stage: Stage, *, home: str | None, **more: str) -> Iterator[There]:
    """A user whom the system does not know: the own home is left alone."""
    _check_stranger()
    (stage.root / "home").mkdir()
    filled = {name: text.format(stage.root) for name, text in more.items()}
    where = {**_NONE, "HOME": home and home.format(stage.root), **filled}
    yield There(
        {"environment": where, "prefix": _STRANGER}, destroys=True, check=lambda: _litter(stage)
    )


def _litter(stage: Stage) -> str:
    """Return what was written into the folder that somebody works in, which nobody asked for."""
    strange = [path.name for path in (stage.root / "work").iterdir()]
    found = [name for name in strange if name != ".local-react.toml"]
    return f"{found[0]} was made in the folder that it ran in" if found else ""


HOMES: Final[Mapping[str, Arrange]] = {
    "HOME unset": partial(_home, home=None),
    "HOME empty": partial(_home, home=""),
    "HOME missing": partial(_home, home="{}/nowhere/at/all"),
    "HOME a file": partial(_home, home="{}/questions.txt"),
    "HOME relative": partial(_home, home="home"),
    "HOME not writable": partial(_home, home="/proc"),
    "XDG empty": partial(
        _home, home="{}/home", XDG_DATA_HOME="", XDG_CACHE_HOME="", XDG_CONFIG_HOME=""
    ),
    "XDG relative": partial(
        _home, home="{}/home", XDG_DATA_HOME="d", XDG_CACHE_HOME="./c", XDG_CONFIG_HOME="../x"
    ),
    "TMPDIR missing": partial(_home, home="{}/home", TMPDIR="{}/nowhere"),
    "TMPDIR a file": partial(_home, home="{}/home", TMPDIR="{}/questions.txt"),
}
