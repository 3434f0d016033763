"""Whether a file in place is the pinned one, without hashing gigabytes each time.

A small record `<file>.verified` holds what was hashed: SHA-256, size and time of last
change. While those agree with the file, it isn't read again; where the record is missing
or differs (a file put there by hand, or changed since), the hash is computed once more.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

from local_react.atomic import check_file, read_whole
from local_react.catalog import PULL, CatalogModel
from local_react.download.part import sha256_of
from local_react.download.progress import Progress, Report
from local_react.errors import DownloadError


def verify(path: Path, model: CatalogModel, progress: Report | None = None) -> None:
    """Read a whole file and compare size and SHA-256 with the catalogue.

    Raises DownloadError, with expected and got, where they differ or it can't be read.
    """
    try:
        _compare(path, model, progress or (lambda _: None))
    except DownloadError:
        with contextlib.suppress(OSError):
            _record_path(path).unlink(missing_ok=True)
        raise
    record(path, model)


def is_verified(path: Path, model: CatalogModel, report: Report) -> bool:
    """Return whether the file is the pinned one; it is hashed only where no record says so."""
    if not path.is_file() or path.stat().st_size != model.bytes:
        return False
    if _recorded(path) == _state(path, model):
        return True
    try:
        verify(path, model, report)
    except DownloadError:
        return False
    return True


def is_recorded(path: Path, model: CatalogModel) -> bool:
    """Return whether a record says that the file is the pinned one; nothing is hashed."""
    return path.is_file() and _recorded(path) == _state(path, model)


def traces(path: Path) -> list[Path]:
    """Return what there is of a model's file: its record, itself, and what an interrupted
    download left beside it."""
    every = [path.with_name(path.name + end) for end in (".verified", "", ".part", ".index")]
    return [one for one in every if one.exists() or one.is_symlink()]


def remove(path: Path) -> int:
    """Remove all that there is of a model's file; return how many bytes that frees.

    Raises DownloadError where it is being fetched, or cannot be removed.
    """
    from filelock import FileLock, Timeout

    lock = path.with_name(path.name + ".lock")
    try:
        check_file(lock)
        lock.open("ab").close()  # where that is refused, filelock would wait
        with FileLock(lock, timeout=0):
            # The record first, so that it never outlives its file.
            freed = sum(map(_removed, traces(path)))
        lock.unlink(missing_ok=True)
    except Timeout as error:
        raise DownloadError(f"{path.name} is being fetched: wait, or stop that first") from error
    except OSError as error:
        raise DownloadError(
            f"cannot remove {error.filename or path}: {error.strerror or error};"
            f" check the permissions of {path.parent}"
        ) from error
    return freed


def _removed(path: Path) -> int:
    """Remove a file, a link or a directory; return its bytes, none for what a link leads to."""
    if path.is_symlink():
        size = 0
    elif path.is_dir():
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        shutil.rmtree(path)
        return size
    else:
        size = path.stat().st_size
    path.unlink()
    return size


def record(path: Path, model: CatalogModel) -> None:
    """Note that the file was hashed and found right."""
    # Without the note the file is only hashed again, so a read-only directory is no fault.
    with contextlib.suppress(OSError):
        _record_path(path).write_text(json.dumps(_state(path, model)), encoding="utf-8")


def _compare(path: Path, model: CatalogModel, report: Report) -> None:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise DownloadError(
            f"cannot read {path}: {error.strerror}; fetch it with `{PULL} {model.name}`"
        ) from error
    fetch_again = f"fetch it with `{PULL} --force {model.name}`"
    if size != model.bytes:
        raise DownloadError(
            f"{path} is not {model.name}: expected {model.bytes} bytes, got {size}; {fetch_again}"
        )
    got = sha256_of(path, lambda done: report(Progress("verifying", done, model.bytes)))
    if got != model.sha256:
        raise DownloadError(
            f"{path} is not {model.name}: expected SHA-256 {model.sha256}, got {got}; {fetch_again}"
        )


def _state(path: Path, model: CatalogModel) -> dict[str, object]:
    stat = path.stat()
    return {"sha256": model.sha256, "bytes": stat.st_size, "mtime_ns": stat.st_mtime_ns}


def _recorded(path: Path) -> object:
    try:
        return json.loads(read_whole(_record_path(path)))
    except (OSError, ValueError, RecursionError):
        return None


def _record_path(path: Path) -> Path:
    return path.with_name(path.name + ".verified")
