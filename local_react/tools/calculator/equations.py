"""One equation with one unknown: all its real solutions, where they can be found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import mpmath
import sympy as sp
from sympy.functions.elementary.trigonometric import TrigonometricFunction
from sympy.solvers.solveset import invert_real

from local_react.errors import ToolError
from local_react.tools.calculator import numbers

_MAX_DEGREE: Final = 40
_ROOT_DEGREE: Final = 8
"""Of a polynomial whose complex roots are told where it has no real ones."""
_DIGITS: Final = 30
_RANGE: Final = 1e-17
"""What a value is, beside the parts that it is the difference of, that counts as 0."""


@dataclass(frozen=True, slots=True)
class Roots:
    """The solutions, sorted, and what is to be said of them."""

    real: list[Any]
    complex: list[Any]
    note: str = ""
    always: bool = False
    """True for every value of the unknown for which both sides have one."""


def solve_one(difference: Any, name: Any) -> Roots:
    """Return where a formula of one unknown is 0.

    Raises ToolError where no way to find it is known.
    """
    if difference.has(sp.Mod, sp.floor, sp.ceiling):
        raise ToolError("no way to solve equations with mod, floor or ceil is known")
    real = sp.Symbol(str(name), real=True)
    formula = difference.subs(name, real)
    if _is_zero(formula):
        return Roots([], [], always=True)
    if real not in formula.free_symbols:
        return Roots([], [])
    for way in (_inverted, _of_polynomial, _of_period, _by_sympy, _by_search):
        found = way(formula, real)
        if found is not None:
            return found
    raise ToolError(f"no real solution for {name} was found")


def _is_zero(formula: Any) -> bool:
    small = formula.count_ops() < 60
    return bool(formula.is_zero) or (small and sp.simplify(sp.expand(formula)) == 0)


def _inverted(formula: Any, name: Any) -> Roots | None:
    """Undo what is done to an unknown that stands in one place: 3*2^x - 5."""
    places = sum(part == name for part in sp.preorder_traversal(formula))
    if (
        places != 1
        or formula.has(TrigonometricFunction)
        or (formula.is_polynomial(name) and (sp.degree(formula, name) < 3))
    ):
        return None
    try:
        left, values = invert_real(formula, sp.Integer(0), name)
    except (NotImplementedError, ValueError, TypeError, AttributeError):
        return None
    if left != name:
        return None
    if values == sp.S.EmptySet:
        return Roots([], [])
    if not isinstance(values, sp.FiniteSet):
        return None
    return Roots(_sorted(value for value in values if _solves(formula, name, value)), [])


def _of_polynomial(formula: Any, name: Any) -> Roots | None:
    top, bottom = sp.fraction(sp.together(formula))
    top = sp.expand(top)
    if not top.is_polynomial(name):
        return None
    check_degree(top, name)
    poly = sp.Poly(top, name)
    if poly.degree() < 1:
        return Roots([], [])
    if not poly.domain.is_QQ and not poly.domain.is_ZZ:
        return None if poly.degree() > 2 else _of_quadratic(poly, bottom, name)
    found = [
        root for root in dict.fromkeys(sp.real_roots(poly)) if not _vanishes(bottom, name, root)
    ]
    if found or poly.degree() > _ROOT_DEGREE or len(sp.real_roots(poly)):
        return Roots(_sorted(found), [])
    return Roots([], list(dict.fromkeys(poly.all_roots())))


def check_degree(formula: Any, name: Any) -> None:
    """Raise ToolError for a polynomial, or a quotient of some, of too high a degree."""
    top = sp.fraction(formula)[0]
    if top.is_polynomial(name) and sp.degree(top, name) > _MAX_DEGREE:
        raise ToolError(f"too large: equations up to degree {_MAX_DEGREE} are solved")


def _of_quadratic(poly: Any, bottom: Any, name: Any) -> Roots:
    """Return the roots of a x^2 + b x + c with irrational coefficients."""
    found = [root for root in sp.roots(poly) if not _vanishes(bottom, name, root)]
    real = [root for root in found if abs(sp.im(root.evalf(_DIGITS))) < _RANGE]
    return Roots(_sorted(real), [] if real else found)


def _vanishes(formula: Any, name: Any, value: Any) -> bool:
    if name not in formula.free_symbols:
        return False
    return bool(abs(formula.evalf(_DIGITS, subs={name: value.evalf(2 * _DIGITS)})) < _RANGE)


def _of_period(formula: Any, name: Any) -> Roots | None:
    """Return what solves a periodic equation within one period."""
    if not formula.has(TrigonometricFunction):
        return None
    try:
        period = sp.periodicity(formula, name)
        if period is None or period == 0:
            return None
        found = sp.solveset(formula, name, sp.Interval.Ropen(0, period))
    except (NotImplementedError, ValueError, TypeError, AttributeError):
        return None
    if found == sp.S.EmptySet:
        return Roots([], [])
    if not isinstance(found, sp.FiniteSet) or not all(
        _solves(formula, name, each) for each in found
    ):
        return None
    return Roots(
        _sorted(found), [], f"from 0 to {period}, and so on periodically".replace("**", "^")
    )


def _by_sympy(formula: Any, name: Any) -> Roots | None:
    try:
        found = sp.solve(formula, name)
    except (NotImplementedError, ValueError, TypeError, AttributeError):
        return None
    known = [root for root in found if not root.has(sp.Piecewise, sp.LambertW, sp.ConditionSet)]
    right = [root for root in known if not root.free_symbols and _solves(formula, name, root)]
    if not right or len(known) < len(found) or formula.has(TrigonometricFunction):
        return None  # it may have missed some
    return Roots(_sorted(right), [])


def _by_search(formula: Any, name: Any) -> Roots | None:
    """Return the roots between points where the sign changes, by mpmath."""

    def value(point: Any) -> Any:
        found = formula.evalf(_DIGITS, subs={name: sp.Float(str(point), _DIGITS)})
        return mpmath.mpf(str(found)) if found.is_Float or found.is_Rational else None

    with mpmath.workdps(_DIGITS):
        points = [(point, value(point)) for point in _points()]
        roots = [point for point, at in points if at == 0]
        if len(roots) > 6:
            raise ToolError(f"it holds for a whole range of {name}, not for single values")
        for (low, before), (high, after) in pairwise(points):
            if before and after and (before < 0) != (after < 0):
                root = _between(value, low, high, max(abs(before), abs(after)))
                roots += [] if root is None else [root]
    if not roots:
        return None
    real = _sorted(sp.Float(str(root), _DIGITS) for root in roots)
    return Roots(real, [], "found numerically; there may be others")


def _points() -> Iterator[Any]:
    """Yield where to look: close together around 0, and wider and wider beyond."""
    sizes = [mpmath.mpf(10) ** (mpmath.mpf(n) / 12) for n in range(-24, 49)]
    yield from (-size for size in reversed(sizes))
    yield mpmath.mpf(0)
    yield from sizes


def _between(value: Any, low: Any, high: Any, size: Any) -> Any:
    """Return the root between two points; None where the sign changes at a pole."""
    try:
        root = mpmath.findroot(value, (low, high), solver="anderson", tol=1e-40, verify=False)
        at = value(root)
    except (ValueError, ZeroDivisionError, TypeError):
        return None
    return root if at is not None and low <= root <= high and abs(at) < size * 1e-12 else None


def _solves(formula: Any, name: Any, root: Any) -> bool:
    """Return whether a formula is 0 there, and real all along."""
    rough = root.evalf(2 * _DIGITS)
    if abs(sp.im(rough)) > _RANGE * (1 + abs(sp.re(rough))):
        return False
    for part in sp.preorder_traversal(formula):
        if part.is_Pow or isinstance(part, sp.log):  # no detour: sqrt(-5) = sqrt(-5)
            at = part.evalf(_DIGITS, subs={name: sp.re(rough)})
            if abs(sp.im(at)) > _RANGE * (1 + abs(sp.re(at))):
                return False
    at = formula.evalf(_DIGITS, subs={name: sp.re(rough)})
    size = sum(abs(part.evalf(15, subs={name: sp.re(rough)})) for part in sp.Add.make_args(formula))
    return bool(at.is_number and at.is_finite is not False and abs(at) <= 1e-15 * (1 + abs(size)))


def _sorted(roots: Any) -> list[Any]:
    return sorted(dict.fromkeys(roots), key=lambda root: float(sp.re(root.evalf(20))))


def as_number(root: Any) -> Any:
    """Return a real root as a number to go on with, without the noise of its evaluation."""
    if root.is_Rational or not root.has(sp.I):
        return numbers.settle(root)
    return numbers.settle(sp.re(root.evalf(50)))
