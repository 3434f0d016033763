"""A question under way, in a thread of its own.

So the thread that has the terminal hears Ctrl-C whatever the model or a tool is at, shows
how far it is, and is the only one to ask the user something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import get_ident
from time import monotonic
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from local_react.aside import Aside
from local_react.core import Event, Run, Step, Text

P = TypeVar("P")
T = TypeVar("T")

_TICK: Final = 0.1
"""Seconds after which there is a look at the terminal where nothing happens."""
_PATIENCE: Final = 3.0
"""Seconds that a stopped run has for its end: a tool may be busy for long."""


class Watcher(Protocol):
    """Sees a run as it happens."""

    def event(self, event: Text | Step) -> None:
        """Be told what happened."""
        ...

    def idle(self) -> None:
        """Be told, some times a second, that nothing did."""
        ...


class _Errand:
    """A question to the user."""

    def __init__(self, ask: Callable[[], Any], refusal: Any) -> None:
        self._ask, self._said = ask, refusal
        self.answer: Future[Any] = Future()

    def do(self) -> None:
        """Ask it. Whatever happens, there is an answer."""
        try:
            self._said = self._ask()
        finally:
            self.answer.set_result(self._said)


_Queue: TypeAlias = "SimpleQueue[Event | _Errand | None]"
"""What happens, and at last None."""


class Runner:
    """Runs one question after the other, for the thread that makes it."""

    def __init__(self) -> None:
        self._thread = get_ident()
        self._queue: _Queue | None = None

    def asks(self, ask: Callable[[P], T], refusal: T) -> Callable[[P], T]:
        """Return what asks as `ask` does, but in the thread of the terminal; what was left
        behind there is told the `refusal`."""

        def asked(what: P) -> T:
            if get_ident() == self._thread:
                return ask(what)
            queue, errand = self._queue, _Errand(partial(ask, what), refusal)
            if queue is None:
                return refusal
            queue.put(errand)
            while not errand.answer.done() and self._queue is queue:
                wait([errand.answer], timeout=_TICK)
            said: T = errand.answer.result() if errand.answer.done() else refusal
            return said

        return asked

    def run(
        self, begin: Callable[[], Iterator[Event]], stop: Callable[[], None], watcher: Watcher
    ) -> Run | None:
        """Return the run that `begin` begins, once it has ended, which Ctrl-C makes it do;
        `stop` is called for that. None where it did not end soon, and was left behind.

        Raises what the run raises.
        """
        queue: _Queue = SimpleQueue()
        self._queue = queue
        work = Aside(partial(_work, begin, queue), "answer")
        try:
            return _followed(queue, work, watcher)
        except KeyboardInterrupt:
            return _stopped(queue, work, stop, watcher)
        finally:
            self._queue = None


def _work(begin: Callable[[], Iterator[Event]], queue: _Queue) -> None:
    try:
        for event in begin():
            queue.put(event)
    finally:
        queue.put(None)


def _followed(queue: _Queue, work: Aside[None], watcher: Watcher) -> Run | None:
    run = None
    while True:
        try:
            happened = queue.get(timeout=_TICK)
        except Empty:
            watcher.idle()
            continue
        if happened is None:
            work.awaited()
            return run
        if isinstance(happened, Run):
            run = happened
        elif isinstance(happened, _Errand):
            happened.do()
        else:
            watcher.event(happened)


def _stopped(
    queue: _Queue, work: Aside[None], stop: Callable[[], None], watcher: Watcher
) -> Run | None:
    """Return the run once it has heard that it is to stop, None where it does not soon or
    Ctrl-C is pressed again."""
    run, latest = None, monotonic() + _PATIENCE
    with suppress(KeyboardInterrupt):
        while monotonic() < latest:
            stop()  # each time: it may not even have begun
            try:
                happened = queue.get(timeout=_TICK)
            except Empty:
                continue
            if happened is None:
                work.awaited()
                return run
            if isinstance(happened, Run):
                run = happened
            elif not isinstance(happened, _Errand):
                watcher.event(happened)
    return None
