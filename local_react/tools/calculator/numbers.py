"""The calculator's arithmetic: exact, and bounded before the work is done.

A number here is a real sympy number or expression without symbols, made from integers
only: no text ever reaches sympy. Whatever is asked, a result has at most MAX_DIGITS
digits. Exact forms stay small: what sympy does by itself to simplify a large one (it
multiplies out powers of sums, and takes integers apart) has no bound, so a form that
grows becomes a decimal of 50 digits.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import Any, Final, TypeAlias

import sympy as sp

from local_react.errors import ToolError

Number: TypeAlias = Any
"""A real sympy number: sympy has no types of its own."""

MAX_DIGITS = 20_000
"""Digits before or after the point of a result, an estimate made before the work."""
_MAX_BITS = int(MAX_DIGITS * math.log2(10))
_EXPONENT_DIGITS = 9
_WORKING_DIGITS = 50
_LOST_DIGITS = 35
"""A difference of decimals that is smaller than they are by so many digits is 0."""
_MAX_TERMS = 24
_MAX_ROOT = 64
_SMALL = 10**12
"""Integers of an exact form below this are safe to simplify."""
_SMALL_EXPONENT = 10**4
"""And below this in an exponent: 2^(10^9 + pi) may be split into 2^(10^9) and more."""
_MEDIUM = 10**100
"""Below this they are still exact to add and multiply."""
_MAX_EXPONENT = 400
"""Bits of an exponent: each is a squaring, at a precision that grows with them."""


def integer(value: int) -> Number:
    """Return an exact whole number."""
    return sp.Integer(value)


def literal(text: str) -> Number:
    """Return the exact number that is written: 12, 1.5e-3, 0xff."""
    if text[:2].lower() in ("0x", "0b", "0o"):
        return settle(integer(int(text, 0)))
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, decimals = mantissa.partition(".")
    if len(exponent) > _EXPONENT_DIGITS or len(mantissa) > MAX_DIGITS:
        raise too_large("a number")
    shift = int(exponent or 0) - len(decimals)
    if abs(shift) > MAX_DIGITS:
        raise too_large(text[:20])
    return settle(integer(_whole_number(f"{whole}{decimals}")) * integer(10) ** shift)


def _whole_number(digits: str) -> int:
    """Return the value of digits; int() alone refuses more than 4300 of them."""
    total = 0
    for place in range(0, len(digits), 4000):
        piece = digits[place : place + 4000]
        total = total * 10 ** len(piece) + int(piece)
    return total


CONSTANTS: Final = {
    "pi": sp.pi,
    "e": sp.E,
    "tau": 2 * sp.pi,
    "phi": sp.GoldenRatio,
    "rad": sp.Integer(1),
    "deg": sp.pi / 180,
    "infinity": sp.oo,
}


def constant(name: str) -> Number:
    """Return pi, e, tau, phi, infinity, or an angle's unit in radians."""
    return CONSTANTS[{"radian": "rad", "degree": "deg"}.get(name.rstrip("s"), name.rstrip("s"))]


def too_large(what: str) -> ToolError:
    """Return the error for a result that is refused before it is computed."""
    return ToolError(f"too large: {what} has more than {MAX_DIGITS} digits; use smaller numbers")


def settle(value: Number) -> Number:
    """Return a result that is fit to go on with. Raises ToolError for one that is not:
    infinite, undefined, not real, or too large."""
    if value.is_Rational:
        if max(int(value.p).bit_length(), int(value.q).bit_length()) > _MAX_BITS:
            raise too_large("a result")
        return value
    if value.has(sp.zoo, sp.nan, sp.oo, -sp.oo):
        raise ToolError("undefined: there is no such value")
    rough = approximate(value, 15)
    if rough.is_Float and _magnitude(rough) > _MAX_BITS:
        raise too_large("a result")
    if rough.is_Float and _magnitude(rough) < -_MAX_BITS:
        raise ToolError(f"too small: a result is below 10^-{MAX_DIGITS}; use larger numbers")
    return value if _is_small(value, _MEDIUM) else approximate(value, _WORKING_DIGITS)


def _is_small(value: Number, limit: int) -> bool:
    """Return True for an exact form of few parts, each harmless, its integers below `limit`."""
    parts = list(islice(sp.preorder_traversal(value), _MAX_TERMS + 1))
    return len(parts) <= _MAX_TERMS and all(_is_harmless(part, limit) for part in parts)


def _is_harmless(part: Number, limit: int) -> bool:
    if part.is_Rational:
        return max(abs(int(part.p)), int(part.q)) < limit
    if part.is_Pow and part.exp.is_Rational:
        sum_to_a_high_power = part.base.has(sp.Add) and abs(part.exp) > 10
        return part.exp.q <= _MAX_ROOT and not sum_to_a_high_power
    return not part.is_Float


def workable(value: Number) -> Number:
    """Return a number that sympy's functions can be given: a fraction, a small exact form,
    or else a decimal, with as many more digits as stand before its point."""
    if value.is_Rational or _is_small(value, _SMALL):
        return value
    return approximate(value, _WORKING_DIGITS + _whole_digits(value))


def _whole_digits(value: Number) -> int:
    return max(0, int(log10_of(value))) if sign(value) else 0


def approximate(value: Number, digits: int) -> Number:
    """Return the value as a decimal of so many digits; exactly 0 where none is certain."""
    for precision in (digits, digits + 110):  # a small difference shows with more digits
        rough = value.evalf(precision)
        if rough.is_Float and rough._prec > 1:
            return rough
    if rough.is_Float or rough.is_zero:
        return integer(0)
    raise ToolError("undefined: there is no such real number")


def sign(value: Number) -> int:
    """Return -1, 0 or 1; 0 too where a hundred digits show no difference from it."""
    number = value if value.is_Rational else approximate(value, 15)
    return bool(number > 0) - bool(number < 0)


def _magnitude(rough: Number) -> int:
    """Return the binary exponent of a Float: it is below 2 to the power of that."""
    _, _, exponent, bits = rough._mpf_
    return int(exponent) + int(bits)


def log10_of(value: Number) -> float:
    """Return roughly log10 |value|; the value is not zero."""
    if value.is_Rational:
        return math.log10(abs(int(value.p))) - math.log10(int(value.q))
    rough = approximate(value, 15)
    bits = _magnitude(rough)
    scaled = abs(float(rough * integer(2) ** -bits))
    return math.log10(scaled) + bits * math.log10(2)


def add(left: Number, right: Number) -> Number:
    total = settle(left + right)
    if not (has_decimals(left) or has_decimals(right)) or sign(total) == 0:
        return total
    size = max(log10_of(number) for number in (left, right) if sign(number))
    return total if log10_of(total) > size - _LOST_DIGITS else integer(0)


def has_decimals(value: Number) -> bool:
    """Return True where the exact form has been given up for 50 digits."""
    return bool(value.has(sp.Float))


def compare(left: Number, right: Number) -> int:
    """Return -1, 0 or 1 where left is below, equal to or above right."""
    return sign(add(left, -right))


def multiply(left: Number, right: Number) -> Number:
    return settle(left * right)


def divide(left: Number, right: Number) -> Number:
    if sign(right) == 0:
        raise ToolError("division by zero: the number divided by is 0")
    return settle(left / right)


def absolute(value: Number) -> Number:
    return -value if sign(value) < 0 else value


def power(base: Number, exponent: Number) -> Number:
    """Return base ^ exponent, real, its size estimated first."""
    base_sign = sign(base)
    if base_sign == 0:
        return _power_of_zero(exponent)
    if base_sign < 0 and not exponent.is_Integer:
        raise ToolError(
            "not a real number: a negative base needs a whole exponent; "
            "for a root write sqrt(x) or cbrt(x)"
        )
    if base in (1, -1):
        return base if exponent.is_Integer and exponent.p % 2 else integer(1)
    _check_power(base, exponent)
    if base.is_Rational and exponent.is_Integer:
        return settle(_whole_power(base, int(exponent)))
    if base.is_Rational and exponent.is_Rational:
        return settle(_fractional_power(base, exponent))
    return settle(_small_power(base, exponent))


def _power_of_zero(exponent: Number) -> Number:
    if sign(exponent) < 0:
        raise ToolError("division by zero: 0 to a negative power")
    return integer(0) if sign(exponent) else integer(1)


def _check_power(base: Number, exponent: Number) -> None:
    """Raise ToolError where base ^ exponent has too many digits, found by logarithms."""
    if sign(exponent) == 0:
        return
    if exponent.is_Integer and int(exponent).bit_length() > _MAX_EXPONENT:
        raise ToolError("too large: an exponent is too long to compute with; use a shorter one")
    size = _log10_of_log10(base) + log10_of(exponent)
    if size > math.log10(MAX_DIGITS):
        if (compare(absolute(base), integer(1)) > 0) == (sign(exponent) > 0):
            raise too_large("a power")
        raise ToolError(f"too small: a power is below 10^-{MAX_DIGITS}; use larger numbers")


def _log10_of_log10(value: Number) -> float:
    """Return roughly log10 |log10 |value||, for a value that is neither 0, 1 nor -1."""
    beyond = absolute(value) - 1
    # ln(1 + d) is about d: for 1.0001 a float's difference of logarithms has no digits.
    if sign(beyond) and log10_of(beyond) < -4:
        return log10_of(beyond) - math.log10(math.log(10))
    return math.log10(abs(log10_of(value)) or 1e-15)


def _whole_power(base: Number, exponent: int) -> Number:
    bits = max(int(base.p).bit_length(), int(base.q).bit_length())
    if bits * abs(exponent) <= 2 * _MAX_BITS:
        return base ** integer(exponent)
    # Such as 1.0001^36500: an ordinary size, but thousands of exact decimals.
    return _decimal_power(base, integer(exponent))


def _fractional_power(base: Number, exponent: Number) -> Number:
    """Return a power of a positive fraction, exactly where it has that root."""
    top, bottom = int(exponent.p), int(exponent.q)
    if bottom <= _MAX_ROOT and top.bit_length() <= _MAX_EXPONENT:
        nth = sp.integer_nthroot
        (p, p_exact), (q, q_exact) = nth(int(base.p), bottom), nth(int(base.q), bottom)
        if p_exact and q_exact:
            return _whole_power(sp.Rational(int(p), int(q)), top)
    return _small_power(base, exponent)


def _small_power(base: Number, exponent: Number) -> Number:
    """Return base ^ exponent, exactly where both are small and so is what it would become."""
    if exponent.is_Rational and exponent.q > _MAX_ROOT:
        return _decimal_power(base, exponent)
    if _is_small(base, _SMALL) and _is_small(exponent, _SMALL_EXPONENT):
        return base**exponent
    return _decimal_power(base, exponent)


def _decimal_power(base: Number, exponent: Number) -> Number:
    # A base near 1 needs as many more digits as the exponent has.
    digits = _WORKING_DIGITS + _whole_digits(exponent)
    number = exponent if exponent.is_Integer else approximate(exponent, digits)
    return approximate(base, digits) ** number
