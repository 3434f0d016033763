"""Expressions for the calculator, and what must come of each, worked out without it.

The values are Python's own: fractions.Fraction, datetime, int and tables of factors. An
expression is drawn together with its value, so nothing here reads an expression.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from hypothesis import strategies as st

Outcome = Literal["value", "refused", "either"]


@dataclass(frozen=True, slots=True)
class Case:
    """An expression and what must come of it."""

    text: str
    outcome: Outcome = "either"
    wanted: str = ""
    """The answer, for a person to compare with."""
    agrees: Callable[[str], bool] = lambda told: True
    """Returns True for an answer that is right."""


# Reading answers.

NUMBER: Final = r"-?\d+/\d+|-?\d+(?:\.\d+)?(?:e[+-]\d+)?"


def close(told: Fraction, value: Fraction) -> bool:
    # An answer has at least 12 digits.
    return abs(told - value) <= abs(value) / 10**11


def _begins_with(value: Fraction) -> Callable[[str], bool]:
    """Return whether an answer begins with the number, exactly where it is whole."""

    def agrees(told: str) -> bool:
        found = re.match(rf"(?:{NUMBER})(?![\w.,/])", told)
        if not found:
            return False
        if value.denominator == 1 and abs(value) < 10**50:
            return found[0] == str(value)
        return close(Fraction(found[0]), value)

    return agrees


def valued(text: str, value: Fraction | None) -> Case:
    """Return the case of an expression with that value; None is a division by zero."""
    if value is None:
        return Case(text, "refused", "division by zero")
    return Case(text, "value", str(value), _begins_with(value))


def told_as(text: str, *wanted: str) -> Case:
    """Return the case of an answer that is one of those texts, whatever note follows."""
    return Case(
        text,
        "value",
        " or ".join(wanted),
        lambda told: any(re.match(re.escape(one) + r"(?: \(|$)", told) for one in wanted),
    )


# Any text.

EXAMPLES: Final = (
    "15% of 1,299.99 + 7",
    "a = 3; b = 2*a; a + b",
    "2*x + 6 = 20",
    "x + y = 3, x - y = 1",
    "x^2 - 4 < 0",
    "diff(x^2*sin(x), x)",
    "integrate(x^2, x, 0, 3)",
    "limit(sin(x)/x, x, 0)",
    "series(exp(x), x, 0, 5)",
    "simplify((x^2 - 1)/(x - 1))",
    "expand((x + 1)^3)",
    "factor(x^2 - 1)",
    "det([[1, 2], [3, 4]])",
    "inv([[1, 2], [3, 5]])",
    "[[1, 2], [3, 4]] * [[5], [6]]",
    "5 km in miles",
    "72 degF to degC",
    "3 h 20 min in seconds",
    "2001-03-19 - 9 weeks",
    "8/31/2019 subtract 10 years and 16 months",
    "days between 2020-02-28 and 2021-03-01",
    "weekday of June 12, 2051",
    "0xff + 0b1010",
    "255 in binary",
    "5 & 3 | 8 xor ~2 << 4",
    "(3+4i)*2",
    "not 1 < 2 and 3 > 2 or false",
    "sin(30°) + cos(pi/3)",
    "sqrt(2) + |−3| × ½ ÷ 2²",
    "factors of 360",
    "sum(1, 2, 3) + mean([1, 2]) + median(1, 2) - stdev(1, 2, 4)",
    "log(8, 2) + ln(e^3) + 5! + binomial(5, 2)",
    "1.05^30 * $1,000 + 10%",
    "f(x) = x^2; f(3)",
    "integrate(exp(-x), x, 0, oo)",
    "10 if 2 > 1 else 20",
    "what is 3 million squared in scientific",
    "eigenvalues([[2, 0], [0, 3]])",
)
_PIECES: Final = """
    0 1 2 7 10 0.5 1e3 1e19 1,000 99999 + - * / // % ^ ** ! ( ) [ ] , ; = == < >= != | & << >> ~
    √ π ∞ ½ ² ° × − i x y e pi of mod and or not xor in to is true false km kg degC seconds days
    weeks 2024-02-29 3/19/2001 Monday between from 0xff 0b11 sqrt( sin( exp( ln( log( max(
    round( gcd( binomial( factorial( abs( diff( integrate( limit( series( solve( factor( expand(
    simplify( det( inv( sum( mean( isprime( solve(
    rank( eigenvalues( range( f( oo if else million squared base hex
"""
PIECES: Final = st.sampled_from([*_PIECES.split(), " ", "\n"])


def _anything(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Case]:
    return texts.map(Case)


ANY_TEXT: Final = _anything(
    st.text(max_size=60) | st.text("0123456789+-*/^%()[]=<>!|&,.;:'\"_ \nexpijsin√½²π", max_size=60)
)
PIECES_TEXT: Final = _anything(st.lists(PIECES, max_size=16).map("".join))


@st.composite
def mutations(draw: st.DrawFn) -> Case:
    """Return a valid expression with one to three places cut, doubled or overwritten."""
    text = draw(st.sampled_from(EXAMPLES))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 8)))
        other = draw(st.sampled_from(EXAMPLES))
        put = draw(PIECES | st.just("") | st.just(text[start:end] * 2) | st.just(f"({other})"))
        text = text[:start] + put + text[end:]
    return Case(text)


# Arithmetic.


@dataclass(frozen=True, slots=True)
class _Term:
    """Text and its value, None where it divides by zero. The level says how tight the text
    holds together: 1 a sum, 2 a product, 3 a sign, 4 a power, 5 a value."""

    text: str
    value: Fraction | None
    level: int = 5


_SUM, _PRODUCT, _SIGN, _POWER, _VALUE = 1, 2, 3, 4, 5
_SPELLINGS: Final[Mapping[str, Sequence[str]]] = {
    "+": ("+", " + ", "＋"),
    "-": ("-", " - ", " − ", "–"),
    "*": ("*", " * ", "×", " · "),
    "/": ("/", " / ", "÷", "∕"),
    "//": ("//", " // "),
    "mod": (" mod ",),
}
_WORK: Final[Mapping[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": lambda a, b: Fraction(a // b),
    "mod": operator.mod,
}
_FULL_WIDTH: Final = str.maketrans("0123456789", "０１２３４５６７８９")
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_VULGAR: Final = {
    "½": Fraction(1, 2),
    "¾": Fraction(3, 4),
    "⅓": Fraction(1, 3),
    "⅝": Fraction(5, 8),
}
_MOST_BITS: Final = 1500


@st.composite
def _numbers(draw: st.DrawFn) -> _Term:
    """Return a number without a sign, in one of the ways in which people write it."""
    whole = draw(st.integers(0, 12) | st.integers(0, 2_000_000))
    part = draw(st.integers(0, 999))
    decimals = Fraction(whole) + Fraction(part, 1000)
    small = draw(st.integers(-9, 9))
    mark, fraction = draw(st.sampled_from(sorted(_VULGAR.items())))
    text, value = draw(
        st.sampled_from(
            [
                (f"{whole}", Fraction(whole)),
                (f"{whole}.{part:03}", decimals),
                (f"{whole:,}", Fraction(whole)),
                (f"{whole:,}.{part:03}", decimals),
                (f".{part:03}", Fraction(part, 1000)),
                (f"{whole}e{small}", Fraction(whole) * Fraction(10) ** small),
                (f"{whole}{mark}", whole + fraction),
                (mark, fraction),
                (str(whole).translate(_FULL_WIDTH), Fraction(whole)),
                (f"{whole % 20}!", Fraction(math.factorial(whole % 20))),
            ]
        )
    )
    return _Term(text, value)


def _wrapped(term: _Term, level: int) -> str:
    """Return the text with parentheses where it is looser than the level."""
    return term.text if term.level >= level else f"({term.text})"


def _computed(sign: str, a: Fraction | None, b: Fraction | None) -> Fraction | None:
    if a is None or b is None or (b == 0 and sign in ("/", "//", "mod")):
        return None
    return _WORK[sign](a, b)


@st.composite
def _binary(draw: st.DrawFn, left: _Term, right: _Term) -> _Term:
    sign = draw(st.sampled_from(sorted(_WORK)))
    level = _SUM if sign in ("+", "-") else _PRODUCT
    spelled = draw(st.sampled_from(_SPELLINGS[sign]))
    if sign == "mod" and right.level >= _POWER:
        spelled = draw(st.sampled_from([" mod ", "%", " % "]))
    before = _wrapped(left, level)
    if "%" in spelled and before.endswith(("%", "percent")):
        before = f"({before})"
    text = f"{before}{spelled}{_wrapped(right, level + 1)}"
    return _Term(text, _computed(sign, left.value, right.value), level)


@st.composite
def _percentage(draw: st.DrawFn, left: _Term, right: _Term) -> _Term:
    """Return A + B%, A - B%, A * B% or B% of A."""
    sign = draw(st.sampled_from(["+", "-", "*", "of"]))
    share = None if right.value is None else right.value / 100
    spelled = draw(st.sampled_from(["%", " percent"]))
    per_cent = f"{_wrapped(right, _VALUE)}{spelled}"
    product = _computed("*", left.value, share)
    if sign == "of":
        return _Term(f"{per_cent} of {_wrapped(left, _SIGN)}", product, _PRODUCT)
    if sign == "*":
        return _Term(f"{_wrapped(left, _PRODUCT)} * {per_cent}", product, _PRODUCT)
    return _Term(
        f"{_wrapped(left, _SUM)} {sign} {per_cent}", _computed(sign, left.value, product), _SUM
    )


@st.composite
def _raised(draw: st.DrawFn, base: _Term, _: _Term) -> _Term:
    """Return a power; its exponent is a small whole number or a power of such."""
    exponent = draw(st.integers(-6, 6))
    text, power = f"{exponent}", exponent
    form = draw(st.sampled_from(["^", "**", "superscript", "tower"]))
    if form == "superscript":
        written = text.translate(_SUPERSCRIPTS)
    elif form == "tower":
        low, high = draw(st.integers(1, 3)), draw(st.integers(0, 2))
        written, power = f"^{low}^{high}", low**high
    else:
        written = f"{form}{text}"
    value = base.value
    if value is not None:
        value = None if value == 0 and power < 0 else value**power
    return _Term(f"{_wrapped(base, _VALUE)}{written}", value, _POWER)


@st.composite
def _without_sign(draw: st.DrawFn, left: _Term, right: _Term) -> _Term:
    """Return a product that is written without a sign: 2(3+4)."""
    gap = draw(st.sampled_from(["", " "]))
    before = _wrapped(left, _PRODUCT)
    # rate(3) would be a call, and 5%(3) a remainder.
    before = f"({before})" if re.search(r"(?:[a-z_]\w*|%)$", before) else before
    return _Term(f"{before}{gap}({right.text})", _computed("*", left.value, right.value), _PRODUCT)


@st.composite
def _signed(draw: st.DrawFn, term: _Term, _: _Term) -> _Term:
    sign = draw(st.sampled_from(["-", "+", "−"]))
    value = term.value if term.value is None or sign == "+" else -term.value
    return _Term(f"{sign}{_wrapped(term, _SIGN)}", value, _SIGN)


def _grouped(term: _Term, _: _Term) -> st.SearchStrategy[_Term]:
    return st.just(_Term(f"({term.text})", term.value))


_FORMS: Final = (
    _binary,
    _binary,
    _binary,
    _percentage,
    _raised,
    _without_sign,
    _signed,
    _grouped,
)


@st.composite
def _terms(draw: st.DrawFn, depth: int, leaves: st.SearchStrategy[_Term]) -> _Term:
    """Return a term of at most so many operations within one another."""
    left = draw(leaves)
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return left
    left = draw(_terms(depth - 1, leaves))
    right = draw(_terms(depth - 1, leaves))
    found = draw(draw(st.sampled_from(_FORMS))(left, right))
    return found if _is_moderate(found) else left


def _is_moderate(term: _Term) -> bool:
    value = term.value or Fraction(0)
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    return bits <= _MOST_BITS and len(term.text) <= 80


@st.composite
def arithmetic(draw: st.DrawFn) -> Case:
    """Return a sum, with "=" or not, or its comparison with its own value."""
    term = draw(_terms(4, _numbers()))
    if term.value is None or draw(st.booleans()):
        return valued(term.text + draw(st.sampled_from(["", "", "=", " = ?"])), term.value)
    exact = f"({term.value.numerator})/{term.value.denominator}"
    if len(exact) > 90:
        return valued(term.text, term.value)
    return told_as(f"{_wrapped(term, _SUM)} == {exact}", "true")


_COMPARISONS: Final[Mapping[str, Callable[[Fraction, Fraction], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    "≤": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "≠": operator.ne,
}


@st.composite
def _comparison(draw: st.DrawFn) -> tuple[str, bool]:
    valued = _terms(2, _numbers()).filter(lambda term: term.value is not None)
    left = draw(valued)
    right = draw(st.just(left) | valued)
    sign = draw(st.sampled_from(sorted(_COMPARISONS)))
    assert left.value is not None and right.value is not None
    return f"{left.text} {sign} {right.text}", _COMPARISONS[sign](left.value, right.value)


@st.composite
def comparisons(draw: st.DrawFn) -> Case:
    """Return one or two comparisons, joined by and, or, and turned by not."""
    first, second = draw(_comparison()), draw(_comparison())
    form = draw(st.sampled_from(["{}", "({}) and ({})", "({}) or ({})", "not ({})", "{} and {}"]))
    value = {
        "{}": first[1],
        "({}) and ({})": first[1] and second[1],
        "({}) or ({})": first[1] or second[1],
        "not ({})": not first[1],
        "{} and {}": first[1] and second[1],
    }[form]
    return told_as(form.format(first[0], second[0]), str(value).lower())


@st.composite
def steps(draw: st.DrawFn) -> Case:
    """Return steps with names, the last of which has a value."""
    names = draw(st.permutations(["a", "b", "c", "rate", "total_2", "price"]))
    known: list[_Term] = []
    lines = []
    for name in names[: draw(st.integers(1, 3))]:
        term = draw(_terms(2, _leaves(known)).filter(lambda term: term.value is not None))
        lines.append(f"{name} = {_wrapped(term, _SUM)}")
        known.append(_Term(name, term.value))
    last = draw(_terms(2, _leaves(known)))
    between = draw(st.sampled_from(["; ", ";", "\n"]))
    return valued(between.join([*lines, last.text]), last.value)


def _leaves(known: Sequence[_Term]) -> st.SearchStrategy[_Term]:
    # Whole numbers alone, so that a name never stands right after a mark such as ½.
    whole = st.integers(0, 999).map(lambda n: _Term(str(n), Fraction(n)))
    return whole | st.sampled_from(known) if known else whole
