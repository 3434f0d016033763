"""How a value is told: exactly where that is short, and as a decimal."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction

from sympy import ComplexRootOf, Derivative, Integral, Piecewise, Rational, RootSum, oo
from sympy.printing.str import StrPrinter

from local_react.errors import ToolError
from local_react.tools.calculator import dates, units
from local_react.tools.calculator.numbers import Number, approximate, sign
from local_react.tools.calculator.units import Quantity
from local_react.tools.calculator.values import Complex, Content, Equation, Told, kind

_WHOLE_DIGITS = 60
"""Whole numbers up to so many digits are given as they are."""
_SHOWN_DIGITS = 120
"""Longer ones too, up to this, with their size beside them."""
_EXACT_LENGTH = 24
_DECIMAL_DIGITS = 12
"""Digits of a decimal beside an exact form (1/3), which carries the rest."""
_FORMULA_LENGTH = 500
_NUMERAL_BITS = 400
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
    return abs(value.numerator) < 100 and value.denominator < 100


def _decimal(value: Number, digits: int) -> str:
    """Return a number that is not a fraction as a decimal."""
    rough = approximate(value, digits + 10)
    if rough.is_zero:
        return "0"
    return _rounded(_as_fraction(rough), digits)


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
    if any(max(abs(int(n.p)), int(n.q)) >= 10**_EXACT_LENGTH for n in value.atoms(Rational)):
        return ""
    if value.has(ComplexRootOf):
        return ""  # the root of a polynomial has no form of its own
    return _typed(value)


def formula_text(value: Number) -> str:
    """Return a formula as one would type it: 2*x + 1. Raises ToolError for a long one, and
    for one of several cases."""
    if value.has(Piecewise, Derivative, Integral, RootSum):
        raise ToolError("the result has no short form: give numbers for the unknowns")
    text = _typed(value)
    if len(text) > _FORMULA_LENGTH:
        raise ToolError("too large: the formula is too long to write; ask for a part of it")
    return text


def _typed(value: Number) -> str:
    return str(_Printer({"order": None}).doprint(value)).replace("**", "^")


class _Printer(StrPrinter):  # type: ignore[misc]
    """sympy's printer, with our words for what it writes in its own."""

    def _print_Exp1(self, _: Number) -> str:  # noqa: N802
        return "e"

    def _print_ImaginaryUnit(self, _: Number) -> str:  # noqa: N802
        return "1i"

    def _print_GoldenRatio(self, _: Number) -> str:  # noqa: N802
        return "phi"

    def _print_Infinity(self, _: Number) -> str:  # noqa: N802
        return "infinity"

    def _print_NegativeInfinity(self, _: Number) -> str:  # noqa: N802
        return "-infinity"

    def _print_Abs(self, expression: Number) -> str:  # noqa: N802
        return f"abs({self._print(expression.args[0])})"

    def _print_log(self, expression: Number) -> str:
        return f"ln({self._print(expression.args[0])})"

    def _print_Float(self, expression: Number) -> str:  # noqa: N802
        return _decimal(expression, _DECIMAL_DIGITS)


def complex_text(real: Number, imaginary: Number) -> str:
    """Return a complex number as text: 3 + 4i, 2i, 0.5 - 0.866025403784i."""
    whole = decimal(real, _DECIMAL_DIGITS) if sign(real) else ""
    size = decimal(-imaginary if sign(imaginary) < 0 else imaginary, _DECIMAL_DIGITS)
    if not whole:
        return f"{'-' if sign(imaginary) < 0 else ''}{size}i"
    return f"{whole} {'-' if sign(imaginary) < 0 else '+'} {size}i"


def decimal(value: Number, digits: int = _LONE_DIGITS) -> str:
    """Return a real number as a decimal alone: 0.333333333333333, 12."""
    if value.is_Integer:
        return _integer(int(value))
    if value.is_Rational:
        exact = Fraction(int(value.p), int(value.q))
        return _fraction(exact) if 10**40 % exact.denominator == 0 else _rounded(exact, digits)
    return _decimal(value, digits)


def fraction(value: Number) -> str:
    """Return a number as a fraction: 3/4. Raises ToolError where it is none."""
    if not value.is_Rational:
        raise ToolError("it is not a fraction: it has endless decimals without a period")
    if max(int(value.p).bit_length(), int(value.q).bit_length()) > _NUMERAL_BITS:
        raise ToolError("too large: the fraction is too long to write")
    return f"{Fraction(int(value.p), int(value.q))}"


def scientific(value: Number) -> str:
    """Return a number as 1.5e+3."""
    if sign(value) == 0:
        return "0"
    rough = _quotient(_as_fraction(value), _LONE_DIGITS).normalize()
    digits = "".join(map(str, rough.as_tuple().digits))
    shown = _without_zeros(f"{digits[0]}.{digits[1:] or '0'}")
    return f"{'-' if rough < 0 else ''}{shown}e{rough.adjusted():+d}"


def _as_fraction(value: Number) -> Fraction:
    if value.is_Rational:
        return Fraction(int(value.p), int(value.q))
    negative, mantissa, exponent, _ = approximate(value, _LONE_DIGITS + 10)._mpf_
    return (-1 if negative else 1) * int(mantissa) * Fraction(2) ** int(exponent)


def told(content: Content) -> str:
    """Return any value as text. Raises ToolError for one that has no short text."""
    if isinstance(content, bool):
        return "true" if content else "false"
    if isinstance(content, Told):
        return content.text
    if isinstance(content, Complex):
        return complex_text(content.real, content.imaginary)
    if isinstance(content, Quantity):
        return _quantity(content)
    if isinstance(content, date):
        return dates.told(content)
    if isinstance(content, tuple):
        return _list(content)
    if isinstance(content, Equation):
        raise ToolError("an equation stands alone, or within solve(...)")
    if kind(content) == "formula":
        if content.has(oo):
            raise ToolError("undefined: infinity is no number; limit(...) takes it")
        return formula_text(content)
    return answer(content)


def _quantity(quantity: Quantity) -> str:
    parts = quantity.parts
    if len(parts) > 1:
        return " ".join(f"{count} {unit}{'s' * (abs(count) != 1)}" for count, unit in parts)
    number = decimal(quantity.number)
    return f"{number} {units.told_unit(quantity, one=number in ('1', '-1'))}".rstrip()


def _list(items: Content) -> str:
    text = ", ".join(_item(item) for item in items)
    if len(text) > _FORMULA_LENGTH:
        raise ToolError("too large: the list is too long to write; ask for a part of it")
    return f"[{text}]"


def _item(item: Content) -> str:
    if not isinstance(item, bool) and kind(item) == "number":
        if item.is_Rational and not item.is_Integer:
            exact = Fraction(int(item.p), int(item.q))
            if _is_short(exact) and 10**40 % exact.denominator:
                return f"{exact}"
        exact_text = "" if item.is_Rational else _exact(item)
        return exact_text if 0 < len(exact_text) <= _EXACT_LENGTH else decimal(item)
    return told(item)


def numeral(value: int, base: int) -> str:
    """Return a whole number in another base, with the prefix that the usual ones have."""
    digits, rest = "", abs(value)
    if rest.bit_length() > _NUMERAL_BITS:
        raise ToolError(f"too large: numbers of up to {_NUMERAL_BITS} bits are told in other bases")
    while rest:
        rest, digit = divmod(rest, base)
        digits = _NUMERALS[digit] + digits
    prefix = {2: "0b", 8: "0o", 16: "0x"}.get(base, "")
    return f"{'-' if value < 0 else ''}{prefix}{digits or '0'}"


_NUMERALS = "0123456789abcdefghijklmnopqrstuvwxyz"
