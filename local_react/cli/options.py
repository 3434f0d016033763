"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])


def model_option(about: str) -> Callable[[_Command], _Command]:
    """Return the decorator for --model; None is what it gives where the catalogue's
    default is meant."""
    return click.option(
        "-m",
        "--model",
        envvar="LOCAL_REACT_MODEL",
        metavar="NAME|FILE",
        help=f"{about}  [default: the catalogue's]",
    )
