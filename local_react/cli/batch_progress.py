"""How far a batch is, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

import click

_SELDOM: Final = 30.0
"""Seconds between two lines, where there is no terminal."""


@contextmanager
def progress(count: int, *, quiet: bool) -> Iterator[Callable[[], None]]:
    """Give what is to be called after each question: it shows how far all are, by a bar on
    a terminal, else by a line now and then."""
    if quiet:
        yield lambda: None
    elif sys.stderr.isatty():
        with _bar(count) as tick:
            yield tick
    else:
        yield _Lines(count).tick


@contextmanager
def _bar(count: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("questions", total=count)
        yield lambda: progress.advance(task)


class _Lines:
    """Tells how far it is, in a line now and then."""

    def __init__(self, count: int) -> None:
        self._count, self._done, self._told = count, 0, monotonic()

    def tick(self) -> None:
        self._done += 1
        if monotonic() - self._told >= _SELDOM:
            self._told = monotonic()
            click.echo(f"{self._done} of {self._count} questions", err=True)
