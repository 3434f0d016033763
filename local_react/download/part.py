"""The bytes fetched so far, `<file>.part`: appended by any source, hashed, moved into place."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable
from io import FileIO
from pathlib import Path

from local_react.atomic import check_file, sync
from local_react.catalog import GGUF_MAGIC, CatalogModel, human_bytes
from local_react.download.progress import Progress, Report, SourceError, WrongHash
from local_react.errors import DownloadError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_BLOCK = 1 << 20


class Part:
    """The unfinished file of one model, beside its final name.

    Every source appends the same bytes in order, so whichever comes next goes on where
    the last one stopped, even after kill -9: the length says how much is there.
    """

    def __init__(self, final: Path, model: CatalogModel) -> None:
        """Take over what an earlier download left, or drop it where it can't be ours."""
        self.final = final
        self.model = model
        self.path = _part_path(final)
        if self.size > model.bytes or not self._begins_well():
            self.discard()

    @property
    def size(self) -> int:
        """Bytes that are there."""
        return self.size_beside(self.final)

    @staticmethod
    def size_beside(final: Path) -> int:
        """Return how many bytes of a file have come, whoever is fetching it."""
        try:
            return _part_path(final).stat().st_size
        except FileNotFoundError:
            return 0

    @property
    def complete(self) -> bool:
        """Whether all bytes are there, right or wrong."""
        return self.size == self.model.bytes

    def need_room(self, extra: int = 0) -> None:
        """Raise DownloadError where the disk can't take the missing bytes and `extra` more."""
        needed = self.model.bytes - self.size + extra
        free = shutil.disk_usage(self.path.parent).free
        if needed > free:
            raise DownloadError(
                f"not enough room in {self.path.parent} for {self.model.name}:"
                f" {human_bytes(needed)} needed, {human_bytes(free)} free;"
                " make room, or set LOCAL_REACT_MODELS to a directory on another disk"
            )

    def append(self, chunks: Iterable[bytes], advance: Callable[[int], None]) -> None:
        """Write the chunks at the end; tell `advance` the size after each.

        Raises SourceError where the file doesn't begin like a GGUF or grows past the
        model's size, and DownloadError where it cannot be written.
        """
        with self._open() as file:
            size = self.size
            for chunk in chunks:
                self._check(size, chunk)
                self._write(file, chunk)
                size += len(chunk)
                advance(size)

    def truncate(self, size: int) -> None:
        """Drop what is beyond `size` bytes."""
        try:
            if size < self.size:
                os.truncate(self.path, size)
        except OSError as error:
            raise _cannot_write(self.path, error) from error

    def discard(self) -> None:
        """Drop all bytes."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise _cannot_write(self.path, error) from error

    def place(self, report: Report) -> None:
        """Move the file to its final name if its SHA-256 is right.

        Raises WrongHash, after dropping the bytes, where it isn't.
        """
        sync(self.path)
        got = sha256_of(self.path, lambda done: report(self._verifying(done)))
        if got != self.model.sha256:
            self.discard()
            raise WrongHash(
                f"the SHA-256 of {self.model.file} is wrong: expected {self.model.sha256},"
                f" got {got}; the bytes were dropped: try again, or another --source"
            )
        try:
            self.path.replace(self.final)
        except OSError as error:  # on Windows: the old file is open in another program
            raise _cannot_write(self.final, error) from error
        sync(self.final.parent)

    def _verifying(self, done: int) -> Progress:
        return Progress("verifying", done, self.model.bytes)

    def _begins_well(self) -> bool:
        try:
            check_file(self.path)  # a pipe would be waited at for ever
            with self.path.open("rb") as file:
                return file.read(len(GGUF_MAGIC)) == GGUF_MAGIC
        except FileNotFoundError:
            return True
        except OSError as error:
            raise _cannot_write(self.path, error) from error

    def _open(self) -> FileIO:
        try:
            # Unbuffered: what has been received is in the file, whatever happens next.
            return self.path.open("ab", buffering=0)
        except OSError as error:
            raise _cannot_write(self.path, error) from error

    def _check(self, size: int, chunk: bytes) -> None:
        if size == 0 and not chunk.startswith(GGUF_MAGIC):
            raise SourceError(f"what came is not a GGUF file: it begins with {chunk[:40]!r}")
        if size + len(chunk) > self.model.bytes:
            raise SourceError(
                f"more came than the {self.model.bytes} bytes of {self.model.name}:"
                " it is another file than the pinned one"
            )

    def _write(self, file: FileIO, chunk: bytes) -> None:
        rest = memoryview(chunk)
        try:
            while rest:
                rest = rest[file.write(rest) :]
        except OSError as error:
            if error.errno in _FULL:
                raise DownloadError(
                    f"the disk is full: {self.path} keeps the {human_bytes(self.size)} that came;"
                    " make room and run it again to go on from there"
                ) from error
            raise _cannot_write(self.path, error) from error


def _part_path(final: Path) -> Path:
    return final.with_name(final.name + ".part")


def sha256_of(path: Path, advance: Callable[[int], None]) -> str:
    """Return the SHA-256 of a file in hex; tell `advance` how many bytes were read."""
    digest = hashlib.sha256()
    done = 0
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                done += len(block)
                advance(done)
    except OSError as error:
        raise DownloadError(f"cannot read {path}: {error.strerror}") from error
    return digest.hexdigest()


def _cannot_write(path: Path, error: OSError) -> DownloadError:
    return DownloadError(
        f"cannot write {path}: {error.strerror or error};"
        " check its permissions, or set LOCAL_REACT_MODELS to another directory"
    )
