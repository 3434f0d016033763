"""The GGUF files that the user has made known by a name: `local-react models add`.

Kept in models.json of the data directory: name -> path. The files stay where they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from local_react.atomic import read_whole
from local_react.errors import ModelError, UsageError
from local_react.locking import changing
from local_react.places import DATA_VARIABLE, data_dir
from local_react.private import write_own

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_OTHERS = re.compile(r"[^a-z0-9._-]+")


def added_models() -> dict[str, Path]:
    """Return the files by name, whether they are still there or not.

    Raises ModelError where the list is damaged: what is in it must not be lost.
    """
    path = _file()
    try:
        told = json.loads(read_whole(path))
        if not isinstance(told, dict):
            raise TypeError("it holds no names")
        return {name: Path(file) for name, file in told.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise ModelError(
            f"the list of the models that you added, {path}, cannot be read"
            f" ({getattr(error, 'strerror', None) or error}): mend it, or remove it and add them"
            " again"
        ) from error


def keep_name(name: str, file: Path) -> None:
    """Have a name stand for a file from now on. Raises ModelError where that cannot be kept."""
    _change(lambda known: {**known, name: file})


def forget_name(name: str) -> None:
    """Have a name stand for nothing. Raises ModelError where that cannot be kept."""
    _change(lambda known: {other: file for other, file in known.items() if other != name})


def checked_name(name: str) -> str:
    """Return a name as it is kept. Raises UsageError where it could be taken for a path, or
    is hard to type."""
    wanted = name.strip().casefold()
    if not _NAME.fullmatch(wanted) or wanted.endswith(".gguf"):
        raise UsageError(
            f"a model cannot be named {name!r}: take up to 64 letters, digits, dots, dashes and"
            " underscores, and no .gguf at the end"
        )
    return wanted


def name_for(stem: str) -> str:
    """Return the name that a file gets which is given none: its own, as far as it can be."""
    return _OTHERS.sub("-", stem.casefold()).strip("-._")[:64].rstrip("-._") or "model"


def _change(change: Callable[[dict[str, Path]], dict[str, Path]]) -> None:
    try:
        with changing(_file()):
            files = change(added_models())
            text = json.dumps({name: str(file) for name, file in files.items()}, indent=2)
            write_own(_file(), [text.encode()])
    except OSError as error:
        raise ModelError(
            f"the list of the models that you added, {_file()}, cannot be written:"
            f" {error.strerror or error}; set {DATA_VARIABLE} to a directory that can be written"
        ) from error


def _file() -> Path:
    return data_dir() / "models.json"
