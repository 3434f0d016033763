"""Code that somebody else put where we look, or might: none of it is run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from trials.stage import FAST, Stage
from trials.trial import Report, Trial

_RAN: Final = "ran"
"""The file that strange code makes where it is run."""
_SOMEBODY: Final = 12345
"""The number of a user who is not there."""


@dataclass(frozen=True)
class _Placed:
    """What is there, and what the command is given beside."""

    options: Sequence[str] = ()
    environment: Mapping[str, str] | None = None
    told: str = "is not run"
    """What a line says of it; nothing where nobody would look there."""


_Place: TypeAlias = Callable[[Stage, str], _Placed]
"""Puts code, a text, somewhere on the stage."""


def _as_settings(name: str, key: str) -> _Place:
    """Return what has a project's file name a file of code."""

    def place(stage: Stage, code: str) -> _Placed:
        (stage.root / "work" / "tools.py").write_text(code)
        path = stage.root / "work" / "tools.py"
        (stage.root / "work" / name).write_text(f'{key} = ["{path}"]\n')
        return _Placed(told="a project file may not set")

    return place


def _in_working_folder(stage: Stage, code: str) -> _Placed:
    work = stage.root / "work"
    for name in (
        "tools.py",
        "functions.py",
        "config.py",
        "tools/mine.py",
        ".local-react/tools/a.py",
    ):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(code)
    (work / "config.toml").write_text(f'functions = ["{work / "tools.py"}"]\n')
    return _Placed(told="")


def _relative(stage: Stage, code: str) -> _Placed:
    (stage.root / "work" / "tools.py").write_text(code)
    return _Placed((), {"LOCAL_REACT_FUNCTIONS": "tools.py"}, "must be a whole path")


def _as_package(where: str) -> _Place:
    """Return what lays a package with an entry point into a folder on Python's path."""

    def place(stage: Stage, code: str) -> _Placed:
        folder = stage.root / ("work" if where == "here" else "elsewhere")
        about = folder / "strange_tools-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: strange-tools\nVersion: 1.0\n"
        )
        (about / "entry_points.txt").write_text("[local_react.tools]\nany = strange_tools\n")
        (folder / "strange_tools.py").write_text(code)
        if where == "here":
            return _Placed(told="")
        path = stage.environment()["PYTHONPATH"]
        return _Placed(environment={"PYTHONPATH": os.pathsep.join([path, str(folder)])})

    return place


def _open_to(which: str, how: Callable[[Path], object], *, named: bool) -> _Place:
    """Return what has a file of tools, its folder, or one above that be for others too."""

    def place(stage: Stage, code: str) -> _Placed:
        folder = stage.root / ("above/shared" if named else "config/tools")
        folder.mkdir(parents=True)
        file = folder / "mine.py"
        file.write_text(code)
        how({"file": file, "folder": folder, "above": folder.parent}[which])
        return _Placed(("--functions", str(file)) if named else ())

    return place


def _by_a_link(stage: Stage, code: str) -> _Placed:
    (stage.root / "own").mkdir()
    (stage.root / "own" / "mine.py").write_text(code)
    (stage.root / "shared").mkdir()
    (stage.root / "shared" / "link.py").symlink_to(stage.root / "own" / "mine.py")
    (stage.root / "shared").chmod(0o777)
    return _Placed(("--functions", str(stage.root / "shared" / "link.py")))


def _writable(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o002)


def _given_away(path: Path) -> None:
    os.chown(path, _SOMEBODY, _SOMEBODY)


def _places() -> Iterator[tuple[str, _Place]]:
    yield "a project's file", _as_settings(".local-react.toml", "functions")
    yield "the working folder", _in_working_folder
    yield "a variable with a path from here", _relative
    yield "a package in the working folder", _as_package("here")
    yield "a package where PYTHONPATH leads", _as_package("elsewhere")
    yield "a link in a folder for all", _by_a_link
    ways: list[tuple[str, Callable[[Path], object]]] = [("all can write to", _writable)]
    if os.geteuid() == 0:
        ways.append(("belongs to another", _given_away))
    for how, way in ways:
        for which in ("file", "folder", "above"):
            yield f"a {which} that {how}", _open_to(which, way, named=True)
        for which in ("file", "folder"):
            yield f"a {which} that {how}, of the tools", _open_to(which, way, named=False)


def _attempts(count: int, random: Random) -> Report:
    """Run commands that look at the tools, with strange code in one place."""
    places = list(_places())
    failures: list[str] = []
    with Stage() as stage:
        for name, place in random.sample(places * (count // len(places) + 1), count):
            stage.fresh()
            code = f"open({str(stage.spare / _RAN)!r}, 'w').close()\n"
            placed = place(stage, code)
            ask = ["-m", stage.model, *FAST, *placed.options, "hi"]
            ended = stage.run(ask, environment=placed.environment)
            failures += [f"{name}: {fault}" for fault in _faults(stage, placed, ended.err)]
            if fault := ended.fault():
                failures.append(f"{name}: {fault}")
    skipped = "" if os.geteuid() == 0 else "another user's files SKIPPED: only root can make them"
    return Report(count, failures, skipped=skipped)


def _faults(stage: Stage, placed: _Placed, told: str) -> Iterator[str]:
    if (stage.spare / _RAN).exists():
        yield "it was run"
    lines = [line for line in told.splitlines() if placed.told and placed.told in line]
    if len(lines) != bool(placed.told):
        yield f"{len(lines)} lines tell of it: {told[-200:]!r}"


TRIALS: tuple[Trial, ...] = (
    Trial("strange-code", "tools where others may have put them: none is run", _attempts, 48, 5),
)
