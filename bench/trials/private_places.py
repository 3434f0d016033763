"""What commands write is for its owner alone, and is written through nobody's link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Final

from trials.stage import Stage
from trials.trial import Report, Trial

_OURS: Final = ("data", "cache", "config")
"""Folders in which all is private; models are not, nor is a project's file."""
_NAMES: Final = {
    "data": (
        *("history.sqlite", "network.sqlite", "documents.sqlite", "documents.lock"),
        *("chat-history", "models.json", "machine.json", "exchange_rates.json"),
    ),
    "cache": ("answers.sqlite", "model_hashes.json"),
    "config": ("config.toml",),
}
"""Our files, by their folders."""
_ENDINGS: Final = ("", "-journal", "-wal", "-shm", ".lock")
_THEIRS: Final = b"what is another's\n"


def _modes(count: int, random: Random) -> Report:
    """Run commands under two umasks, where all is as it was, and where all was open to all."""
    failures: list[str] = []
    with Stage() as stage:
        cases = list(product((0o000, 0o077), (False, True), stage.commands))
        for umask, was_open, command in (chosen := _drawn(cases, count, random)):
            stage.fresh()
            before = _written(stage, open_all=was_open)
            stage.run(stage.commands[command], before=partial(os.umask, umask))
            told = f"{command}, umask {umask:03o}{', open before' if was_open else ''}"
            failures += [f"{told}: {fault}" for fault in _faults(stage, before)]
    return Report(len(chosen), failures, figures=f"umask 000 and 077, {len(cases)} cases")


def _drawn(
    cases: list[tuple[int, bool, str]], count: int, random: Random
) -> list[tuple[int, bool, str]]:
    return (random.sample(cases, len(cases)) * (count // len(cases) + 1))[:count]


def _written(stage: Stage, *, open_all: bool = False) -> dict[Path, int]:
    """Return when each of the private files was written last; make them all open before."""
    found: dict[Path, int] = {}
    for folder in _OURS:
        for path in (stage.root / folder, *sorted((stage.root / folder).rglob("*"))):
            if open_all:
                path.chmod(0o777 if path.is_dir() else 0o666)
            if path.is_file():
                found[path] = path.stat().st_mtime_ns
    return found


def _faults(stage: Stage, before: Mapping[Path, int]) -> Iterator[str]:
    """Tell what was written and is not for its owner alone, with its folder."""
    changed = [path for path, when in _written(stage).items() if before.get(path) != when]
    made = [path for path in (stage.root / "out").rglob("*") if path.is_file()]
    folders = {path.parent for path in changed}
    for path in (*changed, *made, *folders):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            yield f"{path.relative_to(stage.root)} has the mode {mode:04o}"


def _planted(count: int, random: Random) -> Report:
    """Run commands in folders that all may write to, where links lie in our files' places."""
    failures: list[str] = []
    with Stage() as stage:
        commands = random.sample(list(stage.commands), len(stage.commands))
        commands = (commands * (count // len(commands) + 1))[:count]
        for number, command in enumerate(commands):
            stage.fresh()
            leads_nowhere = bool(number % 2)
            targets = list(_plant(stage, leads_nowhere=leads_nowhere))
            ended = stage.run(stage.commands[command], before=partial(os.umask, 0))
            if fault := ended.fault():
                failures.append(f"{command}: {fault}")
            for path in targets:
                there = (path.read_bytes(), path.stat().st_mode) if path.exists() else None
                wanted = None if leads_nowhere else (_THEIRS, stat.S_IFREG | 0o644)
                if there != wanted:
                    failures.append(f"{command}: what a link led to was changed: {path.name}")
    return Report(len(commands), failures)


def _plant(stage: Stage, *, leads_nowhere: bool) -> Iterator[Path]:
    """Put the links there, and yield where they lead."""
    for folder, names in _NAMES.items():
        place = stage.root / folder
        place.mkdir(exist_ok=True)
        place.chmod(0o777)
        for name, ending in product(names, _ENDINGS):
            target = stage.spare / f"{folder}-{name}{ending}"
            if not leads_nowhere:
                target.write_bytes(_THEIRS)
                target.chmod(0o644)
            link = place / f"{name}{ending}"
            link.unlink(missing_ok=True)
            link.symlink_to(target)
            yield target


TRIALS: tuple[Trial, ...] = (
    Trial("file-modes", "what every command writes, under any umask", _modes, 120, 6),
    Trial("planted-links", "every command where links lie in our files' places", _planted, 64, 5),
)
