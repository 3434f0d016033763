"""Where a process of our own imports from."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path


def search_path() -> list[str]:
    """Return where to import from: the script's own folder, or that in which somebody works,
    after all others, so that no file there is taken for a library."""
    first, rest = sys.path[:1], sys.path[1:]
    entries = [os.fspath(Path(entry).absolute()) for entry in (*rest, *first) if entry]
    if "" in sys.path:
        with suppress(OSError):  # it may be gone
            entries.append(os.getcwd())  # noqa: PTH109
    return entries
