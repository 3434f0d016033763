"""A file that one process at a time has for itself."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from local_react.atomic import make_folder
from local_react.private import appending, check_own

_CHANGING: Final = 10.0
"""Seconds to wait for another process that changes a file, which takes it an instant."""


class Busy(OSError):
    """Another process has the file."""


@contextmanager
def alone(path: Path, patience: float = 0.0) -> Iterator[None]:
    """Have a file, which need not be there, alone within the block, among those who ask for
    that. The lock is a file beside it, which goes with the block; whoever is killed lets go.

    Raises Busy where another process has it for longer than `patience` seconds, and OSError
    where nothing can be written there.
    """
    from filelock import FileLock, Timeout

    own = path.with_name(f"{path.name}.lock")
    lock = FileLock(own)
    try:
        check_own(own)
        appending(own).close()  # where that is refused, filelock would say it is held
        lock.acquire(timeout=patience)
    except Timeout as error:
        raise Busy(errno.EBUSY, "another process is busy with it: try again", str(path)) from error
    except NotImplementedError:  # a file system without locks
        pass
    try:
        yield
    finally:
        with suppress(OSError):
            own.unlink()
        lock.release()


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Have a file alone, to read it and write it anew: what another process changes at the
    same time is not lost. Raises OSError."""
    make_folder(path.parent)
    with alone(path, _CHANGING):
        yield
