"""Batches that are killed, and two that write one file."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from tiny_model import write_tiny_model

from trials.forks import Child, Ended, Forks
from trials.killing import Place, moment, timed

_QUESTIONS: Final = 6
_OPTIONS: Final = (
    *("-t", "1", "--votes", "1", "--thought-tokens", "4", "--no-tools", "--max-steps", "1"),
    *("--ctx-size", "600", "--offline", "-q"),
)
_BUSY: Final = "another batch is writing"


@dataclass(frozen=True, slots=True)
class Batches:
    """`batch`: some questions, of which one cannot be asked and so is tried again each time."""

    model: Path
    questions: tuple[Path, ...]
    """The same ones: that which cannot be asked is the second, after which each start writes the
    file anew, or the last."""
    seconds: float

    def attempt(self, forks: Forks, place: Place, random: Random, number: int) -> str:
        """Kill it, look at the lines that it wrote, and go on."""
        out = place.root / "out.jsonl"
        child = self._start(forks, place, number, 1 + number % 3)
        second = self._start(forks, place, number, 1) if number % 4 == 1 else None
        pause = moment(random, self.seconds)
        how = signal.SIGTERM if number % 4 == 3 else signal.SIGKILL
        child.kill(how, group=number % 2 == 0)
        child.ended()
        faults: list[str] = []
        if second is not None:
            faults.append(_wrong(second.ended(), may_be_busy=True))
        there = _whole_lines(out)
        ended = self._start(forks, place, number, 1 + number % 2).ended()
        faults += [_wrong(ended), *self._faults(out, there), place.leftovers(), place.survivors()]
        told = "; ".join(filter(None, faults))
        return f"killed after {pause * 1000:.0f} ms: {told}" if told else ""

    def _start(self, forks: Forks, place: Place, number: int, together: int) -> Child:
        source = self.questions[number // 2 % len(self.questions)]
        files = (str(source), "-o", str(place.root / "out.jsonl"))
        more = ("--together", str(together), "-m", str(self.model))
        return forks.start("batch", *files, *more, *_OPTIONS, env=place.env)

    def _faults(self, out: Path, before: list[bytes]) -> Iterator[str]:
        after = _whole_lines(out)
        if not out.read_bytes().endswith(b"\n"):
            yield "the last line is cut"
        try:
            names = sorted(json.loads(line)["id"] for line in after)
        except (ValueError, KeyError) as error:
            yield f"a line is no result: {error!r}"
            return
        if names != list(range(_QUESTIONS)):
            yield f"the results are those of {names}"
        lost = [line for line in before if line not in after and b'"error":' not in line]
        if lost:
            yield f"{len(lost)} lines that were written are gone"

    @classmethod
    def measured(cls, forks: Forks, folder: Path) -> Batches:
        """Return the scene, with how long it takes."""
        place, questions = Place(folder / "unkilled"), (folder / "a.jsonl", folder / "b.jsonl")
        place.root.mkdir()
        lines = [json.dumps({"id": n, "question": f"What is {n}?"}) for n in range(_QUESTIONS - 1)]
        too_long = json.dumps({"id": _QUESTIONS - 1, "question": "so " * 300})
        questions[0].write_text("\n".join([lines[0], too_long, *lines[1:], ""]))
        questions[1].write_text("\n".join([*lines, too_long, ""]))
        scene = cls(write_tiny_model(folder / "tiny.gguf"), questions, 0)

        def batch() -> Ended:
            ended = scene._start(forks, place, 0, 1).ended()
            return Ended(0, "", "") if not _wrong(ended) else ended

        return cls(scene.model, questions, timed(batch))


def _wrong(ended: Ended, *, may_be_busy: bool = False) -> str:
    """Return what is wrong with how a batch ended: one question is too long for it."""
    if ended.frightens:
        return ended.frightens
    refused = may_be_busy and _BUSY in ended.err and ended.err.count("\n") == 1
    if refused or (ended.code == 2 and not ended.err):
        return ""
    return f"exit code {ended.code}: {ended.err[-200:]}"


def _whole_lines(out: Path) -> list[bytes]:
    data = out.read_bytes() if out.exists() else b""
    return [line for line in data.splitlines(keepends=True) if line.endswith(b"\n")]
