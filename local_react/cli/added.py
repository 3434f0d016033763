"""Options that belong together, added to a command by one decorator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Command = TypeVar("_Command", bound=Callable[..., Any])


def added(*options: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    """Return the decorator that adds options to a command, which its help lists in this
    order."""

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add
