"""Adding files to the index: what is new or changed is read, what is gone is taken out."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from local_react.documents import roots, store
from local_react.documents.reports import Added, Progress, Watch
from local_react.documents.roots import Root
from local_react.documents.titles import searched_title
from local_react.documents.walking import Found, covers, walk
from local_react.documents.workers import Reply, Workers
from local_react.readers import kind_of

_BATCH: Final = 32 << 20
"""Bytes of text in a transaction: what is lost, and read again, where power fails."""
_BATCH_SECONDS: Final = 5.0
_UNSURE: Final = 2_000_000_000
"""Nanoseconds: a file that changed so shortly before it was read may change again and
keep its time, as coarse as that is on some file systems."""
_LARGE: Final = 5
"""Where what came in is more than this fraction of all, the index is put in order."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A file as it is in the index."""

    id: int
    size: int
    changed: int
    hash: bytes | None
    title: str
    first: int
    passages: int
    fault: str | None
    again: bool
    indexed: float

    def is_still(self, found: Found) -> bool:
        """Say whether the file need not be looked at."""
        if self.again or (self.size, self.changed) != (found.size, found.changed):
            return False
        return self.changed < self.indexed * 1e9 - _UNSURE


@dataclass(frozen=True, slots=True)
class _Job:
    root: Root
    found: Found
    name: bytes
    known: _Known | None


class Indexing:
    """One run over the given paths, which holds the lock of those who write."""

    def __init__(
        self, connection: sqlite3.Connection, watch: Watch, *, seconds: float, count: int
    ) -> None:
        self._connection = connection
        self._watch = watch
        self._seconds = seconds
        self._count = count
        self._added = Added()
        self._pending: list[Callable[[], None]] = []
        self._pending_bytes = 0
        self._since = time.monotonic()

    def add(self, paths: Sequence[Path]) -> Added:
        """Bring what is at the paths, each a folder or file, up to date in the index."""
        began = time.monotonic()
        jobs: list[_Job] = []
        seen: dict[int, Root] = {}
        try:
            for path in _outermost(paths):
                root = roots.of(self._connection, path)
                seen[root.id] = root
                jobs += self._look(root, path)
            with closing(Workers(self._seconds, self._count)) as workers:
                self._read(workers, jobs)
            for root in seen.values():
                self._later(partial(roots.stamp, self._connection, root))
        finally:
            self._flush()
        is_much = self._added.passages * _LARGE > self._all_passages()
        store.tidy(self._connection, order=is_much)
        self._added.seconds = time.monotonic() - began
        return self._added

    def _look(self, root: Root, path: Path) -> list[_Job]:
        """Return what has to be read at a path; what else is to be done is gathered."""
        known = roots.known(self._connection, root, path, _Known)
        found = list(walk(path)) if path.is_dir() else _alone(path)
        folders = [item for item in found if item.fault]
        self._added.skipped += [(os.fspath(item.path), item.fault) for item in folders]
        jobs = list(self._jobs(root, [item for item in found if not item.fault], known))
        # What lies in a folder that cannot be looked into now may still be there.
        hidden = tuple(roots.folder_of(root, item.path) for item in folders)
        for name, file in known.items():
            if not name.startswith(hidden):
                self._later(partial(self._remove, file))
        return jobs

    def _jobs(
        self, root: Root, found: Sequence[Found], known: dict[bytes, _Known]
    ) -> Iterator[_Job]:
        """Yield what has to be read, and take all that is there off what is known."""
        for item in found:
            name = roots.name_of(root, item.path)
            file = known.pop(name, None)
            if file is not None and file.is_still(item):
                self._count_unchanged(item, file)
            elif kind_of(item.path) is None:
                self._later(partial(self._other, _Job(root, item, name, file)))
            else:
                yield _Job(root, item, name, file)

    def _read(self, workers: Workers, jobs: Sequence[_Job]) -> None:
        total, done = sum(job.found.size for job in jobs), 0
        requests = ((job, job.found.path, _hash(job)) for job in jobs)
        self._watch(Progress(0, len(jobs), 0, total))
        for number, (job, reply) in enumerate(workers.read(requests), start=1):
            self._later(partial(self._take, job, reply), len(reply.texts))
            done += job.found.size
            self._watch(Progress(number, len(jobs), done, total, os.fspath(job.found.path)))

    def _later(self, work: Callable[[], None], size: int = 0) -> None:
        """Do the work in the transaction that is being gathered."""
        self._pending.append(work)
        self._pending_bytes += size
        late = time.monotonic() - self._since > _BATCH_SECONDS
        if self._pending_bytes > _BATCH or late:
            self._flush()

    def _flush(self) -> None:
        """Write what was gathered. No other process waits longer than this takes."""
        pending, self._pending, self._pending_bytes = self._pending, [], 0
        if pending:
            with store.transaction(self._connection):
                for work in pending:
                    work()
        self._since = time.monotonic()

    def _count_unchanged(self, item: Found, file: _Known) -> None:
        self._added.unchanged += file.fault is None
        if file.fault is not None and kind_of(item.path) is None:
            self._added.other += 1
        elif file.fault is not None:
            self._added.skipped.append((os.fspath(item.path), file.fault))

    def _take(self, job: _Job, reply: Reply) -> None:
        """Write what was made of a file."""
        header = reply.header
        if header.get("same") and job.known is not None:
            self._touch(job)
        elif "fault" in header:
            self._skip(job, header)
        else:
            self._put(job, header, reply.texts)

    def _touch(self, job: _Job) -> None:
        assert job.known is not None
        self._connection.execute(
            "UPDATE files SET size = ?, changed = ?, again = 0, indexed = ? WHERE id = ?",
            (job.found.size, job.found.changed, time.time(), job.known.id),
        )
        self._count_unchanged(job.found, job.known)

    def _skip(self, job: _Job, header: dict[str, Any]) -> None:
        if job.known is not None:
            self._drop(job.known)
        self._added.skipped.append((os.fspath(job.found.path), header["fault"]))
        self._save(job, header, 0, 0)

    def _other(self, job: _Job) -> None:
        suffix = job.found.path.suffix.lower()
        if job.known is not None:
            self._drop(job.known)
        self._added.other += 1
        header = {"hash": "", "fault": f"{suffix} files are not read", "again": False}
        self._save(job, header, 0, 0)

    def _put(self, job: _Job, header: dict[str, Any], texts: bytes) -> None:
        if job.known is None or job.known.fault is not None:
            self._added.added += 1
        else:
            self._added.changed += 1
        if job.known is not None:
            self._drop(job.known)
        bodies = list(_split(texts, header["lengths"]))
        rows = [(*place, text) for place, text in zip(header["places"], bodies[::2], strict=True)]
        title = searched_title(header["title"], job.name)
        spoken = [body.decode() for body in bodies[1::2]]
        first = store.put(self._connection, title, rows, spoken)
        self._added.passages += len(rows)
        self._added.bytes += header["bytes"]
        self._save(job, header, first, len(rows))

    def _save(self, job: _Job, header: dict[str, Any], first: int, passages: int) -> None:
        values = {
            "size": job.found.size,
            "changed": job.found.changed,
            "hash": bytes.fromhex(header["hash"]) or None,
            "title": header.get("title", ""),
            "date": header.get("date", ""),
            "first": first,
            "passages": passages,
            "bytes": header.get("bytes", 0),
            "fault": header.get("fault"),
            "again": header.get("again", False),
            "indexed": time.time(),
        }
        if job.known is None:
            values |= {"root": job.root.id, "name": job.name}
            names, marks = ", ".join(values), ", ".join("?" * len(values))
            sql = f"INSERT INTO files ({names}) VALUES ({marks})"
        else:
            sets = ", ".join(f"{name} = ?" for name in values)
            sql = f"UPDATE files SET {sets} WHERE id = {job.known.id}"
        self._connection.execute(sql, list(values.values()))

    def _remove(self, file: _Known) -> None:
        self._drop(file)
        self._connection.execute("DELETE FROM files WHERE id = ?", (file.id,))
        self._added.removed += 1

    def _drop(self, file: _Known) -> None:
        name = roots.name_by_id(self._connection, file.id)
        title = searched_title(file.title, name)
        store.drop(self._connection, title, file.first, file.passages)

    def _all_passages(self) -> int:
        (count,) = self._connection.execute("SELECT sum(passages) FROM files").fetchone()
        return int(count or 0)


def _outermost(paths: Sequence[Path]) -> list[Path]:
    """Return the paths, each once, without those that come with another."""
    different = list(dict.fromkeys(paths))
    return [
        path
        for path in different
        if not any(
            other != path and covers(other, path, folder=path.is_dir()) for other in different
        )
    ]


def _alone(path: Path) -> list[Found]:
    try:
        status = path.stat()
    except OSError:
        return []  # it has just gone
    return [Found(path, status.st_size, status.st_mtime_ns)]


def _hash(job: _Job) -> str:
    """Return the hash that need not be read again; empty where it must be."""
    known = job.known
    return known.hash.hex() if known is not None and known.hash and not known.again else ""


def _split(texts: bytes, lengths: Sequence[int]) -> Iterator[bytes]:
    at = 0
    for length in lengths:
        yield texts[at : at + length]
        at += length
