"""How sure a share, a mean or a difference is: 95 % intervals, and paired tests."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import comb, sqrt
from statistics import NormalDist, fmean
from typing import Final

_Z: Final = NormalDist().inv_cdf(0.975)
_RESAMPLES: Final = 4000


def wilson(hits: float, count: int) -> tuple[float, float]:
    """Return the score interval of a share (Wilson, 1927); (0, 1) where there is none."""
    if not count:
        return 0.0, 1.0
    share, z2 = hits / count, _Z * _Z
    middle = share + z2 / (2 * count)
    width = _Z * sqrt(share * (1 - share) / count + z2 / (4 * count * count))
    whole = 1 + z2 / count
    return max(0.0, (middle - width) / whole), min(1.0, (middle + width) / whole)


def bootstrap(values: Sequence[float], seed: int = 0) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean (Efron, 1979): for paired
    differences, given those."""
    if not values:
        return float("nan"), float("nan")
    drawn = random.Random(seed)
    means = sorted(fmean(drawn.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return means[round(0.025 * (_RESAMPLES - 1))], means[round(0.975 * (_RESAMPLES - 1))]


def mcnemar(gained: int, lost: int) -> float:
    """Return the two-sided p of the exact test (McNemar, 1947) between two ways to answer
    the same questions: one alone was right in `gained` of them, the other in `lost`."""
    count, fewer = gained + lost, min(gained, lost)
    tail: int = sum(comb(count, hits) for hits in range(fewer + 1))
    # Divided as integers: 2**count is beyond a float for some thousand pairs.
    p: float = 2 * tail / 2**count
    return min(1.0, p)
