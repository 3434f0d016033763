"""Where a chat is shown: answers on standard output, all else on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

import click

from local_react.cli.show import printable

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from prompt_toolkit.output import Output

    from local_react.cli.chat.region import Line

_WIDE: Final = 200
"""Cells of a folded step where there is no terminal."""


def is_dumb() -> bool:
    """Return whether the terminal can do no more than print."""
    return os.environ.get("TERM", "").casefold() in ("dumb", "unknown")


def on_a_terminal() -> bool:
    """Return whether somebody types, and sees what is written."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


class View:
    """A chat without a terminal, or on one that can only print."""

    @property
    def columns(self) -> int:
        """How many cells a folded step has at most."""
        return _WIDE

    def grow(self, lines: Callable[[int, int], Sequence[Line]]) -> None:
        """Show lines, made for so many columns and rows, that are not yet to stay."""

    def settle(self) -> None:
        """Take away what is not to stay."""

    def note(self, text: str, *, dim: bool = False) -> None:
        """Print something that is no answer."""
        click.secho(printable(text), err=True, dim=dim or None)

    def answer(self, text: str) -> None:
        """Print an answer."""
        click.echo(printable(text))

    def end(self) -> None:
        """Part a turn from the next."""

    def answering(self) -> AbstractContextManager[None]:
        """Return a context in which an answer is written."""
        return nullcontext()

    def asking(self) -> AbstractContextManager[None]:
        """Return a context in which the user is asked something."""
        return nullcontext()


class TerminalView(View):
    """A chat on a terminal."""

    def __init__(self, output: Output) -> None:
        from local_react.cli.chat.region import Region

        self._region = Region(output)

    @property
    def columns(self) -> int:
        """How many cells a folded step has at most."""
        return self._region.columns

    def grow(self, lines: Callable[[int, int], Sequence[Line]]) -> None:
        """Show lines, made for so many columns and rows, in place of those before."""
        self._region.show(lines(self._region.columns, self._region.rows))

    def settle(self) -> None:
        """Take away what is not to stay, where it still can be."""
        if self._region.is_too_wide:
            self._region.leave()
        self._region.clear()

    def note(self, text: str, *, dim: bool = False) -> None:
        """Print something that is no answer."""
        self.settle()
        super().note(text, dim=dim)

    def answer(self, text: str) -> None:
        """Print an answer, as Markdown where that can be shown."""
        from local_react.cli.chat.markdown import is_markdown, show_markdown

        self.settle()
        plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or not is_markdown(text)
        if plain:
            super().answer(text)
        else:
            show_markdown(printable(text))

    def end(self) -> None:
        """Part a turn from the next."""
        click.echo(err=True)

    def answering(self) -> AbstractContextManager[None]:
        """Return a context in which what is typed is not shown amid the answer: it stands
        at the next prompt."""
        return _echo(on=False)

    def asking(self) -> AbstractContextManager[None]:
        """Return a context in which what is typed is shown."""
        self.settle()
        return _question()


@contextmanager
def _question() -> Iterator[None]:
    try:
        with _echo(on=True):
            yield
    except KeyboardInterrupt:
        click.echo(err=True)  # the question's line has no end
        raise


@contextmanager
def _echo(*, on: bool) -> Iterator[None]:
    """Have the terminal show what is typed, or not, within the block."""
    if sys.platform == "win32":  # it shows nothing unless somebody reads
        yield
        return
    import termios

    handle = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(handle)
        after = list(before)
        after[_LOCAL_FLAGS] = before[_LOCAL_FLAGS] & ~termios.ECHO | (termios.ECHO if on else 0)
        termios.tcsetattr(handle, termios.TCSANOW, after)
    except termios.error:
        yield
        return
    try:
        yield
    finally:
        termios.tcsetattr(handle, termios.TCSANOW, before)


_LOCAL_FLAGS: Final = 3
"""The place of c_lflag in what tcgetattr gives."""
