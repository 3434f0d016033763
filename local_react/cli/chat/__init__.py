"""`local-react chat`: a conversation with a local model."""

from __future__ import annotations

from typing import Any

import click

from local_react.cli.approving import approval_options
from local_react.cli.door import network_options
from local_react.cli.options import (
    model_option,
    search_options,
    session_options,
    tool_options,
    vote_options,
)
from local_react.cli.sections import Sectioned
from local_react.cli.tuning import decoding_options, limit_options, machine_options

_EPILOG = """\b
Examples:
  local-react                           the same, on a terminal
  local-react chat -c                   go on with the last conversation
  local-react chat --session trip       a conversation with a name
  local-react chat --private            nothing is written down
  local-react chat < questions.txt      one question a line; the answers alone are printed

\b
Exit codes:
  0    you left; without a terminal: all was answered
  2    an option that cannot be used
  3    the model is missing or unusable
  130  interrupted while it began
Without a terminal it is that of the last question that was not answered, as `ask` has them.
"""


@click.command(
    "chat", cls=Sectioned, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@model_option("A model of the catalogue, or any GGUF file.")
@vote_options
@tool_options
@approval_options
@network_options
@search_options
@click.option("-q", "--quiet", is_flag=True, help="Show the answers alone.")
@click.option(
    "-v",
    "--verbose",
    count=True,
    help="Show tokens and seconds, as /stats does; -vv also llama.cpp's log.",
)
@session_options
@limit_options
@decoding_options
@machine_options
def chat(**options: Any) -> int:
    """Talk with a local model, which keeps the conversation.

    It answers with tools, step by step; later questions know the earlier ones. /help lists
    what else can be said. Ctrl-C stops an answer, Ctrl-D leaves.
    """
    # Imported here: it takes long, and --help should not.
    from local_react.cli.chat.beginning import begin

    return begin(options)


# How sure an answer must be is a matter of one question alone.
chat.params = [param for param in chat.params if param.name != "only_if_sure"]
