"""The calculator's functions, by name; their work is bounded before it is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Final

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
    load_sympy,
    log10_of,
    multiply,
    power,
    settle,
    sign,
    too_large,
    workable,
)


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
    shift = integer(10) ** _whole(places or integer(0), "round", at_most=1000)
    magnitude = floor(multiply(absolute(value), shift) + load_sympy().Rational(1, 2))
    return divide(magnitude if sign(value) >= 0 else -magnitude, shift)


def factorial(value: Number) -> Number:
    number = _whole(value, "factorial", at_least=0)
    if number > MAX_DIGITS or math.lgamma(number + 1) / math.log(10) > MAX_DIGITS:
        raise too_large("that factorial")
    return integer(math.factorial(number))


def binomial(top: Number, bottom: Number) -> Number:
    """Return in how many ways `bottom` things can be chosen from `top`."""
    n = _whole(top, "binomial", at_least=0)
    k = _whole(bottom, "binomial", at_least=0)
    k = min(k, n - k)
    if k < 0:
        return integer(0)
    # C(n, k) <= (e n / k)^k
    if k and k * (math.log10(n) - math.log10(k) + math.log10(math.e)) > MAX_DIGITS:
        raise too_large("that binomial")
    return integer(math.comb(n, k))


def _whole(
    value: Number, what: str, *, at_least: int | None = None, at_most: int | None = None
) -> int:
    if not value.is_Integer:
        raise ToolError(f"{what} takes whole numbers only")
    if at_least is not None and value < at_least:
        raise ToolError(f"{what} takes no number below {at_least}")
    if at_most is not None and abs(value) > at_most:
        raise ToolError(f"too large: {what} takes no number beyond {at_most}")
    return int(value)


def _log(value: Number, base: Number | None = None) -> Number:
    log = load_sympy().log
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
    return power(load_sympy().E, value)


def _root(value: Number, degree: int) -> Number:
    if sign(value) < 0 and degree % 2 == 0:
        raise ToolError("not a real number: the square root of a negative number")
    result = power(absolute(value), load_sympy().Rational(1, degree))
    return -result if sign(value) < 0 else result


def square_root(value: Number) -> Number:
    return _root(value, 2)


def cube_root(value: Number) -> Number:
    return _root(value, 3)


def _circular(name: str) -> Callable[[Number], Number]:
    def function(value: Number) -> Number:
        if sign(value) and log10_of(value) > 100:
            raise ToolError(f"too large: {name} of so large an angle has no certain digit")
        return getattr(load_sympy(), name)(workable(value))

    return function


def _inverse(name: str) -> Callable[[Number], Number]:
    def function(value: Number) -> Number:
        if name != "atan" and compare(absolute(value), integer(1)) > 0:
            raise ToolError(f"undefined: {name} takes numbers from -1 to 1 only")
        return getattr(load_sympy(), name)(workable(value))

    return function


def _least(*values: Number) -> Number:
    return reduce(lambda a, b: b if compare(b, a) < 0 else a, values)


def _greatest(*values: Number) -> Number:
    return reduce(lambda a, b: b if compare(b, a) > 0 else a, values)


def _total(*values: Number) -> Number:
    return reduce(add, values)


def _mean(*values: Number) -> Number:
    return divide(_total(*values), integer(len(values)))


def _gcd(*values: Number) -> Number:
    return integer(math.gcd(*(_whole(value, "gcd") for value in values)))


def _lcm(*values: Number) -> Number:
    whole = [_whole(value, "lcm") for value in values]
    return reduce(lambda a, b: settle(integer(math.lcm(int(a), b))), whole, integer(1))


_ANY = 200
FUNCTIONS: Final[Mapping[str, tuple[Callable[..., Number], int, int]]] = {
    "abs": (absolute, 1, 1),
    "acos": (_inverse("acos"), 1, 1),
    "arccos": (_inverse("acos"), 1, 1),
    "arcsin": (_inverse("asin"), 1, 1),
    "arctan": (_inverse("atan"), 1, 1),
    "asin": (_inverse("asin"), 1, 1),
    "atan": (_inverse("atan"), 1, 1),
    "average": (_mean, 1, _ANY),
    "avg": (_mean, 1, _ANY),
    "binomial": (binomial, 2, 2),
    "cbrt": (cube_root, 1, 1),
    "ceil": (ceil, 1, 1),
    "comb": (binomial, 2, 2),
    "cos": (_circular("cos"), 1, 1),
    "exp": (_exp, 1, 1),
    "factorial": (factorial, 1, 1),
    "floor": (floor, 1, 1),
    "gcd": (_gcd, 1, _ANY),
    "lcm": (_lcm, 1, _ANY),
    "ln": (_log, 1, 1),
    "log": (_log, 1, 2),
    "log10": (lambda value: _log(value, integer(10)), 1, 1),
    "log2": (lambda value: _log(value, integer(2)), 1, 1),
    "max": (_greatest, 1, _ANY),
    "mean": (_mean, 1, _ANY),
    "min": (_least, 1, _ANY),
    "mod": (modulo, 2, 2),
    "pow": (power, 2, 2),
    "round": (round_half_up, 1, 2),
    "sin": (_circular("sin"), 1, 1),
    "sqrt": (square_root, 1, 1),
    "sum": (_total, 1, _ANY),
    "tan": (_circular("tan"), 1, 1),
}
"""Each function, and the least and most arguments it takes."""


def apply(name: str, values: list[Number]) -> Number:
    """Return the function's value. Raises ToolError for a wrong number of arguments."""
    function, least, most = FUNCTIONS[name.casefold()]
    if not least <= len(values) <= most:
        wanted = {least: f"{least}", _ANY: "one or more"}.get(most, f"{least} or {most}")
        commas = ": inside a function write 1234 for 1,234" if len(values) > most else ""
        raise ToolError(
            f"{name} takes {wanted} {'value' if most == 1 else 'values'}, not {len(values)}{commas}"
        )
    return settle(function(*values))
