"""What a line of a chat means: a question, or one of the commands that begin with a slash."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from local_react.cli.chat import about_agent, about_known, about_turns
from local_react.cli.chat.conversation import Turn
from local_react.errors import UsageError

if TYPE_CHECKING:
    from local_react.cli.chat.conversation import Chat

FENCE: Final = '"""'
"""What a text of several lines begins and ends with."""
_LEAVING: Final = ("exit", "quit")


class Leave(NamedTuple):
    """The chat is over."""


Outcome: TypeAlias = "str | Turn | Leave"
"""What a line comes to: something to tell, a question to ask, or the end."""


class Command(NamedTuple):
    """A command, and its line in the help."""

    run: Callable[[Chat, str], Outcome]
    takes: str
    help: str


def carry_out(chat: Chat, line: str) -> Outcome:
    """Do what a line says, and return what it comes to. Raises LocalReactError where that
    is not possible: then all is as it was."""
    text = line.strip()
    if text.startswith(FENCE):
        return chat.new(text.removeprefix(FENCE).removesuffix(FENCE).strip("\n"))
    if text.casefold() in _LEAVING:
        return Leave()
    if text.startswith("//"):
        return chat.new(text[1:])
    if not text.startswith("/"):
        return chat.new(text)
    name, *rest = text[1:].split(maxsplit=1) or ["help"]
    return _named(name).run(chat, rest[0] if rest else "")


def is_open(text: str) -> bool:
    """Return whether a text is a block of several lines that is not closed yet."""
    begun = text.lstrip()
    return begun.startswith(FENCE) and not begun.removeprefix(FENCE).rstrip().endswith(FENCE)


def _named(name: str) -> Command:
    known = name.casefold()
    if known in COMMANDS:
        return COMMANDS[known]
    if known in _OTHER_NAMES:
        return COMMANDS[_OTHER_NAMES[known]]
    near = difflib.get_close_matches(known, [*COMMANDS, *_OTHER_NAMES], n=1)
    near = near or [other for other in COMMANDS if other.startswith(known)][:1]
    hint = f"did you mean /{near[0]}?" if near else "/help lists them."
    raise UsageError(f"there is no command /{name}: {hint} With two slashes it is a question")


def _help(chat: Chat, argument: str) -> str:
    import click

    from local_react.cli.sections import write_rows

    formatter = click.HelpFormatter(width=max(20, min(80, shutil.get_terminal_size().columns) - 1))
    rows = [(f"/{name} {one.takes}".rstrip(), one.help) for name, one in COMMANDS.items()]
    write_rows(formatter, rows)
    formatter.write_paragraph()
    formatter.write_text(_KEYS)
    return formatter.getvalue().rstrip()


def _leave(chat: Chat, argument: str) -> Leave:
    return Leave()


COMMANDS: Final[Mapping[str, Command]] = {
    "help": Command(_help, "", "Show this"),
    "tools": Command(about_agent.tools, "[NAME]", "What the model may call; all about one of them"),
    "model": Command(about_agent.model, "[NAME]", "Which model answers; have another one answer"),
    "docs": Command(about_known.docs, "[QUERY]", "Your documents; search them"),
    "memory": Command(about_known.memory, "", "What is remembered between conversations"),
    "remember": Command(about_known.remember, "TEXT", "Remember something"),
    "forget": Command(about_known.forget, "WHICH", "Forget it, by its number or its words"),
    "undo": Command(about_turns.undo, "", "Take the last question and its answer back"),
    "retry": Command(about_turns.retry, "", "Have the last question answered anew"),
    "save": Command(about_turns.save, "[FILE]", "Write the conversation to a file (.json, .md)"),
    "load": Command(about_turns.load, "NAME|FILE", "Go on with another session or saved file"),
    "stats": Command(about_turns.stats, "", "Show tokens and seconds, or not"),
    "offline": Command(about_agent.offline, "[on|off]", "Send nothing from now on; or again"),
    "clear": Command(about_turns.clear, "", "Begin a new conversation"),
    "steps": Command(about_turns.steps, "", "Show the steps whole, or in a line each"),
    "system": Command(about_agent.system, "[TEXT]", "What the model is to keep to; - for nothing"),
    "session": Command(about_turns.session, "[NAME]", "Which session this is; begin another"),
    "context": Command(about_turns.context, "", "How much of the context is used"),
    "exit": Command(_leave, "", "Leave, as Ctrl-D does"),
}
_OTHER_NAMES: Final[Mapping[str, str]] = {"bye": "exit", "quit": "exit", "?": "help"}
_KEYS: Final = (
    "Alt-Enter begins a new line, and so does Enter after a line that begins with three double "
    "quotes, until a line ends with them. Ctrl-C stops an answer. Ctrl-R looks for what was typed."
)
