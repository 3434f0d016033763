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

    def value(self, seconds: float) -> T | None:
        """Return what the work gave, or None where it failed or takes longer."""
        deadline = time.monotonic() + seconds
        while not self._result.done():
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            # In slices, since Windows hears no Ctrl-C while it waits.
            concurrent.futures.wait([self._result], timeout=min(left, 0.2))
        return None if self._result.exception() else self._result.result()

    def _run(self) -> None:
        try:
            self._result.set_result(self._work())
        except Exception as error:  # noqa: BLE001  that it failed is all that matters
            self._result.set_exception(error)
