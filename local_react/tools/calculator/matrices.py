"""Matrices, as lists of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator import numbers
from local_react.tools.calculator.values import Content, bounded, is_matrix, kind

_MAX_SIDE: Final = 12
_MAX_POWER: Final = 1000
_MAX_BITS: Final = 1000


def both(left: Content, right: Content) -> bool:
    return is_matrix(left) and is_matrix(right)


def either(left: Content, right: Content) -> bool:
    return is_matrix(left) or is_matrix(right)


def entrywise(
    operator: Callable[[Content, Content], Content], left: Content, right: Content
) -> Content:
    """Return a matrix whose entries are those of two of one size put together."""
    if len(left) != len(right) or len(left[0]) != len(right[0]):
        raise ToolError(f"{_size(left)} and {_size(right)} differ in size: they cannot be added")
    return tuple(
        tuple(operator(a, b) for a, b in zip(row, other, strict=True))
        for row, other in zip(left, right, strict=True)
    )


def multiply(left: Content, right: Content) -> Content:
    """Return the product of two matrices, or of one and a number or a list."""
    if not is_matrix(left) or not is_matrix(right):
        other = right if is_matrix(left) else left
        if isinstance(other, tuple):
            column = tuple((entry,) for entry in other)
            return multiply(left, column) if is_matrix(left) else multiply((left,), right)
        _check_entry(other)
        return _entries(_matrix(left if is_matrix(left) else right) * other)
    if len(left[0]) != len(right):
        raise ToolError(
            f"{_size(left)} times {_size(right)} has no meaning: the first needs as many "
            "columns as the second has rows"
        )
    return _entries(_matrix(left) * _matrix(right))


def power(base: Content, exponent: Content) -> Content:
    """Return a square matrix to a whole power."""
    if not is_matrix(base) or kind(exponent) != "number" or not exponent.is_Integer:
        raise ToolError("a matrix takes whole exponents only, and is none itself")
    matrix = _square(base, "a power")
    times = int(exponent)
    if abs(times) > _MAX_POWER or _digits(matrix) * abs(times) > 20_000:
        raise ToolError(f"too large: a matrix takes exponents up to {_MAX_POWER}")
    return _entries((matrix if times >= 0 else _inverted(matrix)) ** abs(times))


def determinant(value: Content) -> Content:
    return _simple(_square(value, "det").det(method="berkowitz"))


def inverse(value: Content) -> Content:
    return _entries(_inverted(_square(value, "inv")))


def transpose(value: Content) -> Content:
    return _entries(_matrix(value).T)


def trace(value: Content) -> Content:
    return _simple(_square(value, "trace").trace())


def rank(value: Content) -> Content:
    return numbers.integer(_matrix(value).rank())


def eigenvalues(value: Content) -> list[tuple[Any, int]]:
    """Return each eigenvalue and how many times it counts."""
    matrix = _square(value, "eigenvalues")
    if matrix.rows > 4:
        raise ToolError("too large: eigenvalues are told of matrices up to 4 x 4")
    return list(matrix.eigenvals().items())


def reduced(value: Content) -> Content:
    return _entries(_matrix(value).rref()[0])


def vector(value: Content) -> list[Content]:
    """Return the entries of a list, or of a matrix with one row or column."""
    if is_matrix(value):
        flat = [entry for row in value for entry in row]
        if len(value) > 1 and len(value[0]) > 1:
            raise ToolError("a vector is meant: write it as [1, 2, 3]")
        return flat
    if not isinstance(value, tuple):
        raise ToolError("a vector is meant: write it as [1, 2, 3]")
    return list(value)


def _matrix(value: Content) -> Any:
    if not is_matrix(value):
        raise ToolError("a matrix is meant: write it as [[1, 2], [3, 4]], its rows equally long")
    if len(value) > _MAX_SIDE or len(value[0]) > _MAX_SIDE:
        raise ToolError(f"too large: a matrix has at most {_MAX_SIDE} rows and columns")
    for row in value:
        for entry in row:
            _check_entry(entry)
    return sp.Matrix(value)


def _check_entry(entry: Content) -> None:
    if kind(entry) not in ("number", "formula"):
        raise ToolError(f"a matrix holds numbers: a {kind(entry)} is none")
    is_exact = kind(entry) == "number" and entry.is_Rational
    if is_exact and max(int(entry.p).bit_length(), int(entry.q).bit_length()) > _MAX_BITS:
        raise ToolError("too large: a matrix holds numbers of up to 300 digits")


def _square(value: Content, what: str) -> Any:
    matrix = _matrix(value)
    if matrix.rows != matrix.cols:
        raise ToolError(f"{what} needs a square matrix: this is {_size(value)}")
    return matrix


def _inverted(matrix: Any) -> Any:
    if matrix.det(method="berkowitz").is_zero is not False and matrix.rank() < matrix.rows:
        raise ToolError("undefined: the matrix has no inverse, its determinant is 0")
    return matrix.inv()


def _digits(matrix: Any) -> int:
    sizes = (len(str(part)) for part in matrix.atoms(sp.Integer))
    return max(sizes, default=1) + 1


def _entries(matrix: Any) -> Content:
    return tuple(tuple(_simple(entry) for entry in matrix.row(n)) for n in range(matrix.rows))


def _simple(entry: Any) -> Any:
    if entry.free_symbols:
        return bounded(sp.simplify(entry))
    return numbers.settle(entry if entry.is_Rational else sp.radsimp(entry))


def _size(value: Content) -> str:
    return f"a {len(value)} x {len(value[0])} matrix"
