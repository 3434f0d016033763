"""A file of settings, changed by the program: comments and order stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tomlkit import TOMLDocument, dumps, parse
from tomlkit.exceptions import TOMLKitError

from local_react.atomic import write_whole
from local_react.errors import UsageError
from local_react.locking import changing
from local_react.private import followed, own_folder
from local_react.settings import Setting
from local_react.settings.contents import as_key, no_toml, text_of
from local_react.settings.files import SettingsFile
from local_react.settings.reading import validated
from local_react.settings.sharing import refusal

_FOR_ALL: Final = 0o644
"""How a new file of a project may be read: as the files beside it."""


def put(file: SettingsFile, setting: Setting, text: str) -> Any:
    """Set it in the file, which is made where it is missing, and return the value.

    Raises UsageError, with nothing changed, where the value cannot be, a project's file may
    not set it, or the file is no TOML or cannot be written.
    """
    value = validated(setting, text)
    if file.shared and (why := refusal(setting.key, value)):
        raise UsageError(f"{why}: leave --project out, and it is set for you")
    with _changing(file):
        document = _document(file.path)
        document[_written(document, setting.key) or setting.key] = value
        _write(file, document)
    return value


def drop(file: SettingsFile, key: str) -> bool:
    """Take the key, which need not be one that can be set, out of the file; return whether
    it was there. Raises UsageError as `put` does."""
    with _changing(file):
        document = _document(file.path)
        name = _written(document, as_key(key))
        if name is None:
            return False
        del document[name]
        _write(file, document)
    return True


def _document(path: Path) -> TOMLDocument:
    if not path.exists():
        return TOMLDocument()
    try:
        return parse(text_of(path))
    except (TOMLKitError, RecursionError) as error:
        raise no_toml(path, error) from error


def _written(document: Mapping[str, object], key: str) -> str | None:
    """Return the name under which a key stands in the file."""
    return next((name for name in document if as_key(name) == key), None)


def _write(file: SettingsFile, document: TOMLDocument) -> None:
    # A link, as those make who keep such files elsewhere, goes on to lead there.
    path = file.path.resolve() if file.shared else followed(file.path)
    if not file.shared:
        own_folder(file.path.parent)
    new = not path.exists()
    write_whole(path, [dumps(document).encode()], keeps_mode=file.shared)
    if file.shared and new:
        path.chmod(_FOR_ALL)


@contextmanager
def _changing(file: SettingsFile) -> Iterator[None]:
    """Have the file alone. Raises UsageError where it cannot be written, then or in the block."""
    try:
        with changing(file.path):
            yield
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{file.path} cannot be written: {reason}") from error
