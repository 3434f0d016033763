"""A command's help with its options in sections, where it has too many for one list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import click

OTHERS: Final = "Other options"

SECTIONS: Final[Mapping[str, Sequence[str]]] = {
    "Model": ("--model", "--system", "--system-file", "--votes", "--only-if-sure"),
    "Tools and network": (
        "--tool",
        "--no-tools",
        "--functions",
        "--approve",
        "--yes",
        "--network",
        "--offline",
        "--private-addresses",
        "--search-engine",
        "--search-region",
        "--safe-search",
    ),
    "Input and output": (
        "--file",
        "--json",
        "--output-format",
        "--quiet",
        "--verbose",
        "--stats",
        "--dry-run",
        "--transcript",
    ),
    "Sessions": ("--continue", "--session", "--remember", "--no-log", "--private"),
    "Limits": (
        "--max-steps",
        "--timeout",
        "--thought-tokens",
        "--thinking-tokens",
        "--observation-tokens",
    ),
    "Decoding": (
        "--temperature",
        "--seed",
        "--top-k",
        "--top-p",
        "--min-p",
        "--repeat-penalty",
    ),
    "Machine": (
        "--ctx-size",
        "--threads",
        "--gpu-layers",
        "--flash-attn",
        "--cache-type-k",
        "--cache-type-v",
        "--repack",
        "--no-cache",
    ),
}
"""Where each option is found, by its long name, in every command that has it."""


class Sectioned(click.Command):
    """A command whose help lists its options in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those that no section has at the end."""
        rows: dict[str, list[tuple[str, str]]] = {title: [] for title in (*SECTIONS, OTHERS)}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record and isinstance(param, click.Option):
                rows[section_of(param)].append(record)
        for title, found in rows.items():
            if found:
                with formatter.section(title):
                    write_rows(formatter, found)


def write_rows(
    formatter: click.HelpFormatter, rows: Iterable[tuple[str, str]], most: int = 30
) -> None:
    """Write two columns, the first at most so wide, and leave the second some room."""
    formatter.write_dl(list(rows), col_max=min(most, max(10, formatter.width - 24)))


def section_of(param: click.Option) -> str:
    """Return the title of the section that an option is in."""
    names = {*param.opts, *param.secondary_opts}
    return next((title for title, options in SECTIONS.items() if names & {*options}), OTHERS)
