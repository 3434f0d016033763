#!/usr/bin/env python3
"""From a fresh clone to an answer: install into .venv, fetch the model, ask.

    python3 scripts/run.py "What is 15% of 1,299.99, plus 7?"

Every argument is passed on to local-react. Running it again reuses what is there.
"""

from __future__ import annotations

import os
import subprocess
import sys

import bootstrap

_NEEDS_NO_MODEL = {"-h", "--help", "--version", "--offline", "pull", "models"}
_NAMES_A_MODEL = ("-m", "--model")


def main() -> None:
    """Install, fetch the default model unless another one is named, and ask."""
    arguments = sys.argv[1:]
    bootstrap.install()
    if not _needs_no_fetch(arguments):
        fetched = subprocess.run(
            [bootstrap.python(), "-m", "local_react", "pull"],
            stdout=subprocess.DEVNULL,
            check=False,
        )
        if fetched.returncode != 0:
            sys.exit(fetched.returncode)
    bootstrap.become(["-m", "local_react", *arguments])


def _needs_no_fetch(arguments: list[str]) -> bool:
    """Return whether the default model is not used, or nothing may be fetched."""
    return bool(os.environ.get("LOCAL_REACT_MODEL")) or any(
        argument in _NEEDS_NO_MODEL or argument.startswith(_NAMES_A_MODEL) for argument in arguments
    )


if __name__ == "__main__":
    main()
