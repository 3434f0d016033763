"""The end of what a terminal shows, written anew while it grows, and taken away at last."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from prompt_toolkit.styles import DEFAULT_ATTRS

if TYPE_CHECKING:
    from prompt_toolkit.output import Output


class Line(NamedTuple):
    """A line that is narrower than the terminal."""

    text: str
    dim: bool


class Region:
    """Lines at the end of a terminal. The cursor stands behind the last of them.

    What was written when the terminal was wider is left where it is: some terminals break
    such lines anew and some cut them, so that nobody knows how many there are to take away.
    """

    def __init__(self, output: Output) -> None:
        self._output = output
        self._lines: Sequence[Line] = ()
        self._columns = 0

    @property
    def columns(self) -> int:
        """How wide a line may be: the last column is left free, where terminals differ."""
        return max(1, self._output.get_size().columns - 1)

    @property
    def rows(self) -> int:
        """How many lines there may be."""
        return max(1, self._output.get_size().rows - 2)

    @property
    def is_too_wide(self) -> bool:
        """Whether the terminal has become narrower than what is shown."""
        return bool(self._lines) and self.columns < self._columns

    def show(self, lines: Sequence[Line]) -> None:
        """Show these lines in place of those before."""
        if self.is_too_wide:
            self.leave()
        self._columns = self.columns
        if list(lines) == list(self._lines):
            return
        same = self._same(lines)
        if same < len(self._lines):
            self._output.cursor_up(len(self._lines) - 1 - same)
            self._output.write_raw("\r")
            self._output.erase_down()
        elif self._lines:
            self._output.write_raw("\r\n")
        self._write(lines[same:])
        self._lines = tuple(lines)

    def leave(self) -> None:
        """Leave what is shown where it is, and go on below it."""
        if self._lines:
            self._output.write_raw("\r\n")
            self._output.flush()
        self._lines = ()

    def clear(self) -> None:
        """Take away what is shown."""
        self.show(())

    def _same(self, lines: Sequence[Line]) -> int:
        """Return how many lines, from the first, may stay as they are."""
        same = 0
        for old, new in zip(self._lines, lines, strict=False):
            if old != new:
                break
            same += 1
        # The last line is written again, so that the cursor is behind it.
        return same if same == len(self._lines) else max(0, min(same, len(lines) - 1))

    def _write(self, lines: Sequence[Line]) -> None:
        depth = self._output.get_default_color_depth()
        for number, line in enumerate(lines):
            if number:
                self._output.write_raw("\r\n")
            if line.dim and not os.environ.get("NO_COLOR"):
                self._output.set_attributes(DEFAULT_ATTRS._replace(dim=True), depth)
                self._output.write(line.text)
                self._output.reset_attributes()
            else:
                self._output.write(line.text)
        self._output.flush()
