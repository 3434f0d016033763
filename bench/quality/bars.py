"""What the agent should reach, as issue 6 has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from local_react.evaluation.figures import paired, share_parsed, share_right
from local_react.evaluation.rows import Row


@dataclass(frozen=True)
class Bar:
    """A figure of an arm in some sets, against another arm where there is one."""

    what: str
    sets: tuple[str, ...]
    """All of them together; any set, where there is none."""
    figure: Callable[[Sequence[Row], str, str], float | None]
    """Given rows, the other arm and the arm, returns the figure or None where it has none."""
    bar: float
    form: str = "+.1%"
    other: str = ""
    most: bool = False
    """The bar is the most that the figure may be."""
    above: bool = False
    """Reaching the bar is not enough."""
    votes: bool = True
    """It holds for arms that vote, too."""

    def missed(self, rows: Sequence[Row], arm: str) -> str | None:
        """Return what the arm misses, or None."""
        figure = self.figure(rows, self.other, arm)
        if figure is None or (not self.votes and "votes" in arm):
            return None
        good = figure <= self.bar if self.most else figure >= self.bar
        if good and not (self.above and figure == self.bar):
            return None
        side = "at most" if self.most else "above" if self.above else "at least"
        told = f"{figure:{self.form}}, should be {side} {self.bar:{self.form}}"
        return f"{arm}, {self.what}: {told}"


def _right(rows: Sequence[Row], other: str, arm: str) -> float:
    return share_right([row for row in rows if row.arm == arm])


def _gain(rows: Sequence[Row], other: str, arm: str) -> float:
    return paired(rows, other, arm).difference


def _gain_f1(rows: Sequence[Row], other: str, arm: str) -> float | None:
    gains = paired(rows, other, arm).f1
    return sum(gains) / len(gains) if gains else None


def _p(rows: Sequence[Row], other: str, arm: str) -> float:
    pair = paired(rows, other, arm)
    return pair.p if pair.gained > pair.lost else 1.0


def _parsed(rows: Sequence[Row], other: str, arm: str) -> float:
    return share_parsed([row for row in rows if row.arm == arm])


def _pace(rows: Sequence[Row], other: str, arm: str) -> float | None:
    return paired(rows, other, arm).pace


BARS: Final = (
    Bar("GSM8K over chain of thought", ("gsm8k",), _gain, 0.08, other="cot"),
    Bar("SVAMP over chain of thought", ("svamp",), _gain, 0.05, other="cot"),
    Bar("GSM8K and SVAMP together, p", ("gsm8k", "svamp"), _p, 0.05, ".3g", "cot", most=True),
    Bar("HotpotQA, F1 over one pass of retrieval", ("hotpotqa",), _gain_f1, 0.0,
        other="retrieval", above=True),
    Bar("BFCL simple", ("bfcl-simple",), _right, 0.80, ".1%"),
    Bar("BFCL multiple", ("bfcl-multiple",), _right, 0.86, ".1%"),
    Bar("BFCL irrelevance", ("bfcl-irrelevance",), _right, 0.65, ".1%"),
    Bar("steps that parse", (), _parsed, 1.0, ".2%"),
    Bar("seconds against chain of thought", (), _pace, 1.5, ".2f", "cot", most=True, votes=False),
)  # fmt: skip


def missed(rows: Sequence[Row]) -> list[str]:
    """Return a line for each bar that an arm of the agent misses: plain `agent` where it
    was asked, else each of its variants. Bars whose sets or arms were not asked are left."""
    arms = list(dict.fromkeys(row.arm for row in rows if row.arm.split(":")[0] == "agent"))
    subjects = ["agent"] if "agent" in arms else arms
    return [line for arm in subjects for bar in BARS for line in _missed(bar, rows, arm)]


def _missed(bar: Bar, rows: Sequence[Row], arm: str) -> Iterator[str]:
    own = [row for row in rows if row.set in bar.sets or not bar.sets]
    for name in bar.sets or ("",):
        asked = {row.arm for row in own if row.set == name or not name}
        if not {arm, bar.other or arm} <= asked:
            return
    line = bar.missed(own, arm)
    if line:
        yield line
