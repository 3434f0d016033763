"""Options of how far a run goes, how its tokens are chosen, and how the model is loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from local_react.cache_types import CACHE_TYPES

_Command = TypeVar("_Command", bound=Callable[..., Any])


def limit_options(command: _Command) -> _Command:
    """Add how far a run may go, and what it is to keep to."""
    for option in (
        click.option(
            "--observation-tokens",
            default=1500,
            show_default=True,
            help="Tokens after which a tool's result is cut.",
        ),
        click.option(
            "--thinking-tokens",
            default=1024,
            show_default=True,
            help="Tokens that a model may think before it replies, where it always does.",
        ),
        click.option(
            "--thought-tokens",
            default=400,
            show_default=True,
            help="Tokens after which a Thought is closed.",
        ),
        click.option(
            "--timeout",
            type=float,
            metavar="SECONDS",
            help="Seconds for a question at most: shortly before, it must answer with what it has.",
        ),
        click.option(
            "--max-steps", default=8, show_default=True, help="Steps before it must answer."
        ),
        click.option(
            "--system-file",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="The same, from a file.",
        ),
        click.option(
            "-s",
            "--system",
            metavar="TEXT",
            help="What the model is to keep to with every question.",
        ),
    ):
        command = option(command)
    return command


def decoding_options(command: _Command) -> _Command:
    """Add the options that `wiring.sampling_of` reads."""
    for option in (
        click.option(
            "--repeat-penalty",
            default=1.0,
            show_default=True,
            help="Above 1, what was written lately becomes less likely.",
        ),
        click.option(
            "--min-p",
            default=0.0,
            show_default=True,
            help="Drop tokens below this share of the likeliest.",
        ),
        click.option(
            "--top-p", default=1.0, show_default=True, help="Keep the likeliest tokens up to p."
        ),
        click.option(
            "--top-k", default=0, show_default=True, help="Keep the k likeliest tokens; 0: all."
        ),
        click.option(
            "--seed",
            default=0,
            show_default=True,
            help="Same seed, same text, with the same threads and repack.",
        ),
        click.option(
            "--temperature",
            "--temp",
            default=0.0,
            show_default=True,
            help="0 takes the likeliest token.",
        ),
    ):
        command = option(command)
    return command


def machine_options(command: _Command) -> _Command:
    """Add the options that `wiring.load_model` reads."""
    for option in (
        click.option(
            "--no-cache",
            is_flag=True,
            help="Neither use nor keep what makes the next start quicker, nor the network's "
            "answers.",
        ),
        click.option(
            "--repack/--no-repack",
            default=None,
            help="Lay the weights out anew when loading.  [default: the best measured]",
        ),
        click.option(
            "-ctv",
            "--cache-type-v",
            type=click.Choice(CACHE_TYPES),
            default="f16",
            show_default=True,
            help="How the context's values are kept.",
        ),
        click.option(
            "-ctk",
            "--cache-type-k",
            type=click.Choice(CACHE_TYPES),
            default="f16",
            show_default=True,
            help="How the context's keys are kept: q8_0 takes half the memory; the text may "
            "suffer below.",
        ),
        click.option(
            "-fa",
            "--flash-attn",
            "flash_attention",
            type=click.Choice(["auto", "on", "off"]),
            default="auto",
            show_default=True,
            help="Flash attention.",
        ),
        click.option(
            "-ngl",
            "--gpu-layers",
            default=-1,
            show_default=True,
            help="Layers on the GPU, where the build has one; -1: all.",
        ),
        click.option(
            "-t",
            "--threads",
            type=int,
            help="CPU threads, as many as there are at most.  [default: the best measured, or the "
            "cores]",
        ),
        click.option(
            "--ctx-size", type=int, help="Tokens of context.  [default: 8192, or the model's]"
        ),
    ):
        command = option(command)
    return command
