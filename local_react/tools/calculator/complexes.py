"""Complex numbers, by their two real parts."""

from __future__ import annotations

from typing import Any, Final

import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator import numbers
from local_react.tools.calculator.numbers import Number
from local_react.tools.calculator.values import Complex, Content, kind

_MAX_POWER: Final = 10_000
_BY_SYMPY: Final = """
    sqrt exp ln log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
"""
FUNCTIONS: Final = frozenset(_BY_SYMPY.split())
"""The functions that take complex numbers, by sympy's names."""


def parts(value: Content) -> tuple[Number, Number]:
    """Return the real and the imaginary part of a number."""
    if isinstance(value, Complex):
        return value.real, value.imaginary
    if kind(value) != "number":
        raise ToolError(f"a complex number is meant, as in 3 + 4i, not a {kind(value)}")
    return value, numbers.integer(0)


def made(real: Number, imaginary: Number) -> Content:
    """Return the number of the two parts, a real one where the second is 0."""
    return real if numbers.sign(imaginary) == 0 else Complex(real, imaginary)


def add(left: Content, right: Content) -> Content:
    (a, b), (c, d) = parts(left), parts(right)
    return made(numbers.add(a, c), numbers.add(b, d))


def multiply(left: Content, right: Content) -> Content:
    (a, b), (c, d) = parts(left), parts(right)
    real = numbers.add(numbers.multiply(a, c), -numbers.multiply(b, d))
    return made(real, numbers.add(numbers.multiply(a, d), numbers.multiply(b, c)))


def divide(left: Content, right: Content) -> Content:
    c, d = parts(right)
    size = numbers.add(numbers.multiply(c, c), numbers.multiply(d, d))
    a, b = parts(multiply(left, made(c, -d)))
    return made(numbers.divide(a, size), numbers.divide(b, size))


def absolute(value: Complex) -> Number:
    a, b = parts(value)
    square = numbers.add(numbers.multiply(a, a), numbers.multiply(b, b))
    return numbers.power(square, sp.Rational(1, 2))


def argument(value: Content) -> Number:
    """Return the angle of a number, in radians."""
    a, b = parts(value)
    return numbers.settle(sp.atan2(numbers.workable(b), numbers.workable(a)))


def power(base: Content, exponent: Content) -> Content:
    """Return base ^ exponent, by squaring where the exponent is whole."""
    if isinstance(exponent, Complex) or not exponent.is_Integer:
        return _by_sympy(lambda z, w: z**w, base, exponent)
    times = int(exponent)
    if abs(times) > _MAX_POWER:
        raise ToolError(f"too large: a complex number takes exponents up to {_MAX_POWER}")
    result: Content = numbers.integer(1)
    factor = base if times >= 0 else divide(numbers.integer(1), base)
    times = abs(times)
    while times:
        if times & 1:
            result = multiply(result, factor)
        factor, times = (multiply(factor, factor) if times > 1 else factor), times >> 1
    return result


def apply(name: str, value: Complex) -> Content:
    """Return sqrt, exp, ln, sin and their kin of a complex number."""
    return _by_sympy(getattr(sp, name), value)


def _by_sympy(function: Any, *values: Content) -> Content:
    pairs = [parts(value) for value in values]
    given = [numbers.workable(a) + sp.I * numbers.workable(b) for a, b in pairs]
    for a, b in pairs:
        for part in (a, b):
            if numbers.sign(part) and numbers.log10_of(part) > 4:
                raise ToolError("too large: the function takes parts below 10000 only")
    value = function(*given)
    real, imaginary = value.as_real_imag()
    return made(*(numbers.settle(numbers.approximate(part, 50)) for part in (real, imaginary)))
