"""Work done beside other work, which is not waited for longer than it is worth."""

from __future__ import annotations

import concurrent.futures
import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextvars import copy_context
from functools import partial
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

J = TypeVar("J")
T = TypeVar("T")


class Aside(Generic[T]):
    """Runs `work` at once, in a daemon thread that is left behind where it is late. What
    context variables say here they say there."""

    def __init__(self, work: Callable[[], T], name: str) -> None:
        self._result: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._work = work
        run = partial(copy_context().run, self._run)
        threading.Thread(target=run, name=name, daemon=True).start()

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


def side_by_side(
    work: Callable[[J], T], jobs: Iterable[J], together: int, cancel: threading.Event
) -> Generator[tuple[J, T], None, None]:
    """Yield each job with what `work` gives for it, as they end, at most so many under way
    at once. Where it is left early, `cancel` is set and those under way have a moment to
    notice.

    Raises what `work` raises.
    """
    ended = SimpleQueue[int]()
    waiting = dict[int, tuple[J, Aside[T]]]()
    numbered = enumerate(jobs)

    def done(number: int, job: J) -> T:
        try:
            return work(job)
        finally:
            ended.put(number)

    try:
        while True:
            for number, job in islice(numbered, together - len(waiting)):
                waiting[number] = job, Aside(partial(done, number, job), "job")
            if not waiting:
                return
            try:
                # In slices, since Windows hears no Ctrl-C while it waits.
                number = ended.get(timeout=0.2)
            except Empty:
                continue
            job, aside = waiting.pop(number)
            yield job, aside.awaited()
    finally:
        if waiting:
            cancel.set()
        let_go([aside for _, aside in waiting.values()])


def let_go(asides: Iterable[Aside[T]]) -> None:
    """Wait a moment for work that was told to end and that nobody wants any more."""
    latest = time.monotonic() + _PATIENCE
    for aside in asides:
        aside.is_done(latest - time.monotonic())


_PATIENCE = 2.0
"""Seconds to wait for work that nobody wants any more to end."""


class LinkedFlag(threading.Event):
    """A flag that is set where another one is, too."""

    def __init__(self, other: threading.Event) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        """Return whether it, or the other one, is set."""
        return super().is_set() or self._other.is_set()


class Deadline(LinkedFlag):
    """A flag that is also set once so many seconds are over, if there is such a limit."""

    def __init__(self, other: threading.Event, seconds: float | None) -> None:
        super().__init__(other)
        self.begin(seconds)

    def begin(self, seconds: float | None) -> None:
        """Let the time begin now, and the flag not be set."""
        self.clear()
        self._started, self._seconds = time.monotonic(), seconds

    def is_set(self) -> bool:
        """Return whether the time is over, or it, or the other one, is set."""
        return self.is_over or super().is_set()

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit of time."""
        return self._seconds is not None

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return self._has_passed(1.0)

    @property
    def is_near(self) -> bool:
        """Whether it is time to come to an end."""
        return self._has_passed(_NEAR)

    def _has_passed(self, share: float) -> bool:
        if self._seconds is None:
            return False
        return time.monotonic() - self._started >= share * self._seconds


_NEAR = 0.75
"""The share of the time after which little enough is left to come to an end in."""
