"""What RUN stands for: a run of the history, or a transcript in a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from local_react.errors import UsageError

if TYPE_CHECKING:
    from local_react.transcript import Transcript

_LIKE_AN_ID: Final = re.compile(r"last|[0-9a-f]{4,8}", re.IGNORECASE)


class Found(NamedTuple):
    """A transcript, and how a person calls it."""

    name: str
    transcript: Transcript
    text: str
    """Its lines as they were kept."""


def found(name: str) -> Found:
    """Return the transcript of a run: RUN is its id, the beginning of that, "last", or the
    path of a file. Raises UsageError where there is none."""
    path = Path(name)
    if _is_file(path) and not _LIKE_AN_ID.fullmatch(name):
        return _in_file(path)
    if not _LIKE_AN_ID.fullmatch(name) and re.search(r"[/\\.]", name):
        raise UsageError(f"there is no file {name}: check the path, or give the id of a run")
    return _in_history(name)


def _in_history(name: str) -> Found:
    from local_react.history import History
    from local_react.transcript import bare, parsed

    history = History()
    info = history.find_run(name)
    if text := history.transcript(info.id):
        return Found(info.id, parsed(text, f"the transcript of {info.id}"), text)
    transcript = bare(history.run(info.id), time=info.time)
    return Found(info.id, transcript, "")


def _in_file(path: Path) -> Found:
    from local_react.transcript import parsed

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise UsageError(f"{path} cannot be read: {reason}") from error
    return Found(str(path), parsed(text, str(path)), text)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, or a NUL in it
        return False
