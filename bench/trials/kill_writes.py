"""The small files that are kept, killed while they are written, by one process or two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from trials.forks import Child, Forks
from trials.killing import Place, moment, unsound
from trials.writers import WRITES

_SECONDS: Final = 0.3
_OTHERS: Final = 12
"""Times that a process writes which is not killed."""
_BEGINS: Final = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
from trials.writers import faults, wrote
"""


@dataclass(frozen=True, slots=True)
class Writes:
    """What `writers` writes."""

    def attempt(self, forks: Forks, place: Place, random: Random, number: int) -> str:
        """Kill one that writes, and look whether all that it confirmed is there."""
        kind = list(WRITES)[number % len(WRITES)]
        two = (number // len(WRITES)) % 2 == 1
        first = _start(forks, place, f"wrote({kind!r}, 'a')")
        other = _start(forks, place, f"wrote({kind!r}, 'b', {_OTHERS})") if two else None
        pause = moment(random, _SECONDS)
        first.kill()
        first.ended()
        confirmed = {"a": _confirmed(first)}
        faults: list[str] = []
        if other is not None:
            ended = other.ended()
            faults.append(ended.frightens or ended.err[-200:])
            confirmed["b"] = _confirmed(other)
            faults.append("" if confirmed["b"] == _OTHERS else f"b wrote {confirmed['b']} alone")
        faults += [_looked(forks, place, kind, confirmed), *map(unsound, _databases(place))]
        faults.append(place.leftovers())
        told = "; ".join(filter(None, faults))
        return f"{kind} killed after {pause * 1000:.0f} ms: {told}" if told else ""


def writes(forks: Forks, folder: Path) -> Writes:
    """Return the scene, for which nothing need be prepared."""
    return Writes()


def _start(forks: Forks, place: Place, does: str) -> Child:
    return forks.start(env=place.env, before=f"{_BEGINS}{does}\n")


def _confirmed(child: Child) -> int:
    return len(child.said().split("\n")) - 1


def _looked(forks: Forks, place: Place, kind: str, confirmed: Mapping[str, int]) -> str:
    ended = _start(forks, place, f"faults({kind!r}, {dict(confirmed)!r})").ended()
    return "; ".join(filter(None, (ended.frightens, ended.err[-200:], ended.out.strip())))


def _databases(place: Place) -> list[Path]:
    return sorted(place.root.rglob("*.sqlite"))
