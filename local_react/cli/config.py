"""`local-react config`: what is set to last, by what, and how to change it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from local_react.cli.defaults import NOT_LASTING, lasting_settings
from local_react.cli.show import complain, json_text, printable
from local_react.errors import UsageError
from local_react.settings import OTHER_VARIABLES, PREFIX, Given, Setting, given
from local_react.settings.files import SettingsFile, new_project_file, project_file, user_file

_CONTEXT: Final = {"help_option_names": ["-h", "--help"]}
_NOT_SET: Final = "(not set)"

_project = click.option(
    "--project", is_flag=True, help="In the project's file, .local-react.toml, not in yours."
)


@click.group("config", context_settings=_CONTEXT, invoke_without_command=True)
@click.pass_context
def config(context: click.Context) -> None:
    """Show and change the settings that last.

    An option that you give wins over the environment (LOCAL_REACT_...), that over the
    project's file (.local-react.toml in the folder that you are in, or in the nearest one
    above it), and that over your own file.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@config.command("show", context_settings=_CONTEXT)
@click.argument("key", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(key: str | None, as_json: bool) -> None:
    """Show every setting, its value and what set it, and where things are kept."""
    settings = lasting_settings()
    chosen = settings if key is None else (_named(key, settings),)
    found = given(settings)
    told = {setting.key: _as_dict(setting, found) for setting in chosen}
    if key is None:
        _hint_at_variables(settings)
        _tell_all(told, as_json=as_json)
    elif as_json:
        click.echo(json_text(told[chosen[0].key]))
    else:
        _print_rows(_rows(told))


@config.command("set", context_settings={**_CONTEXT, "ignore_unknown_options": True})
@click.argument("key")
@click.argument("value")
@_project
def set_(key: str, value: str, project: bool) -> None:
    """Set one to last. Of a list the parts are separated by commas."""
    from local_react.settings.editing import put

    settings = lasting_settings()
    setting, file = _named(key, settings), _file(project=project)
    kept = put(file, setting, value)
    click.echo(f"{setting.key} is {_text(kept)} now: {_line(file.origin)}")
    _say_who_wins(setting, file, settings)


@config.command("unset", context_settings=_CONTEXT)
@click.argument("key")
@_project
def unset(key: str, project: bool) -> None:
    """Take a setting out of the file again."""
    from local_react.settings.editing import drop

    file = _file(project=project)
    if not drop(file, key):
        raise UsageError(f"{key} is not set in {file.path}: `local-react config show` tells where")
    click.echo(f"{_line(key)} is no longer set: {_line(file.origin)}")


@config.command("path", context_settings=_CONTEXT)
@_project
def path(project: bool) -> None:
    """Print where the file is, which may not exist yet."""
    click.echo(printable(str(_file(project=project).path)))


def _file(*, project: bool) -> SettingsFile:
    return new_project_file() if project else user_file()


def _named(key: str, settings: Sequence[Setting]) -> Setting:
    """Return the setting of that key. Raises UsageError, with the nearest, where there is
    none."""
    from local_react.settings.contents import as_key, no_such_key

    keys = {setting.key: setting for setting in settings}
    if as_key(key) in NOT_LASTING:
        raise UsageError(f"{key} cannot be set to last: it is for one question")
    if as_key(key) not in keys:
        raise UsageError(no_such_key(key, keys))
    return keys[as_key(key)]


def _as_dict(setting: Setting, found: Mapping[str, Given]) -> dict[str, Any]:
    what = found.get(setting.key, Given(setting.default, "default"))
    return {
        "key": setting.key,
        "value": what.value,
        "origin": what.origin,
        "variable": setting.variable,
        "about": setting.about,
    }


def _tell_all(told: Mapping[str, Mapping[str, Any]], *, as_json: bool) -> None:
    places = {name: {"path": path, "origin": by} for name, path, by in _directories()}
    project = project_file()
    files = {
        "user": str(user_file().path),
        "project": str(project.path) if project else None,
    }
    if as_json:
        click.echo(json_text({"settings": told, "directories": places, "files": files}))
        return
    directories = [(f"{name} directory", *place.values()) for name, place in places.items()]
    _print_rows([*_rows(told), *directories])


def _rows(told: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    return [(key, _text(one["value"]), one["origin"]) for key, one in told.items()]


def _print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Print the rows in columns; one very long value does not move the others' origins."""
    shown = [[_line(cell) for cell in row] for row in rows]
    widths = [min(max(len(row[n]) for row in shown), 24) for n in range(2)]
    for name, value, origin in shown:
        click.echo(f"{name:<{widths[0]}}  {value:<{widths[1]}}  {origin}")


def _directories() -> Iterator[tuple[str, str, str]]:
    """Yield what is kept where, and what says so."""
    from local_react import places
    from local_react.catalog import models_dir

    where: tuple[tuple[str, Path | None, str], ...] = (
        ("models", models_dir(), "LOCAL_REACT_MODELS"),
        ("data", places.data_dir(), places.DATA_VARIABLE),
        ("cache", places.cache_dir(), places.CACHE_VARIABLE),
        ("config", places.config_dir(), places.CONFIG_VARIABLE),
    )
    for name, path, variable in where:
        by = variable if os.environ.get(variable) else "default"
        yield name, "off" if path is None else str(path), by


def _say_who_wins(setting: Setting, file: SettingsFile, settings: Sequence[Setting]) -> None:
    """Warn where the value that was set is not the one that counts."""
    try:
        origin = given(settings)[setting.key].origin
    except UsageError as error:  # another line of a file is at fault
        complain(str(error), colour="yellow")
        return
    if origin != file.origin:
        complain(f"{origin} sets {setting.key} too, and wins", colour="yellow")


def _hint_at_variables(settings: Sequence[Setting]) -> None:
    """Point at variables of ours that nothing reads."""
    known = {setting.variable for setting in settings} | OTHER_VARIABLES
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f": did you mean {near[0]}?" if near else ""
            complain(f"{name} sets nothing{hint}", colour="yellow")


def _text(value: object) -> str:
    if value is None:
        return _NOT_SET
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) or "(none)" if isinstance(value, list) else str(value)


def _line(text: str) -> str:
    return " ".join(printable(text).split())
