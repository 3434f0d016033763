"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def search_options(command: _Command) -> _Command:
    """Add the options that `search_settings` reads."""
    for option in (
        click.option(
            "--search-engine",
            "engines",
            envvar="LOCAL_REACT_SEARCH_ENGINES",
            default="duckduckgo",
            show_default=True,
            metavar="NAME[,NAME...]",
            help="Who is asked; the next one where one refuses.",
        ),
        click.option(
            "--search-region",
            "region",
            envvar="LOCAL_REACT_SEARCH_REGION",
            default="us-en",
            show_default=True,
            metavar="COUNTRY-LANGUAGE",
            help="Whose results; wt-wt: no region's.",
        ),
        click.option(
            "--safe-search",
            "safesearch",
            type=click.Choice(["on", "moderate", "off"]),
            default="moderate",
            show_default=True,
            help="What is left out of the results.",
        ),
    ):
        command = option(command)
    return command


def search_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the search, as make_search takes them."""
    return {name: options[name] for name in ("engines", "region", "safesearch")}
