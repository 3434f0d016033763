"""`local-react network`: what may leave this machine, and the log of all that ever left."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from local_react.cli.show import json_text, printable
from local_react.errors import UsageError
from local_react.outside import spelled

if TYPE_CHECKING:
    from local_react.network import Entry, Ledger

_ACTIONS = "log, log clear, log off, log on, forget"


@click.command("network", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("action", nargs=-1, metavar="[log [clear|off|on] | forget]")
@click.option("-n", "--last", type=click.IntRange(1), help="Only so many requests, the last ones.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def network(action: tuple[str, ...], last: int | None, as_json: bool) -> None:
    """Show what may leave this machine, and what has left it.

    \b
    local-react network             the mode, the log, the tools that are always allowed
    local-react network log         every request: when, by what, to whom, which text
    local-react network log clear   remove them
    local-react network log off|on  keep no log from now on, or keep one again
    local-react network forget      ask again for the tools that were always allowed
    """
    from local_react.network import Ledger

    ledger = Ledger()
    if action == ():
        _show_settings(ledger, as_json=as_json)
    elif action == ("log",):
        _show_log(ledger, last, as_json=as_json)
    elif action == ("log", "clear"):
        _say("removed", _requests(ledger.clear()), as_json=as_json)
    elif action[:1] == ("log",) and action[1:] in (("off",), ("on",)):
        ledger.switch("on" in action)
        _say("log", action[-1], as_json=as_json)
    elif action == ("forget",):
        _say("forgotten", _tools(ledger.forget_allowed()), as_json=as_json)
    else:
        raise UsageError(
            f"there is no `network {' '.join(action)}`, but {_ACTIONS}; a question goes in quotes"
        )


def _say(what: str, value: str, *, as_json: bool) -> None:
    click.echo(json.dumps({what: value}) if as_json else f"{what}: {value}")


def _requests(count: int) -> str:
    return "1 request" if count == 1 else f"{count:,} requests"


def _tools(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"


def _show_settings(ledger: Ledger, *, as_json: bool) -> None:
    from local_react.network import MODES, Network

    data: dict[str, Any] = {
        "mode": Network.from_environment().mode,
        "always_allowed": list(ledger.allowed()),
        "log": "on" if ledger.is_on else "off",
        "file": str(ledger.path),
        "requests": len(ledger.entries()),
        "gaps": ledger.gaps(),
    }
    if as_json:
        click.echo(json_text(data))
        return
    meaning = dict(
        zip(MODES, ("the user is asked each time", "it is sent", "nothing is sent"), strict=True)
    )
    click.echo(f"mode: {data['mode']} ({meaning[data['mode']]})")
    click.echo(f"always allowed: {', '.join(data['always_allowed']) or 'no tool'}")
    click.echo(f"log: {data['log']}, {_requests(data['requests'])}, in {printable(data['file'])}")
    if gaps := _gaps(ledger):
        click.echo(f"the log was {gaps}")


def _show_log(ledger: Ledger, last: int | None, *, as_json: bool) -> None:
    entries = ledger.entries(last)
    if as_json:
        click.echo(json_text([asdict(entry) for entry in entries]))
        return
    for entry in entries:
        click.echo(_line(entry))
    if not entries:
        click.echo("no request is in the log" if ledger.gaps() else "nothing has left this machine")
    if gaps := _gaps(ledger):
        click.echo(f"({gaps}: what left before or meanwhile is not in it)", err=True)


def _gaps(ledger: Ledger) -> str:
    return ", ".join(f"{what} {when}" for what, when in ledger.gaps().items())


def _line(entry: Entry) -> str:
    """Return an entry as one line, the text last."""
    text = spelled(entry.text)
    size = f"{entry.bytes_sent:,} out, {entry.bytes_received:,} in"
    return (
        f"{entry.time}  {entry.run}  {spelled(entry.asker)} to {spelled(entry.host)}: "
        f"{spelled(entry.result)}, {size}  {text}"
    )
