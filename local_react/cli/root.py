"""The root of the command line: what its first words lead to."""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from local_react.cli.commands import COMMANDS, PROGRAM
from local_react.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMPLETE_VARIABLE: Final = "_LOCAL_REACT_COMPLETE"
"""What a shell asks at TAB, by the name that click derives from the program's."""
HELP: Final = "help"
_HELP_OPTIONS: Final = ("-h", "--help")
_OWN_OPTIONS: Final = (*_HELP_OPTIONS, "-V", "--version")
_WITH_SETTINGS: Final = ("ask", "chat", "batch")
"""Commands whose options `local-react config` sets to last."""
_WIDEST: Final = 80
_NARROWEST: Final = 20
"""Columns of the help."""
_NEAR: Final = 0.8
"""How like a command's name a word must be to be taken for it, as difflib has it."""


class Root(click.Group):
    """The program itself. What begins with no command is a question."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Return the context, with what click does not find out by itself: a terminal
        narrower than 50 columns, and one that is to have no colour."""
        width = min(_WIDEST, shutil.get_terminal_size().columns) - 2
        extra.setdefault("terminal_width", max(_NARROWEST, width))
        extra.setdefault("color", colour())
        return super().make_context(info_name, args, parent, **extra)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, imported now, or None."""
        if cmd_name not in COMMANDS:
            return None
        place = COMMANDS[cmd_name]
        command = getattr(import_module(f"local_react.cli.{place.module}"), place.attribute)
        assert isinstance(command, click.Command)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, with the command that they leave out.

        Raises UsageError where they are a misspelt command.
        """
        if ctx.resilient_parsing:  # the beginning of a line, which is to be completed
            return super().parse_args(ctx, _directed(args) if args else args)
        _refuse_misspelt(args)
        directed = _directed(args) if args else ["ask"]
        unsaid = directed[0] == "ask" and args[:1] != ["ask"]
        if unsaid and self._is_for_a_chat(ctx, directed[1:]):
            directed[0] = "chat"
        return super().parse_args(ctx, directed)

    def _is_for_a_chat(self, ctx: click.Context, args: list[str]) -> bool:
        """Return whether nothing is asked with these options, which a chat has too, and there
        is a terminal to talk at."""
        if not _on_a_terminal() or not args:
            return _on_a_terminal()
        ask, chat = self.get_command(ctx, "ask"), self.get_command(ctx, "chat")
        assert ask is not None and chat is not None
        with ask.make_context("ask", list(args), parent=ctx, resilient_parsing=True) as asking:
            source = asking.get_parameter_source
            given = {name for name in asking.params if source(name) is ParameterSource.COMMANDLINE}
        return given <= {param.name for param in chat.params}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command's name, the command, and its own arguments; what is set to
        last becomes the command's defaults.

        Raises UsageError where a file of settings cannot be used.
        """
        name, command, rest = super().resolve_command(ctx, args)
        runs = not ctx.resilient_parsing and not _asks_for_help(rest)
        if command and name in _WITH_SETTINGS and runs:
            from local_react.cli.defaults import default_map

            ctx.default_map = {str(name): default_map(command)}
        return name, command, rest

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that a first word may become, or the options of a question."""
        from click.shell_completion import CompletionItem

        if incomplete.startswith("-"):
            ask = self.get_command(ctx, "ask")
            assert ask is not None
            with ask.make_context("ask", [], parent=ctx, resilient_parsing=True) as asking:
                found = ask.shell_complete(asking, incomplete)
            found += super().shell_complete(ctx, incomplete)
            return list({item.value: item for item in found}.values())
        lines = {name: place.help for name, place in COMMANDS.items()}
        lines[HELP] = "Show this help, or that of a command"
        return [
            CompletionItem(name, help=line)
            for name, line in lines.items()
            if name.startswith(incomplete)
        ]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the front page."""
        from local_react.cli.front_page import write

        write(formatter)


def colour() -> bool | None:
    """Return False where nothing is to be coloured, and None where the terminal decides."""
    unwanted = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return False if unwanted else None


def _directed(args: list[str]) -> list[str]:
    """Return the arguments so that they begin with a command or an option of the root."""
    if args[0] == HELP and all(word in COMMANDS for word in args[1:2]):
        return [*args[1:], "--help"]
    return args if args[0] in (*COMMANDS, *_OWN_OPTIONS) else ["ask", *args]


def _asks_for_help(args: list[str]) -> bool:
    options = args[: args.index("--")] if "--" in args else args
    return any(option in options for option in _HELP_OPTIONS)


def _on_a_terminal() -> bool:
    """Return whether somebody types, and reads what is printed."""
    return all(one is not None and one.isatty() for one in (sys.stdin, sys.stdout))


def _refuse_misspelt(args: Sequence[str]) -> None:
    """Raise UsageError where there are one or two words, and the first is all but a command:
    loading a model to ask it "modles list" is not what was wanted."""
    words = [word for word in args if not word.startswith("-")]
    about_help = words[:1] == [HELP] and len(words) == 2
    if not words or len(words) > 2 or words[0] != args[0]:
        return
    word, known = words[about_help], (*COMMANDS, HELP)
    if word in known or len(word.split()) != 1:
        return
    near = difflib.get_close_matches(word.casefold(), known, n=1, cutoff=_NEAR)
    if near:
        raise UsageError(
            f"there is no command {word!r}: did you mean `{PROGRAM} {near[0]}`? A question that "
            f"is like a command goes after `{PROGRAM} ask`"
        )
    if about_help:
        raise UsageError(f"there is no command {word!r}: `{PROGRAM} --help` lists them")


@click.group(
    PROGRAM,
    cls=Root,
    context_settings={"help_option_names": list(_HELP_OPTIONS)},
)
@click.version_option(None, "-V", "--version", package_name=PROGRAM, prog_name=PROGRAM)
def root() -> None:
    """Answer questions on this machine: a local model thinks step by step, and uses tools.
    Nothing leaves the machine unless you see it leave."""
