"""A file that is written as a whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

TEMPORARY = ".new"
"""How the name of a file ends while it is written."""


def write_whole(path: Path, parts: Sequence[bytes | memoryview]) -> None:
    """Write the parts to a file that its owner alone can read, and put it in place when
    it is whole; its directory is made where it is missing.

    Raises OSError, with nothing left behind, where that fails.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(suffix=TEMPORARY, dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            for data in parts:
                file.write(data)
        part.replace(path)
    except BaseException:  # Ctrl-C, too
        with suppress(OSError):
            part.unlink()
        raise
