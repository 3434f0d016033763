"""`-f FILE`: the text of files, to be attached to a question."""

from __future__ import annotations

import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final

from local_react.errors import UsageError

STANDARD_INPUT: Final = "-"


def attached(paths: Sequence[str]) -> str:
    """Return the text of the files, each below a line with its name; "-" is standard input.

    A file of any kind that can be read will do, and so will a pipe. It is private text.
    Raises UsageError for one that is missing or holds no text.
    """
    texts = {path: _text(path).strip("\r\n").rstrip() for path in paths}
    return "\n\n".join(f"{_label(path)}\n{text}" for path, text in texts.items())


def _label(path: str) -> str:
    from local_react.outside import spelled

    return "Standard input:" if path == STANDARD_INPUT else f"File {spelled(path)}:"


def _text(path: str) -> str:
    from local_react.readers import Unreadable
    from local_react.readers.apart import read_file_apart

    if path == STANDARD_INPUT and sys.stdin is None:
        raise UsageError("standard input is closed: -f - has nothing to read")
    try:
        if path == STANDARD_INPUT:
            return _all_of(sys.stdin.buffer)
        if stat.S_ISFIFO(Path(path).stat().st_mode):  # as <(command) is in bash
            with Path(path).open("rb") as pipe:
                return _all_of(pipe)
        return "\n".join(part.text for part in read_file_apart(Path(path)).parts)
    except (OSError, ValueError, Unreadable) as error:
        raise UsageError(f"{path} cannot be attached: {_reason(path, error)}") from error


def _all_of(stream: IO[bytes]) -> str:
    """Return what comes through a pipe. Raises Unreadable where it is no text or too much."""
    from local_react.readers import text_of
    from local_react.readers.document import MOST_TEXT, Unreadable, larger_than

    data = stream.read(MOST_TEXT + 1)
    if len(data) > MOST_TEXT:
        raise Unreadable(larger_than(MOST_TEXT))
    if not data.strip():
        raise Unreadable("empty")
    return text_of(data)


def _reason(path: str, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if Path(path).is_dir():
        return "it is a folder: name its files, or add it with `local-react docs add`"
    return getattr(error, "strerror", None) or str(error)
