"""What the rows of two arms say of each other, question by question."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

from local_react.evaluation.rows import Row
from local_react.evaluation.statistics import mcnemar


@dataclass(frozen=True, slots=True)
class Pair:
    """Two arms over the questions that both were asked."""

    count: int
    gained: int
    """Questions that the other alone has right."""
    lost: int
    """Questions that the first alone has right."""
    f1: tuple[float, ...]
    """The differences of F1, where words are compared."""
    pace: float | None
    """The other's seconds over the first's; None where they were not asked alike."""

    @property
    def difference(self) -> float:
        """What the other has more of the share that is right."""
        return (self.gained - self.lost) / self.count

    @property
    def p(self) -> float:
        """How likely such a difference is where there is none."""
        return mcnemar(self.gained, self.lost)


def paired(rows: Sequence[Row], first: str, other: str) -> Pair:
    """Return how the arm `other` compares with the `first`."""
    pairs = _pairs(rows, first, other)
    spent = [sum(row.seconds for row in own) for own in zip(*pairs, strict=True)]
    alike = len({row.together for pair in pairs for row in pair}) == 1
    return Pair(
        count=len(pairs),
        gained=sum(two.right and not one.right for one, two in pairs),
        lost=sum(one.right and not two.right for one, two in pairs),
        f1=tuple(
            two.scores["f1"] - one.scores["f1"]
            for one, two in pairs
            if "f1" in one.scores and "f1" in two.scores
        ),
        pace=spent[1] / spent[0] if alike and spent[0] else None,
    )


def _pairs(rows: Sequence[Row], first: str, other: str) -> list[tuple[Row, Row]]:
    """Return the rows of both arms for the questions that both have, a sample each."""

    def by_question(arm: str) -> dict[tuple[str, str, str, int, float], Row]:
        own = (row for row in rows if row.arm == arm)
        return {(row.set, row.id, row.model, row.seed, row.temperature): row for row in own}

    ones, others = by_question(first), by_question(other)
    return [(one, others[key]) for key, one in ones.items() if key in others]


def pooled(rows: Sequence[Row], arms: Collection[str]) -> list[Row]:
    """Return the rows of the sets that each of the arms was asked; none where that is a
    single set."""
    asked = {(row.set, row.arm) for row in rows}
    sets = {row.set for row in rows if all((row.set, arm) in asked for arm in arms)}
    return [row for row in rows if row.set in sets] if len(sets) > 1 else []


def share_right(rows: Sequence[Row]) -> float:
    """Return the share of rows that are right."""
    return fmean(row.right for row in rows)


def share_parsed(rows: Sequence[Row]) -> float:
    """Return the share of replies that parse."""
    replies = sum(row.replies for row in rows)
    return 1 - sum(row.malformed for row in rows) / replies if replies else 1.0
