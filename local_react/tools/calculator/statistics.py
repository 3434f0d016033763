"""Functions of a list of values: sums, order, statistics, exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cmp_to_key, reduce
from typing import Final

import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator import integers, numbers, operators
from local_react.tools.calculator.values import MAX_ITEMS, Content, Told, kind


def _total(*values: Content) -> Content:
    return reduce(operators.add, values)


def _product(*values: Content) -> Content:
    return reduce(operators.multiply, values)


def _mean(*values: Content) -> Content:
    return operators.divide(_total(*values), numbers.integer(len(values)))


def _least(*values: Content) -> Content:
    return reduce(lambda a, b: b if operators.compare(b, a) < 0 else a, values)


def _greatest(*values: Content) -> Content:
    return reduce(lambda a, b: b if operators.compare(b, a) > 0 else a, values)


def _sort(*values: Content) -> Content:
    return tuple(sorted(values, key=cmp_to_key(operators.compare)))


def median(*values: Content) -> Content:
    """Return the middle value, or the mean of the two in the middle."""
    ordered = sorted(values, key=cmp_to_key(operators.compare))
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    both = operators.add(ordered[middle - 1], ordered[middle])
    return operators.divide(both, numbers.integer(2))


def mode(*values: Content) -> Content:
    """Return the most frequent value; where several are, all of them."""
    counts = Counter(values)
    most = max(counts.values())
    found = tuple(value for value, count in counts.items() if count == most)
    if len(found) == len(counts) > 1:
        return Told("no value is more frequent than the others")
    return found[0] if len(found) == 1 else found


def variance(*values: Content) -> Content:
    """Return the sample variance, by n - 1."""
    return _squares(values, len(values) - 1)


def population_variance(*values: Content) -> Content:
    """Return the variance of all there are, by n."""
    return _squares(values, len(values))


def deviation(*values: Content) -> Content:
    """Return the sample standard deviation."""
    return _root(variance(*values))


def population_deviation(*values: Content) -> Content:
    """Return the standard deviation of all there are."""
    return _root(population_variance(*values))


def _squares(values: tuple[Content, ...], divisor: int) -> Content:
    for value in values:
        if kind(value) != "number":
            raise ToolError(f"statistics take numbers without a unit, not a {kind(value)}")
    mean = numbers.divide(_total(*values), numbers.integer(len(values)))
    squares = [numbers.power(numbers.add(value, -mean), numbers.integer(2)) for value in values]
    return numbers.divide(_total(*squares), numbers.integer(divisor))


def _root(value: Content) -> Content:
    return numbers.power(value, sp.Rational(1, 2))


FUNCTIONS: Final[Mapping[str, tuple[Callable[..., Content], int, int]]] = {
    "average": (_mean, 1, MAX_ITEMS),
    "avg": (_mean, 1, MAX_ITEMS),
    "count": (lambda *values: numbers.integer(len(values)), 0, MAX_ITEMS),
    "len": (lambda *values: numbers.integer(len(values)), 0, MAX_ITEMS),
    "max": (_greatest, 1, MAX_ITEMS),
    "maximum": (_greatest, 1, MAX_ITEMS),
    "mean": (_mean, 1, MAX_ITEMS),
    "median": (median, 1, MAX_ITEMS),
    "min": (_least, 1, MAX_ITEMS),
    "minimum": (_least, 1, MAX_ITEMS),
    "mode": (mode, 1, MAX_ITEMS),
    "prod": (_product, 1, MAX_ITEMS),
    "product": (_product, 1, MAX_ITEMS),
    "pstdev": (population_deviation, 1, MAX_ITEMS),
    "pvariance": (population_variance, 1, MAX_ITEMS),
    "sort": (_sort, 1, MAX_ITEMS),
    "sorted": (_sort, 1, MAX_ITEMS),
    "std": (deviation, 2, MAX_ITEMS),
    "stddev": (deviation, 2, MAX_ITEMS),
    "stdev": (deviation, 2, MAX_ITEMS),
    "sum": (_total, 1, MAX_ITEMS),
    "var": (variance, 2, MAX_ITEMS),
    "variance": (variance, 2, MAX_ITEMS),
    "gcd": (integers.gcd, 1, MAX_ITEMS),
    "hcf": (integers.gcd, 1, MAX_ITEMS),
    "lcm": (integers.lcm, 1, MAX_ITEMS),
}
"""Each function, and the least and most values it takes; also in lists."""
