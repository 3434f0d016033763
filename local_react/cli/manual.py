"""`local-react man`: the manual page, made from the commands themselves.

It is written in the macros of man(7), which man-db, groff and mandoc read. click-man makes
a page for each command and leaves what it writes unescaped; this is one page for all.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Final

import click

from local_react.catalog import models_dir
from local_react.cli.commands import PROGRAM
from local_react.cli.front_page import EXAMPLES, EXIT_CODES, USAGE
from local_react.cli.root import root
from local_react.places import cache_dir, config_dir, data_dir

ENVIRONMENT: Final[Mapping[str, str]] = {
    "LOCAL_REACT_MODEL": "The model that answers, as --model has it.",
    "LOCAL_REACT_MODELS": "The directory of the model files.",
    "LOCAL_REACT_VOTES": "How many runs answer, as --votes has it.",
    "LOCAL_REACT_OFFLINE": "With 1, nothing is ever sent, as with --offline.",
    "LOCAL_REACT_NETWORK": "ask, allow or deny, as --network has it.",
    "LOCAL_REACT_NETWORK_LOG": "With off, no log is kept of what leaves this machine.",
    "LOCAL_REACT_SEARCH_ENGINES": "Who is asked for a search, as --search-engine has it.",
    "LOCAL_REACT_SEARCH_REGION": "Whose results are wanted, as --search-region has it.",
    "LOCAL_REACT_DATA_DIR": "The directory of what is kept for you.",
    "LOCAL_REACT_CONFIG": "The directory of what you set.",
    "LOCAL_REACT_CACHE": "The directory of what can be made or fetched again; off keeps nothing.",
    "LOCAL_REACT_DATA": "The directory of the sets of questions of the command eval.",
    "HF_TOKEN, HF_ENDPOINT": "Who you are to the Hugging Face hub, and where it is.",
    "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY": "The proxies, and what needs none.",
    "NO_COLOR": "Where it is set, nothing is coloured.",
}
"""The variables that are read, and what each says."""


@click.command("man", context_settings={"help_option_names": ["-h", "--help"]})
def man() -> None:
    """Print the manual page, for `man -l -` or a file of its own.

    \b
    local-react man | man -l -
    local-react man > ~/.local/share/man/man1/local-react.1
    """
    click.echo(manual(), nl=False)


def manual() -> str:
    """Return the page, in the roff of man(7)."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH {PROGRAM.upper()} 1 "" "{PROGRAM} {escaped(version(PROGRAM))}" "User Commands"'
    yield from (".SH NAME", escaped(f"{PROGRAM} - ask a local model, which thinks and uses tools"))
    yield from (".SH SYNOPSIS", f".B {escaped(PROGRAM)}", escaped(USAGE))
    yield from (".SH DESCRIPTION", *_prose(root.help or ""))
    yield from (".SH EXAMPLES", *_listed(EXAMPLES.items()))
    yield ".SH COMMANDS"
    yield from _command(root, click.Context(root, info_name=PROGRAM))
    yield from (".SH EXIT STATUS", *_listed((str(code), what) for code, what in EXIT_CODES.items()))
    yield from (".SH ENVIRONMENT", *_listed(ENVIRONMENT.items()))
    yield from (".SH FILES", *_listed(_files()))


def _files() -> Iterator[tuple[str, str]]:
    yield str(_from_home(data_dir())), "What is kept for you: documents, conversations, the log."
    yield str(_from_home(config_dir())), "What you set, and your own tools."
    if cache := cache_dir():
        yield str(_from_home(cache)), "What can be made or fetched again: local-react cache clear."
    yield str(_from_home(models_dir())), "The model files."


def _from_home(path: Path) -> Path:
    """Return the path as from anybody's home: the page may be another's too."""
    try:
        return Path("~") / path.relative_to(Path.home())
    except (RuntimeError, ValueError):  # no home directory, or elsewhere
        return path


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield what there is to say of a command, and then of those in it."""
    if context.parent:
        usage = " ".join((context.command_path, *command.collect_usage_pieces(context)))
        yield f".SS {escaped(usage)}"
        yield from _prose(command.help or "")
    options = (one for one in command.get_params(context) if isinstance(one, click.Option))
    records = (option.get_help_record(context) for option in options)
    yield from _listed(record for record in records if record)
    if command.epilog:
        yield from (".PP", *_prose(command.epilog))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (found := command.get_command(context, name)) and not found.hidden:
                yield from _command(found, click.Context(found, info_name=name, parent=context))


def _listed(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a list of words and what each means."""
    for words, meaning in rows:
        yield from (".TP", rf"\fB{escaped(words)}\fR", escaped(" ".join(meaning.split()) or "-"))


def _prose(text: str) -> Iterator[str]:
    """Yield paragraphs as click has them: one that begins with a backspace keeps its lines."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", inspect.cleandoc(text).strip())):
        lines = paragraph.splitlines()
        if number:
            yield ".PP"
        if lines[:1] == ["\b"]:
            yield from (".nf", *map(escaped, lines[1:]), ".fi")
        else:
            yield escaped(" ".join(lines))


def escaped(text: str) -> str:
    """Return a text that roff shows as it is: nothing in it is a command of roff, a dash
    stays one that can be copied, and so do quotes."""
    plain = _SPECIAL.sub(_glyph, text)
    return rf"\&{plain}" if plain.startswith(".") else plain


_GLYPHS: Final = {
    "\\": r"\(rs",
    "-": r"\-",
    "'": r"\(aq",
    '"': r"\(dq",
    "`": r"\(ga",
    "^": r"\(ha",
    "~": r"\(ti",
}
"""The names of characters that roff gives a meaning or another look (groff_char(7))."""
_SPECIAL = re.compile(r"[\\'\"`^~-]|[^\x20-\x7e]")


def _glyph(found: re.Match[str]) -> str:
    return _GLYPHS.get(found[0]) or rf"\[u{ord(found[0]):04X}]"
