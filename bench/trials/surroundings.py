"""Every command in bad surroundings: what is wrong is told in a line, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from random import Random

from trials import surrounded_places, surrounded_process, surrounded_signals
from trials.arranging import Arrange, Skip
from trials.stage import Stage
from trials.trial import Report, Trial


def _trial(
    name: str, what: str, arrangements: Mapping[str, Arrange], *, whole: int, short: int
) -> Trial:
    def attempts(count: int, random: Random) -> Report:
        with Stage() as stage:
            cases = list(product(arrangements, stage.commands))
            random.shuffle(cases)
            return _tried(stage, arrangements, (cases * (count // len(cases) + 1))[:count])

    return Trial(name, what, attempts, whole, short)


def _tried(
    stage: Stage, arrangements: Mapping[str, Arrange], cases: Iterable[tuple[str, str]]
) -> Report:
    tried, failures, skipped = 0, list[str](), dict[str, str]()
    for surrounding, command in cases:
        stage.fresh()
        try:
            fault = _fault(stage, arrangements[surrounding], command)
        except Skip as reason:
            skipped[surrounding] = f"{surrounding} SKIPPED: {reason}"
            continue
        tried += 1
        if fault:
            failures.append(f"{surrounding}: {command}: {fault}")
    return Report(tried, failures, skipped="; ".join(skipped.values()))


def _fault(stage: Stage, arrange: Arrange, command: str) -> str:
    """Return what went wrong with a command in a surrounding, nothing where nothing did."""
    with arrange(stage) as there:
        ended = stage.run(stage.commands[command], **there.options)
    fault = ended.fault(silent=there.silent) or (there.check() if there.check else "")
    return fault or ("" if there.destroys else stage.damage(command))


TRIALS: tuple[Trial, ...] = (
    _trial(
        "full-disk",
        "every command, and no room on the disk where something of it is",
        surrounded_places.FULL,
        whole=120,
        short=12,
    ),
    _trial(
        "read-only",
        "the same, and that may not be written",
        surrounded_places.READ_ONLY,
        whole=80,
        short=8,
    ),
    _trial(
        "odd-places",
        "the same, and that is a file, a pipe, a broken link, another user's",
        surrounded_places.ODD,
        whole=120,
        short=12,
    ),
    _trial(
        "no-home",
        "every command without HOME, or an odd one, and odd XDG_ variables",
        surrounded_places.HOMES,
        whole=80,
        short=8,
    ),
    _trial(
        "closed-streams",
        "every command with its streams closed, full or unread",
        surrounded_process.STREAMS,
        whole=100,
        short=12,
    ),
    _trial(
        "odd-terminals",
        "every command with odd TERM, COLUMNS, LANG and encodings",
        surrounded_process.TERMINALS,
        whole=80,
        short=8,
    ),
    _trial(
        "few-resources",
        "every command with few files, processes, seconds, and little memory",
        surrounded_process.LIMITS,
        whole=120,
        short=12,
    ),
    _trial(
        "odd-python",
        "every command with -OO, -I, -W error, and modules of its folder named as libraries",
        surrounded_process.PYTHONS,
        whole=80,
        short=8,
    ),
    _trial(
        "wrong-clock",
        "every command with the clock years behind or ahead",
        surrounded_process.CLOCKS,
        whole=80,
        short=8,
    ),
    *surrounded_signals.TRIALS,
)
