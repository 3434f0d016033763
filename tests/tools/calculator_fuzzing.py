"""Expressions for the calculator, and what must come of each, worked out without it.

The values are Python's own: fractions.Fraction, datetime, int and tables of factors. An
expression is drawn together with its value, so nothing here reads an expression.
"""

from __future__ import annotations

import calendar
import math
import operator
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from itertools import permutations
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

_NUMBER: Final = r"-?\d+/\d+|-?\d+(?:\.\d+)?(?:e[+-]\d+)?"


def _close(told: Fraction, value: Fraction) -> bool:
    # An answer has at least 12 digits.
    return abs(told - value) <= abs(value) / 10**11


def _begins_with(value: Fraction) -> Callable[[str], bool]:
    """Return whether an answer begins with the number, exactly where it is whole."""

    def agrees(told: str) -> bool:
        found = re.match(rf"(?:{_NUMBER})(?![\w.,/])", told)
        if not found:
            return False
        if value.denominator == 1 and abs(value) < 10**50:
            return found[0] == str(value)
        return _close(Fraction(found[0]), value)

    return agrees


def _valued(text: str, value: Fraction | None) -> Case:
    """Return the case of an expression with that value; None is a division by zero."""
    if value is None:
        return Case(text, "refused", "division by zero")
    return Case(text, "value", str(value), _begins_with(value))


def _told(text: str, *wanted: str) -> Case:
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
        return _valued(term.text + draw(st.sampled_from(["", "", "=", " = ?"])), term.value)
    exact = f"({term.value.numerator})/{term.value.denominator}"
    if len(exact) > 90:
        return _valued(term.text, term.value)
    return _told(f"{_wrapped(term, _SUM)} == {exact}", "true")


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
    return _told(form.format(first[0], second[0]), str(value).lower())


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
    return _valued(between.join([*lines, last.text]), last.value)


def _leaves(known: Sequence[_Term]) -> st.SearchStrategy[_Term]:
    # Whole numbers alone, so that a name never stands right after a mark such as ½.
    whole = st.integers(0, 999).map(lambda n: _Term(str(n), Fraction(n)))
    return whole | st.sampled_from(known) if known else whole


# The parts beyond arithmetic.

_SMALL: Final = st.integers(-12, 12)
_NONZERO: Final = _SMALL.filter(bool)
_RATIONALS: Final = st.builds(
    Fraction, st.integers(-60, 60), st.sampled_from([1, 1, 1, 2, 3, 4, 7])
)


def _solutions(name: str, values: Sequence[Fraction]) -> Callable[[str], bool]:
    """Return whether an answer names exactly those values: x = -2 or x = 2."""

    def agrees(told: str) -> bool:
        found = [Fraction(one) for one in re.findall(rf"\b{name} = ({_NUMBER})(?![\w.])", told)]
        pairs = zip(sorted(found), sorted(set(values)), strict=True)
        return len(found) == len(set(values)) and all(_close(a, b) for a, b in pairs)

    return agrees


@st.composite
def equations(draw: st.DrawFn) -> Case:
    """Return an equation or a system of two, made from its solution."""
    return draw(st.one_of(_linear_equation(), _quadratic_equation(), _system()))


@st.composite
def _linear_equation(draw: st.DrawFn) -> Case:
    name = draw(st.sampled_from("xyntw"))
    value, a, c, b = draw(_RATIONALS), draw(_NONZERO), draw(_SMALL), draw(_RATIONALS)
    a = a if a != c else 13
    times = draw(st.sampled_from(["*", "", " * "]))
    d = a * value + b - c * value
    text = f"{a}{times}{name} + ({b}) = ({d}) + {c}{times}{name}"
    return Case(text, "value", f"{name} = {value}", _solutions(name, [value]))


@st.composite
def _quadratic_equation(draw: st.DrawFn) -> Case:
    first, second, scale = draw(_SMALL), draw(_SMALL), draw(st.integers(1, 5))
    b, c = -scale * (first + second), scale * first * second
    square = draw(st.sampled_from(["x^2", "x**2", "x²"]))
    text = f"{scale}{square} + {b}x + {c} = 0"
    wanted = [Fraction(first), Fraction(second)]
    return Case(text, "value", f"x = {first} or x = {second}", _solutions("x", wanted))


@st.composite
def _system(draw: st.DrawFn) -> Case:
    x, y = draw(_RATIONALS), draw(_RATIONALS)
    a, b, c, d = (draw(_NONZERO) for _ in range(4))
    if a * d == b * c:
        a, b, c, d = 1, 1, 1, -1
    between = draw(st.sampled_from([", ", "; ", " and ", "\n"]))
    text = f"{a}x + {b}y = {a * x + b * y}{between}{c}x + {d}*y = {c * x + d * y}"
    agree = (_solutions("x", [x]), _solutions("y", [y]))
    return Case(text, "value", f"x = {x}, y = {y}", lambda told: all(one(told) for one in agree))


@st.composite
def inequalities(draw: st.DrawFn) -> Case:
    """Return a linear inequality in x."""
    a, b, value = draw(_NONZERO), draw(_SMALL), draw(_RATIONALS)
    sign = draw(st.sampled_from(["<", "<=", ">", ">="]))
    turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}[sign]
    told_sign = sign if a > 0 else turned
    text = f"{a}x + {b} {sign} {a * value + b}"
    return Case(text, "value", f"x {told_sign} {value}", _bounded(told_sign, value))


def _bounded(sign: str, value: Fraction) -> Callable[[str], bool]:
    def agrees(told: str) -> bool:
        found = re.match(rf"x (<=?|>=?) ({_NUMBER})(?![\w.])", told)
        if not found or found[1] != sign:
            return False
        return _close(Fraction(found[2]), value)

    return agrees


# Each unit is so many of the first of its row. The sources are the definitions: the
# international yard and pound (1959), the US gallon of 231 cubic inches, the SI.
_FACTORS: Final[Sequence[Mapping[str, Fraction]]] = (
    {
        "m": Fraction(1),
        "km": Fraction(1000),
        "cm": Fraction(1, 100),
        "mm": Fraction(1, 1000),
        "inches": Fraction("0.0254"),
        "feet": Fraction("0.3048"),
        "yards": Fraction("0.9144"),
        "miles": Fraction("1609.344"),
    },
    {
        "kg": Fraction(1),
        "g": Fraction(1, 1000),
        "mg": Fraction(1, 10**6),
        "pounds": Fraction("0.45359237"),
        "ounces": Fraction("0.45359237") / 16,
    },
    {
        "seconds": Fraction(1),
        "minutes": Fraction(60),
        "hours": Fraction(3600),
        "days": Fraction(86400),
        "weeks": Fraction(7 * 86400),
        "ms": Fraction(1, 1000),
    },
    {
        "liters": Fraction(1),
        "ml": Fraction(1, 1000),
        "gallons": Fraction("3.785411784"),
        "cups": Fraction("3.785411784") / 16,
    },
    {
        "m/s": Fraction(1),
        "km/h": Fraction(1000, 3600),
        "mph": Fraction("1609.344") / 3600,
    },
)
_DEGREES: Final[Mapping[str, tuple[Fraction, Fraction]]] = {
    "degC": (Fraction(1), Fraction("273.15")),
    "degF": (Fraction(5, 9), Fraction("459.67") * 5 / 9),
    "kelvin": (Fraction(1), Fraction(0)),
}
"""Kelvin of one degree, and of zero degrees."""


@st.composite
def units(draw: st.DrawFn) -> Case:
    """Return a conversion: of one quantity, of a sum of two, or of a temperature."""
    amount = Fraction(draw(st.integers(0, 10**6)), draw(st.sampled_from([1, 1, 10, 100])))
    to = draw(st.sampled_from(["in", "to"]))
    if draw(st.integers(0, 4)) == 0:
        return _temperature(amount, draw(st.sampled_from(sorted(_DEGREES))), to, draw)
    factors = draw(st.sampled_from(_FACTORS))
    one, two, into = (draw(st.sampled_from(sorted(factors))) for _ in range(3))
    more = draw(st.integers(0, 999))
    sum_of_two = draw(st.booleans())
    # 3 hours 20 minutes: the smaller unit after the larger.
    glue = draw(st.sampled_from([" + ", " "])) if factors[one] > factors[two] else " + "
    text = f"{_decimal(amount)} {one}" + (f"{glue}{more} {two}" if sum_of_two else "")
    total = amount * factors[one] + (more * factors[two] if sum_of_two else 0)
    return _valued(f"{text} {to} {into}", total / factors[into])


def _temperature(amount: Fraction, unit: str, to: str, draw: st.DrawFn) -> Case:
    into = draw(st.sampled_from(sorted(_DEGREES)))
    (size, zero), (into_size, into_zero) = _DEGREES[unit], _DEGREES[into]
    value = (amount * size + zero - into_zero) / into_size
    return _valued(f"{_decimal(amount)} {unit} {to} {into}", value)


def _decimal(value: Fraction) -> str:
    """Return whole hundredths as digits."""
    cents = f".{int(value % 1 * 100):02}" if value.denominator > 1 else ""
    return f"{value.numerator // value.denominator}{cents}"


_DAYS: Final = st.dates(date(1800, 1, 1), date(2300, 12, 31))


@st.composite
def dates(draw: st.DrawFn) -> Case:
    """Return a date and an interval, the days between two dates, or a weekday."""
    day = draw(_DAYS)
    written = draw(_ways_of_writing(day))
    kind = draw(st.sampled_from(["weekday", "between", "interval"]))
    if kind == "weekday":
        return _told(f"weekday of {written}", f"{day:%A}")
    if kind == "between":
        other = draw(_DAYS)
        first, last = sorted([day, other])
        days = (last - first).days
        both = f"{draw(_ways_of_writing(first))} and {draw(_ways_of_writing(last))}"
        return _valued_days(f"days between {both}", days)
    text, moved = draw(_moved(day))
    return _told(f"{written} {text}", f"{moved:%Y-%m-%d} ({moved:%A})", f"{moved:%Y-%m-%d}")


def _valued_days(text: str, days: int) -> Case:
    return _told(text, f"{days} day{'' if days == 1 else 's'}")


@st.composite
def _ways_of_writing(draw: st.DrawFn, day: date) -> str:
    return draw(
        st.sampled_from(
            [
                f"{day:%Y-%m-%d}",
                f"{day:%m/%d/%Y}",
                f"{day.month}/{day.day}/{day.year}",
                f"{day:%B} {day.day}, {day.year}",
                f"{day.day} {day:%B} {day.year}",
                f"{day:%b} {day.day}, {day.year}",
            ]
        )
    )


@st.composite
def _moved(draw: st.DrawFn, day: date) -> tuple[str, date]:
    """Return an interval of one or two units, and the date it leads to: years and months
    first, where the day is cut to the month's length, then weeks and days."""
    direction = draw(st.sampled_from([1, -1]))
    years, months = draw(st.integers(0, 90)), draw(st.integers(0, 40))
    weeks, days = draw(st.integers(0, 200)), draw(st.integers(0, 3000))
    parts = {"years": years, "months": months, "weeks": weeks, "days": days}
    chosen = draw(st.lists(st.sampled_from(sorted(parts)), min_size=1, max_size=2, unique=True))
    counts = {unit: parts[unit] * direction for unit in parts if unit in chosen}
    month = day.year * 12 + day.month - 1 + counts.get("years", 0) * 12 + counts.get("months", 0)
    length = calendar.monthrange(month // 12, month % 12 + 1)[1]
    moved = day.replace(year=month // 12, month=month % 12 + 1, day=min(day.day, length))
    moved += timedelta(weeks=counts.get("weeks", 0), days=counts.get("days", 0))
    sign = draw(st.sampled_from({1: ["+", "add", "plus"], -1: ["-", "subtract"]}[direction]))
    said = (f"{abs(n)} {unit[:-1] if abs(n) == 1 else unit}" for unit, n in counts.items())
    return f"{sign} {' and '.join(said)}", moved


_CELLS: Final = st.integers(-9, 9)
_Matrix = list[list[int]]


@st.composite
def matrices(draw: st.DrawFn) -> Case:
    """Return a determinant, a product, a sum or an inverse of small whole matrices."""
    size = draw(st.integers(2, 4))
    a = draw(_square(size))
    kind = draw(st.sampled_from(["det", "*", "+", "-", "inv"]))
    if kind == "det":
        return _valued(f"det({a})", Fraction(_determinant(a)))
    if kind == "inv":
        return _inverse_case(a)
    b = draw(_square(size))
    rows = range(size)
    if kind == "*":
        wanted = [[sum(a[i][k] * b[k][j] for k in rows) for j in rows] for i in rows]
    else:
        work = operator.add if kind == "+" else operator.sub
        wanted = [[work(a[i][j], b[i][j]) for j in rows] for i in rows]
    return Case(f"{a} {kind} {b}", "value", f"{wanted}", lambda told: _cells(told) == wanted)


def _square(size: int) -> st.SearchStrategy[_Matrix]:
    row = st.lists(_CELLS, min_size=size, max_size=size)
    return st.lists(row, min_size=size, max_size=size)


def _determinant(matrix: _Matrix) -> int:
    """Return the determinant as Leibniz wrote it: a sum over permutations."""
    size = len(matrix)
    return sum(
        _parity(order) * math.prod(matrix[i][order[i]] for i in range(size))
        for order in permutations(range(size))
    )


def _parity(order: Sequence[int]) -> int:
    swapped = sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])
    return -1 if swapped % 2 else 1


def _inverse_case(matrix: _Matrix) -> Case:
    if _determinant(matrix) == 0:
        return Case(f"inv({matrix})", "refused", "no inverse")
    size = range(len(matrix))

    def agrees(told: str) -> bool:
        cells = _cells(told)
        if len(cells) != len(matrix):
            return False
        found = [[sum(matrix[i][k] * cells[k][j] for k in size) for j in size] for i in size]
        far = [abs(found[i][j] - Fraction(i == j)) > Fraction(1, 10**8) for i in size for j in size]
        return not any(far)

    return Case(f"inv({matrix})", "value", "its inverse", agrees)


def _cells(told: str) -> list[list[Fraction]]:
    """Return the numbers of [[1, 1/2], [3, 4]]."""
    rows = re.findall(r"\[([^\[\]]+)\]", told)
    return [[Fraction(cell.strip()) for cell in row.split(",")] for row in rows]


@st.composite
def bases(draw: st.DrawFn) -> Case:
    """Return whole numbers in some base, an operation on their bits, or a conversion."""
    a, b = draw(st.integers(0, 2**40)), draw(st.integers(0, 2**20))
    first, second = draw(_in_some_base(a)), draw(_in_some_base(b))
    kind = draw(st.sampled_from(["convert", "bits", "sum"]))
    if kind == "convert":
        name, written = draw(
            st.sampled_from([("binary", bin(a)), ("hex", hex(a)), ("octal", oct(a))])
        )
        to = draw(st.sampled_from(["in", "to"]))
        return Case(f"{first} {to} {name}", "value", written, lambda told: _digits(told) == a)
    if kind == "sum":
        return _valued(f"{first} + {second} * 3", Fraction(a + b * 3))
    shift = draw(st.integers(0, 70))
    text, value = draw(
        st.sampled_from(
            [
                (f"{first} & {second}", a & b),
                (f"{first} | {second}", a | b),
                (f"{first} xor {second}", a ^ b),
                (f"{first} << {shift}", a << shift),
                (f"{first} >> {shift}", a >> shift),
                (f"~{first}", ~a),
                (f"({first} & {second}) | (~{second} & {shift})", a & b | (~b & shift)),
            ]
        )
    )
    return _valued(text, Fraction(value))


def _in_some_base(value: int) -> st.SearchStrategy[str]:
    return st.sampled_from([str(value), hex(value), bin(value), oct(value), f"0x{value:X}"])


def _digits(told: str) -> int | None:
    found = re.match(r"0[xbo][0-9a-fA-F]+", told)
    return int(found[0], 0) if found else None


@st.composite
def complexes(draw: st.DrawFn) -> Case:
    """Return a sum, product or quotient of complex numbers with whole parts."""
    a, b, c, d = (draw(_SMALL) for _ in range(4))
    b, d = b or 1, d or 1
    kind = draw(st.sampled_from("+-*/"))
    size = c * c + d * d
    real, imaginary = {
        "+": (Fraction(a + c), Fraction(b + d)),
        "-": (Fraction(a - c), Fraction(b - d)),
        "*": (Fraction(a * c - b * d), Fraction(a * d + b * c)),
        "/": (Fraction(a * c + b * d, size), Fraction(b * c - a * d, size)),
    }[kind]
    text = f"({a} + {b}i) {kind} ({c} + {d}i)"
    agrees = _is_complex(real, imaginary)
    return Case(text, "value", f"{real} + {imaginary}i", agrees)


def _is_complex(real: Fraction, imaginary: Fraction) -> Callable[[str], bool]:
    def agrees(told: str) -> bool:
        bare = told.partition(" (")[0].replace(" ", "").replace("*", "")
        parts = re.findall(r"([+-]?)((?:\d[\d./]*)?)(i?)((?:/\d+)?)", bare)
        found = {"": Fraction(0), "i": Fraction(0)}
        for sign, digits, unit, over in parts:
            if digits or unit:
                value = Fraction(digits or "1") / Fraction(over[1:] or "1")
                found[unit] += -value if sign == "-" else value
        return _close(found[""], real) and _close(found["i"], imaginary)

    return agrees


_OF_MANY: Final[Mapping[str, Callable[[Sequence[Fraction]], Fraction]]] = {
    "max": max,
    "min": min,
    "sum": lambda values: sum(values, Fraction(0)),
    "mean": lambda values: sum(values, Fraction(0)) / len(values),
    "median": statistics.median,
}
_OF_ONE: Final[Mapping[str, Callable[[Fraction], Fraction]]] = {
    "abs": abs,
    "floor": lambda value: Fraction(math.floor(value)),
    "ceil": lambda value: Fraction(math.ceil(value)),
    "round": lambda value: _half_up(value),
}
_OF_WHOLE: Final[Mapping[str, Callable[[int, int], int]]] = {
    "gcd": math.gcd,
    "lcm": math.lcm,
    "binomial": math.comb,
}


def _half_up(value: Fraction) -> Fraction:
    """Return the nearest whole number, of two the one further from 0."""
    size = math.floor(abs(value) + Fraction(1, 2))
    return Fraction(size if value >= 0 else -size)


@st.composite
def calls(draw: st.DrawFn) -> Case:
    """Return a call of a function of one, two or many numbers, in a sum."""
    hundredths = st.integers(-(10**6), 10**6).map(lambda n: Fraction(n, 100))
    if draw(st.booleans()):
        return _call_of_many(draw, draw(st.lists(hundredths, min_size=1, max_size=7)))
    if draw(st.booleans()):
        name, a, b = draw(st.sampled_from(sorted(_OF_WHOLE))), *draw(_TWO_WHOLE)
        return _valued(f"1 + {name}({a}, {b}) * 2", Fraction(1 + _OF_WHOLE[name](a, b) * 2))
    name, value = draw(st.sampled_from([*sorted(_OF_ONE), "sqrt", "cbrt"])), draw(hundredths)
    roots = {"sqrt": (value**2, abs(value)), "cbrt": (value**3, value)}
    given, result = roots[name] if name in roots else (value, _OF_ONE[name](value))
    sign, shown = ("-" if given < 0 else ""), abs(given)
    written = f"{math.floor(shown)}.{int(shown % 1 * 10**6):06}"
    return _valued(f"{name}({sign}{written}) - 1", result - 1)


_TWO_WHOLE: Final = st.tuples(st.integers(0, 300), st.integers(0, 300))


def _call_of_many(draw: st.DrawFn, values: Sequence[Fraction]) -> Case:
    name = draw(st.sampled_from(sorted(_OF_MANY)))
    grouped = len(values) > 1 and draw(st.booleans())
    written = [f"{float(value):,.2f}" if grouped else f"{float(value):.2f}" for value in values]
    # Of grouped digits only a comma and a space separate two numbers.
    inside = (", " if grouped else draw(st.sampled_from([",", ", "]))).join(written)
    inside = f"[{inside}]" if draw(st.booleans()) else inside
    return _valued(f"{name}({inside}) * 3", _OF_MANY[name](values) * 3)


@st.composite
def calculus(draw: st.DrawFn) -> Case:
    """Return a definite integral, a sum, a limit or a derivative's root of a polynomial."""
    powers = draw(st.lists(_SMALL, min_size=2, max_size=5))
    a, b = draw(_SMALL), draw(_SMALL)
    formula = " + ".join(f"({c})*x^{n}" for n, c in enumerate(powers))
    kind = draw(st.sampled_from(["integral", "sum", "limit", "derivative"]))
    if kind == "integral":
        area = sum(Fraction(c * (b ** (n + 1) - a ** (n + 1)), n + 1) for n, c in enumerate(powers))
        return _valued(f"integrate({formula}, x, {a}, {b})", Fraction(area))
    if kind == "sum":
        last = abs(b) * 50 + 1
        total = sum(c * k**n for n, c in enumerate(powers) for k in range(1, last + 1))
        return _valued(f"sum({formula}, x, 1, {last})", Fraction(total))
    if kind == "limit":
        value = sum(c * a**n for n, c in enumerate(powers))
        return _valued(f"limit(({formula})*(x - ({a}))/(x - ({a})), x, {a})", Fraction(value))
    # The slope of c (x - a)^2 is 2 c (x - a).
    text = f"diff({powers[0] or 1}*(x - ({a}))^2, x) = {2 * (powers[0] or 1) * b}"
    return Case(text, "value", f"x = {a + b}", _solutions("x", [Fraction(a + b)]))
