"""What stands in a file of settings, and where in it a key stands."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from local_react.atomic import read_whole
from local_react.errors import UsageError
from local_react.settings.files import SettingsFile
from local_react.settings.sharing import refusal

if TYPE_CHECKING:
    from local_react.settings import Setting

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

_LARGEST: Final = 1_000_000


def contents(file: SettingsFile, settings: Sequence[Setting]) -> dict[str, Any]:
    """Return what the file sets, by the variables of the settings.

    Raises UsageError where it cannot be read, is no TOML, or holds a key that is none, is
    there twice, or is not for it to set.
    """
    text = text_of(file.path)
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise no_toml(file.path, error) from error
    variables = {setting.key: setting.variable for setting in settings}
    found: dict[str, Any] = {}
    for name, value in values.items():
        key = as_key(name)
        if key not in variables:
            raise UsageError(f"{place(file.path, text, key)}: {no_such_key(name, variables)}")
        if variables[key] in found:
            raise UsageError(
                f"{place(file.path, text, key)}: {key} is set twice, with - and with _"
            )
        if file.shared and (why := refusal(key, value)):
            raise UsageError(
                f"{place(file.path, text, key)}: {why}; for yourself: local-react config set {key}"
            )
        found[variables[key]] = value
    return found


def text_of(path: Path) -> str:
    """Return the text of a file of settings, without the mark that some editors put before
    it. Raises UsageError where it cannot be read."""
    try:
        if path.stat().st_size > _LARGEST:
            raise UsageError(f"{path} is no file of settings: it is larger than {_LARGEST:,} bytes")
        return read_whole(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8: save it as UTF-8") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


def as_key(name: str) -> str:
    """Return the key that a name stands for, which may be written with - for _."""
    return name.replace("-", "_")


def no_toml(path: Path, error: Exception) -> UsageError:
    """Return the error that says where the file is no TOML."""
    return UsageError(f"{path} is no valid TOML: {error}; mend it, or remove the file")


def no_such_key(name: str, keys: Iterable[str]) -> str:
    """Return that there is no such setting, and which is the nearest."""
    near = difflib.get_close_matches(as_key(name), list(keys), n=1)
    hint = f"did you mean {near[0]}?" if near else "`local-react config show` lists them all"
    return f"there is no setting {name!r}: {hint}"


def place(path: Path, text: str, key: str) -> str:
    """Return the file, and the line in it where the key stands, if that can be told."""
    name = "[-_]".join(map(re.escape, key.split("_")))
    written = re.compile(rf"""\s*\[*\s*["']?{name}["']?\s*[].=]""")
    for number, line in enumerate(text.splitlines(), start=1):
        if written.match(line):
            return f"{path}, line {number}"
    return str(path)
