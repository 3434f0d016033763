"""The file of results: one line of JSON each.

A result counts once it is synced to the disk, so that whatever ends the process costs no more
than what was under way, and leaves at most a last line that is cut, which the next call drops.
It names what it answers, by the id or else the line of its question, and the settings that it
was made with: that is all there is to go on by.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from local_react.atomic import sync, write_whole
from local_react.batch.items import Item, name_of
from local_react.errors import UsageError
from local_react.locking import Busy, alone
from local_react.private import appending

_BEGINNING: Final = b'{"id": '
"""How every result begins."""


@dataclass(frozen=True, slots=True)
class Done:
    """A result that is there."""

    name: str
    question: str
    exit_code: int
    failed: bool
    """Whether it tells an error: it is tried again."""
    settings: Mapping[str, Any]


class Results:
    """The file of results, one JSON line each."""

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path))  # resolve() would raise for a loop of links

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Have the file alone within the block.

        Raises UsageError where another process has it, or it cannot be written.
        """
        if not self.path.parent.is_dir():
            raise UsageError(f"there is no folder {self.path.parent}: make it first")
        with ExitStack() as held:
            try:
                held.enter_context(alone(self.path))
            except Busy as error:
                told = f"another batch is writing {self.path}: wait for its end"
                raise UsageError(told) from error
            except OSError as error:
                raise self._unwritable(error) from error
            yield

    def go_on(
        self, items: Sequence[Item], settings: Mapping[str, Any], *, force: bool = False
    ) -> list[Done]:
        """Return the results that these questions have already. A last line that was cut, and
        those that tell an error, are taken out of the file.

        Raises UsageError, with nothing changed, where it holds anything but results, or,
        unless `force` is set, results for other questions or by other settings.
        """
        if not self.path.exists():
            return []
        try:
            found, cut = self._read()
            kept = [done for done in found if not done.failed]
            if not force:
                self._compare(kept, items, settings)
            if len(kept) < len(found):
                self._keep([not done.failed for done in found])
            else:
                self._end_without(cut)
        except OSError as error:
            raise self._unwritable(error) from error
        asked = {(item.name, item.question) for item in items}
        return [done for done in kept if (done.name, done.question) in asked]

    def append(self, line: str) -> None:
        """Add a result; it is on the disk when this returns.

        Raises UsageError where it cannot be written.
        """
        try:
            with appending(self.path) as file:
                begins = file.tell() == 0
                file.write(line.encode("utf-8", "replace") + b"\n")
                file.flush()
                os.fsync(file.fileno())
            if begins:
                sync(self.path.parent)
        except OSError as error:
            raise self._unwritable(error) from error

    def _read(self) -> tuple[list[Done], int]:
        """Return the results, and how many bytes of one that was cut are at the end."""
        if not self.path.is_file():
            raise UsageError(f"{self.path} is no file: name another one with -o")
        found = list[Done]()
        for line in self._lines():
            done = _done(line)
            if done is None and not line.endswith(b"\n") and _is_cut(line):
                return found, len(line)
            if done is None:
                raise UsageError(f"{self.path} holds something else: name another file with -o")
            found.append(done)
        return found, 0

    def _lines(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            yield from (line for line in file if not line.isspace())

    def _compare(
        self, found: Sequence[Done], items: Sequence[Item], settings: Mapping[str, Any]
    ) -> None:
        """Raise UsageError where a result is for no question here, or by other settings."""
        asked = {item.name: item.question for item in items}
        for done in found:
            if asked.get(done.name) != done.question:
                raise UsageError(
                    f"{self.path} answers another question at {done.name}: name another file "
                    "with -o, or give --force to keep those answers and add these"
                )
            if differing := _differing(done.settings, settings):
                raise UsageError(
                    f"{self.path} was made with {differing}: give the same settings, name "
                    "another file with -o, or give --force to go on with these"
                )

    def _keep(self, wanted: Sequence[bool]) -> None:
        """Leave some of the whole lines alone in the file."""
        lines = zip(self._lines(), wanted, strict=False)  # one that was cut comes after them
        left = [line.rstrip(b"\n") + b"\n" for line, keep in lines if keep]
        write_whole(self.path, left, keeps_mode=True)

    def _end_without(self, cut: int) -> None:
        """Take so many bytes from the end of the file, and let it end with a whole line."""
        with self.path.open("rb+") as file:
            size = file.truncate(file.seek(-cut, os.SEEK_END))
            file.seek(max(0, size - 1))
            if file.read(1) not in (b"", b"\n"):
                file.write(b"\n")

    def _unwritable(self, error: OSError) -> UsageError:
        return UsageError(f"{self.path} cannot be written: {error.strerror or error}")


def _done(raw: bytes) -> Done | None:
    """Return the result on a line; None where it holds none."""
    try:
        told = json.loads(raw)
        name = name_of(told["id"], told["line"])
        code, settings = int(told["exit_code"]), dict(told["settings"])
        return Done(name, told["question"], code, "error" in told, settings)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_cut(raw: bytes) -> bool:
    """Return whether a line is the beginning of a result, or zeros that a power cut left."""
    written = raw.rstrip(b"\0")
    return written.startswith(_BEGINNING) or _BEGINNING.startswith(written)


def _differing(there: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Return the first setting in which two differ, and its values; nothing for none."""
    wanted = json.loads(json.dumps(wanted))
    for name in sorted({*there, *wanted}):
        old, new = there.get(name, "unset"), wanted.get(name, "unset")
        if old != new:
            return f"{name} {json.dumps(old)} and not {json.dumps(new)}"
    return ""
