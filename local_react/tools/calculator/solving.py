"""Equations, systems of them, and inequalities: what the unknowns are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import sympy as sp
from sympy.functions.elementary.trigonometric import TrigonometricFunction

from local_react.errors import ToolError
from local_react.tools.calculator import numbers
from local_react.tools.calculator.answer import answer, complex_text, formula_text
from local_react.tools.calculator.equations import as_number, check_degree, solve_one
from local_react.tools.calculator.values import Content, Equation, Told, bounded, kind

_MAX_EQUATIONS: Final = 12
_MAX_TOLD: Final = 12
"""Solutions that are listed."""
Solution = dict[Any, Any]


def solve(equations: Sequence[Content], unknowns: Sequence[Any]) -> Told:
    """Return the solutions as text: "x = 2", "x = -2 or x = 2", "x = 6, y = 4".

    Raises ToolError where there is none to be found, or too few equations.
    """
    differences = [_difference(equation) for equation in equations]
    if not differences:
        raise ToolError("solve takes an equation, as in solve(2*x = 6, x)")
    if len(differences) > _MAX_EQUATIONS:
        raise ToolError(f"too large: at most {_MAX_EQUATIONS} equations are solved together")
    names = list(unknowns) or _unknowns(differences)
    if not names:
        return Told("true for all values" if not any(differences) else "no solution")
    if len(differences) == 1 and len(names) == 1:
        return _one(differences[0], names[0])
    return _system(differences, names)


def _difference(equation: Content) -> Any:
    if not isinstance(equation, Equation):
        equation = Equation(equation, "=", numbers.integer(0))
    if equation.sign != "=":
        raise ToolError("an inequality is solved alone: write it without solve()")
    for side in (equation.left, equation.right):
        if kind(side) not in ("number", "formula"):
            raise ToolError(f"an equation to solve has numbers on its sides, not a {kind(side)}")
    return bounded(equation.left - equation.right)


def checked(equation: Equation) -> Equation:
    """Return an equation whose sides can be equal. Raises ToolError for another one."""
    kinds = {kind(equation.left), kind(equation.right)}
    odd = kinds - {"number", "formula"}
    if odd and (len(kinds) > 1 or "relation" in odd):
        raise ToolError(
            f"an equation has two numbers on its sides, not a {' and a '.join(sorted(kinds))}"
        )
    if any(side.has(sp.oo) for side in (equation.left, equation.right) if "formula" in kinds):
        raise ToolError("undefined: infinity is on no side of an equation")
    return equation


def _unknowns(formulas: Iterable[Any]) -> list[Any]:
    return sorted(set().union(*(each.free_symbols for each in formulas)), key=str)


def _one(difference: Any, name: Any) -> Told:
    """Return the solutions of one equation for one unknown."""
    if difference.free_symbols - {name}:
        return _in_others(difference, name)
    roots = solve_one(difference, name)
    if roots.always:
        return Told(f"true for every {name} for which both sides have a value")
    if not roots.real:
        if not roots.complex:
            return Told("no solution")
        told = " or ".join(f"{name} = {_complex_text(root)}" for root in roots.complex)
        return Told(f"no real solution; {told}")
    if len(roots.real) > _MAX_TOLD:
        raise ToolError(f"too many solutions: {len(roots.real)}; ask for fewer")
    told_all = " or ".join(f"{name} = {answer(as_number(root))}" for root in roots.real)
    return Told(told_all + (f" ({roots.note})" if roots.note else ""))


def _in_others(difference: Any, name: Any) -> Told:
    """Return the solutions in terms of other unknowns."""
    difference = sp.together(difference)
    if name not in difference.free_symbols:
        raise ToolError(f"{name} is not in the equation, or falls out of it")
    check_degree(difference, name)
    try:
        found = sp.solve(difference, name)
    except NotImplementedError as error:
        raise ToolError(f"no formula for {name} is known: give numbers for the others") from error
    told = [f"{name} = {formula_text(bounded(sp.simplify(root)))}" for root in found[:_MAX_TOLD]]
    return Told(" or ".join(told) or "no solution")


def _is_real(root: Any) -> bool:
    if root.is_real is not None:
        return bool(root.is_real)
    rough = root.evalf(30)
    return bool(abs(sp.im(rough)) < 1e-20 * (1 + abs(sp.re(rough))))


def _text(root: Any) -> str:
    if root.free_symbols:
        return formula_text(bounded(sp.simplify(root)))
    return answer(as_number(root))


def _complex_text(root: Any) -> str:
    real, imaginary = root.as_real_imag()
    return complex_text(numbers.settle(real), numbers.settle(imaginary))


def _system(differences: Sequence[Any], names: Sequence[Any]) -> Told:
    """Return the solutions of several equations, or of one for several unknowns."""
    others = [name for name in _unknowns(differences) if name not in names]
    if len(differences) < len(names) and not others:
        listed = " and ".join(map(str, names))
        raise ToolError(
            f"{len(differences)} equation{'s' * (len(differences) > 1)} for {len(names)} "
            f"unknowns, {listed}: add equations, or say for which, as in "
            f"solve({formula_text(differences[0])} = 0, {names[0]})"
        )
    for difference in differences:
        for name in names:
            check_degree(sp.together(difference), name)
    try:
        found = sp.solve(list(differences), list(names), dict=True)
    except NotImplementedError as error:
        raise ToolError("no way to solve these equations is known: simplify them") from error
    told = [_solution_text(solution, names) for solution in found if _all_real(solution)]
    if found and not told:
        return Told("no real solution")
    return Told(" or ".join(told[:_MAX_TOLD]) or "no solution")


def _all_real(solution: Solution) -> bool:
    return all(value.free_symbols or _is_real(value) for value in solution.values())


def _solution_text(solution: Solution, names: Sequence[Any]) -> str:
    told = [f"{name} = {_text(solution[name])}" for name in names if name in solution]
    free = [str(name) for name in names if name not in solution]
    return ", ".join(told) + (f" for any {' and '.join(free)}" if free else "")


def values_of(equations: Sequence[Content], name: Any) -> list[Any]:
    """Return what an unknown is by the equations: used where a later step asks for it."""
    differences = [_difference(equation) for equation in equations]
    found = sp.solve(differences, _unknowns(differences), dict=True)
    return [solution[name] for solution in found if name in solution]


def inequality(relations: Sequence[Equation]) -> Told:
    """Return for which values of the one unknown all the relations hold: "x > 2"."""
    names = _unknowns(side for each in relations for side in (each.left, each.right))
    if len(names) != 1:
        raise ToolError(f"an inequality has one unknown, not {', '.join(map(str, names))}")
    variable = sp.Symbol(str(names[0]), real=True)
    holds = sp.S.Reals
    for each in relations:
        difference = bounded(each.left - each.right).subs(names[0], variable)
        check_degree(sp.together(difference), variable)
        relation = _RELATIONS[each.sign](difference, 0)
        if relation in (sp.true, sp.false):
            holds = holds if relation == sp.true else sp.S.EmptySet
            continue
        try:
            part = sp.solve_univariate_inequality(relation, variable, relational=False)
        except NotImplementedError as error:
            raise ToolError("no way to solve this inequality is known: simplify it") from error
        holds = sp.Intersection(holds, part)
    periodic = any(
        each.left.has(TrigonometricFunction) or each.right.has(TrigonometricFunction)
        for each in relations
    )
    return Told(_set_text(holds, str(variable)) + _ONE_PERIOD * periodic)


_ONE_PERIOD: Final = " (within one period)"
_RELATIONS: Final = {"<": sp.Lt, "<=": sp.Le, ">": sp.Gt, ">=": sp.Ge}


def _set_text(found: Any, name: str) -> str:
    """Return a set of real numbers in words: "x < -2 or x > 2"."""
    if found == sp.S.EmptySet:
        return "no solution"
    if found == sp.S.Reals:
        return f"true for every real {name}"
    pieces = found.args if isinstance(found, sp.Union) else (found,)
    told = [_piece_text(piece, name) for piece in pieces]
    return " or ".join(told)


def _piece_text(piece: Any, name: str) -> str:
    if isinstance(piece, sp.FiniteSet):
        return " or ".join(f"{name} = {_text(value)}" for value in piece)
    if not isinstance(piece, sp.Interval):
        raise ToolError("the solutions have no short form: ask about a part of the line")
    low, high = piece.start, piece.end
    before, after = ("<" if piece.left_open else "<="), ("<" if piece.right_open else "<=")
    if low == -sp.oo:
        return f"{name} {after} {_text(high)}"
    if high == sp.oo:
        return f"{name} {before.replace('<', '>')} {_text(low)}"
    return f"{_text(low)} {before} {name} {after} {_text(high)}"
