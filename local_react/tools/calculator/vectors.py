"""Vectors, as lists, and the matrix that changes none."""

from __future__ import annotations

from functools import reduce

import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator import functions, matrices, numbers, operators
from local_react.tools.calculator.values import Content


def dot(left: Content, right: Content) -> Content:
    a, b = matrices.vector(left), matrices.vector(right)
    if len(a) != len(b):
        raise ToolError(f"dot takes lists of one length, not of {len(a)} and {len(b)}")
    products = (operators.multiply(x, y) for x, y in zip(a, b, strict=True))
    return reduce(operators.add, products)


def cross(left: Content, right: Content) -> Content:
    a, b = matrices.vector(left), matrices.vector(right)
    if len(a) != 3 or len(b) != 3:
        raise ToolError("cross takes two lists of 3 numbers")

    def part(m: int, n: int) -> Content:
        return operators.subtract(operators.multiply(a[m], b[n]), operators.multiply(a[n], b[m]))

    return (part(1, 2), part(2, 0), part(0, 1))


def norm(value: Content) -> Content:
    return numbers.power(dot(value, value), sp.Rational(1, 2))


def identity(size: Content) -> Content:
    side = functions.whole(size, "identity", at_least=1, at_most=12)
    return tuple(tuple(numbers.integer(int(m == n)) for n in range(side)) for m in range(side))
