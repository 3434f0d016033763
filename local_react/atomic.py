"""A file that is written as a whole, or not at all, and read only where it is a file."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

TEMPORARY: Final = ".new"
"""How the name of a file ends while it is written."""
_UNFINISHED: Final = re.compile(rf".*\.[a-z0-9_]{{8}}{re.escape(TEMPORARY)}", re.DOTALL)
_BEGINNING: Final = 40
"""Characters of a file's name with which its name begins while it is written."""


class NoFile(OSError):
    """Something else is in a file's place, such as a pipe, at which we would wait for ever."""


def write_whole(
    path: Path,
    parts: Sequence[bytes | memoryview],
    *,
    keeps_mode: bool = False,
    lasting: bool = True,
) -> None:
    """Write the parts to a file that its owner alone can read, and put it in place when it is
    whole; its folder is made where it is missing. With `keeps_mode` a file that was there goes
    on to be for whom it was.

    What is `lasting` is on the disk when this returns, and a power cut leaves the old file or
    the new one; without that it takes less time, and a power cut may leave a damaged file.
    Raises OSError, with nothing left behind, where it fails.
    """
    make_folder(path.parent)
    sweep(path.parent, path.name[:_BEGINNING])  # what a killed process left
    handle, new = _unfinished(path)
    try:
        with os.fdopen(handle, "wb") as file:
            for data in parts:
                file.write(data)
            file.flush()
            if lasting:
                os.fsync(file.fileno())
            if keeps_mode and path.exists():
                new.chmod(stat.S_IMODE(path.stat().st_mode))
            if os.name == "posix":  # while it is held: once it is let go, it may be swept away
                new.replace(path)
        if os.name != "posix":  # an open file cannot be renamed there, nor be swept away
            new.replace(path)
    except BaseException:  # Ctrl-C, too
        with suppress(OSError):
            new.unlink()
        raise
    if lasting:
        sync(path.parent)


def read_whole(path: Path) -> bytes:
    """Return what a file holds. Raises OSError, also where something else is in its place."""
    check_file(path)
    return path.read_bytes()


def check_file(path: Path) -> None:
    """Raise NoFile where something is at a path that is no file, nor a link to one."""
    try:
        mode = path.stat().st_mode
    except OSError:  # missing, or out of reach: whoever opens it is told
        return
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "no file but a pipe or device"
        raise NoFile(errno.EINVAL, f"it is {what}", str(path))


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where they are missing, for their owner alone.

    Raises OSError.
    """
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def sweep(folder: Path, beginning: str = "") -> None:
    """Remove the files, of those whose names begin so, that a killed process left unfinished;
    what another process is writing stays."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name.startswith(beginning) and _UNFINISHED.fullmatch(path.name):
                with suppress(OSError):  # another's, or being written
                    _remove_if_left(path)


def sync(path: Path) -> None:
    """Have a file or folder on the disk before what follows, where the system can."""
    if path.is_dir() and os.name != "posix":  # elsewhere a folder cannot be opened
        return
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _unfinished(path: Path) -> tuple[int, Path]:
    """Return a new file beside a path, open and held, and its name."""
    beginning = f"{path.name[:_BEGINNING]}."
    while True:
        handle, name = tempfile.mkstemp(prefix=beginning, suffix=TEMPORARY, dir=path.parent)
        _hold(handle)
        if os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)  # it was swept away before it was held


def _remove_if_left(path: Path) -> None:
    """Remove an unfinished file that no process holds."""
    if os.name != "posix":
        path.unlink()  # refused while it is open
        return
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if _hold(handle, wait=False):
            path.unlink()
    finally:
        os.close(handle)


def _hold(handle: int, *, wait: bool = True) -> bool:
    """Hold an open file, which whoever ends, even by force, lets go of; return whether it is
    held: where files cannot be, none is, and none is taken for left."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True
