"""`local-react trace`: runs listed, shown, exported, made again and deleted."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from local_react.cli.completing import run_ids, session_names
from local_react.cli.consent import agreed
from local_react.cli.show import json_text
from local_react.cli.trace_replay import replay
from local_react.cli.typed import forget_typed
from local_react.errors import UsageError

if TYPE_CHECKING:
    from local_react.history import History

_SETTINGS = {"help_option_names": ["-h", "--help"]}
USUAL: Final = 20
"""Runs that are listed where nothing else is said."""

_run = click.argument("run", shell_complete=run_ids)


@click.group("trace", context_settings=_SETTINGS, invoke_without_command=True)
@click.pass_context
def trace(context: click.Context) -> None:
    """The runs that were kept, step by step.

    RUN is the id of one, of which four digits may do, or "last", or a transcript's file. They
    are kept on this machine alone; --no-log keeps a question out of them, and --private
    everything.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_)


trace.add_command(replay)


@trace.command("list", context_settings=_SETTINGS)
@click.option(
    "-n",
    "--last",
    type=click.IntRange(1),
    default=USUAL,
    show_default=True,
    help="So many, the last ones.",
)
@click.option("--session", metavar="NAME", shell_complete=session_names, help="Of this session.")
@click.option("--containing", metavar="WORD", help="With this in the question or the answer.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def list_(
    last: int = USUAL,
    session: str | None = None,
    containing: str | None = None,
    as_json: bool = False,
) -> None:
    """List the runs, the last one first."""
    infos = _history().runs(session=session, last=last, containing=containing)[::-1]
    if as_json:
        click.echo(json_text([asdict(info) for info in infos]))
        return
    from local_react.cli.trace_shown import table

    for line in table(infos):
        click.echo(line)
    if not infos:
        none = session is None and containing is None
        click.echo("no run is kept yet" if none else "no run that is kept fits")


@trace.command("show", context_settings=_SETTINGS)
@_run
@click.option("--raw", is_flag=True, help="Print the transcript itself, as JSON lines.")
def show(run: str, raw: bool) -> None:
    """Show a run: what it thought, did and saw, and what that took."""
    from local_react.cli.trace_found import found
    from local_react.cli.trace_shown import tell

    one = found(run)
    if not raw:
        tell(one)
    elif one.text:
        click.echo(one.text, nl=False)
    else:
        raise UsageError(f"no transcript of {one.name} was kept: leave out --raw")


@trace.command("export", context_settings=_SETTINGS)
@_run
@click.option("--jsonl", "form", flag_value="jsonl", default=True, help="The transcript itself.")
@click.option("--html", "form", flag_value="html", help="A page that needs nothing but itself.")
@click.option("--json", "form", flag_value="json", help="One object.")
@click.option("--markdown", "form", flag_value="markdown", help="Text to read.")
@click.option("--redact", is_flag=True, help="Without all that was said: for a bug report.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write it to this file.")
@click.option("--force", is_flag=True, help="Write over the file where there is one.")
def export(run: str, form: str, redact: bool, output: Path | None, force: bool) -> None:
    """Write out a run, to standard output or to a file."""
    from local_react.cli.sessions_export import write_new
    from local_react.cli.trace_export import FORMS
    from local_react.cli.trace_found import found
    from local_react.transcript import redacted

    transcript = found(run).transcript
    text = FORMS[form](redacted(transcript) if redact else transcript)
    if output is None or str(output) == "-":
        click.echo(text, nl=False)
    else:
        write_new(output, text, force=force)


@trace.command("rm", context_settings=_SETTINGS)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=run_ids)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def remove(runs: tuple[str, ...], yes: bool) -> None:
    """Delete runs. A conversation then goes on without them."""
    history = _history()
    infos = list(dict.fromkeys(history.find_run(run) for run in runs))
    from local_react.cli.trace_shown import named

    told = ", ".join(map(named, infos))
    if agreed(f"Delete {told}?", yes=yes):
        for info in infos:
            history.remove(info.id)
        forget_typed(info.question for info in infos)
        click.echo(f"deleted: {told}")


def _history() -> History:
    # Imported here: it brings SQLite with it, and --help should not.
    from local_react.history import History

    return History()
