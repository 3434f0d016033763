"""Work done beside other work, which is not waited for longer than it is worth."""

from __future__ import annotations

import concurrent.futures
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Aside(Generic[T]):
    """Runs `work` at once, in a daemon thread that is left behind where it is late."""

    def __init__(self, work: Callable[[], T], name: str) -> None:
        self._result: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._work = work
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def is_done(self, seconds: float) -> bool:
        """Return whether the work ends, well or not, within so many seconds."""
        deadline = time.monotonic() + seconds
        while not self._result.done():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            # In slices, since Windows hears no Ctrl-C while it waits.
            concurrent.futures.wait([self._result], timeout=min(left, 0.2))
        return True

    def awaited(self) -> T:
        """Return or raise what the work gives or raises, once it is done."""
        while not self.is_done(1.0):
            pass
        return self.result()

    def result(self) -> T:
        """Return or raise what the work, which is done, gave or raised."""
        return self._result.result()

    def value(self, seconds: float) -> T | None:
        """Return what the work gives, or None where it fails or takes longer."""
        if not self.is_done(seconds) or self._result.exception():
            return None
        return self.result()

    def _run(self) -> None:
        try:
            self._result.set_result(self._work())
        except BaseException as error:  # noqa: BLE001  kept for whoever asks
            self._result.set_exception(error)


class LinkedFlag(threading.Event):
    """A flag that is set where another one is, too."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        """Return whether it, or the other one, is set."""
        return super().is_set() or self._other.is_set()
