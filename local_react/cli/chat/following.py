"""A run as a chat shows it: what is being written, then a line for each step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final

from local_react.cli.sessions_shown import step_texts
from local_react.core import Step, Text

if TYPE_CHECKING:
    from local_react.cli.chat.view import View


class Following:
    """Shows a run. `unfolded` has the steps shown whole, `quiet` not at all; `reading` tells
    what the model is at while nothing is written."""

    def __init__(
        self, view: View, reading: Callable[[], str], *, unfolded: bool, quiet: bool
    ) -> None:
        self._view = view
        self._reading = reading
        self._unfolded = unfolded
        self._quiet = quiet
        self._text = ""
        self._ticks = 0
        self._drawn = 0.0
        self._is_over = False
        """The first run has its answer: what follows are votes."""

    def event(self, event: Text | Step) -> None:
        """Show what happened."""
        if isinstance(event, Text):
            self._text += event.text
            if monotonic() - self._drawn > _FRAME:
                self._written()
            return
        self._view.settle()
        self._text, self._is_over = "", event.observation is None
        self._step(event)

    def idle(self) -> None:
        """Show that something is going on."""
        self._ticks += 1
        if self._text:
            self._written()  # the terminal may have another size
        elif not self._quiet:
            from local_react.cli.chat.telling import waiting

            what = "asking again" if self._is_over else self._reading()
            self._view.grow(lambda columns, rows: waiting(what, columns, self._ticks))

    def stopped(self) -> None:
        """Leave what was written of a step that has not come to its end."""
        self._view.settle()
        if text := self._text.strip():
            self._view.note(text, dim=True)

    def _written(self) -> None:
        from local_react.cli.chat.telling import written

        self._drawn = monotonic()
        if not self._quiet:
            self._view.grow(partial(written, self._text))

    def _step(self, step: Step) -> None:
        from local_react.cli.chat.telling import folded

        if self._quiet:
            return
        told = list(step_texts([step])) if self._unfolded else [folded(step, self._view.columns)]
        for text in filter(None, told):
            self._view.note(text, dim=True)


_FRAME: Final = 0.04
"""Seconds between two pictures of what is being written."""
