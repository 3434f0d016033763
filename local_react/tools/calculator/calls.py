"""The functions by name, for each sort of value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, Final

import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator import (
    complexes,
    dates,
    functions,
    integers,
    matrices,
    numbers,
    operators,
    solving,
    statistics,
    symbolic,
    units,
    vectors,
)
from local_react.tools.calculator.answer import numeral, told
from local_react.tools.calculator.units import Quantity
from local_react.tools.calculator.values import MAX_ITEMS, Complex, Content, Told, kind

_ANY: Final = MAX_ITEMS
Entry = tuple[Callable[..., Content], int, int]
"""A function, and the least and most arguments it takes."""


def _solve(*given: Content) -> Content:
    """solve(x^2 = 4), solve(x + y = 3, x), solve([x + y = 3, x - y = 1], [x, y])."""
    flat = symbolic.flat(given)
    names = [value for value in flat if getattr(value, "is_Symbol", False)]
    equations = [value for value in flat if not getattr(value, "is_Symbol", False)]
    relations = [each for each in equations if getattr(each, "sign", "=") != "="]
    if relations and len(relations) < len(equations):
        raise ToolError("solve takes equations or inequalities, not both at once")
    if relations:
        return solving.inequality(relations)
    return solving.solve(equations, names)


def _factor(value: Content) -> Content:
    if kind(value) == "number" and value.is_Integer:
        return integers.factorization(value)
    return symbolic.factor_formula(symbolic.formula(value, "factor"))


def _eigenvalues(value: Content) -> Content:
    found = matrices.eigenvalues(value)
    texts = []
    for each, times in found:
        real, imaginary = each.as_real_imag()
        number = complexes.made(numbers.settle(real), numbers.settle(imaginary))
        texts.append(
            told(number) + (" (twice)" if times == 2 else f" ({times} times)" * (times > 1))
        )
    return Told(", ".join(texts))


def _degrees(angle: Content) -> Content:
    return operators.divide(angle, numbers.constant("deg"))


def _radians(angle: Content) -> Content:
    return operators.multiply(angle, numbers.constant("deg"))


def _date(year: Content, month: Content, day: Content) -> Content:
    try:
        return date(*(functions.whole(part, "date") for part in (year, month, day)))
    except (ValueError, OverflowError) as error:
        raise ToolError(f"there is no such date: {error}; write date(2024, 12, 31)") from error


def _weekday(day: Content) -> Content:
    if not isinstance(day, date):
        raise ToolError("weekday takes a date: write it as yyyy-mm-dd")
    return Told(dates.weekday(day))


def _leap(year: Content) -> Content:
    number = year.year if isinstance(year, date) else functions.whole(year, "is_leap")
    return dates.is_leap(number)


def _real(value: Content) -> Content:
    return complexes.parts(value)[0]


def _imaginary(value: Content) -> Content:
    return complexes.parts(value)[1]


def _conjugate(value: Content) -> Content:
    real, imaginary = complexes.parts(value)
    return complexes.made(real, -imaginary)


def _in_base(base: int) -> Callable[[Content], Content]:
    def convert(value: Content) -> Content:
        return Told(numeral(functions.whole(value, "a base conversion"), base))

    return convert


def _number(value: Content) -> Content:
    """float(x): what it is already."""
    return value


_WHOLE_VALUES: Final[Mapping[str, Entry]] = {
    "solve": (_solve, 1, 30),
    "diff": (symbolic.differentiate, 1, 12),
    "derivative": (symbolic.differentiate, 1, 12),
    "integrate": (symbolic.integrate, 1, 4),
    "integral": (symbolic.integrate, 1, 4),
    "limit": (symbolic.limit, 2, 4),
    "series": (symbolic.series, 1, 4),
    "taylor": (symbolic.series, 1, 4),
    "simplify": (symbolic.simplify, 1, 1),
    "expand": (symbolic.expand, 1, 1),
    "collect": (symbolic.collect, 2, 2),
    "factor": (_factor, 1, 1),
    "factors": (_factor, 1, 1),
    "factorize": (_factor, 1, 1),
    "factorise": (_factor, 1, 1),
    "factorint": (_factor, 1, 1),
    "apart": (symbolic.apart, 1, 1),
    "subs": (symbolic.substitute, 2, 3),
    "substitute": (symbolic.substitute, 2, 3),
    "det": (matrices.determinant, 1, 1),
    "determinant": (matrices.determinant, 1, 1),
    "inv": (matrices.inverse, 1, 1),
    "inverse": (matrices.inverse, 1, 1),
    "transpose": (matrices.transpose, 1, 1),
    "trace": (matrices.trace, 1, 1),
    "rank": (matrices.rank, 1, 1),
    "rref": (matrices.reduced, 1, 1),
    "eigenvalues": (_eigenvalues, 1, 1),
    "matmul": (matrices.multiply, 2, 2),
    "dot": (vectors.dot, 2, 2),
    "cross": (vectors.cross, 2, 2),
    "norm": (vectors.norm, 1, 1),
    "identity": (vectors.identity, 1, 1),
    "degrees": (_degrees, 1, 1),
    "radians": (_radians, 1, 1),
    "phi": (integers.totient, 1, 1),
    "days": (operators.days_between, 2, 2),
    "date": (_date, 3, 3),
    "weekday": (_weekday, 1, 1),
    "is_leap": (_leap, 1, 1),
    "leap_year": (_leap, 1, 1),
    "re": (_real, 1, 1),
    "im": (_imaginary, 1, 1),
    "conj": (_conjugate, 1, 1),
    "conjugate": (_conjugate, 1, 1),
    "arg": (complexes.argument, 1, 1),
    "npr": (integers.permutations, 1, 2),
    "perm": (integers.permutations, 1, 2),
    "permutations": (integers.permutations, 1, 2),
    "isprime": (integers.is_prime, 1, 1),
    "is_prime": (integers.is_prime, 1, 1),
    "nextprime": (integers.next_prime, 1, 1),
    "prevprime": (integers.previous_prime, 1, 1),
    "prime": (integers.nth_prime, 1, 1),
    "primes": (integers.primes, 1, 2),
    "primefactors": (integers.prime_factors, 1, 1),
    "divisors": (integers.divisors, 1, 1),
    "totient": (integers.totient, 1, 1),
    "fibonacci": (integers.fibonacci, 1, 1),
    "fib": (integers.fibonacci, 1, 1),
    "digitsum": (integers.digit_sum, 1, 1),
    "bin": (_in_base(2), 1, 1),
    "oct": (_in_base(8), 1, 1),
    "hex": (_in_base(16), 1, 1),
    "float": (_number, 1, 1),
    "matrix": (_number, 1, 1),
}
"""Those that take each value as it is."""

_ABOUT_UNKNOWNS: Final = """
    solve diff derivative integrate integral limit series taylor simplify expand collect apart
    subs substitute
"""
SYMBOLIC: Final = frozenset(_ABOUT_UNKNOWNS.split())
"""Functions in whose step a letter is an unknown."""
_MAY_BE: Final = """
    sum product prod factor factorize factorise det determinant inv inverse transpose trace
    dot cross matmul eigenvalues
"""
BINDING: Final = SYMBOLIC | frozenset(_MAY_BE.split())
"""And those that take one, where there is one."""


def takes_all(name: str) -> bool:
    """Return True for a function that takes all the rest of a step: expand (x+1)^3."""
    return is_about_unknowns(name) or name.casefold() in statistics.FUNCTIONS


def is_about_unknowns(name: str) -> bool:
    """Return True for a function of algebra or calculus, which takes a formula."""
    folded = name.casefold()
    return (folded in SYMBOLIC and folded != "solve") or folded.startswith("factor")


def is_function(name: str) -> bool:
    """Return True for the name of a function."""
    folded = name.casefold()
    return (
        folded in _WHOLE_VALUES or folded in statistics.FUNCTIONS or folded in functions.FUNCTIONS
    )


def names() -> frozenset[str]:
    """Return the names of all functions."""
    return frozenset({*_WHOLE_VALUES, *statistics.FUNCTIONS, *functions.FUNCTIONS})


def apply(name: str, values: Sequence[Content]) -> Content:
    """Return a function's value. Raises ToolError where it does not take what is given."""
    given = list(values)
    if name in ("sum", "product", "prod") and len(given) > 1 and _is_indexed(given):
        return (symbolic.summation if name == "sum" else symbolic.product)(*given)
    if name in _WHOLE_VALUES:
        return _checked(name, _WHOLE_VALUES[name], given)
    if name in statistics.FUNCTIONS:
        return _checked(name, statistics.FUNCTIONS[name], _items(given))
    return _apply_number(name, given)


def _is_indexed(given: Sequence[Content]) -> bool:
    """Return True for sum(k^2, k, 1, 10) and sum(k^2, (k, 1, 10))."""
    second = given[1][0] if isinstance(given[1], tuple) and given[1] else given[1]
    return getattr(second, "is_Symbol", False) and len(symbolic.flat(given[1:])) == 3


def _items(given: Sequence[Content]) -> list[Content]:
    items = symbolic.flat(given)
    if len(items) > MAX_ITEMS:
        raise ToolError(f"too large: a list has at most {MAX_ITEMS} values")
    return items


def _checked(name: str, entry: Entry, given: Sequence[Content]) -> Content:
    _check_count(name, entry, len(given))
    return entry[0](*given)


def _check_count(name: str, entry: Entry, given: int) -> None:
    _, least, most = entry
    if least <= given <= most:
        return
    wanted = {least: f"{least}", _ANY: f"{least} or more"}.get(most, f"{least} to {most}")
    wanted = {"1 or more": "one or more", "1 to 2": "1 or 2"}.get(wanted, wanted)
    commas = ": inside a function write 1234 for 1,234" if given > most else ""
    values = "value" if most == 1 else "values"
    raise ToolError(f"{name} takes {wanted} {values}, not {given}{commas}")


def _apply_number(name: str, given: Sequence[Content]) -> Content:
    """Return the value of a function of numbers, of what else it can be asked."""
    entry = functions.FUNCTIONS[name]
    if len(given) == 1 and isinstance(given[0], tuple) and entry[2] > 1:
        given = list(given[0])
    _check_count(name, entry, len(given))
    kinds = {kind(value) for value in given}
    if kinds == {"number"}:
        if name == "sqrt" and numbers.sign(given[0]) < 0:
            return Complex(numbers.integer(0), functions.square_root(-given[0]))
        return numbers.settle(entry[0](*given))
    if "quantity" in kinds:
        return _of_quantity(name, given)
    if kinds <= {"number", "complex number"}:
        return _of_complex(name, given)
    if kinds <= {"number", "formula"}:
        return _of_formula(name, given)
    raise ToolError(f"{name} takes numbers, not a {min(kinds - {'number'})}")


_ALIKE: Final = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "log": "ln"}


def _of_complex(name: str, given: Sequence[Content]) -> Content:
    name = _ALIKE.get(name, name)
    if name == "abs":
        return complexes.absolute(given[0])
    if name == "pow":
        return operators.power(*given)
    if name in complexes.FUNCTIONS and len(given) == 1:
        return complexes.apply({"ln": "log"}.get(name, name), given[0])
    raise ToolError(f"{name} takes real numbers only")


def _of_quantity(name: str, given: Sequence[Content]) -> Content:
    first = given[0]
    if name in ("sqrt", "cbrt") and isinstance(first, Quantity):
        return units.power(first, sp.Rational(1, 2 if name == "sqrt" else 3))
    if name in ("abs", "round", "floor", "ceil") and isinstance(first, Quantity):
        number = functions.FUNCTIONS[name][0](first.number, *given[1:])
        return Quantity(number, first.unit, first.label)
    if name == "pow":
        return operators.power(*given)
    raise ToolError(f"{name} takes numbers without a unit")


_BY_SYMPY: Final = """
    sqrt cbrt exp sin cos tan cot sec csc asin acos atan sinh cosh tanh asinh acosh atanh
    floor sign factorial binomial gcd lcm
"""
_FORMULAS: Final[Mapping[str, Any]] = {
    **{name: getattr(sp, name) for name in _BY_SYMPY.split()},
    "ln": sp.log,
    "abs": sp.Abs,
    "ceil": sp.ceiling,
    "root": sp.root,
}


def _of_formula(name: str, given: Sequence[Content]) -> Content:
    name = _ALIKE.get(name, name)
    if name == "pow":
        return operators.power(*given)
    if name in ("log10", "log2"):
        return sp.log(given[0]) / sp.log(int(name[3:]))
    if name not in _FORMULAS:
        raise ToolError(f"{name} takes numbers, not a formula with an unknown")
    return _FORMULAS[name](*given)
