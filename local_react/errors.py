"""Every error that local_react raises on purpose, and the exit code of each.

    LocalReactError               1  something here is at fault: please report it
    ├── UsageError                2  a question, option or argument that cannot be used
    │   ├── GrammarError          2  a tool's schema, or a grammar, does not compile
    │   └── ContextFull           2  the text does not fit into the context window
    ├── ModelError                3  a model is missing or unusable
    │   ├── ModelNotFound         3  no such model or file
    │   └── DownloadError         3  a model could not be fetched or verified
    ├── OfflineError              5  it needs the network, and the network is off
    └── ToolError                 -  a tool refuses its input: the model is told

The message of each is one line for a person: what happened, to what, and what
to do next. The exit codes 0 (answered), 4 (stopped at a limit), 6 (not sure enough to be
told), 7 (a replay is not the same run) and 130 (interrupted) belong to no error.
"""

from __future__ import annotations

from typing import ClassVar


class LocalReactError(Exception):
    """The root of the tree."""

    exit_code: ClassVar[int] = 1


class UsageError(LocalReactError):
    """A question, option or argument that cannot be used."""

    exit_code = 2


class GrammarError(UsageError):
    """A grammar does not compile; the message names the tool and parameter."""


class ContextFull(UsageError):
    """The text does not fit into the context window."""


def or_larger(size: int, longest: int) -> str:
    """Return the advice to give a larger context than one of `size` tokens, where the model
    can have one."""
    return ", or give a larger --ctx-size" if size < longest else ""


class ModelError(LocalReactError):
    """A model is missing or unusable."""

    exit_code = 3


class ModelNotFound(ModelError):
    """No model or file of that name."""


class DownloadError(ModelError):
    """A model could not be fetched or verified."""


class OfflineError(LocalReactError):
    """Something needs the network, and the network is switched off."""

    exit_code = 5


class ToolError(LocalReactError):
    """A tool refuses its input or cannot do its work; the model is told the message."""
