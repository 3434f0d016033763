"""The user's own documents: what is added, found and read."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from local_react import places
from local_react.documents import linking, opening, removing, searching, store, summaries
from local_react.documents.indexing import Indexing
from local_react.documents.opening import Excerpt
from local_react.documents.reports import Added, Progress, Watch
from local_react.documents.searching import Hit
from local_react.documents.summaries import FileSummary, RootSummary, Status
from local_react.documents.workers import COUNT, SECONDS
from local_react.errors import UsageError


class Library:
    """The index of the user's documents. Each call opens it anew, so threads and
    processes may share it."""

    def __init__(self, directory: Path | None = None) -> None:
        self.path = (directory or places.data_dir()) / store.NAME

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to be found."""
        with store.reading(self.path) as connection:
            if connection is None:
                return True
            sql = "SELECT NOT EXISTS (SELECT 1 FROM files WHERE passages > 0)"
            return bool(connection.execute(sql).fetchone()[0])

    def add(
        self,
        paths: Sequence[Path],
        watch: Watch = lambda progress: None,
        *,
        seconds: float = SECONDS,
        workers: int = COUNT,
    ) -> Added:
        """Bring the files and folders at the paths up to date in the index, and tell what
        came of it. `seconds` are what reading a file may take, in one of the `workers`.

        What is broken off, by Ctrl-C or by force, goes on where it stopped when it is
        done again. Raises UsageError where a path is not there or the index cannot be
        written.
        """
        found = [_there(path) for path in paths]
        with self._alone(watch), store.writing(self.path) as connection:
            return Indexing(connection, watch, seconds=seconds, count=workers).add(found)

    def remove(self, path: Path, watch: Watch = lambda progress: None) -> int:
        """Take out what was indexed at and below the path, which need not be there any
        more; return how many files that were.

        Raises UsageError where nothing was indexed there.
        """
        removed = None
        if self.path.exists():
            with self._alone(watch), store.writing(self.path) as connection:
                removed = removing.remove(connection, _spellings(path))
        if removed is not None:
            return removed
        raise UsageError(f"nothing was added at {path}: `local-react docs list` tells what was")

    def _alone(self, watch: Watch) -> AbstractContextManager[None]:
        waiting = Progress(0, 0, 0, 0, waiting=True)
        return store.one_writer(self.path, lambda: watch(waiting))

    def roots(self) -> list[RootSummary]:
        """Return the folders and files that were added, in the order of their paths."""
        with store.reading(self.path) as connection:
            return [] if connection is None else summaries.roots(connection)

    def files(self) -> list[FileSummary]:
        """Return the files that are known, those that could not be read too."""
        with store.reading(self.path) as connection:
            return [] if connection is None else summaries.files(connection)

    def status(self) -> Status:
        """Return what the index holds, and how it differs from what is on disk."""
        with store.reading(self.path) as connection:
            if connection is None:
                return Status(os.fspath(self.path), 0, 0, 0, 0, 0, 0, (), ())
            return summaries.status(connection, self.path)

    def search(self, question: str, limit: int = 5, linked: int = 0) -> list[Hit]:
        """Return the passages nearest to a question, the best first, at most so many, and
        then those of at most so many documents which the best of them name.

        All of the question is plain text. Raises UsageError where the index is damaged.
        """
        with store.reading(self.path) as connection:
            if connection is None:
                return []
            hits = searching.search(connection, question, limit)
            return hits + linking.linked(connection, question, hits, linked)

    def speaks_of(self, question: str) -> bool:
        """Return whether the documents seem to say something about a question. Raises
        UsageError where the index is damaged."""
        with store.reading(self.path) as connection:
            return connection is not None and searching.speaks_of(connection, question)

    def read(self, document: int, where: str = "", most: int = opening.MOST) -> Excerpt:
        """Return what a document says at a place ("page 3", "after lines 12-30"), at most
        so many characters, or else the passage nearest to those words.

        Raises UsageError, which names what there is, where there is no such document or
        place.
        """
        with store.reading(self.path) as connection:
            if connection is None:
                raise UsageError("there are no documents: add some with `local-react docs add`")
            return opening.read(connection, document, where, most)

    def archives(self) -> list[tuple[Path, str]]:
        """Return the ZIM archives that were added, and their titles."""
        with store.reading(self.path) as connection:
            if connection is None:
                return []
            rows = connection.execute("SELECT path, title FROM archives ORDER BY path")
            return [(Path(os.fsdecode(path)), title) for path, title in rows]

    def add_archive(self, path: Path, title: str) -> None:
        """Note a ZIM archive, which is read where it is."""
        with store.writing(self.path) as connection, store.transaction(connection):
            connection.execute(
                "INSERT INTO archives VALUES (?, ?, ?)"
                " ON CONFLICT (path) DO UPDATE SET title = excluded.title",
                (os.fsencode(path.resolve()), title, time.time()),
            )

    def remove_archive(self, path: Path) -> bool:
        """Forget a ZIM archive, and say whether it was known; the file stays."""
        if not self.path.exists():
            return False
        with store.writing(self.path) as connection, store.transaction(connection):
            gone = 0
            for spelled in _spellings(path):
                sql = "DELETE FROM archives WHERE path = ?"
                gone += connection.execute(sql, (os.fsencode(spelled),)).rowcount
            return gone > 0


def _there(path: Path) -> Path:
    try:
        found = path.resolve()
        found.stat()
    except (OSError, RuntimeError, ValueError) as error:
        # RuntimeError: a loop of links, before Python 3.13
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot add {path}: {reason.lower()}") from error
    if not (found.is_dir() or found.is_file()):
        raise UsageError(f"cannot add {path}: it is neither a file nor a folder")
    return found


def _spellings(path: Path) -> list[Path]:
    """Return how the index may have the path, the likelier first."""
    try:
        plain = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would follow links
    except OSError:  # the folder that it is relative to has gone
        return []
    try:
        return list(dict.fromkeys([path.resolve(), plain]))
    except (OSError, RuntimeError, ValueError):
        return [plain]
