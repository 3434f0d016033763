"""The reading processes, seen from outside: started, watched, ended, replaced.

Plain child processes and pipes, not `multiprocessing`: that imports the caller's main
module again, or copies this process with a model inside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, TypeVar

from local_react.documents.worker import GREETING, LENGTHS
from local_react.errors import UsageError
from local_react.search_path import search_path

SECONDS: Final = 120.0
"""That reading a file may take."""
COUNT: Final = 2
_AHEAD: Final = 12
"""Files that are read before they are asked for."""

_COMMAND: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from local_react.documents.worker import main; main()"
)

Job = TypeVar("Job")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a process made of a file."""

    header: dict[str, Any]
    texts: bytes


class Workers:
    """A few processes that read files. Close it: that ends them, whatever they do."""

    def __init__(self, seconds: float = SECONDS, count: int = COUNT) -> None:
        self._seconds = seconds
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="documents")
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._children: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def read(self, jobs: Iterable[tuple[Job, Path, str]]) -> Iterator[tuple[Job, Reply]]:
        """Yield a reply for each job, in their order; a job is whatever the caller knows
        it by, the file's path, and the hash that it is known to have, if any.

        Raises UsageError where no process can be started.
        """
        ahead: deque[tuple[Job, Future[Reply]]] = deque()
        for job, path, known in jobs:
            ahead.append((job, self._threads.submit(self._read, path, known)))
            while len(ahead) > _AHEAD or (ahead and ahead[0][1].done()):
                first, future = ahead.popleft()
                yield first, future.result()
        while ahead:
            first, future = ahead.popleft()
            yield first, future.result()

    def close(self) -> None:
        """End the processes."""
        with self._lock:
            self._closed = True
            children = list(self._children)
        for child in children:
            child.kill()
        self._threads.shutdown(cancel_futures=True)
        for child in children:
            _end(child)

    def _read(self, path: Path, known: str) -> Reply:
        child = self._child()
        with _watched(child, self._seconds) as late:
            reply = _exchange(child, path, known, self._seconds)
        if reply is not None:
            return reply
        self._forget(child)
        if late.is_set():
            return _failed(f"took longer than {self._seconds:g} s")
        return _failed("the reader of its kind broke down over it")

    def _child(self) -> subprocess.Popen[bytes]:
        child: subprocess.Popen[bytes] | None = getattr(self._mine, "child", None)
        if child is None:
            with self._lock:
                if self._closed:
                    raise UsageError("reading was ended")
                child = _start()
                self._children.add(child)
            self._mine.child = child
        return child

    def _forget(self, child: subprocess.Popen[bytes]) -> None:
        self._mine.child = None
        with self._lock:
            self._children.discard(child)
        child.kill()
        _end(child)


def _failed(fault: str) -> Reply:
    return Reply({"hash": "", "fault": fault, "again": False}, b"")


@contextmanager
def _watched(child: subprocess.Popen[bytes], seconds: float) -> Iterator[threading.Event]:
    """End the process where the block takes longer, and set the event."""
    late = threading.Event()

    def end() -> None:
        late.set()
        child.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()


def _exchange(
    child: subprocess.Popen[bytes], path: Path, known: str, seconds: float
) -> Reply | None:
    """Ask the process for a file; None where it ends before it has answered."""
    assert child.stdin is not None and child.stdout is not None
    # In hexadecimal, since a name may be no text.
    request = {"path": os.fsencode(path).hex(), "hash": known, "seconds": seconds}
    with suppress(OSError, ValueError):
        child.stdin.write(json.dumps(request).encode() + b"\n")
        child.stdin.flush()
        lengths = _exactly(child.stdout, LENGTHS.size)
        if lengths is None:
            return None
        head, size = LENGTHS.unpack(lengths)
        header, texts = _exactly(child.stdout, head), _exactly(child.stdout, size)
        if header is not None and texts is not None:
            return Reply(json.loads(header), texts)
    return None


def _exactly(pipe: IO[bytes], count: int) -> bytes | None:
    data = pipe.read(count)
    return data if len(data) == count else None


def _start() -> subprocess.Popen[bytes]:
    # The path is handed over, and -I keeps all else out: a file named json.py in the
    # folder where somebody works must not be what is imported.
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-c", _COMMAND, json.dumps(search_path())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError as error:
        raise UsageError(f"the process that reads files cannot be started: {error}") from error
    assert child.stdout is not None
    if child.stdout.read(LENGTHS.size) != GREETING:
        _end(child)
        raise UsageError(
            "the process that reads files does not start: it may have too little memory "
            "(`ulimit -v`), or the installation is not whole"
        )
    return child


def _end(child: subprocess.Popen[bytes]) -> None:
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):  # its other end has gone with something unsent
                pipe.close()
