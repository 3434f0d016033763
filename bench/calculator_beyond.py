"""Expressions beyond arithmetic, and what must come of each, worked out without the
calculator: solutions that an equation was made from, factors of units, datetime."""

from __future__ import annotations

import calendar
import math
import operator
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction
from itertools import permutations
from typing import Final

from calculator_arithmetic import NUMBER, Case, close, told_as, valued
from hypothesis import strategies as st

_SMALL: Final = st.integers(-12, 12)
_NONZERO: Final = _SMALL.filter(bool)
_RATIONALS: Final = st.builds(
    Fraction, st.integers(-60, 60), st.sampled_from([1, 1, 1, 2, 3, 4, 7])
)


def _solutions(name: str, values: Sequence[Fraction]) -> Callable[[str], bool]:
    """Return whether an answer names exactly those values: x = -2 or x = 2."""

    def agrees(told: str) -> bool:
        found = [Fraction(one) for one in re.findall(rf"\b{name} = ({NUMBER})(?![\w.])", told)]
        pairs = zip(sorted(found), sorted(set(values)), strict=True)
        return len(found) == len(set(values)) and all(close(a, b) for a, b in pairs)

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
        found = re.match(rf"x (<=?|>=?) ({NUMBER})(?![\w.])", told)
        if not found or found[1] != sign:
            return False
        return close(Fraction(found[2]), value)

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
    return valued(f"{text} {to} {into}", total / factors[into])


def _temperature(amount: Fraction, unit: str, to: str, draw: st.DrawFn) -> Case:
    into = draw(st.sampled_from(sorted(_DEGREES)))
    (size, zero), (into_size, into_zero) = _DEGREES[unit], _DEGREES[into]
    value = (amount * size + zero - into_zero) / into_size
    return valued(f"{_decimal(amount)} {unit} {to} {into}", value)


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
        return told_as(f"weekday of {written}", f"{day:%A}")
    if kind == "between":
        other = draw(_DAYS)
        first, last = sorted([day, other])
        days = (last - first).days
        both = f"{draw(_ways_of_writing(first))} and {draw(_ways_of_writing(last))}"
        return _valued_days(f"days between {both}", days)
    text, moved = draw(_moved(day))
    return told_as(f"{written} {text}", f"{moved:%Y-%m-%d} ({moved:%A})", f"{moved:%Y-%m-%d}")


def _valued_days(text: str, days: int) -> Case:
    return told_as(text, f"{days} day{'' if days == 1 else 's'}")


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
        return valued(f"det({a})", Fraction(_determinant(a)))
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
        return valued(f"{first} + {second} * 3", Fraction(a + b * 3))
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
    return valued(text, Fraction(value))


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
        return close(found[""], real) and close(found["i"], imaginary)

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
        return valued(f"1 + {name}({a}, {b}) * 2", Fraction(1 + _OF_WHOLE[name](a, b) * 2))
    name, value = draw(st.sampled_from([*sorted(_OF_ONE), "sqrt", "cbrt"])), draw(hundredths)
    roots = {"sqrt": (value**2, abs(value)), "cbrt": (value**3, value)}
    given, result = roots[name] if name in roots else (value, _OF_ONE[name](value))
    sign, shown = ("-" if given < 0 else ""), abs(given)
    written = f"{math.floor(shown)}.{int(shown % 1 * 10**6):06}"
    return valued(f"{name}({sign}{written}) - 1", result - 1)


_TWO_WHOLE: Final = st.tuples(st.integers(0, 300), st.integers(0, 300))


def _call_of_many(draw: st.DrawFn, values: Sequence[Fraction]) -> Case:
    name = draw(st.sampled_from(sorted(_OF_MANY)))
    grouped = len(values) > 1 and draw(st.booleans())
    written = [f"{float(value):,.2f}" if grouped else f"{float(value):.2f}" for value in values]
    # Of grouped digits only a comma and a space separate two numbers.
    inside = (", " if grouped else draw(st.sampled_from([",", ", "]))).join(written)
    inside = f"[{inside}]" if draw(st.booleans()) else inside
    return valued(f"{name}({inside}) * 3", _OF_MANY[name](values) * 3)


@st.composite
def calculus(draw: st.DrawFn) -> Case:
    """Return a definite integral, a sum, a limit or a derivative's root of a polynomial."""
    powers = draw(st.lists(_SMALL, min_size=2, max_size=5))
    a, b = draw(_SMALL), draw(_SMALL)
    formula = " + ".join(f"({c})*x^{n}" for n, c in enumerate(powers))
    kind = draw(st.sampled_from(["integral", "sum", "limit", "derivative"]))
    if kind == "integral":
        area = sum(Fraction(c * (b ** (n + 1) - a ** (n + 1)), n + 1) for n, c in enumerate(powers))
        return valued(f"integrate({formula}, x, {a}, {b})", Fraction(area))
    if kind == "sum":
        last = abs(b) * 50 + 1
        total = sum(c * k**n for n, c in enumerate(powers) for k in range(1, last + 1))
        return valued(f"sum({formula}, x, 1, {last})", Fraction(total))
    if kind == "limit":
        value = sum(c * a**n for n, c in enumerate(powers))
        return valued(f"limit(({formula})*(x - ({a}))/(x - ({a})), x, {a})", Fraction(value))
    # The slope of c (x - a)^2 is 2 c (x - a).
    text = f"diff({powers[0] or 1}*(x - ({a}))^2, x) = {2 * (powers[0] or 1) * b}"
    return Case(text, "value", f"x = {a + b}", _solutions("x", [Fraction(a + b)]))
