"""The entry point: which command runs, and how each way to end becomes an exit code."""

from __future__ import annotations

import io
import os
import sys
import traceback

import click

from local_react.cli import INTERRUPTED
from local_react.cli.ask import ask
from local_react.cli.bench import bench
from local_react.cli.cache import cache
from local_react.cli.calc import calc
from local_react.cli.docs import docs
from local_react.cli.doctor import doctor
from local_react.cli.evaluate import evaluate
from local_react.cli.network import network
from local_react.cli.pull import models, pull
from local_react.cli.show import complain
from local_react.errors import LocalReactError

_COMMANDS = {
    "ask": ask,
    "calc": calc,
    "pull": pull,
    "models": models,
    "doctor": doctor,
    "bench": bench,
    "eval": evaluate,
    "cache": cache,
    "docs": docs,
    "network": network,
}


def run(arguments: list[str]) -> int:
    """Run what the arguments ask for and return the exit code."""
    _make_streams_safe()
    # Whatever is not a command is a question: `local-react "What is 2 + 2?"`.
    named = bool(arguments) and arguments[0] in _COMMANDS
    command = _COMMANDS[arguments.pop(0)] if named else ask
    name = f"local-react {command.name}" if command is not ask else "local-react"
    try:
        code = int(command.main(arguments, prog_name=name, standalone_mode=False) or 0)
        sys.stdout.flush()
        return code
    except click.ClickException as error:
        complain(f"{error.format_message()} {_hint(error)}")
        return 2
    except (KeyboardInterrupt, click.Abort):
        if command is pull:
            complain("interrupted: run it again, and it goes on where it stopped")
        return INTERRUPTED
    except LocalReactError as error:
        complain(str(error))
        return error.exit_code
    except OSError as error:
        return _output_failed(error)
    except Exception as error:  # noqa: BLE001 - the last line before the terminal
        return _internal(error, verbose="-vv" in arguments)


def _hint(error: click.ClickException) -> str:
    if isinstance(error, click.NoSuchOption):
        return "(put -- before a question that begins with a dash; --help lists the options)"
    if isinstance(error, click.UsageError) and "extra argument" in error.message:
        return '(a question goes in quotes: local-react "...")'
    return "(--help lists the options)"


def _output_failed(error: OSError) -> int:
    """Tell that the output could not be written, and return the exit code."""
    # What is still in the buffer would fail again at the exit: it goes nowhere.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return INTERRUPTED  # whoever read it has gone, as in `| head`: no complaint
    complain(f"the output cannot be written: {error.strerror or error}")
    return LocalReactError.exit_code


def _internal(error: Exception, *, verbose: bool) -> int:
    if verbose:
        traceback.print_exception(error)
    complain(
        f"internal error: {type(error).__name__}: {error}. Please report it, with what `-vv` prints"
    )
    return LocalReactError.exit_code


def _make_streams_safe() -> None:
    """Replace what a terminal's encoding cannot show, rather than fail on it, and give
    the process the streams that it was started without."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - it lasts as long as we
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
