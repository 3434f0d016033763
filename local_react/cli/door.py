"""The door to the network as a person sees it: the question before something leaves, and
the account of what left."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click

from local_react.cli.added import added
from local_react.cli.show import printable
from local_react.core import Call
from local_react.network.policy import MODES, NETWORK_VARIABLE, Outgoing, Reply
from local_react.outside import spelled

if TYPE_CHECKING:
    from local_react.acting import Approve
    from local_react.network import Exchange, Network

NOTHING_LEFT = "nothing left this machine"

_REPLIES: Mapping[str, Reply] = {
    "y": "yes",
    "yes": "yes",
    "n": "no",
    "no": "no",
    "": "no",
    "t": "tool",
    "tool": "tool",
    "r": "run",
    "run": "run",
}


network_options: Final = added(
    click.option(
        "--offline",
        is_flag=True,
        help="Send nothing: the tools that need the network are left out.",
    ),
    click.option(
        "--network",
        "network_mode",
        type=click.Choice(MODES),
        help="Ask before something is sent, allow it, or deny it.  "
        f"[default: {NETWORK_VARIABLE}, else ask; without a terminal nothing is sent]",
    ),
    click.option(
        "--private-addresses",
        is_flag=True,
        help="Let pages of this machine and its own network be read.",
    ),
)
"""The options that `network_for` reads."""


def network_for(options: Mapping[str, Any]) -> Network:
    """Return the door for a run. On a terminal the user is asked; elsewhere nobody can be.

    Raises UsageError where the environment names no mode.
    """
    from local_react.network import Network

    return Network.from_environment(
        options["offline"],
        options["network_mode"],
        ask=_ask_user if _on_a_terminal() else None,
        keep=not options["no_cache"],
        private_addresses=options["private_addresses"],
        private=bool(options.get("private")),
    )


def _on_a_terminal() -> bool:
    streams = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)


def _ask_user(outgoing: Outgoing) -> Reply:
    """Show what would be sent, and where, and return the user's answer. The end of the
    input is a no."""
    hosts, asker = ", ".join(map(printable, outgoing.hosts)), printable(outgoing.asker)
    click.echo(f"\n{asker} wants to send this to {hosts}:\n  {spelled(outgoing.text)}", err=True)
    forget_what_was_typed()
    while True:
        click.secho(
            f"Send it? y: yes, n: no, t: always for {asker}, r: all of this run [n] ",
            err=True,
            nl=False,
            bold=True,
        )
        line = typed_line()
        reply = _REPLIES.get(line.strip().casefold())
        if not line:
            click.echo(err=True)
        if reply:
            return reply


def typed_line() -> str:
    """Return the line that the user types; nothing at the end of the input."""
    try:
        return sys.stdin.readline()
    except UnicodeDecodeError:
        return "?\n"


def forget_what_was_typed() -> None:
    """Drop what was typed before there was a question: it is no answer to it."""
    if not sys.stdin.isatty():
        return
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        with suppress(termios.error):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


def approval(network: Network, named: Collection[str]) -> Approve:
    """Return what decides whether a tool may send something out after the user's documents
    were read: it was asked for by name, or the user says yes, now or when it leaves."""
    agreed = set[str](named)

    def approve(call: Call) -> bool:
        if call.tool in agreed or network.asks_about(call.tool):
            return True
        if network.ask is None:
            return False
        text = json.dumps(dict(call.arguments), ensure_ascii=False)
        reply = network.ask(Outgoing(call.tool, ("the network, after your documents",), text))
        if reply in ("tool", "run"):
            agreed.add(call.tool)
        return reply != "no"

    return approve


def account(network: Network) -> str:
    """Return the line about what left this machine, with what was sent to whom, and what
    did not get out."""
    left = [exchange for exchange in network.exchanges if exchange.sent]
    count = "1 request" if len(left) == 1 else f"{len(left)} requests"
    told = [_told(exchange) for exchange in left]
    parts = [f"{count} left this machine: " + "; ".join(told) if left else NOTHING_LEFT]
    kept_in = {f"{e.asker} to {e.host}: {e.result}" for e in network.exchanges if not e.sent}
    kept_in |= {f"{o.asker}: not allowed" for o in network.refused}
    if kept_in:
        parts.append(f"not sent: {'; '.join(sorted(kept_in))}")
    return "; ".join(parts)


def _told(exchange: Exchange) -> str:
    size = f"{exchange.sent:,} bytes out, {exchange.received:,} in"
    return f"{exchange.asker} to {exchange.host} ({size}): {spelled(exchange.text)}"


def exchanges_as_dicts(network: Network) -> list[dict[str, Any]]:
    """Return what left this machine as JSON's types."""
    return [
        {
            "tool": exchange.asker,
            "host": exchange.host,
            "text": exchange.text,
            "bytes_sent": exchange.sent,
            "bytes_received": exchange.received,
            "result": exchange.result,
        }
        for exchange in network.exchanges
    ]
