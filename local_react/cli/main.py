"""The entry point: which command runs, and how each way to end becomes an exit code."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import click

from local_react.cli.ask import ask
from local_react.cli.pull import models, pull
from local_react.errors import LocalReactError

_COMMANDS = {"ask": ask, "pull": pull, "models": models}
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    _make_streams_safe()
    arguments = list(sys.argv[1:] if argv is None else argv)
    sys.exit(_run(arguments))


def _run(arguments: list[str]) -> int:
    # Whatever is not a command is a question: `local-react "What is 2 + 2?"`.
    named = bool(arguments) and arguments[0] in _COMMANDS
    command = _COMMANDS[arguments.pop(0)] if named else ask
    name = f"local-react {command.name}" if command is not ask else "local-react"
    try:
        return int(command.main(arguments, prog_name=name, standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        if command is pull:
            _complain("interrupted: run it again, and it goes on where it stopped")
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone (`| head`): no more of it, and no complaint.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _INTERRUPTED
    except LocalReactError as error:
        _complain(str(error))
        return error.exit_code
    except Exception as error:  # noqa: BLE001 - the last line before the terminal
        return _internal(error, verbose="-vv" in arguments)


def _internal(error: Exception, *, verbose: bool) -> int:
    if verbose:
        traceback.print_exception(error)
    _complain(
        f"internal error: {type(error).__name__}: {error}. Please report it, with what `-vv` prints"
    )
    return LocalReactError.exit_code


def _complain(message: str) -> None:
    line = " ".join(message.split())
    click.secho(f"local-react: {line}", err=True, fg="red")


def _make_streams_safe() -> None:
    """Replace what a terminal's encoding cannot show, rather than fail on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
