"""Options that several commands have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import click
from click.core import ParameterSource

from local_react.cli.added import added
from local_react.cli.completing import model_names, session_names, tool_names
from local_react.cli.sections import Sectioned
from local_react.errors import UsageError

_Command = TypeVar("_Command", bound=Callable[..., Any])

ONLY_IF_SURE: Final = "--only-if-sure"
USUAL_SHARE: Final = 0.75
"""What --only-if-sure asks for by itself."""
_VOTES_VARIABLE: Final = "LOCAL_REACT_VOTES"
_NUMBER: Final = re.compile(r"[-+]?\d*\.?\d+%?")


def model_option(about: str) -> Callable[[_Command], _Command]:
    """Return the decorator for --model; None is what it gives where the catalogue's
    default is meant."""
    return click.option(
        "-m",
        "--model",
        envvar="LOCAL_REACT_MODEL",
        metavar="NAME|FILE",
        shell_complete=model_names,
        help=f"{about}  [default: the catalogue's]",
    )


search_options: Final = added(
    click.option(
        "--safe-search",
        "safesearch",
        type=click.Choice(["on", "moderate", "off"]),
        default="moderate",
        show_default=True,
        help="What is left out of the results.",
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
        "--search-engine",
        "engines",
        envvar="LOCAL_REACT_SEARCH_ENGINES",
        default="duckduckgo",
        show_default=True,
        metavar="NAME[,NAME...]",
        help="Who is asked; the next one where one refuses.",
    ),
)
"""The options that `search_settings` reads."""


def search_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the search, as make_search takes them."""
    return {name: options[name] for name in ("engines", "region", "safesearch")}


functions_option: Final = click.option(
    "--functions",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE.py",
    help="Offer the typed functions of this file as tools; may be given several times.",
)


tool_options: Final = added(
    click.option("--no-tools", is_flag=True, help="Answer from the model alone."),
    click.option(
        "-T",
        "--tool",
        "wanted",
        multiple=True,
        metavar="NAME",
        shell_complete=tool_names,
        help="Offer this tool only; may be given several times.",
    ),
    functions_option,
)
"""The options that `wiring.tools_for` reads, beside those of the network and search."""


session_options: Final = added(
    click.option(
        "-c", "--continue", "continues", is_flag=True, help="Go on with the last session."
    ),
    click.option(
        "--session",
        metavar="NAME",
        shell_complete=session_names,
        help="Go on with the session of this name, or begin it.",
    ),
    click.option(
        "--remember",
        is_flag=True,
        help="Let the model remember what you tell it to, once you have said yes.",
    ),
    click.option("-n", "--no-log", is_flag=True, help="Keep nothing of what is asked."),
    click.option(
        "--private",
        is_flag=True,
        help="Write nothing at all to disk, and send nothing, unless --network allows it.",
    ),
)
"""What is gone on with, and what is kept."""


class Asking(Sectioned):
    """A command whose --only-if-sure may stand alone: what follows it is its share where
    that is a number, and else the question."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments as click does; return those that are left."""
        return super().parse_args(ctx, _with_shares(args))


def _with_shares(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with the usual share where --only-if-sure has none."""
    told = list(arguments)
    end = told.index("--") if "--" in told else len(told)
    for place in range(end):
        following = told[place + 1] if place + 1 < end else ""
        if told[place] == ONLY_IF_SURE and not _NUMBER.fullmatch(following):
            told[place] = f"{ONLY_IF_SURE}={USUAL_SHARE}"
    return told


def _votes(ctx: click.Context, param: click.Parameter, value: str) -> int | Literal["auto"]:
    """Return a number of runs, or "auto". Raises UsageError, which names the variable where
    that is at fault."""
    from local_react.voting import MOST_VOTES

    text = value.strip().casefold()
    if text == "auto":
        return "auto"
    if re.fullmatch(r"[0-9]{1,6}", text) and 1 <= int(text) <= MOST_VOTES:
        return int(text)
    by_environment = ctx.get_parameter_source("votes") is ParameterSource.ENVIRONMENT
    name = _VOTES_VARIABLE if by_environment else "--votes"
    raise UsageError(f"{name} must be auto or 1 to {MOST_VOTES}, not {value}")


def _share(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Return a share of the runs, None where none is wanted. Raises UsageError where it is
    none."""
    if value is None:
        return None
    try:
        share = float(value)
    except ValueError:
        share = 0.0
    if 0.0 < share <= 1.0:
        return share
    raise UsageError(f"{ONLY_IF_SURE} must be above 0 and at most 1, not {value or 'nothing'}")


vote_options: Final = added(
    click.option(
        "--votes",
        callback=_votes,
        envvar=_VOTES_VARIABLE,
        default="auto",
        show_default=True,
        metavar="N|auto",
        help="How many runs answer; auto: one, but two and more, until most agree, where "
        "the question brings its own numbers.",
    ),
    click.option(
        ONLY_IF_SURE,
        callback=_share,
        metavar="[SHARE]",
        help="Print the answer only where at least this share of the runs gives it "
        f"({USUAL_SHARE} if none is named), else nothing, with exit code 6.",
    ),
)
"""--votes, which gives "auto" or a number, and --only-if-sure, which gives a share
    above 0 and at most 1, or None. The command has to be one of the class `Asking`."""
