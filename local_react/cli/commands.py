"""Which commands there are.

A command is imported when it runs or its own help is asked for; until then this table says
what there is to say about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

PROGRAM: Final = "local-react"


class Place(NamedTuple):
    """Where a command is, and its line in the list of them."""

    section: str
    module: str
    attribute: str
    help: str


COMMANDS: Final[Mapping[str, Place]] = {
    "ask": Place("Ask", "ask", "ask", "Ask a question"),
    "chat": Place("Ask", "chat", "chat", "Talk with a local model, which keeps the conversation"),
    "batch": Place("Ask", "batch", "batch", "Ask the questions of a file, one a line"),
    "calc": Place(
        "Ask",
        "calc",
        "calc",
        "Work out an expression exactly, with the agent's calculator and without a model",
    ),
    "docs": Place(
        "Your material",
        "docs",
        "docs",
        "Your own documents, which the agent searches without a network",
    ),
    "sessions": Place("Your material", "sessions", "sessions", "The conversations that were kept"),
    "memory": Place(
        "Your material", "memory", "memory", "What is remembered between conversations"
    ),
    "models": Place(
        "Models and machine",
        "models",
        "models",
        "The models: list, fetch, check, add and remove them, and what fits this machine",
    ),
    "pull": Place("Models and machine", "pull", "pull", "Fetch a model and verify it"),
    "doctor": Place(
        "Models and machine",
        "doctor",
        "doctor",
        "Tell what this machine has, whether the model fits, and what to do if not",
    ),
    "bench": Place(
        "Models and machine",
        "bench",
        "bench",
        "Measure a model on this machine, and remember the best settings for it",
    ),
    "eval": Place(
        "Models and machine",
        "evaluate",
        "evaluate",
        "Measure how many questions are answered right, by the model alone and by the agent",
    ),
    "cache": Place(
        "Models and machine",
        "cache",
        "cache",
        "Show what is kept to be quicker the next time, or clear it",
    ),
    "trace": Place("Look inside", "trace", "trace", "The runs that were kept, step by step"),
    "tools": Place(
        "Look inside", "tools", "tools", "What the model may call: the built-in tools, and your own"
    ),
    "network": Place(
        "Look inside",
        "network",
        "network",
        "Show what may leave this machine, and what has left it",
    ),
    "config": Place("Settings", "config", "config", "Show and change the settings that last"),
    "completion": Place(
        "Settings",
        "completion",
        "completion",
        "Print the script by which a shell completes commands, options and names at TAB",
    ),
    "man": Place(
        "Settings", "manual", "man", "Print the manual page, for `man -l -` or a file of its own"
    ),
}
"""Every command, in the order in which the help lists them. The line is the first sentence
of the command's own help."""
