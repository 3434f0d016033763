"""The native library: its log, and Ctrl-C while it runs."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from tempfile import TemporaryFile

import llama_cpp

from local_react.errors import ModelError

_WARNING, _CONTINUED = 3, 5  # ggml_log_level, as ggml.h numbers it
_STDERR = 2  # the file descriptor, which native code uses


class NativeLog:
    """What the library prints: kept for error messages, shown where `verbose`."""

    def __init__(self) -> None:
        self.verbose = False
        self.process = os.getpid()
        """In which the library is used."""
        self.lock = threading.RLock()
        """For what the process has one of: the log, and its standard error."""
        self._complaining = False
        self._lines: deque[str] = deque(maxlen=200)
        # ctypes keeps no reference to a callback; this object does.
        self._callback = llama_cpp.llama_log_callback(self._receive)
        llama_cpp.llama_log_set(self._callback, None)
        llama_cpp.llama_backend_init()

    def _receive(self, level: int, text: bytes, _: object) -> None:
        line = text.decode("utf-8", "replace")
        if level != _CONTINUED:
            self._complaining = level >= _WARNING
        if self._complaining:
            self._lines.append(line)
        if self.verbose and sys.stderr is not None:
            sys.stderr.write(line)

    @contextmanager
    def causes(self) -> Iterator[list[str]]:
        """Yield a list that holds, after the block, what was complained of within it."""
        found: list[str] = []
        with self.lock, interruptible():  # Ctrl-C would be lost in `_receive`
            self._lines.clear()
            yield found
            found += "".join(self._lines).splitlines()


@contextmanager
def captured_stderr() -> Iterator[list[str]]:
    """Yield a list that holds, after the block, the lines that were written to the
    process's standard error within it: the grammar parser writes there directly."""
    lines: list[str] = []
    with native_log().lock, TemporaryFile() as file:
        try:
            terminal = os.dup(_STDERR)
        except OSError:  # there is no standard error to keep clean
            yield lines
            return
        try:
            os.dup2(file.fileno(), _STDERR)
            yield lines
        finally:
            os.dup2(terminal, _STDERR)
            os.close(terminal)
            file.seek(0)
            lines += file.read().decode("utf-8", "replace").splitlines()


@cache
def native_log() -> NativeLog:
    """Return the one log of the process: the library has room for one callback."""
    return NativeLog()


def is_forked() -> bool:
    """Return whether this process was forked from one that had used the library. Its threads
    were not copied, and its locks as they were just then: whoever waits for either, waits for
    ever."""
    return native_log().process != os.getpid()


def check_process() -> None:
    """Raise ModelError where the library cannot be used in this process."""
    if is_forked():
        raise ModelError(
            "a model cannot be used in a process that was forked after one was loaded: load it "
            'after the fork alone, or start processes with the method "spawn"'
        )


def cause(lines: Sequence[str]) -> str:
    """Return the library's first complaint, without the name of its function."""
    for line in lines:
        text = _PREFIXES.sub("", line).strip()
        if text:
            hint = " (a newer llama-cpp-python may know it)" if "unknown model arch" in text else ""
            return text + hint
    return "llama.cpp gives no cause; -vv shows its log"


_PREFIXES = re.compile(r"^(\w[\w:]*: )?(error (loading model|parsing grammar): )?")


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C sets, and at the end of the block do what Ctrl-C does
    here, where it came: mostly raise KeyboardInterrupt. Within native code Python's own
    handler would wait, or raise inside a callback, where exceptions are lost."""
    event = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or before in (signal.SIG_IGN, None):
        yield event
        return
    signal.signal(signal.SIGINT, lambda *_: event.set())
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)
    if event.is_set():
        if callable(before):
            before(signal.SIGINT, None)  # Python's own raises KeyboardInterrupt
        else:
            raise KeyboardInterrupt
