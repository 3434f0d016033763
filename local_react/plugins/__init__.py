"""The user's own tools: functions in files, in a folder, and in packages that are installed.

What is at fault in one of them is told in a line, and the others are there all the same.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from local_react.errors import UsageError
from local_react.gbnf import Rules
from local_react.places import config_dir
from local_react.plugins.running import (
    line_at_fault,
    line_of,
    reason,
    run_file,
    tools_defined_in,
)
from local_react.plugins.trusting import distrust, installed, not_installed
from local_react.tools.base import AnyTool, Tool, tool

ENTRY_POINTS: Final = "local_react.tools"
"""The group in which a package names what it brings: a Tool, a typed function, a list of
these, or a module that defines some."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The user's tools, and what was at fault."""

    tools: tuple[AnyTool, ...] = ()
    faults: tuple[str, ...] = ()
    """One line each: where, what, and what to do."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """By the name of a tool its file, or the package that brings it."""


def tools_dir() -> Path:
    """Return the folder whose files are always loaded, which may not exist."""
    return config_dir() / "tools"


def load_tools(files: Sequence[Path] = (), *, builtin: Iterable[str] = ()) -> Loaded:
    """Return the tools in the files, in those of `tools_dir`, and of installed packages;
    where two have one name, the first. `builtin` are names that none may have.

    A file's tools are its Tools and its public functions: those that are defined in it, at
    its top level, with type hints and a docstring. What a file prints while it is loaded,
    and what its functions `print`, goes to standard error.

    Raises UsageError where one of the files does not exist.
    """
    gathering = _Gathering(builtin)
    named = [file.expanduser() for file in files]
    ways = [(_existing(file), file) for file in named]
    ways += [(Path(os.path.realpath(file)), file) for file in gathering.folder()]
    for number, (path, way) in enumerate(ways):
        if path not in (other for other, _ in ways[:number]):  # each is read once
            gathering.add_file(path, way)
    for point in sorted(installed(ENTRY_POINTS), key=lambda point: point.name):
        gathering.add_package(point)
    for folder, point in not_installed(ENTRY_POINTS):
        gathering.faults.append(
            f"plugin {point.name} in {folder} is not run: it is not installed; install it with pip"
        )
    return Loaded(tuple(gathering.tools), tuple(gathering.faults), gathering.origins)


def _existing(path: Path) -> Path:
    if path.is_dir() or not path.exists():
        what = f"{path} is a folder" if path.is_dir() else f"there is no file {path}"
        raise UsageError(f"{what}: --functions takes a file of Python functions")
    return path.resolve() if path.is_file() else path.absolute()  # as that of a shell's <( )


class _Gathering:
    """What was loaded so far."""

    def __init__(self, builtin: Iterable[str]) -> None:
        self.tools: list[AnyTool] = []
        self.faults: list[str] = []
        self.origins: dict[str, str] = {}
        self._taken = {name.casefold(): "a built-in one" for name in builtin}

    def folder(self) -> list[Path]:
        """Return the files in the user's folder of tools."""
        try:
            folder = tools_dir()
        except UsageError:  # who has no home has no tools in it
            return []
        try:
            paths = sorted(path for path in folder.iterdir() if path.suffix == ".py")
        except FileNotFoundError:
            return []
        except OSError as error:
            self.faults.append(f"{folder}: {reason(error)}")
            return []
        return [path for path in paths if not path.name.startswith("_")]

    def add_file(self, path: Path, way: Path) -> None:
        """Add the tools of a file, which may have been named by a link."""
        if why := distrust(way):
            self.faults.append(f"{way}: it is not run: {why}")
            return
        try:
            found = tools_defined_in(run_file(path))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code may raise any
            line = line_at_fault(error, path)
            self.faults.append(
                f"{_at(path, line)}: {reason(error)}; mend it, and its tools are there"
            )
            return
        if not found:
            self.faults.append(f"{path}: it defines no tool: write a function with a docstring")
        for value in found:
            self._add(value, str(path), _at(path, line_of(value)))

    def add_package(self, point: EntryPoint) -> None:
        """Add the tools that a package brings."""
        origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        where = f"plugin {point.name} of {origin}"
        try:
            with redirect_stdout(sys.stderr):
                found = _pieces(point.load())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - nor is this code ours
            self.faults.append(f"{where}: {reason(error)}; ask its makers, or uninstall it")
            return
        if not found:
            self.faults.append(f"{where}: it brings no tool; ask its makers, or uninstall it")
        for value in found:
            self._add(value, origin, where)

    def _add(self, value: Any, origin: str, where: str) -> None:
        try:
            made: AnyTool = value if isinstance(value, Tool) else tool(value)
            Rules().schema(made.name, made.schema)  # in one that fails here no model could write
        except Exception as error:  # noqa: BLE001 - hints and schemas are the user's code too
            self.faults.append(f"{where}: {reason(error)}; mend it, and it is a tool")
            return
        name = made.name.casefold()
        if name in self._taken:
            taken = f"there is a tool {made.name} already, {self._taken[name]}"
            self.faults.append(f"{where}: {taken}: rename this one")
            return
        self._taken[name] = where
        self.tools.append(made)
        self.origins[made.name] = origin


def _pieces(value: object) -> list[Any]:
    """Return the Tools and functions that an entry point stands for."""
    if isinstance(value, ModuleType):
        return tools_defined_in(value)
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _at(path: Path, line: int | None) -> str:
    return f"{path}, line {line}" if line else str(path)
