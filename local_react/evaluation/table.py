"""What an evaluation came to, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import fmean
from typing import Final

from local_react.evaluation.figures import Pair, paired, pooled, share_parsed, share_right
from local_react.evaluation.rows import Row
from local_react.evaluation.statistics import bootstrap, wilson

_BINS: Final = 5
_LONGEST_ERROR: Final = 200


def table(rows: Sequence[Row]) -> str:
    """Return the whole report: the arms, their differences, what went wrong."""
    parts = [_arms(rows), _differences(rows), _calibration(rows), _paces(rows), _errors(rows)]
    return "\n\n".join(part for part in ("\n".join(part) for part in parts) if part)


def _arms(rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        yield "no question was asked"
        return
    width = max(len(row.arm) for row in rows)
    names = max(len(row.set) for row in rows)
    yield f"{', '.join(dict.fromkeys(row.model for row in rows))}, 95 % intervals"
    yield f"s: {_pace(rows)}; tokens: written; parse: of all replies"
    yield (
        f"{'set':<{names}} {'arm':<{width}} {'n':>4} {'right':>6} {'95 %':>11} {'F1':>5} "
        f"{'95 %':>11} {'s':>6} {'tokens':>6} {'replies':>7} {'parse':>6}"
    )
    for name, arm, own in _groups(rows):
        yield f"{name:<{names}} {arm:<{width}} {_line(own)}"


def _groups(rows: Sequence[Row]) -> Iterator[tuple[str, str, Sequence[Row]]]:
    """Yield the rows of each set and arm, and those of each arm in the sets that all arms
    were asked, where these are several."""
    sets = list(dict.fromkeys(row.set for row in rows))
    arms = list(dict.fromkeys(row.arm for row in rows))
    for name in sets:
        for arm in arms:
            if own := [row for row in rows if (row.set, row.arm) == (name, arm)]:
                yield name, arm, own
    every = pooled(rows, arms)
    for arm in arms if every else ():
        yield _named(every, rows), arm, [row for row in every if row.arm == arm]


def _named(part: Sequence[Row], rows: Sequence[Row]) -> str:
    """Return a name for those of the sets that are in a part of the rows."""
    names = list(dict.fromkeys(row.set for row in part))
    return "all" if {row.set for row in rows} == set(names) else "+".join(names)


def _pace(rows: Sequence[Row]) -> str:
    together = sorted({row.together for row in rows})
    if together == [1]:
        return "wall time of a question"
    if len(together) > 1:
        return f"not to be compared, {' and '.join(map(str, together))} questions at once"
    return f"wall time over questions, {together[0]} at once"


def _line(rows: Sequence[Row]) -> str:
    right = [row.right for row in rows]
    words = [row.scores["f1"] for row in rows if "f1" in row.scores]
    steps = any("thought" in part for row in rows for part in row.trace)
    parsed = f"{share_parsed(rows):>6.1%}" if steps else ""
    f1 = f"{fmean(words):>5.1%} {_span(bootstrap(words)):>11}" if words else f"{'':>5} {'':>11}"
    return (
        f"{len(rows):>4} {share_right(rows):>6.1%} {_span(wilson(sum(right), len(rows))):>11} {f1} "
        f"{fmean(row.seconds for row in rows):>6.2f} {fmean(row.tokens for row in rows):>6.0f} "
        f"{fmean(row.replies for row in rows):>7.1f} {parsed}"
    ).rstrip()


def _differences(rows: Sequence[Row]) -> Iterator[str]:
    """Yield what each other arm gains on the first, question by question."""
    arms = list(dict.fromkeys(row.arm for row in rows))
    for other in arms[1:]:
        for name, pair in _pairs(rows, arms[0], other):
            yield f"{name}: {other} over {arms[0]}, n {pair.count}: {_told(pair)}"


def _told(pair: Pair) -> str:
    text = (
        f"{pair.difference:+.1%} right ({pair.gained} gained, {pair.lost} lost, "
        f"McNemar p = {pair.p:.3g})"
    )
    if pair.f1:
        return f"{text}, F1 {fmean(pair.f1):+.1%} ({_signed(bootstrap(pair.f1))})"
    return text


def _pairs(rows: Sequence[Row], first: str, other: str) -> Iterator[tuple[str, Pair]]:
    """Yield how two arms compare in each set that both were asked, and in all of these."""
    own = [row for row in rows if row.arm in (first, other)]
    every = pooled(own, (first, other))
    parts = [[row for row in own if row.set == name] for name in {row.set: None for row in own}]
    for part in [*parts, every]:
        pair = paired(part, first, other)
        if pair.count:
            yield _named(part, rows), pair


def _calibration(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how often an answer was right that was so sure."""
    sure = [row for row in rows if row.confidence is not None]
    for arm in dict.fromkeys(row.arm for row in sure):
        own = [row for row in sure if row.arm == arm]
        yield f"{arm}: confidence, share right"
        for name, part in _binned(own):
            right = sum(row.right for row in part)
            span = _span(wilson(right, len(part)))
            yield f"  {name:<11} {right / len(part):>6.1%} ({span}) of {len(part)}"


def _binned(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """Return the rows by their confidence: each value, or where there are many, fifths."""

    def value(row: Row) -> float:
        return row.confidence or 0.0

    def fifth(row: Row) -> float:
        return min(_BINS - 1, int(value(row) * _BINS)) / _BINS

    few = len({row.confidence for row in rows}) <= _BINS + 1
    key = value if few else fifth
    groups = groupby(sorted(rows, key=key), key=key)
    return [(f"{low:.2f}" if few else f"{low:.1f} to {low + 1 / _BINS:.1f}", list(own))
            for low, own in groups]  # fmt: skip


def _paces(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the time of each arm against that of the chain of thought."""
    for arm in dict.fromkeys(row.arm for row in rows if row.arm != "cot"):
        for name, pair in _pairs(rows, "cot", arm):
            if pair.pace is not None:
                yield f"{name}: {arm} takes {pair.pace:.2f} times as long as cot"


def _errors(rows: Sequence[Row]) -> Iterator[str]:
    failed = [row for row in rows if row.error]
    if failed:
        yield f"{len(failed)} raised an error and count as wrong, such as:"
    for error in list(dict.fromkeys(row.error for row in failed))[:3]:
        yield f"  {' '.join(error.split())[:_LONGEST_ERROR]}"


def _span(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.0%} to {interval[1]:.0%}"


def _signed(interval: tuple[float, float]) -> str:
    return f"{interval[0]:+.1%} to {interval[1]:+.1%}"
