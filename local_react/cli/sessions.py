"""`local-react sessions`: conversations listed, shown, renamed, deleted and exported."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from local_react.cli.completing import session_names
from local_react.cli.consent import agreed
from local_react.cli.show import json_text
from local_react.cli.typed import forget_all_typed, forget_typed
from local_react.errors import UsageError

if TYPE_CHECKING:
    from local_react.history import History

_SETTINGS = {"help_option_names": ["-h", "--help"]}

_name = click.argument("name", shell_complete=session_names)


@click.group("sessions", context_settings=_SETTINGS, invoke_without_command=True)
@click.pass_context
def sessions(context: click.Context) -> None:
    """The conversations that were kept.

    NAME is the name of one, or its id, of which four digits may do. They are kept on this
    machine alone; --no-log keeps a question out of them, and --private everything.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_)


@sessions.command("list", context_settings=_SETTINGS)
@click.option("-n", "--last", type=click.IntRange(1), help="Only so many, the last ones.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def list_(last: int | None = None, as_json: bool = False) -> None:
    """List the sessions, the one that was used last first."""
    infos = _history().sessions(last)
    if as_json:
        click.echo(json_text([asdict(info) for info in infos]))
        return
    from local_react.cli.sessions_shown import table

    for line in table(infos):
        click.echo(line)
    if not infos:
        click.echo("no session is kept yet: `local-react chat` begins one")


@sessions.command("show", context_settings=_SETTINGS)
@_name
@click.option("--steps", is_flag=True, help="Show Thoughts, Actions and Observations, too.")
def show(name: str, steps: bool) -> None:
    """Show the questions and answers of a session."""
    from local_react.cli.sessions_shown import tell

    tell(_history(), name, steps=steps)


@sessions.command("rename", context_settings=_SETTINGS)
@_name
@click.argument("new")
def rename(name: str, new: str) -> None:
    """Give a session another name."""
    click.echo(f"renamed: {_history().rename_session(name, new).name}")


@sessions.command("delete", context_settings=_SETTINGS)
@click.argument("names", nargs=-1, metavar="NAME...", shell_complete=session_names)
@click.option(
    "--all", "every", is_flag=True, help="All of them, and what was asked outside of them."
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def delete(names: tuple[str, ...], every: bool, yes: bool) -> None:
    """Delete sessions, with all that was asked and answered in them."""
    if every == bool(names):
        raise UsageError("name the sessions to delete, or give --all")
    from local_react.cli.sessions_shown import turns

    history = _history()
    if every:
        _delete_all(history, yes=yes)
        return
    infos = dict.fromkeys(history.find_session(name) for name in names)
    told = ", ".join(f"{info.name} ({turns(info)})" for info in infos)
    if agreed(f"Delete {told}?", yes=yes):
        asked = [run.question for info in infos for run in history.runs(session=info.id)]
        history.delete_session(*(info.id for info in infos))
        forget_typed(asked)
        click.echo(f"deleted: {told}")


@sessions.command("export", context_settings=_SETTINGS)
@_name
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "jsonl", "markdown"]),
    default="json",
    show_default=True,
    help="One object, one line for each question, or text to read.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write it to this file.")
@click.option("--force", is_flag=True, help="Write over the file where there is one.")
def export(name: str, form: str, output: Path | None, force: bool) -> None:
    """Write out a session with all its steps, to standard output or to a file."""
    from local_react.cli.sessions_export import exported, write_new

    text = exported(_history(), name, form)
    if output is None or str(output) == "-":
        click.echo(text, nl=False)
    else:
        write_new(output, text, force=force)


def _history() -> History:
    # Imported here: it brings SQLite with it, and --help should not.
    from local_react.history import History

    return History()


def _delete_all(history: History, *, yes: bool) -> None:
    count, runs = len(history.sessions()), len(history.runs())
    told = f"all sessions ({count}) and all runs ({runs}), those outside of sessions too"
    if agreed(f"Delete {told}?", yes=yes):
        history.clear()
        forget_all_typed()
        click.echo(f"deleted: {told}")
