"""The commands of README.md and docs/: what they are, and what is known of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import click

from local_react.cli.commands import COMMANDS
from local_react.cli.root import root

ROOT: Final = Path(__file__).parent.parent
PAGES: Final = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
NOT_RUN: Final = {
    r"(\w+=\S+ +)?python3 scripts/(run|test|audit)\.py": "it installs the package, and fetches",
    r"\.venv/bin/python scripts/record\.py": "it needs the default model, and writes the pictures",
    r"\.venv/bin/python bench/": "it measures for minutes, with models",
    r"uv |python3 -m venv|\.venv/bin/pip": "it installs",
    r"local-react (models )?pull": "it fetches",
    r"local-react eval gsm8k": "the public sets are no part of this repository",
    r"local-react -m qwen3-4b-instruct-2507 ": "the model has 2.5 GB",
    r"local-react bench( |$)(?!.*--forget)": "it measures for a minute",
}
"""Beginnings of commands that cannot be run here, and why."""
_OF_A_MODEL: Final = re.compile(r"-m smollm2-135m|models verify")
_ASKING: Final = {"ask", "chat", "batch", "eval"}
_BLOCK: Final = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CODE: Final = re.compile(r"# .*\bexit code (\d+)")


@dataclass(frozen=True)
class Command:
    """A command of a page."""

    text: str
    output: str
    """What the page shows of it; nothing where it shows none."""

    @property
    def hinderance(self) -> str:
        """Why it cannot be run here; nothing where it can."""
        if ".zim" in self.text and not find_spec("libzim"):
            return "libzim is not installed"
        return next((why for how, why in NOT_RUN.items() if re.match(how, self.text)), "")

    @property
    def takes_model(self) -> bool:
        """Whether it takes a model of the catalogue, and no other will do."""
        return bool(_OF_A_MODEL.search(self.text))

    @property
    def programs(self) -> list[list[str]]:
        """The command lines of local-react in it, without its name."""
        lexer = shlex.shlex(self.text, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        parts: list[list[str]] = [[]]
        for word in lexer:
            if set(word) <= set("|&;<>()"):
                parts.append([])
            else:
                parts[-1].append(word)
        return [part[1:] for part in parts if part[:1] == ["local-react"]]

    @property
    def asks(self) -> bool:
        """Whether a model answers in it."""
        names = [resolved(words)[1] for words in self.programs]
        return any(name[0] in _ASKING or name == ["trace", "replay"] for name in names)

    @property
    def codes(self) -> set[int]:
        """The exit codes that are right. A model of random weights comes to no end by
        itself, and is never sure."""
        if told := _CODE.search(self.text):
            return {int(told[1])}
        replays = "trace replay" in self.text and " --" not in self.text
        if not self.asks or replays:
            return {0}
        return {0, 4, 6} if "--only-if-sure" in self.text else {0, 4}

    @property
    def typed(self) -> str:
        """What is typed at it."""
        talks = any(not words or words[0] == "chat" for words in self.programs)
        return "What is 15% of 80?\n" if talks else ""


def commands(page: str) -> Iterator[Command]:
    """Yield the commands of a page, in their order."""
    for block in _BLOCK.findall(PAGES[page]):
        begin, *told = re.split(r"^\$ ", block, flags=re.MULTILINE)
        assert not begin, f"{page}: a block of commands begins with {begin!r}"
        for one in told:
            text, _, output = one.partition("\n")
            yield Command(text, output)


def resolved(words: list[str]) -> tuple[click.Command, list[str], list[str]]:
    """Return the command that words lead to, its names, and the words that are left."""
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    if not words or words[0] not in COMMANDS:
        words = ["--help"] if words == ["--help"] else ["ask", *words]
    command: click.Command = root
    names: list[str] = []
    context = click.Context(root)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found, f"there is no command {' '.join([*names, words[0]])}"
        command, names, words = found, [*names, words[0]], words[1:]
    return command, names or ["--help"], words


def options(command: click.Command) -> set[str]:
    """Return the options of a command."""
    named = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    return named | {"-h", "--help", "-V", "--version"}


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Yield all commands, with those of groups, and what leads to each."""
    context = click.Context(root)
    for name in COMMANDS:
        command = root.get_command(context, name)
        assert command
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {sub}", one) for sub, one in command.commands.items())
