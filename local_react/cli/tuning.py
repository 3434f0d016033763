"""Options of how far a run goes, how its tokens are chosen, and how the model is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from local_react.cache_types import CACHE_TYPES
from local_react.cli.added import added

limit_options: Final = added(
    click.option(
        "-s",
        "--system",
        metavar="TEXT",
        help="What the model is to keep to with every question.",
    ),
    click.option(
        "--system-file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="The same, from a file.",
    ),
    click.option("--max-steps", default=8, show_default=True, help="Steps before it must answer."),
    click.option(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="Seconds for a question at most: shortly before, it must answer with what it has.",
    ),
    click.option(
        "--thought-tokens",
        default=400,
        show_default=True,
        help="Tokens after which a Thought is closed.",
    ),
    click.option(
        "--thinking-tokens",
        default=1024,
        show_default=True,
        help="Tokens that a model may think before it replies, where it always does.",
    ),
    click.option(
        "--observation-tokens",
        default=1500,
        show_default=True,
        help="Tokens after which a tool's result is cut.",
    ),
)
"""How far a run may go, and what it is to keep to."""


decoding_options: Final = added(
    click.option(
        "--temperature",
        "--temp",
        default=0.0,
        show_default=True,
        help="0 takes the likeliest token.",
    ),
    click.option(
        "--seed",
        default=0,
        show_default=True,
        help="Same seed, same text, with the same threads and repack.",
    ),
    click.option(
        "--top-k", default=0, show_default=True, help="Keep the k likeliest tokens; 0: all."
    ),
    click.option(
        "--top-p", default=1.0, show_default=True, help="Keep the likeliest tokens up to p."
    ),
    click.option(
        "--min-p",
        default=0.0,
        show_default=True,
        help="Drop tokens below this share of the likeliest.",
    ),
    click.option(
        "--repeat-penalty",
        default=1.0,
        show_default=True,
        help="Above 1, what was written lately becomes less likely.",
    ),
)
"""The options that `wiring.sampling_of` reads."""


machine_options: Final = added(
    click.option(
        "--ctx-size", type=int, help="Tokens of context.  [default: 8192, or the model's]"
    ),
    click.option(
        "-t",
        "--threads",
        type=int,
        help="CPU threads, as many as there are at most.  [default: the best measured, or the "
        "cores]",
    ),
    click.option(
        "-ngl",
        "--gpu-layers",
        default=-1,
        show_default=True,
        help="Layers on the GPU, where the build has one; -1: all.",
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
        "-ctk",
        "--cache-type-k",
        type=click.Choice(CACHE_TYPES),
        default="f16",
        show_default=True,
        help="How the context's keys are kept: q8_0 takes half the memory; the text may "
        "suffer below.",
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
        "--repack/--no-repack",
        default=None,
        help="Lay the weights out anew when loading.  [default: the best measured]",
    ),
    click.option(
        "--no-cache",
        is_flag=True,
        help="Neither use nor keep what makes the next start quicker, nor the network's answers.",
    ),
)
"""The options that `wiring.load_model` reads."""
