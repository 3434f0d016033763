"""A chat begins: on a terminal, on one that can only print, or without one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from local_react.cli import wiring
from local_react.cli.chat.opening import Wiring, open_chat
from local_react.cli.chat.reading import Lines, Prompt, Reader
from local_react.cli.chat.running import Runner
from local_react.cli.chat.talking import talk
from local_react.cli.chat.view import TerminalView, View, is_dumb, on_a_terminal
from local_react.cli.log import Log
from local_react.cli.show import Display

if TYPE_CHECKING:
    from local_react.cli.chat.conversation import Chat


def begin(options: Mapping[str, Any]) -> int:
    """Begin a chat and return its exit code once it is over. Raises LocalReactError where
    it cannot begin."""
    typed, network, log = on_a_terminal(), wiring.network_of(options), Log.opened(options)
    reader, view = _surroundings(typed=typed, keeps=log.keeps)
    display = Display(quiet=options["quiet"])
    wires = Wiring(options, network, Runner(), display, log.recorder, view.asking)
    chat = open_chat(log, wires)
    if typed and not options["quiet"]:
        _greet(chat, view)
    return talk(chat, reader, view, typed=typed)


def _surroundings(*, typed: bool, keeps: bool) -> tuple[Reader, View]:
    """Return where the user's words come from, and where the chat is shown."""
    if not typed or is_dumb():
        return Lines(sys.stdin), View()
    from prompt_toolkit.output import create_output

    output = create_output(stdout=sys.stderr)
    return Prompt(output, keeps=keeps), TerminalView(output)


def _greet(chat: Chat, view: View) -> None:
    from local_react.cli.chat.about_turns import latest

    kept = "" if chat.log.keeps else ", nothing is kept"
    view.note(f"{chat.session.agent.model.name}: /help lists the commands{kept}", dim=True)
    if chat.session.turns:
        view.note(latest(chat), dim=True)
