"""calculator: exact arithmetic as people and models write it.

The text is tidied, parsed by a grammar of ours (grammar.lark), and
evaluated with sympy numbers while it is parsed: no text ever reaches `eval`,
`sympify` or `parse_expr`, and nothing recurses, however deep the nesting.

Conventions, where there is a choice:

- ^ and ** are powers; `-5^2` is -25, `2^3^2` is 512.
- % between two values is the remainder, with the divisor's sign; after a value it is
  percent. `100 + 10%` is 110, as on a pocket calculator, and the answer says so.
- A product without a sign counts like one with it: `1/2pi` is (1/2)*pi; said too.
- `log` of one value is natural, said too; `round` takes halves away from zero.
- 1,234.5 is one number, but inside a function's parentheses a comma separates values.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

from pydantic import Field

from local_react.errors import ToolError
from local_react.tools.calculator import functions, numbers
from local_react.tools.base import tool
from local_react.tools.calculator.answer import answer

if TYPE_CHECKING:
    import lark

MAX_LENGTH = 200
"""Characters of an expression."""
MAX_DEPTH = 40
"""Parentheses within parentheses."""

CONSTANTS: Final = ("pi", "e", "tau", "deg", "degrees")
_WORDS: Final = frozenset({*CONSTANTS, *functions.FUNCTIONS, "of", "mod"})
_CURRENCIES: Final = "$€£¥₹₩₽₪₺₫₴₦₱฿"
_SIGNS: Final = str.maketrans(
    {**dict.fromkeys("×✕✖⋅·∙∗•", "*"), **dict.fromkeys("÷⁄∕", "/"), **dict.fromkeys("−–—‒‐‑", "-")}
    | {"π": " pi ", "τ": " tau ", "≤": "<=", "≥": ">=", "≠": "!=", "°": " deg "}
)
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_NUMBER: Final = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_GROUPED: Final = r"(?P<grouped>(?<![\d.,])[1-9][0-9]{0,2}(?:,[0-9]{3})+(?!\d|,\d))"
_HOW: Final = "write only numbers, + - * / ^ % ( ) and functions such as sqrt(2)"

Expression = Annotated[str, Field(description="such as 12% of 80 - 2.5", max_length=MAX_LENGTH)]


@tool
def calculator(expression: Expression) -> str:
    """Compute exactly: + - * / ^ ( ), 5% of 60, 100 + 10%, 7 mod 3, 5!, sqrt(2), round(x, 2),
    min, max, sum, mean, gcd, log10, sin, pi. Numbers only: no words, no units, no =."""
    return evaluate(expression)


def evaluate(expression: str) -> str:
    """Return the value of an expression as text, and how an ambiguous one was read.

    Raises ToolError, one line that says what to write instead, where there is none.
    """
    text = tidy(expression)
    _check_words(text)
    value = _parsed(text)
    notes = list(dict.fromkeys(value.notes))[:3]
    told = value.number if isinstance(value.number, str) else answer(value.number)
    return f"{told} ({'; '.join(notes)})" if notes else told


def _parsed(text: str) -> Value:
    import lark

    try:
        # The rules below make a Value where lark would make a tree.
        return cast("Value", _parser().parse(text))
    except lark.UnexpectedInput as error:
        raise _not_understood(text, error) from error


def tidy(expression: str) -> str:
    """Return the expression in the grammar's own characters.

    Raises ToolError where it is empty, too long, too deep, or mixes currencies.
    """
    if len(expression) > MAX_LENGTH:
        raise ToolError(
            f"too large: the expression is too long, {len(expression)} characters of at most "
            f"{MAX_LENGTH}; compute it in parts"
        )
    text = re.sub("[⁰¹²³⁴-⁹⁺⁻]+", lambda run: f"^({run[0].translate(_SUPERSCRIPTS)})", expression)
    text = re.sub("([0-9]*) ?([¼-¾⅐-⅞])", _mixed_number, text)
    text = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)
    text = _without_currency(" ".join(text.split()))
    text = re.sub(r"\s*\bper\s?cent\b", "%", text, flags=re.IGNORECASE)
    text = re.sub(r"(?<=[\w)!%]) [xX] (?=[\w(.√])", " * ", text)
    text = re.sub(r"\s*=\s*\??$", "", text)
    if not text:
        raise ToolError("empty expression: write what to compute, such as 2 * 3")
    if "!!" in text:
        raise ToolError("'!!' can mean two things: for a factorial of a factorial write (3!)!")
    return "".join(_without_thousands(text))


def _mixed_number(match: re.Match[str]) -> str:
    """Return 2½ as (2+1/2), and ½ as (1/2)."""
    top, _, bottom = unicodedata.normalize("NFKC", match[2]).partition("⁄")
    return f"({match[1]}+{top}/{bottom})" if match[1] else f"({top}/{bottom})"


def _without_currency(text: str) -> str:
    found = {sign for sign in text if sign in _CURRENCIES}
    if len(found) > 1:
        raise ToolError(
            f"mixed currencies {' and '.join(sorted(found))}: convert them to one first"
        )
    return "".join(character for character in text if character not in found)


def _without_thousands(text: str) -> Iterator[str]:
    """Yield the text without the commas of 1,234,567.

    Directly inside a call's parentheses, or a list's brackets, commas separate values,
    as in max(1,234); where some of them are followed by a space, only those do, as in
    mean(1,000, 2,000).
    """
    separating = [False]
    for piece in re.finditer(rf"(?P<name>[^\W\d]\w*)\s*(?P<call>\(?)|{_GROUPED}|.", text):
        if piece[0].endswith(("(", "[")):
            values = piece[0] == "[" or _is_call(piece, text)
            separating.append(values and not _is_spaced(text[piece.end() :]))
        elif piece[0] in (")", "]") and len(separating) > 1:
            separating.pop()
        if len(separating) > MAX_DEPTH:
            raise ToolError(f"too deep: more than {MAX_DEPTH} parentheses within one another")
        yield piece[0] if separating[-1] or not piece["grouped"] else piece[0].replace(",", "")


def _is_spaced(text: str) -> bool:
    """Return True where a comma with a space stands in the text before the parenthesis
    that closes it, and not within others."""
    depth = 0
    for character, following in zip(text, text[1:] + " ", strict=False):
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            return False
        if depth == 0 and character == "," and following == " ":
            return True
    return False


def _is_call(piece: re.Match[str], text: str) -> bool:
    """Return True for the name and parenthesis of a call, as in mod(7, 3).

    Not for those of 2 pi(3), or of 10 mod (3), where a value stands before the name.
    """
    name = (piece["name"] or "").casefold()
    before = text[: piece.start()].rstrip()[-1:]
    is_infix = name == "of" or (name == "mod" and (before.isalnum() or before in (*")!%.",)))
    return bool(name) and name not in CONSTANTS and not (before and is_infix)


def _check_words(text: str) -> None:
    """Raise ToolError for words that are neither a function nor a constant."""
    words = [match[1] for match in re.finditer(rf"{_NUMBER}|([^\W\d]\w*)", text) if match[1]]
    unknown = [word for word in words if not _is_known(word)]
    if len(unknown) > 1:
        quoted = ", ".join(repr(word[:30]) for word in unknown[:3])
        raise ToolError(f"not a math expression: {quoted} mean nothing here; {_HOW}")
    if unknown:
        near = difflib.get_close_matches(unknown[0].casefold(), _WORDS, n=2, cutoff=0.75)
        advice = "put a number in its place, or leave the word out"
        if near:
            advice = f"did you mean {' or '.join(near)}?"
        raise ToolError(f"unknown name {unknown[0][:30]!r}: {advice}")


def _is_known(word: str) -> bool:
    # A capital E, N or I is somebody's variable; PI and Sqrt are not.
    return word in _WORDS or (len(word) > 1 and word.casefold() in _WORDS)


@dataclass(frozen=True, slots=True)
class Value:
    """A number on its way up the tree, how it was written, and what to say about it."""

    number: Any
    form: Literal["plain", "percent", "quotient"] = "plain"
    notes: tuple[str, ...] = ()


def _plain(compute: Callable[..., Any]) -> Callable[..., Value]:
    """Return a rule that computes with the children's numbers and keeps their notes."""

    def rule(*values: Value) -> Value:
        return Value(compute(*(value.number for value in values)), notes=_notes(*values))

    return rule


def _notes(*values: Value) -> tuple[str, ...]:
    return tuple(note for value in values for note in value.notes)


def _sum(direction: int) -> Callable[[Value, Value], Value]:
    """Return the rule of + or -: a percentage is one of what stands before it."""

    def rule(left: Value, right: Value) -> Value:
        if right.form != "percent" or left.form == "percent":
            number = numbers.add(left.number, direction * right.number)
            form: Any = "percent" if right.form == "percent" else "plain"
            return Value(number, form, _notes(left, right))
        part = numbers.multiply(left.number, right.number)
        per_cent = answer(numbers.multiply(right.number, numbers.integer(100)))
        done = "added" if direction > 0 else "subtracted"
        note = f"{per_cent}% of {answer(left.number)} {done}"
        number = numbers.add(left.number, direction * part)
        return Value(number, notes=(*_notes(left, right), note))

    return rule


def _negate(value: Value) -> Value:
    return Value(-value.number, value.form, value.notes)


def _percent(value: Value) -> Value:
    number = numbers.divide(value.number, numbers.integer(100))
    return Value(number, "percent", value.notes)


def _divide(left: Value, right: Value) -> Value:
    number = numbers.divide(left.number, right.number)
    return Value(number, "quotient", _notes(left, right))


def _juxtapose(left: Value, right: Value) -> Value:
    said = ("a/b c is read as (a/b)*c",) if left.form == "quotient" else ()
    number = numbers.multiply(left.number, right.number)
    return Value(number, notes=(*_notes(left, right), *said))


def _group(value: Value) -> Value:
    form: Any = "percent" if value.form == "percent" else "plain"
    return Value(value.number, form, value.notes)


def _compare(left: Value, sign: Any, right: Value) -> Value:
    order = numbers.compare(left.number, right.number)
    holds = {
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
        "==": order == 0,
        "!=": order != 0,
    }[str(sign)]
    return Value("true" if holds else "false", notes=_notes(left, right))


def _call(name: Any, values: list[Value] | None) -> Value:
    given = [value.number for value in values or []]
    natural = name.casefold() == "log" and len(given) == 1
    said = ("log is the natural logarithm; log10 is for base 10",) if natural else ()
    return Value(functions.apply(str(name), given), notes=(*_notes(*(values or [])), *said))


def _root(sign: Any, value: Value) -> Value:
    name = "sqrt" if sign == "√" else "cbrt"
    return Value(functions.apply(name, [value.number]), notes=value.notes)


_RULES: Final[Mapping[str, Callable[..., Any]]] = {
    "start": lambda value: value,
    "compare": _compare,
    "add": _sum(1),
    "subtract": _sum(-1),
    "multiply": _plain(numbers.multiply),
    "divide": _divide,
    "floor_divide": _plain(lambda left, right: functions.floor(numbers.divide(left, right))),
    "modulo": _plain(functions.modulo),
    "juxtapose": _juxtapose,
    "negate": _negate,
    "positive": lambda value: value,
    "power": _plain(numbers.power),
    "factorial": _plain(functions.factorial),
    "percent": _percent,
    "number": lambda digits: Value(numbers.literal(str(digits))),
    "group": _group,
    "constant": lambda name: Value(numbers.constant(str(name))),
    "arguments": lambda *values: list(values),
    "call": _call,
    "root": _root,
}


@cache
def _parser() -> lark.Lark:
    """Return the parser, which evaluates as it parses; compiled when first needed."""
    import lark

    # Any object with the rules' names does: lark calls each with the list of children.
    rules: Any = SimpleNamespace(**{name: _spread(rule) for name, rule in _RULES.items()})
    grammar = resources.files("local_react.tools.calculator").joinpath("grammar.lark")
    return lark.Lark(grammar.read_text(encoding="utf-8"), parser="lalr", transformer=rules)


def _spread(rule: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    return lambda children: rule(*children)


def _not_understood(text: str, error: lark.UnexpectedInput) -> ToolError:
    """Return the error that quotes where the text stops making sense, and what helps."""
    place = error.pos_in_stream
    rest = "" if place is None or place < 0 else text[place:].strip()
    if not rest or getattr(getattr(error, "token", None), "type", "") == "$END":
        return ToolError(f"{text[-20:]!r} ends too early: add the missing number or ')'")
    return ToolError(f"not understood at {rest[:20]!r}: {_advice(text[:place], rest)}")


def _advice(before: str, rest: str) -> str:
    first = rest[0]
    if first == ",":
        return "write 1234.5 or 1,234.5 for a number; commas also separate values of a function"
    if first == ")":
        empty = before.rstrip().endswith("(")
        return "put a value between ( and )" if empty else "there is a ) too many, or no value"
    if first == "=":
        return "write only the expression to compute, without ="
    name = re.search(r"([^\W\d]\w*)\s*$", before)
    if name and name[1].casefold() in functions.FUNCTIONS:
        return f"write {name[1]}({rest[:10]})"
    if first.isdecimal() or first == ".":
        return f"write an operator, such as *, before {rest[:10]!r}"
    return _HOW
