"""Asking before something is done that cannot be undone."""

from __future__ import annotations

import sys

import click

from local_react.cli.show import complain, printable
from local_react.errors import UsageError


def agreed(question: str, *, yes: bool) -> bool:
    """Return whether the user agrees, who is not asked where it is `yes` already.

    Raises UsageError where there is nobody to ask.
    """
    if yes:
        return True
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        raise UsageError("nothing was deleted, as there is nobody to ask: --yes does it unasked")
    if click.confirm(printable(question), err=True):
        return True
    complain("nothing was deleted", colour="yellow")
    return False
