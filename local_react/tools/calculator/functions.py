"""The calculator's functions, by name; their work is bounded before it is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator.numbers import (
    MAX_DIGITS,
    Number,
    absolute,
    add,
    approximate,
    compare,
    divide,
    has_decimals,
    integer,
    log10_of,
    multiply,
    power,
    settle,
    sign,
    too_large,
    workable,
)

MAX_POWER_BITS: Final = 4096


def modulo(left: Number, right: Number) -> Number:
    """Return the remainder, with the sign of the divisor as in Python."""
    quotient = divide(left, right)
    if (has_decimals(left) or has_decimals(right)) and sign(quotient) and log10_of(quotient) > 30:
        raise ToolError("too large: the remainder of so large a number has no certain digit")
    # In one go: a product rounded on its way would leave no digit of the difference.
    return settle(left - right * floor(quotient))


def floor(value: Number) -> Number:
    """Return the largest whole number that is not above the value."""
    if value.is_Rational:
        return integer(int(value.p) // int(value.q))
    if sign(value) and log10_of(value) > 100:
        raise ToolError("too large to round: it has more digits than are known exactly")
    rough = approximate(value, 150)
    nearest = integer(round(rough))
    # Within what is certain it is whole, though sympy does not see it: (√2+1)(√2-1).
    if compare(value, nearest) == 0:
        return nearest
    return nearest if nearest < rough else nearest - 1


def ceil(value: Number) -> Number:
    return -floor(-value)


def round_half_up(value: Number, places: Number | None = None) -> Number:
    """Return the value to so many decimals, halves away from zero as taught at school."""
    shift = integer(10) ** whole(places or integer(0), "round", at_most=1000)
    magnitude = floor(multiply(absolute(value), shift) + sp.Rational(1, 2))
    return divide(magnitude if sign(value) >= 0 else -magnitude, shift)


def factorial(value: Number) -> Number:
    number = whole(value, "factorial", at_least=0)
    if number > MAX_DIGITS or math.lgamma(number + 1) / math.log(10) > MAX_DIGITS:
        raise too_large("that factorial")
    return integer(math.factorial(number))


def binomial(top: Number, bottom: Number) -> Number:
    """Return in how many ways `bottom` things can be chosen from `top`."""
    n = whole(top, "binomial", at_least=0)
    k = whole(bottom, "binomial", at_least=0)
    k = min(k, n - k)
    if k < 0:
        return integer(0)
    # C(n, k) <= (e n / k)^k
    if k and k * (math.log10(n) - math.log10(k) + math.log10(math.e)) > MAX_DIGITS:
        raise too_large("that binomial")
    return integer(math.comb(n, k))


def whole(
    value: Number, what: str, *, at_least: int | None = None, at_most: int | None = None
) -> int:
    if not getattr(value, "is_Integer", False):
        raise ToolError(f"{what} takes whole numbers only")
    if at_least is not None and value < at_least:
        raise ToolError(f"{what} takes no number below {at_least}")
    if at_most is not None and abs(value) > at_most:
        raise ToolError(f"too large: {what} takes no number beyond {at_most}")
    return int(value)


def _log(value: Number, base: Number | None = None) -> Number:
    log = sp.log
    for number in (value, base):
        if number is not None and sign(number) <= 0:
            raise ToolError("undefined: a logarithm takes numbers above 0 only")
    if base is None:
        return log(workable(value))
    if compare(base, integer(1)) == 0:
        raise ToolError("undefined: a logarithm cannot have base 1")
    if value.is_Rational and base.is_Rational:
        return log(value, base)
    return divide(log(workable(value)), log(workable(base)))


def _exp(value: Number) -> Number:
    return power(sp.E, value)


def _root(value: Number, degree: int) -> Number:
    if sign(value) < 0 and degree % 2 == 0:
        raise ToolError("not a real number: an even root of a negative number")
    result = power(absolute(value), sp.Rational(1, degree))
    return -result if sign(value) < 0 else result


def square_root(value: Number) -> Number:
    return _root(value, 2)


def cube_root(value: Number) -> Number:
    return _root(value, 3)


def _circular(name: str) -> Callable[[Number], Number]:
    def function(value: Number) -> Number:
        if sign(value) and log10_of(value) > 100:
            raise ToolError(f"too large: {name} of so large an angle has no certain digit")
        return getattr(sp, name)(workable(value))

    return function


def _inverse(name: str) -> Callable[[Number], Number]:
    def function(value: Number) -> Number:
        if name != "atan" and compare(absolute(value), integer(1)) > 0:
            raise ToolError(f"undefined: {name} takes numbers from -1 to 1 only")
        return getattr(sp, name)(workable(value))

    return function


def _reciprocal(name: str) -> Callable[[Number], Number]:
    """Return cot, sec or csc: 1 over the function of that name."""

    def function(value: Number) -> Number:
        return divide(integer(1), settle(_circular(name)(value)))

    return function


def cot(value: Number) -> Number:
    sine = settle(_circular("sin")(value))
    return divide(settle(_circular("cos")(value)), sine)


def _hyperbolic(name: str) -> Callable[[Number], Number]:
    def function(value: Number) -> Number:
        if sign(value) and log10_of(value) > 4:
            raise too_large(name)
        if name == "acosh" and compare(value, integer(1)) < 0:
            raise ToolError("undefined: acosh takes numbers from 1 on only")
        if name == "atanh" and compare(absolute(value), integer(1)) >= 0:
            raise ToolError("undefined: atanh takes numbers between -1 and 1 only")
        return getattr(sp, name)(workable(value))

    return function


def _angle(y: Number, x: Number) -> Number:
    if sign(x) == 0 and sign(y) == 0:
        raise ToolError("undefined: atan2(0, 0) has no angle")
    return sp.atan2(workable(y), workable(x))


def power_of(base: Number, exponent: Number, modulus: Number | None = None) -> Number:
    """Return pow(b, e), or pow(b, e, m): the remainder of b^e by m."""
    if modulus is None:
        return power(base, exponent)
    b, e, m = (whole(value, "pow with three values") for value in (base, exponent, modulus))
    if e < 0 or m == 0 or e.bit_length() > MAX_POWER_BITS:
        raise ToolError("undefined: pow with three values takes an exponent from 0 on, and not 0")
    return integer(pow(b, e, m))


def nth_root(value: Number, degree: Number) -> Number:
    """Return root(x, n), the real one."""
    number = whole(degree, "root", at_least=1, at_most=1000)
    return _root(value, number)


def hypotenuse(*values: Number) -> Number:
    total = integer(0)
    for value in values:
        total = add(total, multiply(value, value))
    return square_root(total)


def truncate(value: Number) -> Number:
    """Return the value without what is behind its point."""
    return floor(value) if sign(value) >= 0 else -floor(-value)


def signum(value: Number) -> Number:
    return integer(sign(value))


_ARCS = {
    f"{prefix}{name}": (_inverse(f"a{name}"), 1, 1)
    for name in ("sin", "cos", "tan")
    for prefix in ("a", "arc")
}
_HYPERBOLIC = {
    f"{prefix}{name}": (_hyperbolic(f"{prefix[:1]}{name}"), 1, 1)
    for name in ("sinh", "cosh", "tanh")
    for prefix in ("", "a", "ar", "arc")
}
FUNCTIONS: Final[Mapping[str, tuple[Callable[..., Any], int, int]]] = {
    **_ARCS,
    **_HYPERBOLIC,
    "abs": (absolute, 1, 1),
    "atan2": (_angle, 2, 2),
    "binomial": (binomial, 2, 2),
    "cbrt": (cube_root, 1, 1),
    "ceil": (ceil, 1, 1),
    "ceiling": (ceil, 1, 1),
    "choose": (binomial, 2, 2),
    "comb": (binomial, 2, 2),
    "combinations": (binomial, 2, 2),
    "cos": (_circular("cos"), 1, 1),
    "cot": (cot, 1, 1),
    "csc": (_reciprocal("sin"), 1, 1),
    "exp": (_exp, 1, 1),
    "fabs": (absolute, 1, 1),
    "fact": (factorial, 1, 1),
    "factorial": (factorial, 1, 1),
    "floor": (floor, 1, 1),
    "hypot": (hypotenuse, 1, 12),
    "int": (truncate, 1, 1),
    "ln": (_log, 1, 1),
    "log": (_log, 1, 2),
    "log10": (lambda value: _log(value, integer(10)), 1, 1),
    "log2": (lambda value: _log(value, integer(2)), 1, 1),
    "mod": (modulo, 2, 2),
    "ncr": (binomial, 2, 2),
    "pow": (power_of, 2, 3),
    "rint": (round_half_up, 1, 1),
    "root": (nth_root, 2, 2),
    "nthroot": (nth_root, 2, 2),
    "round": (round_half_up, 1, 2),
    "sec": (_reciprocal("cos"), 1, 1),
    "sgn": (signum, 1, 1),
    "sign": (signum, 1, 1),
    "sin": (_circular("sin"), 1, 1),
    "sqrt": (square_root, 1, 1),
    "tan": (_circular("tan"), 1, 1),
    "trunc": (truncate, 1, 1),
}
"""Each function of real numbers, and the least and most arguments it takes."""
