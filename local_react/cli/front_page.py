"""What `local-react --help` shows: one screen, made without importing a command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import click

from local_react.cli.commands import COMMANDS, PROGRAM
from local_react.cli.sections import write_rows

USAGE: Final = '[OPTIONS] "QUESTION" | COMMAND [ARGUMENTS]'

EXAMPLES: Final[Mapping[str, str]] = {
    f'{PROGRAM} "What is 15% of 80?"': "ask once",
    PROGRAM: "chat, on a terminal",
    f'{PROGRAM} -c "and twice that?"': "go on where it ended",
    f'cat letter.txt | {PROGRAM} "Summarise this"': "ask about a text",
    f"{PROGRAM} docs add ~/papers": "index documents to ask about",
    f"{PROGRAM} --json --offline 'What is 2^64?'": "for a script",
}
"""Command lines, and what each is for."""

ASK_OPTIONS: Final[Mapping[str, str]] = {
    "-m, --model NAME|FILE": "a model of the catalogue, or any GGUF file",
    "-f, --file FILE": "attach a file to the question",
    "-c, --continue": "go on with the last conversation",
    "-T, --tool NAME": "offer this tool only",
    "--offline": "send nothing",
    "--json": "print the whole run as JSON",
    "-q, --quiet": "show the answer alone",
    "-v, --verbose": "show tokens and seconds; -vv also the prompt and the grammar",
    "--dry-run": "show the prompt and the grammar, and run nothing",
}
"""The options of a question that are used most."""

EXIT_CODES: Final[Mapping[int, str]] = {
    0: "answered, or done",
    1: "an internal error",
    2: "a question, option or argument that cannot be used",
    3: "the model is missing or unusable",
    4: "stopped at a limit; the best answer there is was printed",
    5: "it needs the network, which is off or was refused, and there is no answer",
    6: "the answer is not sure enough for --only-if-sure, and was not printed",
    7: "a replay is not the same run",
    129: "the terminal is gone (SIGHUP); what there was is kept as after Ctrl-C",
    130: "interrupted",
    143: "asked to end (SIGTERM); what there was is kept as after Ctrl-C",
}

_READ_ON: Final[Mapping[str, str]] = {
    f"{PROGRAM} help COMMAND": "about a command, with its options and examples",
    f"{PROGRAM} help ask": "all options of a question",
    f"{PROGRAM} doctor": "whether this machine is ready, and what to do if not",
    f"{PROGRAM} man | man -l -": "all of it, as a manual page",
    f"{PROGRAM} --version": "which version this is",
}


def write(formatter: click.HelpFormatter) -> None:
    """Write the page."""
    formatter.write_usage(PROGRAM, USAGE)
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text(
            "A local model answers, with tools, step by step. What is no command is a question."
        )
    _section(formatter, "Examples", EXAMPLES.items(), most=48)
    for title in dict.fromkeys(place.section for place in COMMANDS.values()):
        lines = ((name, place.help) for name, place in COMMANDS.items() if place.section == title)
        _section(formatter, title, lines)
    _section(formatter, "Options of a question", ASK_OPTIONS.items())
    _section(formatter, "Exit codes", ((str(code), what) for code, what in EXIT_CODES.items()))
    _section(formatter, "Read on", _READ_ON.items())


def _section(
    formatter: click.HelpFormatter, title: str, rows: Iterable[tuple[str, str]], most: int = 30
) -> None:
    with formatter.section(title):
        write_rows(formatter, rows, most)
