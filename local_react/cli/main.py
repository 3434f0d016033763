"""The entry point: which command runs, and how each way to end becomes an exit code."""

from __future__ import annotations

import io
import os
import sys
import traceback

import click

from local_react.cli import INTERRUPTED
from local_react.cli.commands import PROGRAM
from local_react.cli.root import COMPLETE_VARIABLE, colour, root
from local_react.errors import LocalReactError


def run(arguments: list[str]) -> int:
    """Run what the arguments ask for and return the exit code."""
    _make_streams_safe()
    if COMPLETE_VARIABLE in os.environ:
        from local_react.cli.completion import answer

        return answer(os.environ[COMPLETE_VARIABLE])
    try:
        code = int(root.main(arguments, prog_name=PROGRAM, standalone_mode=False) or 0)
        sys.stdout.flush()
        return code
    except click.ClickException as error:
        _complain(f"{error.format_message()} {_hint(error)}")
        return 2
    except (KeyboardInterrupt, click.Abort):
        if arguments[:1] == ["pull"] or arguments[:2] == ["models", "pull"]:
            _complain("interrupted: run it again, and it goes on where it stopped")
        return INTERRUPTED
    except LocalReactError as error:
        _complain(str(error))
        return error.exit_code
    except SystemExit:
        # So click ends where whoever read the output has gone, as in `| head`: no complaint.
        return INTERRUPTED
    except OSError as error:
        return _output_failed(error)
    except Exception as error:  # noqa: BLE001 - the last line before the terminal
        return _internal(error, verbose="-vv" in arguments)


def _complain(message: str) -> None:
    # Imported here: most commands end without a complaint.
    from local_react.cli.show import complain

    with click.Context(root, color=colour()):
        complain(message)


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
    _complain(f"the output cannot be written: {error.strerror or error}")
    return LocalReactError.exit_code


def _internal(error: Exception, *, verbose: bool) -> int:
    if verbose:
        traceback.print_exception(error)
    _complain(
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
