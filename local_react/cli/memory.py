"""`local-react memory`: what the user wants remembered from one conversation to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from local_react.cli.consent import agreed
from local_react.cli.show import json_text, printable
from local_react.cli.typed import forget_typed

if TYPE_CHECKING:
    from local_react.history import FactInfo, History

_SETTINGS = {"help_option_names": ["-h", "--help"]}

_yes = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


@click.group("memory", context_settings=_SETTINGS, invoke_without_command=True)
@click.pass_context
def memory(context: click.Context) -> None:
    """What is remembered between conversations.

    It is kept on this machine alone. Of it a question brings back what it is about, and shows
    it.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_)


@memory.command("list", context_settings=_SETTINGS)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def list_(as_json: bool = False) -> None:
    """List all that is remembered, with its numbers."""
    facts = _history().facts()
    if as_json:
        click.echo(json_text([asdict(fact) for fact in facts]))
        return
    for fact in facts:
        click.echo(f"{fact.number:>4}  {printable(fact.text)}")
    if not facts:
        click.echo('nothing is remembered yet: `local-react memory add "I live in Bern"`')


@memory.command("add", context_settings=_SETTINGS)
@click.argument("text", nargs=-1, required=True)
def add(text: tuple[str, ...]) -> None:
    """Remember something."""
    fact = _history().remember(" ".join(text))
    click.echo(f"remembered as {fact.number}: {printable(fact.text)}")


@memory.command("forget", context_settings=_SETTINGS)
@click.argument("which", nargs=-1, required=True)
@_yes
def forget(which: tuple[str, ...], yes: bool) -> None:
    """Forget one thing by its number, or all that holds these words.

    You are asked first where the words are in several.
    """
    history, wanted = _history(), " ".join(which)
    fitting = history.facts_that_fit(wanted)
    if len(fitting) == 1 or agreed(_question(fitting), yes=yes):
        _forget(history, fitting)


@memory.command("clear", context_settings=_SETTINGS)
@_yes
def clear(yes: bool) -> None:
    """Forget everything."""
    history = _history()
    facts = history.facts()
    if not facts:
        click.echo("nothing is remembered")
    elif agreed(_question(facts), yes=yes):
        _forget(history, facts)


def _history() -> History:
    # Imported here: it brings SQLite with it, and --help should not.
    from local_react.history import History

    return History()


def _question(facts: Sequence[FactInfo]) -> str:
    told = "".join(f"\n  {fact.text}" for fact in facts)
    return f"These would be forgotten ({len(facts)}):{told}\nForget them?"


def _forget(history: History, facts: Sequence[FactInfo]) -> None:
    # By their numbers: the user saw these, and there may be others by now.
    gone = history.forget(*(str(fact.number) for fact in facts))
    forget_typed(fact.text for fact in gone)
    for fact in gone:
        click.echo(f"forgotten: {printable(fact.text)}")
