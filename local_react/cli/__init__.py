"""The command line. The entry point is here, and light: Ctrl-C while the rest of it is
imported ends as quietly as later."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import NoReturn

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 and the number of the signal, as shells have it."""


STARTED = perf_counter()
"""When the command began, for telling how long the first token took."""


def main() -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    from local_react.cli.ending import Ending

    ending = Ending()
    try:
        ending.listen()
        from local_react.cli.streams import set_apart

        set_apart()
        from local_react.cli.main import run

        code = run(sys.argv[1:], ending)
    except KeyboardInterrupt:
        code = INTERRUPTED
    try:
        code = ending.exit_code(code)
    except KeyboardInterrupt:  # once more
        code = ending.exit_code(INTERRUPTED)
    sys.exit(code)
