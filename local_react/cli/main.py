"""The entry point: which command runs, and how each way to end becomes an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from contextlib import suppress
from typing import Final

import click

from local_react.cli import INTERRUPTED
from local_react.cli.commands import PROGRAM
from local_react.cli.ending import Ending
from local_react.cli.root import COMPLETE_VARIABLE, colour, root
from local_react.cli.streams import make_safe
from local_react.errors import LocalReactError


def run(arguments: list[str], ending: Ending | None = None) -> int:
    """Run what the arguments ask for and return the exit code; `ending` knows of a signal
    that ends the process."""
    make_safe()
    _leave_no_core()
    if COMPLETE_VARIABLE in os.environ:
        from local_react.cli.completion import answer

        return answer(os.environ[COMPLETE_VARIABLE])
    try:
        ended = root.main(arguments, prog_name=PROGRAM, standalone_mode=False, obj=ending)
        code = int(ended or 0)
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
    except MemoryError:
        _complain(_NO_MEMORY)
        return LocalReactError.exit_code
    except OSError as error:
        return _system_failed(error)
    except Exception as error:  # noqa: BLE001 - the last line before the terminal
        if isinstance(error.__cause__, KeyboardInterrupt):  # Python's own, where a class is made
            return INTERRUPTED
        return _internal(error, verbose="-vv" in arguments)


def _leave_no_core() -> None:
    """Have a crash, as of native code, leave no file with all that was asked and read."""
    with suppress(ImportError, ValueError, OSError):  # Windows keeps none of itself
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, most))


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


_NO_MEMORY: Final = (
    "there is no memory left: end other programs, or allow this one more (`ulimit -v`)"
)


def _system_failed(error: OSError) -> int:
    """Tell what the system refused, and return the exit code."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        _complain("too many files are open: allow this program more (`ulimit -n`)")
    elif error.filename is not None:
        _complain(f"{error.filename} cannot be used: {error.strerror or error}; see to it")
    else:
        return _output_failed(error)
    return LocalReactError.exit_code


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
        from local_react.cli.show import printable

        # The message of an error may be a model's or a page's.
        click.echo(printable("".join(traceback.format_exception(error))), err=True, nl=False)
    _complain(
        f"internal error: {type(error).__name__}: {error}. Please report it, with what `-vv` prints"
    )
    return LocalReactError.exit_code
