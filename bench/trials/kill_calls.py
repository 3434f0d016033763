"""Commands that are killed at each call that changes something on the disk; and what is on the
disk, should the power fail, once they say that it is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

from tiny_model import write_tiny_model

from local_react.errors import LocalReactError
from trials.calls import NO_STRACE, Call, calls_of, can_trace, killed_at
from trials.commands import Case, cases
from trials.forks import Ended, Forks, forking
from trials.kill_documents import fill
from trials.kill_downloads import PINNED, slow_hub
from trials.killing import Place, unsound
from trials.trial import Report

_NOT_CONFIRMED: Final = (".lock", "-shm", ".verified", ".out", ".err")
"""How the names of files end that need not be on the disk."""


class Stage:
    """What the commands work with, and what was kept before each, prepared once."""

    def __init__(self, folder: Path, forks: Forks, hub: str) -> None:
        self._folder, self._forks, self._hub = folder, forks, hub
        papers, letters, questions = folder / "papers", folder / "letters", folder / "in.txt"
        fill(papers, range(8))
        fill(letters, range(8))
        questions.write_text(f"Who?\n{'so ' * 300}\nWhere?\n")
        self.cases = cases(write_tiny_model(folder / "tiny.gguf"), papers, letters, questions)
        self._calls = dict[str, list[str]]()

    def killed(self, name: str, random: Random) -> str:
        """Kill a command at one of its calls, and return what is wrong then."""
        made = self._made(name)
        case, place = self.cases[name], self._place(name)
        at = random.randrange(len(made))
        number = made[: at + 1].count(made[at])
        ended = killed_at(made[at], number, *self._traced(place, case))
        faults = [ended.frightens, _checked(case.always, place)]
        again = self._run(place, case.argv)
        good = again.code in case.codes and not again.frightens
        faults += ["" if good else f"exit code {again.code}: {again.err[-300:]}"]
        faults += [_checked(check, place) for check in (case.always, case.done)]
        for argv in case.before[-1:]:  # where there was nothing to do again, nothing was tidied
            self._run(place, argv)
        faults += [*map(unsound, sorted(place.data.glob("*.sqlite"))), place.leftovers()]
        told = "; ".join(filter(None, faults))
        return (
            f"killed at {made[at]} {number}, call {at + 1} of {len(made)}: {told}" if told else ""
        )

    def in_order(self, name: str, random: Random) -> str:
        """Return what a command says that it did and is not on the disk."""
        case, place = self.cases[name], self._place(name)
        _, made = calls_of(*self._traced(place, case), all_threads=True)
        ours = [call for call in made if any(str(place.root) in path for path in call.paths)]
        faults = [_checked(case.done, place), *unsynced(ours), *([] if ours else ["no calls"])]
        return "; ".join(filter(None, faults))

    def _made(self, name: str) -> list[str]:
        """Return the names of the calls that a command makes which is not killed."""
        if name not in self._calls:
            where = self._traced(self._place(name), self.cases[name])
            self._calls[name] = [call.name for call in calls_of(*where, all_threads=False)[1]]
            shutil.rmtree(self._folder / "here")
        return self._calls[name]

    def _place(self, name: str) -> Place:
        """Return a new place in which all was done that comes before a command."""
        template, place = Place(self._folder / f"before {name}"), Place(self._folder / "here")
        if not template.root.exists():
            template.root.mkdir()
            for argv in self.cases[name].before:
                self._run(template, argv)
        shutil.rmtree(place.root, ignore_errors=True)
        shutil.copytree(template.root, place.root)
        return place

    def _run(self, place: Place, argv: Sequence[str]) -> Ended:
        return self._forks.run(*argv, **self._how(place))

    def _traced(
        self, place: Place, case: Case
    ) -> tuple[Forks, Path, Sequence[str], dict[str, Any]]:
        return self._forks, self._folder / "calls", case.argv, self._how(place)

    def _how(self, place: Place) -> dict[str, Any]:
        before = f"import os\nos.chdir({str(place.root)!r})\n{PINNED}"
        return {"env": {**place.env, "HF_ENDPOINT": self._hub}, "before": before}


Try: TypeAlias = Callable[[Stage, str, Random], str]


def each(try_: Try) -> Callable[[int, Random], Report]:
    """Return what tries one command after the other."""

    def attempts(count: int, random: Random) -> Report:
        if not (hasattr(os, "fork") and can_trace()):
            return Report(0, skipped=NO_STRACE)
        failures = []
        with TemporaryDirectory(prefix="calls-") as name, ExitStack() as held:
            hub, forks = held.enter_context(slow_hub()), held.enter_context(forking())
            stage = Stage(Path(name).resolve(), forks, hub)
            names = list(stage.cases)
            random.shuffle(names)
            for number in range(count):
                which = names[number % len(names)]
                if fault := try_(stage, which, random):
                    failures.append(f"{which}: {' '.join(fault.split())}")
        return Report(count, failures)

    return attempts


def unsynced(made: Sequence[Call]) -> Iterator[str]:
    """Yield which files, and folders with new names in them, a power cut may undo, of those
    that calls have written: at the end, or as one takes the place of another."""
    waiting = dict[str, None]()
    for call in made:
        path = call.paths[0]
        if call.name in ("write", "pwrite64", "writev", "ftruncate"):
            waiting[path] = None
        elif call.name in ("fsync", "fdatasync"):
            waiting.pop(path, None)
        elif call.name.startswith("unlink"):
            waiting.pop(path, None)
            if path.endswith("-journal"):  # with it goes what would undo the change
                waiting[str(Path(path).parent)] = None
        elif call.name.startswith("rename"):
            if path in waiting:
                yield f"{Path(path).name} is renamed before it is on the disk"
            waiting[str(Path(call.paths[-1]).parent)] = None
    left = [path for path in waiting if not path.endswith(_NOT_CONFIRMED)]
    if left:
        yield f"not on the disk at the end: {', '.join(left)}"


def _checked(check: Callable[[Place], str], place: Place) -> str:
    try:
        return check(place)
    except (LocalReactError, OSError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
