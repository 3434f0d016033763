"""Calculus and algebra by sympy, on formulas that our own grammar has built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import mpmath
import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator import numbers, operators
from local_react.tools.calculator.answer import formula_text
from local_react.tools.calculator.values import Content, Told, bounded, kind

_MAX_ORDER: Final = 20
_STRETCHES: Final = 12
_MAX_TERMS: Final = 2000
"""Terms that an expansion may have."""
_MAX_SUM: Final = 2000
"""Terms of a sum that are added up one by one."""


def formula(value: Content, what: str) -> Any:
    """Return a number or formula. Raises ToolError for anything else."""
    if kind(value) not in ("number", "formula"):
        raise ToolError(f"{what} takes a formula such as x^2 + 1, not a {kind(value)}")
    return value


def unknown(value: Content, what: str) -> Any:
    """Return an unknown. Raises ToolError for anything else."""
    if not getattr(value, "is_Symbol", False):
        raise ToolError(f"{what} needs the name of an unknown there, such as x")
    return value


def only_unknown(value: Any, what: str) -> Any:
    """Return a formula's one unknown. Raises ToolError where there is not just one."""
    names = sorted(value.free_symbols, key=str)
    if len(names) != 1:
        listed = ", ".join(map(str, names)) or "none"
        raise ToolError(f"{what}: say by which unknown (there is {listed}), as in {what}(x^2, x)")
    return names[0]


def differentiate(*given: Content) -> Content:
    """diff(f), diff(f, x), diff(f, x, n), diff(f, x, y)."""
    body = formula(given[0], "diff")
    if len(given) == 1:
        return bounded(sp.simplify(sp.diff(body, only_unknown(body, "diff"))))
    for name, times in _orders(given[1:]):
        body = bounded(sp.diff(body, name, times))
    return bounded(sp.simplify(body))


def _orders(given: Sequence[Content]) -> list[tuple[Any, int]]:
    orders: list[tuple[Any, int]] = []
    for value in given:
        if orders and kind(value) == "number":
            orders[-1] = (orders[-1][0], _order(value, "diff"))
        else:
            orders.append((unknown(value, "diff"), 1))
    return orders


def _order(value: Content, what: str) -> int:
    if kind(value) != "number" or not value.is_Integer or not 0 <= value <= _MAX_ORDER:
        raise ToolError(f"too large: {what} takes a whole number from 0 to {_MAX_ORDER} there")
    return int(value)


def integrate(*given: Content) -> Content:
    """integrate(f), integrate(f, x), integrate(f, x, a, b), integrate(f, (x, a, b))."""
    body, rest = formula(given[0], "integrate"), flat(given[1:])
    name = unknown(rest[0], "integrate") if rest else only_unknown(body, "integrate")
    if len(rest) in (0, 1):
        found = sp.integrate(body, name)
        _check_done(found, sp.Integral, "no formula for that integral is known")
        shortest = min(found, sp.simplify(found), key=lambda each: each.count_ops())
        return Told(f"{formula_text(bounded(shortest))} + C")
    if len(rest) != 3:
        raise ToolError("integrate takes an unknown and two limits: integrate(x^2, x, 0, 1)")
    low, high = (formula(end, "integrate") for end in rest[1:])
    try:
        found = sp.integrate(body, (name, low, high))
    except (NotImplementedError, AttributeError, TypeError, ValueError):
        found = sp.Integral(body, (name, low, high))
    if found.has(sp.Integral):
        if body.free_symbols - {name} or low.free_symbols or high.free_symbols:
            raise ToolError("no formula for that integral is known: give numbers for the unknowns")
        value, error = quadrature(body, name, low, high)
        if error > 1e-10 * (1 + abs(value)):
            raise ToolError("undefined: that integral has no certain value, or none at all")
        return numbers.settle(sp.Float(str(value), 15))
    result = _definite(found)
    if not getattr(result, "free_symbols", {name}):
        _check_integral(result, body, name, low, high)
    return result


def _check_integral(result: Any, body: Any, name: Any, low: Any, high: Any) -> None:
    """Raise ToolError where what sympy found is far from what quadrature finds: it takes
    the wrong branch of some integrals, across a pole or a jump."""
    if low.is_infinite or high.is_infinite or body.is_polynomial(name):
        return
    value, error = quadrature(body, name, low, high)
    near = abs(value - float(numbers.approximate(result, 15))) <= 1e-3 * (1 + abs(value)) + error
    if not near or error > 0.1 * (1 + abs(value)):
        raise ToolError("undefined: that integral has no certain value, or none at all")


def quadrature(body: Any, name: Any, low: Any, high: Any) -> tuple[float, float]:
    """Return a definite integral by numbers alone, and how far off it may be."""

    def value(point: Any) -> Any:
        found = body.evalf(20, subs={name: sp.Float(str(point), 25)})
        if found.has(sp.zoo, sp.nan, sp.oo) or not found.is_number:
            return mpmath.mpf(0)  # at a single point
        return mpmath.mpf(str(sp.re(found)))

    with mpmath.workdps(20):
        ends = [mpmath.mpf(str(sp.N(end, 25))) for end in (low, high)]
        points = mpmath.linspace(*ends, _STRETCHES + 1) if all(map(mpmath.isfinite, ends)) else ends
        found, error = mpmath.quad(value, points, error=True, maxdegree=5)
        return float(found), float(error)


def _definite(found: Any) -> Content:
    if found in (sp.oo, -sp.oo) or found.has(sp.zoo, sp.nan):
        raise ToolError("undefined: that integral has no finite value")
    if found.free_symbols:
        return bounded(sp.simplify(found))
    return _number(found)


def _number(found: Any) -> Content:
    """Return a number, with as short an exact form as there is."""
    simple = sp.simplify(found) if found.count_ops() < 100 else found
    if simple.is_real is False or simple.has(sp.I):
        raise ToolError("not a real number: the result is complex")
    return numbers.settle(simple)


def limit(*given: Content) -> Content:
    """limit(f, x, a), limit(f, x, a, "+") as +1 or -1 for the side."""
    rest = flat(given[1:])
    if len(rest) not in (2, 3):
        raise ToolError("limit takes a formula, an unknown and where it goes: limit(1/x, x, 0)")
    body, name = formula(given[0], "limit"), unknown(rest[0], "limit")
    side = "+-"
    if len(rest) == 3:
        side = "+" if numbers.sign(rest[2]) > 0 else "-"
    try:
        found = sp.limit(body, name, formula(rest[1], "limit"), side)
    except ValueError as error:
        raise ToolError("undefined: the limits from the two sides differ") from error
    if found in (sp.oo, -sp.oo):
        return Told("infinity" if found == sp.oo else "-infinity")
    _check_done(found, sp.Limit, "no such limit is known")
    if found.has(sp.AccumBounds, sp.zoo, sp.nan):
        raise ToolError("undefined: there is no such limit")
    return bounded(found) if found.free_symbols else _number(found)


def series(*given: Content) -> Content:
    """series(f, x, a, n): the Taylor series up to the term of order n - 1."""
    body, rest = formula(given[0], "series"), flat(given[1:])
    name = unknown(rest[0], "series") if rest else only_unknown(body, "series")
    point = formula(rest[1], "series") if len(rest) > 1 else numbers.integer(0)
    order = _order(rest[2], "series") if len(rest) > 2 else 6
    found = sp.series(body, name, point, order)
    text = formula_text(found.removeO())
    return Told(f"{text} + ..." if found.has(sp.Order) else text)


def summation(*given: Content) -> Content:
    """sum(f, k, a, b), sum(f, (k, a, b))."""
    return _repeated("sum", given)


def product(*given: Content) -> Content:
    """product(f, k, a, b)."""
    return _repeated("product", given)


def _repeated(what: str, given: Sequence[Content]) -> Content:
    rest = flat(given[1:])
    if len(rest) != 3:
        raise ToolError(f"{what} takes a formula, an unknown and its ends: {what}(k^2, k, 1, 10)")
    body, name = formula(given[0], what), unknown(rest[0], what)
    low, high = (formula(end, what) for end in rest[1:])
    if low.is_Integer and high.is_Integer and high - low < _MAX_SUM:
        return _one_by_one(what, body, name, int(low), int(high))
    if what == "product" and not (low.free_symbols or high.free_symbols):
        raise ToolError(f"too large: a product has at most {_MAX_SUM} factors")
    find = sp.summation if what == "sum" else sp.product
    found = find(body, (name, low, high))
    _check_done(found, (sp.Sum, sp.Product), f"no formula for that {what} is known")
    if found in (sp.oo, -sp.oo):
        return Told("infinity" if found == sp.oo else "-infinity")
    return bounded(sp.simplify(found)) if found.free_symbols else _number(found)


def _one_by_one(what: str, body: Any, name: Any, low: int, high: int) -> Content:
    combine = operators.add if what == "sum" else operators.multiply
    total: Content = numbers.integer(0 if what == "sum" else 1)
    for number in range(low, high + 1):
        value = body.subs(name, number)
        if value.has(sp.zoo, sp.nan):
            raise ToolError(f"undefined: at {name} = {number} there is a division by zero")
        total = combine(total, value if value.free_symbols else numbers.settle(value))
    return total


def simplify(value: Content) -> Content:
    return _tidied(sp.simplify(formula(value, "simplify")))


def expand(value: Content) -> Content:
    body = formula(value, "expand")
    if _expanded_terms(body) > _MAX_TERMS:
        raise ToolError(f"too large: that expands into more than {_MAX_TERMS} terms")
    return _tidied(sp.expand(body))


def _expanded_terms(body: Any) -> int:
    """Return about how many terms a formula has when it is multiplied out."""
    if body.is_Add:
        return sum(_expanded_terms(part) for part in body.args)
    if body.is_Mul:
        count = 1
        for part in body.args:
            count = min(count * _expanded_terms(part), 10**9)
        return count
    if body.is_Pow and body.exp.is_Integer and body.exp > 0:
        terms, times = _expanded_terms(body.base), int(body.exp)
        return min(int(sp.binomial(times + terms - 1, terms - 1)), 10**9) if terms > 1 else 1
    return 1


def collect(value: Content, name: Content) -> Content:
    return _tidied(sp.collect(sp.expand(formula(value, "collect")), unknown(name, "collect")))


def factor_formula(value: Any) -> Content:
    return _tidied(sp.factor(value))


def apart(value: Content) -> Content:
    return _tidied(sp.apart(formula(value, "apart")))


def _tidied(found: Any) -> Content:
    return bounded(found) if found.free_symbols else _number(found)


def substitute(value: Content, *given: Content) -> Content:
    """subs(f, x, a): the formula with a for x."""
    rest = flat(given)
    if len(rest) != 2:
        raise ToolError("subs takes a formula, an unknown and its value: subs(x^2, x, 3)")
    found = formula(value, "subs").subs(unknown(rest[0], "subs"), formula(rest[1], "subs"))
    return bounded(found) if found.free_symbols else numbers.settle(found)


def flat(given: Sequence[Content]) -> list[Content]:
    """Return the values, those of a tuple one by one: (x, 0, 1)."""
    flat: list[Content] = []
    for value in given:
        flat.extend(value if isinstance(value, tuple) else (value,))
    return flat


def _check_done(found: Any, undone: Any, why: str) -> None:
    if found.has(*(undone if isinstance(undone, tuple) else (undone,))):
        raise ToolError(f"{why}: give numbers, or a simpler formula")
