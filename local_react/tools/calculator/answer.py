"""How a number is told: exactly where that is short, and as a decimal."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

from local_react.tools.calculator.numbers import Number, approximate

_WHOLE_DIGITS = 60
"""Whole numbers up to so many digits are given as they are."""
_SHOWN_DIGITS = 120
"""Longer ones too, up to this, with their size beside them."""
_EXACT_LENGTH = 24
_DECIMAL_DIGITS = 12
"""Digits of a decimal beside an exact form (1/3), which carries the rest."""
_LONE_DIGITS = 15
"""Digits of a decimal that stands alone: what a double holds, without its noise."""


def answer(value: Number) -> str:
    """Return the value as text: 201.9985, 1/3 (0.333333333333), sqrt(2) (1.41421356237).

    Decimals that end are exact up to 15 digits, or 6 decimals where those are more.
    """
    if value.is_Integer:
        return _integer(int(value))
    if value.is_Rational:
        return _fraction(Fraction(int(value.p), int(value.q)))
    if value.is_Float:
        return _decimal(value, _LONE_DIGITS)
    exact = _exact(value)
    if not 0 < len(exact) <= _EXACT_LENGTH:
        return _decimal(value, _LONE_DIGITS)
    return f"{exact} ({_decimal(value, _DECIMAL_DIGITS)})"


def _integer(value: int) -> str:
    digits = _digit_count(value)
    if digits <= _WHOLE_DIGITS:
        return str(value)
    size = f"{_rounded(Fraction(value), _DECIMAL_DIGITS)}, {digits} digits"
    if digits <= _SHOWN_DIGITS:
        return f"{value} ({size})"
    return size.replace(", ", " (") + ")"


def _digit_count(value: int) -> int:
    """Return the number of digits, without writing them: str() refuses long numbers."""
    value = abs(value)
    if value == 0:
        return 1
    guess = int((value.bit_length() - 1) * math.log10(2))
    return guess + 1 if value < 10 ** (guess + 1) else guess + 2


def _fraction(value: Fraction) -> str:
    whole_digits = _digit_count(int(value))
    decimals = max(_LONE_DIGITS - whole_digits, 6)
    # Decimals that end within 40 places: longer ones are told like those that don't.
    if 10**40 % value.denominator == 0 and whole_digits <= _WHOLE_DIGITS:
        if abs(value) >= 1:
            return _plain(_quotient(value, whole_digits + decimals))
        return _rounded(value, _LONE_DIGITS)
    exact = f"{value.numerator}/{value.denominator}" if _is_short(value) else ""
    if not exact:
        return _rounded(value, _LONE_DIGITS)
    return f"{exact} ({_rounded(value, _DECIMAL_DIGITS)})"


def _is_short(value: Fraction) -> bool:
    # A long fraction in front was seen to be passed on as the answer, 139/2060 for 0.067.
    return abs(value.numerator) < 1000 and value.denominator < 100


def _decimal(value: Number, digits: int) -> str:
    """Return a number that is not a fraction as a decimal."""
    rough = approximate(value, digits + 10)
    if rough.is_zero:
        return "0"
    negative, mantissa, exponent, _ = rough._mpf_
    scale = Fraction(2) ** int(exponent)
    return _rounded((-1 if negative else 1) * int(mantissa) * scale, digits)


def _rounded(value: Fraction, digits: int) -> str:
    return _plain(_quotient(value, digits))


def _quotient(value: Fraction, digits: int) -> Decimal:
    with localcontext() as context:
        context.prec = digits
        context.Emax, context.Emin = 10**6, -(10**6)
        return Decimal(value.numerator) / Decimal(value.denominator)


def _plain(value: Decimal) -> str:
    """Return 0.5 or 1200 plainly, and 1.5e-12 or 2.1e+33 where zeros would be made up."""
    if value == 0:
        return "0"
    size = value.adjusted()
    digits = "".join(map(str, value.as_tuple().digits))
    if -8 <= size < len(digits):
        return _without_zeros(f"{value:f}")
    sign = "-" if value < 0 else ""
    return f"{sign}{_without_zeros(f'{digits[0]}.{digits[1:]}')}e{size:+d}"


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _exact(value: Number) -> str:
    """Return the exact form as one would type it: ln(2), 2^(1/3), e; "" where it is long."""
    from sympy import Rational
    from sympy.printing.str import StrPrinter

    if any(max(abs(int(n.p)), int(n.q)) >= 10**_EXACT_LENGTH for n in value.atoms(Rational)):
        return ""

    class Printer(StrPrinter):  # type: ignore[misc]
        def _print_Exp1(self, _: Number) -> str:  # noqa: N802
            return "e"

        def _print_log(self, expression: Number) -> str:
            return f"ln({self._print(expression.args[0])})"

    return str(Printer().doprint(value)).replace("**", "^")
