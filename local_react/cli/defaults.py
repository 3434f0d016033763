"""The options of `local-react ask` as settings that last, and what is set for a command.

This is all that says what there is to set: nothing is declared twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import click

from local_react.errors import UsageError
from local_react.settings import PREFIX, Given, Setting, given, is_anything_set

NOT_LASTING: Final = frozenset(
    {"json", "output_format", "transcript", "file", "continue", "session", "dry_run"}
)
"""Options that belong to one question, or to the program that asked it and reads the answer."""


def default_map(command: click.Command) -> dict[str, Any]:
    """Return what environment and files set for the options of a command, by the names of
    its parameters, as click's `default_map` takes it; of a group, by its commands.

    An option is set where `ask` has the same. Raises UsageError as `settings.given` does.
    """
    if not is_anything_set():
        return {}
    settings = lasting_settings()
    known = {setting.key: setting for setting in settings}
    shared = _shared(command, known)
    return _filled(shared, given(settings)) if shared else {}


def lasting_settings() -> tuple[Setting, ...]:
    """Return what there is to set, in the order of the help."""
    # Imported here: it takes long, and in most runs there is nothing that is set.
    from local_react.cli.ask import ask

    return settings_of(ask)


def settings_of(command: click.Command) -> tuple[Setting, ...]:
    """Return the options of a command as settings."""
    context = click.Context(command)
    return tuple(_setting(option, context) for option in _options(command))


def _options(command: click.Command) -> list[click.Option]:
    """Return the options of a command that may last."""
    return [
        option
        for option in command.params
        if isinstance(option, click.Option)
        and option.expose_value
        and option.nargs == 1
        and _key(option) not in {"", *NOT_LASTING}
    ]


def _key(option: click.Option) -> str:
    """Return the first long name of an option, written as a key; nothing where it has none."""
    long = next((name for name in option.opts if name.startswith("--")), "")
    return long.removeprefix("--").replace("-", "_")


def _setting(option: click.Option, context: click.Context) -> Setting:
    key = _key(option)
    return Setting(
        key,
        variable=option.envvar if isinstance(option.envvar, str) else f"{PREFIX}{key.upper()}",
        hint=_hint(option),
        default=_default(option, context),
        about=" ".join((option.help or "").split()),
        check=partial(_check, key, option, context),
        read=_shuts if key == "offline" else None,
    )


def _hint(option: click.Option) -> Any:
    """Return the type of what an option gives."""
    if option.multiple:
        return list[str]
    if option.is_flag and isinstance(option.type, click.types.BoolParamType):
        return bool
    if isinstance(option.type, click.Choice):
        return Literal[tuple(map(str, option.type.choices))]
    if isinstance(option.type, click.types.IntParamType):
        return int
    return float if isinstance(option.type, click.types.FloatParamType) else str


def _default(option: click.Option, context: click.Context) -> object:
    if option.multiple:
        return []
    default = option.get_default(context)
    # Of what has none, click gives a sign of its own.
    return default if isinstance(default, (bool, int, float, str)) else None


def _check(key: str, option: click.Option, context: click.Context, value: Any) -> None:
    """Raise ValueError where the option cannot have the value."""
    from local_react.core import Sampling

    if isinstance(option.type, click.Path):
        _check_paths(value if isinstance(value, list) else [value])
    try:
        option.process_value(context, value)
        if key in {field.name for field in fields(Sampling)}:
            Sampling(**{key: value})
    except (click.ClickException, UsageError, ValueError) as error:
        message = error.message if isinstance(error, click.ClickException) else str(error)
        name = key.replace("_", "-")
        for beginning in (f"--{name} ", f"{name} "):
            if message.startswith(beginning):
                raise ValueError(message.removeprefix(beginning)) from error
        raise ValueError(f"cannot be used: {message}") from error


def _check_paths(paths: Sequence[str]) -> None:
    """Raise ValueError where a path leads elsewhere from another folder: what lies in that,
    and may be run, may have been put there by anybody."""
    for path in paths:
        if not Path(path).expanduser().is_absolute():
            raise ValueError(f"must be a whole path, from the root or ~, not {path}")


def _shuts(text: str) -> bool:
    """Return whether the variable shuts the door, as the door itself reads it."""
    from local_react.network.policy import OFFLINE_VARIABLE, is_set

    return is_set(OFFLINE_VARIABLE)


def _shared(command: click.Command, settings: Mapping[str, Setting]) -> dict[str, Any]:
    """Return by the names of a command's parameters the keys that set them, where it has
    the option as `ask` has it; of a group, by the names of its commands."""
    if isinstance(command, click.Group):
        maps = {name: _shared(sub, settings) for name, sub in command.commands.items()}
        return {name: keys for name, keys in maps.items() if keys}
    return {
        str(option.name): _key(option)
        for option in _options(command)
        if (setting := settings.get(_key(option))) and setting.hint == _hint(option)
    }


def _filled(shared: Mapping[str, Any], found: Mapping[str, Given]) -> dict[str, Any]:
    """Return the values in place of the keys."""
    return {
        name: found[keys].value if isinstance(keys, str) else _filled(keys, found)
        for name, keys in shared.items()
        if not isinstance(keys, str) or keys in found
    }
