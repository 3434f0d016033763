"""A real terminal, with a screen that can be looked at, in which a chat runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from time import monotonic

import pexpect
import pyte

_PATIENCE = 120.0
"""Seconds: tests share the machine."""
_SIZE = ("COLUMNS", "LINES")


class _Screen(pyte.Screen):
    """A screen that answers when it is asked where its cursor is, as terminals do."""

    child: pexpect.spawn[bytes] | None = None

    def write_process_input(self, data: str) -> None:
        if self.child is not None:
            self.child.send(data)


class Terminal:
    """A program of ours in a terminal."""

    def __init__(
        self, *arguments: str, columns: int = 80, env: Mapping[str, str] | None = None
    ) -> None:
        rows = 24
        self.screen = _Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        inherited = {name: value for name, value in os.environ.items() if name not in _SIZE}
        self.child: pexpect.spawn[bytes] = pexpect.spawn(
            sys.executable,
            ["-m", "local_react", *arguments],
            dimensions=(rows, columns),
            env={**inherited, "TERM": "xterm-256color", **(env or {})},
        )
        self.screen.child = self.child

    @property
    def lines(self) -> list[str]:
        """The lines of the screen that hold something."""
        return [line.rstrip() for line in self.screen.display if line.strip()]

    def until(self, *wanted: str | Callable[[], bool]) -> list[str]:
        """Wait until the screen holds these texts, or these are true; return its lines."""
        latest = monotonic() + _PATIENCE
        while not all(self._holds(one) for one in wanted):
            assert monotonic() < latest, f"waited for {wanted}, and there is:\n{self}"
            self._read()
        return self.lines

    def at_prompt(self) -> bool:
        """Return whether the user is asked for the next text."""
        return bool(self.lines) and self.lines[-1] == ">"

    def type(self, keys: str) -> None:
        """Press keys."""
        self.child.send(keys)

    def say(self, line: str) -> list[str]:
        """Type a line at the prompt and return the screen at the next one."""
        self.until(self.at_prompt)
        self.type(line)
        self.until(lambda: self.lines[-1] != ">")
        self.type("\r")
        return self.until(lambda: self.lines[-1] == ">")

    def resize(self, columns: int, rows: int = 24) -> None:
        """Give the terminal another size."""
        self.screen.resize(rows, columns)
        self.child.setwinsize(rows, columns)

    def code(self) -> int | None:
        """Wait for the end of the program, and return its exit code."""
        latest = monotonic() + _PATIENCE
        while self.child.isalive() and monotonic() < latest:
            self._read()
        self.child.close()
        return self.child.exitstatus

    def _read(self) -> None:
        try:
            self._stream.feed(self.child.read_nonblocking(65536, timeout=0.1))
        except pexpect.TIMEOUT:
            pass
        except pexpect.EOF:
            self.child.wait()

    def _holds(self, wanted: str | Callable[[], bool]) -> bool:
        if callable(wanted):
            return wanted()
        return wanted in "\n".join(self.lines)

    def __str__(self) -> str:
        return "\n".join(self.lines)
