"""Files and folders that their owner alone can read, from their first byte on.

Whatever the umask is, and whatever was there before. In a folder that others can write to, a
link may have been put where a file of ours goes: it is not followed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from local_react.atomic import NoFile, check_file, make_folder, write_whole
from local_react.places import known_dirs

_OTHERS: Final = 0o077
"""The bits of whoever is not the owner."""
_WRITING_OTHERS: Final = 0o022
_SIBLINGS: Final = ("", "-journal", "-wal", "-shm")
"""How the names end of the files that make up a SQLite database."""


def own_folder(path: Path) -> None:
    """Make one of our folders where it is missing; no other user can look into it or one of
    ours above it. Raises OSError."""
    make_folder(path)
    for folder in {path, *filter(path.is_relative_to, known_dirs())}:
        if not _is_for_more(folder):
            _close(folder, 0o700)


def own_file(path: Path, *, make: bool = True) -> None:
    """Make one of our files where it is missing, empty, in a folder of ours, unless it is only
    to be read; no other user can read it, nor what SQLite keeps beside it.

    A file that is there is not opened: to close it again would let go of the locks that
    SQLite has on it elsewhere in this process. Raises OSError, for a link, or what is no file,
    too.
    """
    check_own(path)
    if not (make or path.exists()):
        return
    own_folder(path.parent)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    check_own(path)
    for ending in _SIBLINGS:
        _close(path.with_name(path.name + ending), 0o600)


def write_own(path: Path, parts: Sequence[bytes | memoryview], *, lasting: bool = True) -> None:
    """Write one of our files as a whole, in a folder of ours. Raises OSError as `write_whole`
    does."""
    own_folder(path.parent)
    write_whole(path, parts, lasting=lasting)


def followed(path: Path) -> Path:
    """Return where one of our files is, which the user may have put elsewhere and left a link.
    Raises OSError for a link that another user may have put there."""
    if path.is_symlink() and os.name == "posix":
        folder, owner = path.parent.stat(), path.lstat().st_uid
        if folder.st_mode & _WRITING_OTHERS or owner not in (0, os.geteuid()):
            raise OSError(errno.ELOOP, "it is a link, and others can write to its folder")
    return Path(os.path.realpath(path))


def appending(path: Path) -> IO[bytes]:
    """Open a file that the user named, to be read and added to at its end. A new one is for
    its owner alone; one that is there keeps its mode. Raises OSError."""
    return os.fdopen(os.open(path, _APPENDING, 0o600), "ab+")


_APPENDING: Final = (
    os.O_APPEND | os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


def check_own(path: Path) -> None:
    """Raise OSError where something is in the place of one of our files that is a link, another
    user's, or no file at all."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISLNK(status.st_mode):
        raise NoFile(errno.ELOOP, "it is a link, which may lead to another's file", str(path))
    if hasattr(os, "geteuid") and os.geteuid() not in (0, status.st_uid):
        raise NoFile(errno.EPERM, "it belongs to another user, who could read it", str(path))
    check_file(path)


def _is_for_more(folder: Path) -> bool:
    """Return whether a folder, though it is named as ours, holds more: the home directory, one
    above it, or one for all to write to, such as /tmp."""
    if folder.stat().st_mode & stat.S_ISVTX:
        return True
    with suppress(OSError, RuntimeError):  # there need not be a home
        return Path.home().resolve().is_relative_to(folder.resolve())
    return False


def _close(path: Path, mode: int) -> None:
    """Keep all others out, where they are not, and where that can be."""
    with suppress(OSError):
        status = path.lstat()
        if os.name == "posix" and not stat.S_ISLNK(status.st_mode) and status.st_mode & _OTHERS:
            path.chmod(mode)
