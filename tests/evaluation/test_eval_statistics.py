"""Intervals and tests, against values known from elsewhere."""

from __future__ import annotations

import math
from statistics import fmean

import pytest

from local_react.evaluation.statistics import bootstrap, mcnemar, wilson


def test_wilson_as_newcombe_has_it() -> None:
    # Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=1e-4)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=1e-4)
    assert wilson(1, 29) == pytest.approx((0.0061, 0.1718), abs=1e-4)
    assert wilson(0, 0) == (0.0, 1.0)


def test_mcnemar_is_the_binomial_test_of_the_pairs_that_differ() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(5, 5) == 1.0
    assert mcnemar(6, 0) == pytest.approx(2 / 2**6)
    assert mcnemar(1, 7) == pytest.approx(2 * (1 + 8) / 2**8)
    assert mcnemar(7, 1) == mcnemar(1, 7)
    # 2 of 12: two times (1 + 12 + 66) / 4096.
    assert mcnemar(10, 2) == pytest.approx(0.03857, abs=1e-5)
    assert 0.0 < mcnemar(1500, 1700) < 0.001


def test_the_bootstrap_is_near_the_normal_interval_of_a_mean() -> None:
    values = [float(number % 10) for number in range(400)]
    mean = fmean(values)
    half = 1.96 * math.sqrt(fmean((value - mean) ** 2 for value in values) / len(values))
    low, high = bootstrap(values)
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=0.03)
    assert bootstrap(values) == (low, high)
    assert bootstrap([1.0, 1.0]) == (1.0, 1.0)
    assert all(map(math.isnan, bootstrap([])))
