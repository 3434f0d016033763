"""Signals that end the process: what there is of its work is kept, as after Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Final

_ENDING: Final = ("SIGTERM", "SIGHUP")
"""Asked to end, and the terminal gone. Windows knows no SIGHUP, and its SIGTERM asks nobody."""
_SOON: Final = 0.02
"""Seconds."""


class Ending:
    """Whether one of them has come. It is Ctrl-C to all that hears that, but for good."""

    def __init__(self) -> None:
        self._signal = 0
        self._over = False

    @property
    def has_come(self) -> bool:
        """Whether the command is to end: there is nothing to go on with."""
        return self._signal > 0

    def listen(self) -> None:
        """Hear those that nobody has had ignored, as `nohup` does."""
        sys.unraisablehook = self._lost
        for name in _ENDING:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, self._heard)

    def exit_code(self, code: int) -> int:
        """Return the exit code of a command that has ended with this one: 128 and the number
        of a signal, as shells have it, where one ended it."""
        self._over = True
        for name in ("SIGINT", *_ENDING):  # from here on there is nobody to hear it
            number = getattr(signal, name, None)
            if number is not None and callable(signal.getsignal(number)):
                signal.signal(number, lambda number, _: os._exit(128 + (self._signal or number)))
        if code >= 128 or self._signal:
            _forget_interrupt()
        return 128 + self._signal if self._signal else code

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self._signal = self._signal or number
        # A shell has Ctrl-C ignored by what it starts in the background: this is another wish.
        if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None):
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.raise_signal(signal.SIGINT)

    def _lost(self, lost: sys.UnraisableHookArgs) -> None:
        """Have Ctrl-C come again soon where it came at a moment when Python can only tell of an
        exception and go on: within a callback of native code, or as an object is freed."""
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(lost)
        elif not self._over:
            again = threading.Timer(_SOON, signal.raise_signal, [signal.SIGINT])
            again.daemon = True
            again.start()


def _forget_interrupt() -> None:
    """Have Python leave with our exit code. Where Ctrl-C came while it made a class of a text,
    as it does for a dataclass, CPython remembers that, and would end the process by SIGINT in
    spite of what became of it; it forgets when it runs anything else."""
    import ctypes

    ctypes.pythonapi.PyRun_SimpleString(b"pass")


def is_ending() -> bool:
    """Return whether the command that runs was told to end for good."""
    import click

    context = click.get_current_context(silent=True)
    ending = context.find_object(Ending) if context is not None else None
    return ending is not None and ending.has_come
