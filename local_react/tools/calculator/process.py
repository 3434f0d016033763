"""The calculator's worker, seen from outside: a process that is kept warm, watched
while it works, and replaced when it overruns.

A plain child process and two pipes, not `multiprocessing` or a pool built on it: those
import the caller's main module again, or copy this process with a model and its threads
inside. The pipe is read by a thread because Windows cannot wait for a pipe with a limit.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from typing import IO, Any, Final

from local_react.errors import ToolError
from local_react.search_path import search_path

TIME_LIMIT: Final = 1.5
"""Seconds of computing for an expression; a busy machine may take longer for them."""
_WALL_LIMIT: Final = 5.0
MEMORY_LIMIT: Final = 256 * 2**20
"""Bytes that the worker may take. It stops itself sooner where the system can bound it."""
_START_LIMIT: Final = 60.0
"""Seconds to start: a first import of sympy compiles it."""
_SLICE: Final = 0.05
"""Seconds between two looks at a worker that has not answered."""

_COMMAND: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from local_react.tools.calculator.worker import main; main()"
)


class Worker:
    """A process that evaluates expressions, one after the other. Threads take turns."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    @property
    def pid(self) -> int | None:
        """The process's number, None while none runs."""
        return self._child.pid if self._child else None

    def evaluate(self, expression: str) -> str:
        """Return the value of an expression as text.

        Raises ToolError where it has none, where the limits are reached, and where no
        process can be started.
        """
        with self._lock:
            try:
                reply = self._asked(expression)
            except BaseException:
                self._stop()  # what it may still answer is nobody's answer
                raise
        if "error" in reply:
            raise ToolError(str(reply["error"]))
        return str(reply["answer"])

    def close(self) -> None:
        """End the process; the next expression starts another."""
        with self._lock:
            self._stop()

    def _asked(self, expression: str) -> dict[str, Any]:
        child = self._running()
        assert child.stdin is not None
        try:
            child.stdin.write(json.dumps({"expression": expression}).encode() + b"\n")
            child.stdin.flush()
        except OSError as error:
            raise ToolError(_ENDED) from error
        watch = _Watch(child.pid)
        while True:
            line = self._next_line(_SLICE)
            if line is None:
                watch.check()
                continue
            reply: dict[str, Any] = json.loads(line)
            if "loading" not in reply:
                if reply.get("last"):
                    self._stop()
                return reply
            watch = _Watch(child.pid)  # a library is imported: that is not the expression's time

    def _running(self) -> subprocess.Popen[bytes]:
        """Return the process, started where there is none."""
        if self._child and self._child.poll() is None:
            return self._child
        self._stop()
        self._child = _start()
        self._lines = queue.SimpleQueue()
        self._reader = threading.Thread(
            target=_read_lines, args=(self._child.stdout, self._lines), daemon=True
        )
        self._reader.start()
        try:
            ready = self._next_line(_START_LIMIT)
        except ToolError as error:
            raise ToolError(_NO_START) from error
        if ready is None:
            raise ToolError(_NO_START)
        return self._child

    def _next_line(self, seconds: float) -> bytes | None:
        """Return what the process says next, None where that takes longer."""
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            return None
        if not line:
            raise ToolError(_ENDED)
        return line

    def _stop(self) -> None:
        if self._child is None:
            return
        child, self._child = self._child, None
        child.kill()
        child.wait()
        if child.stdin is not None:
            with contextlib.suppress(OSError):  # its other end has gone with something unsent
                child.stdin.close()
        if self._reader is not None and self._reader.ident is not None:
            self._reader.join()


_NO_START = (
    "the calculator's process does not start: it may have too little memory (`ulimit -v`), or "
    "the installation is not whole"
)
_ENDED = "the calculator gave up on this expression: try again, or use smaller numbers"


class _Watch:
    """What a process has used since it was asked, and its limits."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._began = time.monotonic()
        self._used: float | None = None

    def check(self) -> None:
        """Raise ToolError where the process is over a limit."""
        import psutil  # here, because a short sum never needs it

        try:
            process = psutil.Process(self._pid)
            times, memory = process.cpu_times(), process.memory_info().rss
        except psutil.Error:
            return  # it has ended, which its pipe says next
        used = float(times.user + times.system)
        if self._used is None:  # the first look comes a slice late
            self._used = used - _SLICE
        elapsed = time.monotonic() - self._began
        if used - self._used > TIME_LIMIT or elapsed > _WALL_LIMIT:
            raise ToolError(
                f"too large: it takes more than {TIME_LIMIT:g} seconds; ask for something simpler"
            )
        if memory > MEMORY_LIMIT:
            raise ToolError(TOO_MUCH_MEMORY)


TOO_MUCH_MEMORY: Final = "too large: it takes too much memory; use smaller numbers"


def _start() -> subprocess.Popen[bytes]:
    # The path is handed over, and -I keeps all else out: a file named sympy.py in the
    # directory where somebody works must not be what is imported.
    path = json.dumps(search_path())
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-c", _COMMAND, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # One heap: those that glibc sets aside for threads would count as memory.
            env={**os.environ, "SYMPY_GROUND_TYPES": "python", "MALLOC_ARENA_MAX": "1"},
            creationflags=flags,
        )
    except OSError as error:
        raise ToolError(f"the calculator's process cannot be started: {error}") from error


def _read_lines(pipe: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Put the pipe's lines into the queue, and an empty one at its end."""
    with pipe:
        for line in pipe:
            lines.put(line)
    lines.put(b"")


class _Shared:
    """The worker of this process: after a fork, the child starts one of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker = Worker()
        self._owner = os.getpid()

    def get(self) -> Worker:
        with self._lock:
            if self._owner != os.getpid():
                self._worker, self._owner = Worker(), os.getpid()
            return self._worker

    def close(self) -> None:
        if self._owner == os.getpid():
            self._worker.close()


_SHARED = _Shared()
atexit.register(_SHARED.close)


def shared_worker() -> Worker:
    """Return the worker that all of this process share; it starts when first asked."""
    return _SHARED.get()
