"""A file, opened as what it is when it is read, whatever it was when somebody looked at it."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from local_react.readers.document import Unreadable

_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_FILE: Final = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)  # as far as the system has them
_FOLDER: Final = (
    getattr(os, "O_PATH", os.O_RDONLY)  # to pass through a folder it need not be readable
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | _NO_LINK
)
_STEPWISE: Final = bool(_NO_LINK) and {os.open, os.stat} <= os.supports_dir_fd


def opened(path: Path, *, links: bool = True) -> BinaryIO:
    """Return a regular file, open to be read, which nothing waits for.

    Without `links` nothing on the whole way to it may be one, and be it put there just now: the
    way is gone step by step, each from the folder before it. Raises Unreadable where it is
    no regular file, and OSError where it can't be opened.
    """
    handle = _plain(path) if links else _without_links(path)
    try:
        # What was opened counts, should the name mean another by now.
        _check(os.fstat(handle))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def _plain(path: Path) -> int:
    _check(path.stat())  # before it is opened, which a device may take notice of
    return os.open(path, _FILE)


def _without_links(path: Path) -> int:
    if not _STEPWISE:
        return _compared(path)
    *folders, name = path.absolute().parts
    at = os.open(folders[0], _FOLDER)
    try:
        for folder in folders[1:]:
            inner = os.open(folder, _FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        _check(os.stat(name, dir_fd=at, follow_symlinks=False))
        return os.open(name, _FILE | _NO_LINK, dir_fd=at)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise _a_link() from error
        raise
    finally:
        os.close(at)


def _compared(path: Path) -> int:
    """Open a file where the system knows no steps: what came of it is what is there without
    links, afterwards."""
    handle = _plain(path)
    with suppress(OSError, RuntimeError):
        if path.resolve() == path.absolute() and os.path.samestat(os.fstat(handle), path.lstat()):
            return handle
    os.close(handle)
    raise _a_link()


def _check(status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise _a_link()
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable("not a regular file")


def _a_link() -> OSError:
    return OSError(errno.ELOOP, "a link, which is not followed")
