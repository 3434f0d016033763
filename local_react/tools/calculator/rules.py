"""The rules of grammar.lark: what each is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import sympy as sp

from local_react.errors import ToolError
from local_react.tools.calculator import calls, dates, measure_rules, numbers, operators
from local_react.tools.calculator.answer import answer, told
from local_react.tools.calculator.units import Quantity
from local_react.tools.calculator.values import (
    MAX_ITEMS,
    Complex,
    Content,
    Equation,
    Form,
    Value,
    kind,
    notes_of,
)

Rule: TypeAlias = Callable[..., Value]


def _plain(compute: Callable[..., Content]) -> Rule:
    """Return a rule that computes with the children's contents and keeps their notes."""

    def rule(*children: Any) -> Value:
        values = [child for child in children if isinstance(child, Value)]
        contents = [operators.as_number(value.content) for value in values]
        return Value(compute(*contents), notes=notes_of(*values))

    return rule


def _binary(compute: Callable[[str, Content, Content], Content]) -> Rule:
    def rule(left: Value, sign: Any, right: Value) -> Value:
        content = compute(str(sign).casefold(), left.content, right.content)
        return Value(content, notes=notes_of(left, right))

    return rule


# Arithmetic


def _sum(operator: Callable[[Content, Content], Content], done: str) -> Rule:
    """Return the rule of + or -: a percentage is one of what stands before it."""

    def rule(left: Value, _: Any, right: Value) -> Value:
        if right.form != "percent" or left.form == "percent":
            form: Form = "percent" if right.form == "percent" else "plain"
            contents = (operators.as_number(value.content) for value in (left, right))
            return Value(operator(*contents), form, notes_of(left, right))
        part = operators.multiply(left.content, right.content)
        per_cent = answer(numbers.multiply(right.content, numbers.integer(100)))
        note = f"{per_cent}% of {told(left.content)} {done}"
        return Value(operator(left.content, part), notes=(*notes_of(left, right), note))

    return rule


def _of(left: Value, _: Any, right: Value) -> Value:
    """15% of 80, 1/4 of 60; 3 of 4 is no product."""
    content = left.content
    if left.form == "plain" and kind(content) == "number" and content.is_Integer and content > 1:
        raise ToolError("a number of a number can mean two things: write 3 * 4, or 3/4")
    return Value(operators.multiply(content, right.content), notes=notes_of(left, right))


def _off(left: Value, _: Any, right: Value) -> Value:
    """20% off 50 is 40."""
    if left.form != "percent":
        raise ToolError("off takes a percentage, as in 20% off 50")
    rest = numbers.add(numbers.integer(1), -left.content)
    return Value(operators.multiply(right.content, rest), notes=notes_of(left, right))


def _negate(_: Any, value: Value) -> Value:
    return Value(operators.negate(value.content), value.form, value.notes)


def _percent(value: Value, _: Any) -> Value:
    content = operators.divide(value.content, numbers.integer(100))
    return Value(content, "percent", value.notes)


def _divide(left: Value, _: Any, right: Value) -> Value:
    if right.form == "quantity" and kind(left.content) == "number":
        return _share_of_unit(left, right)
    content = operators.divide(left.content, right.content)
    return Value(content, "quotient", notes_of(left, right))


def _share_of_unit(left: Value, right: Value) -> Value:
    """1/2 cup is half a cup, where 60 km / 2 h is a speed."""
    number = numbers.divide(left.content, right.content.number)
    said = () if operators.compare(number, numbers.integer(1)) < 0 else (UNIT_OF_QUOTIENT,)
    content = Quantity(number, right.content.unit, right.content.label)
    return Value(content, notes=(*notes_of(left, right), *said))


UNIT_OF_QUOTIENT: Final = "a/b with a unit is read as (a/b) of it"


def _juxtapose(left: Value, right: Value, unit: Any = None) -> Value:
    if unit is not None:
        right = measure_rules.quantity(right, unit)
    said = ("a/b c is read as (a/b)*c",) if left.form == "quotient" else ()
    content = operators.multiply(left.content, right.content)
    return Value(content, notes=(*notes_of(left, right), *said))


def _squared(value: Value, times: Any) -> Value:
    return Value(operators.power(value.content, numbers.integer(int(times))), notes=value.notes)


def _times_words(digits: Any, *times: Any) -> Value:
    """9 hundred thousand is 900000."""
    number = numbers.literal(str(digits))
    for word in times:
        number = numbers.multiply(number, numbers.integer(int(word)))
    return Value(number)


def _imaginary(digits: Any) -> Value:
    return Value(Complex(numbers.integer(0), numbers.literal(str(digits))))


def _factorial(value: Value, _: Any) -> Value:
    return Value(calls.apply("factorial", [value.content]), notes=value.notes)


def _group(_: Any, value: Value, __: Any) -> Value:
    form: Form = "percent" if value.form == "percent" else "plain"
    return Value(value.content, form, value.notes)


def _absolute(_: Any, value: Value, __: Any) -> Value:
    return Value(calls.apply("abs", [value.content]), notes=value.notes)


def _root(sign: Any, value: Value) -> Value:
    name = "sqrt" if sign == "√" else "cbrt"
    return Value(calls.apply(name, [value.content]), notes=value.notes)


# Truth


def _compare(*children: Any) -> Value:
    """Return the truth of a chain a < b < c; with an unknown in it, what that is."""
    values, signs = children[::2], [str(sign) for sign in children[1::2]]
    notes = notes_of(*values)
    pairs = list(zip(values, signs, values[1:], strict=False))
    kinds = {kind(value.content) for value in values}
    if "formula" in kinds:
        if not kinds <= {"formula", "number"}:
            odd = " and ".join(sorted(kinds - {"formula", "number"}))
            raise ToolError(f"an unknown is compared with numbers only, not with a {odd}")
        relations = [Equation(left.content, sign, right.content) for left, sign, right in pairs]
        if any(sign not in _ORDERS for sign in signs):
            raise ToolError("an equation is written with one =, as in 2*x = 6")
        return Value(tuple(relations) if len(relations) > 1 else relations[0], notes=notes)
    return Value(all(_holds(a.content, sign, b.content) for a, sign, b in pairs), notes=notes)


_ORDERS: Final = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (1, 0)}


def _holds(left: Content, sign: str, right: Content) -> bool:
    if sign in ("==", "!="):
        return operators.equal(left, right) == (sign == "==")
    return operators.compare(left, right) in _ORDERS[sign]


def _either(left: Value, _: Any, right: Value) -> Value:
    holds = operators.truth(left.content) or operators.truth(right.content)
    return Value(holds, notes=notes_of(left, right))


def _both(left: Value, _: Any, right: Value) -> Value:
    if kind(left.content) == kind(right.content) == "number" and not (
        left.content in (0, 1) or right.content in (0, 1)
    ):
        raise ToolError(
            "'and' joins what is true or false: write + for a sum, or a comma in a list"
        )
    if isinstance(left.content, Equation) or isinstance(right.content, Equation):
        return Value((left.content, right.content), notes=notes_of(left, right))
    holds = operators.truth(left.content) and operators.truth(right.content)
    return Value(holds, notes=notes_of(left, right))


def _negated(_: Any, value: Value) -> Value:
    return Value(not operators.truth(value.content), notes=value.notes)


def _if_else(first: Value, _: Any, condition: Value, __: Any, second: Value) -> Value:
    chosen = first if operators.truth(condition.content) else second
    return Value(chosen.content, chosen.form, notes_of(condition, chosen))


def _equation(left: Value, _: Any, right: Value) -> Value:
    return Value(Equation(left.content, "=", right.content), notes=notes_of(left, right))


# Lists and calls


def _list(_: Any, values: list[Value] | None, __: Any) -> Value:
    return _listed(values or [])


def _tuple(_: Any, first: Value, __: Any, rest: list[Value], ___: Any) -> Value:
    listed = _listed([first, *rest])
    return Value(listed.content, "tuple", listed.notes)


def _listed(values: list[Value]) -> Value:
    if len(values) > MAX_ITEMS:
        raise ToolError(f"too large: a list has at most {MAX_ITEMS} values")
    return Value(tuple(value.content for value in values), notes=notes_of(*values))


def _arguments(*children: Any) -> list[Value]:
    return [child for child in children if isinstance(child, Value)]


def _call(called: Any, _: Any, values: list[Value] | None, __: Any) -> Value:
    name, _, exponent = called.partition("^")
    value = _called(name, values or [])
    if not exponent:
        return value
    power = operators.power(value.content, numbers.integer(int(exponent)))  # sin^2(x)
    return Value(power, notes=value.notes)


def _called(name: str, given: list[Value]) -> Value:
    natural = name == "log" and len(given) == 1
    said = ("log is the natural logarithm; log10 is for base 10",) if natural else ()
    if name in ("sin", "cos", "tan") and _looks_like_degrees(given):
        said = (f"the angle is in radians; for degrees write {name}({given[0].content}°)",)
    if name in _SAMPLE:
        said = (f"of a sample, divided by n - 1; p{_SAMPLE[name]} is for all there are",)
    content = calls.apply(name, [value.content for value in given])
    return Value(content, notes=(*notes_of(*given), *said))


def _looks_like_degrees(given: list[Value]) -> bool:
    """Return True for sin(30): a whole number of more than a turn in radians."""
    if len(given) != 1 or not getattr(given[0].content, "is_Integer", False):
        return False
    return bool(_A_TURN < abs(given[0].content) < _MOST_DEGREES)


_A_TURN: Final = 7
_MOST_DEGREES: Final = 100_000
_SAMPLE: Final = {
    **dict.fromkeys(("std", "stddev", "stdev"), "stdev"),
    **dict.fromkeys(("var", "variance"), "variance"),
}


RULES: Final[Mapping[str, Callable[..., Any]]] = {
    "start": lambda value: value,
    "convert": measure_rules.convert,
    "share": measure_rules.share,
    "equation": _equation,
    "weekday": measure_rules.weekday,
    "days_between": measure_rules.days_between,
    "days_until": measure_rules.days_until,
    "days_since": measure_rules.days_since,
    "if_else": _if_else,
    "ternary": lambda condition, _, first, __, second: _if_else(first, _, condition, __, second),
    "either": _either,
    "both": _both,
    "negated": _negated,
    "compare": _compare,
    "bit_or": _binary(operators.bitwise),
    "xor": _binary(operators.bitwise),
    "bit_and": _binary(operators.bitwise),
    "shift": _binary(operators.bitwise),
    "add": _sum(operators.add, "added"),
    "subtract": _sum(operators.subtract, "subtracted"),
    "multiply": _plain(operators.multiply),
    "of": _of,
    "off": _off,
    "divide": _divide,
    "floor_divide": _plain(operators.floor_divide),
    "modulo": _plain(operators.modulo),
    "juxtapose": _juxtapose,
    "negate": _negate,
    "positive": lambda _, value: value,
    "invert_bits": _plain(operators.invert_bits),
    "join": measure_rules.join,
    "quantity": measure_rules.quantity,
    "power": _plain(operators.power),
    "squared": _squared,
    "factorial": _factorial,
    "percent": _percent,
    "number": lambda digits: Value(numbers.literal(str(digits))),
    "imaginary": _imaginary,
    "day": lambda text: Value(dates.parse(str(text))),
    "times_words": _times_words,
    "group": _group,
    "tuple": _tuple,
    "list": _list,
    "absolute": _absolute,
    "constant": lambda name: Value(numbers.constant(str(name))),
    "truth": lambda word: Value(word == "true"),
    "arguments": _arguments,
    "call": _call,
    "root": _root,
}
"""What each rule of the grammar is worth, given its children; "name" depends on the step."""


def rules(known: Mapping[str, Content]) -> Mapping[str, Callable[..., Any]]:
    """Return the rules of a step in which these names have a value."""

    def name(token: Any) -> Value:
        text = str(token)
        return Value(known[text] if text in known else sp.Symbol(text))

    return {**RULES, "name": name}
