"""The standard streams of the process. Standard output holds what we print, and nothing else."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from threading import current_thread, main_thread
from typing import BinaryIO, Final, cast

from local_react.foreign import runs_foreign

_OUT: Final = 1
_ERR: Final = 2
"""The descriptors that native code and other programs write to."""


def make_safe() -> None:
    """Give the process the streams that it was started without, and replace what a
    terminal's encoding cannot show, rather than fail on it."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - it lasts as long as we
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def set_apart() -> None:
    """Have what others write to the process's standard output, such as a tool's own function
    or a program that it runs, go to standard error. Call it first of all, once.

    On a terminal both are the same place, and all stays as it is.
    """
    _fill_gaps()
    make_safe()
    out = sys.stdout
    if not isinstance(out, io.TextIOWrapper) or out.isatty():
        return
    with suppress(OSError):  # there may be no descriptor left: then all stays, too
        if out.fileno() == _OUT:
            answers = open(os.dup(_OUT), "wb", closefd=False)  # noqa: SIM115
            os.dup2(_ERR, _OUT)
            sys.stdout = _Answers(
                answers,
                encoding=out.encoding,
                errors=out.errors,
                line_buffering=out.line_buffering,
                write_through=out.write_through,
            )


class _Answers(io.TextIOWrapper):
    """Standard output, for what we print: that is done by the main thread, while no tool
    runs in it. What anybody else writes here goes to standard error."""

    def write(self, text: str) -> int:
        """Write a text, and return how many characters it has."""
        return super().write(text) if _is_ours() else sys.stderr.write(text)

    @property
    def buffer(self) -> BinaryIO:
        """Where bytes are written."""
        return cast("BinaryIO", super().buffer) if _is_ours() else sys.stderr.buffer

    def fileno(self) -> int:
        """Return the descriptor."""
        return super().fileno() if _is_ours() else _OUT


def _is_ours() -> bool:
    return current_thread() is main_thread() and not runs_foreign()


def _fill_gaps() -> None:
    """Open the null device for the first three descriptors, as far as they are closed: else
    the next file that is opened would be what others take for standard output or error."""
    with suppress(OSError):
        while (opened := os.open(os.devnull, os.O_RDWR)) <= _ERR:
            os.set_inheritable(opened, True)
        os.close(opened)
