"""Who may send what: the modes of the door, and what the user is asked."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from local_react.errors import UsageError

Mode: TypeAlias = Literal["ask", "allow", "deny"]
"""What happens to a request: the user is asked, it goes out, it doesn't."""
MODES: Final[tuple[Mode, ...]] = get_args(Mode)

OFFLINE_VARIABLE = "LOCAL_REACT_OFFLINE"
NETWORK_VARIABLE = "LOCAL_REACT_NETWORK"

Reply: TypeAlias = Literal["yes", "no", "tool", "run"]
"""The user's answer: this once, not, always for this tool, always in this run."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What would leave the machine."""

    asker: str
    """The tool, or the part of the program."""
    hosts: tuple[str, ...]
    text: str
    """What is sent: a query, an address."""


Ask: TypeAlias = Callable[[Outgoing], Reply | bool]
"""Puts it to the user; True is "yes" and False "no"."""


def is_set(variable: str) -> bool:
    """Return whether an environment variable that shuts the door is set.

    It is unless it's empty, 0, false, no or off: a value that is not understood must
    not let anything out.
    """
    value = os.environ.get(variable, "").strip().casefold()
    return value not in ("", "0", "false", "no", "off")


def chosen_mode(given: str | None, offline: bool) -> Mode:
    """Return the mode that the options and the environment ask for: shut before all, then
    the option, then LOCAL_REACT_NETWORK, else "ask".

    Raises UsageError where a mode is none.
    """
    if offline or is_set(OFFLINE_VARIABLE):
        return "deny"
    name = given or os.environ.get(NETWORK_VARIABLE, "").strip().casefold() or "ask"
    for mode in MODES:
        if name == mode:
            return mode
    where = "--network" if given else NETWORK_VARIABLE
    raise UsageError(f"{where} is {name!r}: it can be {', '.join(MODES)}")
