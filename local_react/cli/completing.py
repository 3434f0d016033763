"""The names that TAB completes: of models, tools, conversations and runs.

Quick, because somebody waits; and silent, because that somebody is in the middle of a line:
where the names cannot be found out, none is offered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

BUILTIN_TOOLS: Final = (
    "calculator",
    "current_time",
    "exchange_rate",
    "search_documents",
    "read_document",
    "wikipedia",
    "lookup",
    "read_page",
    "search",
)
"""Spelled out, because it takes long to import them."""

_MOST_RUNS: Final = 100
"""The latest ones: nobody chooses among more."""
_PLAIN = re.compile(r"[\w.@%+,/:=-]+")
"""What no shell gives a meaning to: a name goes into the user's line as it is."""


def model_names(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the models that a word may become; where it is none, it is a file."""
    from click.shell_completion import CompletionItem

    return _offered(_models, incomplete) or [CompletionItem(incomplete, type="file")]


def tool_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the built-in tools that a word may become."""
    return _offered(lambda: BUILTIN_TOOLS, incomplete)


def session_names(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the conversations that a word may become, the latest first."""
    return _offered(_sessions, incomplete)


def run_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the runs that a word may become, the latest first."""
    return _offered(_runs, incomplete)


def _offered(names: Callable[[], Iterable[str]], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    with suppress(Exception):
        fitting = [name for name in names() if name.startswith(incomplete)]
        return [CompletionItem(name) for name in fitting if _PLAIN.fullmatch(name)]
    return []


def _models() -> Iterable[str]:
    from local_react.catalog import catalogue_names, installed_names

    return dict.fromkeys([*installed_names(), *catalogue_names()])


def _sessions() -> Iterable[str]:
    from local_react.history import History

    return [session.name for session in History().sessions()]


def _runs() -> Iterable[str]:
    from local_react.history import History

    return [run.id for run in reversed(History().runs(last=_MOST_RUNS))]
