"""What is said of an expression that is not understood: the part, and what to write."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence, Set
from typing import Final

from local_react.errors import ToolError
from local_react.tools.calculator import calls, steps, unit_words, words
from local_react.tools.calculator.scanner import Piece
from local_react.tools.calculator.text import quoted

_HOW: Final = "write only numbers, + - * / ^ % ( ) and functions such as sqrt(2)"


def check_unknown(text: str, unknown: Sequence[Piece], known: Collection[str]) -> None:
    """Raise ToolError for words that nothing gives a meaning; those are known that earlier
    steps gave a value."""
    names = list(dict.fromkeys(piece.text[:30] for piece in unknown))
    if not names:
        return
    if known and not any(calls.is_function(name) or name in "ijI" for name in names):
        raise without_value(names, known)
    if len(names) == 1:
        after = unknown[0].start + len(unknown[0].text)
        raise ToolError(_unknown_name(names[0], text[after:]))
    if all(len(name) < 3 for name in names):
        listed = " and ".join(map(quoted, names[:3]))
        given = "; ".join(f"{name} = {n}" for n, name in enumerate(names[:3], 2))
        raise ToolError(f"unknown names {listed}: first give them values, as in {given}; ...")
    listed = ", ".join(map(quoted, names[:3]))
    raise ToolError(f"not a math expression: {listed} mean nothing here; {_HOW}")


def _unknown_name(name: str, rest: str) -> str:
    shown = quoted(name[:30])
    if calls.is_function(name):
        given = re.split(r"[;\n]", rest)[0].strip()
        if re.fullmatch(r"[0-9. ]+", given):
            given = ", ".join(given.split())
        else:  # only what certainly belongs to it: sqrt 16 + 9
            found = re.match(r"[\w.]+", given)
            given = found[0] if found else "..."
        return f"{name} is a function: write {name}({given[:30] or '...'})"
    if name in ("i", "j", "I"):
        return f"unknown name {shown}: the imaginary unit is written 1i"
    if _alike(name):
        return f"unknown name {shown}: did you mean {' or '.join(_alike(name))}?"
    if unit_words.find(name):
        return f"unknown name {shown}: write a number before a unit, as in 1 {name}"
    if len(name) > 2 and name.isalpha():
        return (
            f"unknown name {shown}: leave the word out, or first give it a value, as in "
            f"{name} = 3; 2*{name}"
        )
    return (
        f"unknown name {shown}: to solve for it write the whole equation with =, as in "
        f"2*{name} + 6 = 20; or first give it a value, as in {name} = 3; 2*{name}"
    )


def without_value(names: Sequence[str], known: Collection[str]) -> ToolError:
    """Return the error for names that no step gives a value, where steps do for others."""
    name = names[0]
    listed = ", ".join(quoted(name[:30]) for name in names[:3])
    meant = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    others = [each[:30] for each in meant or sorted(known)[:5]]
    advice = "did you mean " if meant else "use a name that has a value, "
    return ToolError(
        f"unknown name{'s' * (len(names) > 1)} {listed}: {advice}{' or '.join(others)}"
        f"{'? Or' if meant else ', or'} first give it one, as in {name[:30]} = 3"
    )


def in_step(text: str, pieces: Sequence[Piece], error: ToolError) -> ToolError:
    """Return the error of one step of several, with the step."""
    shown = steps.shown(text, pieces)
    return ToolError(str(error) if shown in str(error) else f"{error} (in the step {shown})")


def _alike(name: str) -> list[str]:
    """Return the known words that a name may be meant for."""
    known = {*words.CONSTANTS, *calls.names(), *words.OPERATORS} - {"share_of"}
    long_enough = sorted(word for word in known if len(word) > 2)
    return difflib.get_close_matches(name.casefold(), long_enough, n=2, cutoff=0.75)


def unknown_function(name: str) -> ToolError:
    """Return the error for a call of a function that there is none of."""
    found = _alike(name)
    advice = f"did you mean {' or '.join(found)}?" if found else "write * for a product"
    return ToolError(f"unknown function {quoted(name[:30])}: {advice}")


def check_dropped(dropped: Sequence[str], kinds: Set[str]) -> None:
    """Raise ToolError for words that were left out and may be a unit or say what is meant:
    in a step with a conversion or a date, or short ones beside a unit."""
    for word in dropped:
        is_short = len(word) < 5 or word != word.casefold()
        if kinds & {"TARGET", "DATE", "CONVERT"} or ("UNIT" in kinds and is_short):
            raise ToolError(
                f"unknown unit {quoted(word[:30])}: write another one, or leave the word out"
            )


def unknown_target(word: str) -> ToolError:
    """Return the error for what stands after "in" or "to" and is nothing to tell a value in."""
    if word.casefold().rstrip("s") in _MONEY:
        return ToolError(f"currencies are not converted here: {word} has another rate each day")
    return ToolError(
        f"not understood at {quoted(word[:20])}: after 'in' or 'to' write a unit such as km, "
        "or binary, hex, percent, fraction"
    )


_MONEY: Final = frozenset(
    {"usd", "eur", "gbp", "jpy", "chf", "cny", "inr", "euro", "dollar", "yen"}
)


def check_list(text: str) -> None:
    """Raise ToolError for several numbers, a line each, with nothing to do."""
    numbers = text.split()
    if all(re.fullmatch(r"-?[0-9.,]+", number) for number in numbers):
        listed = ", ".join(number.replace(",", "") for number in numbers[:3])
        raise ToolError(f"several numbers and nothing to do: write sum({listed}, ...) to add them")


def nameless(text: str, pieces: Sequence[Piece]) -> ToolError:
    """Return the error for a step before the last that is no name = value."""
    start = pieces[0].start
    shown = re.split(r"[;\n]", text[start:])[0].strip()[:20]
    return ToolError(
        f"the step {quoted(shown)} has no name: write a = {shown}, and use a in a later step"
    )


def not_understood(text: str, place: int) -> ToolError:
    """Return the error that quotes where the text stops making sense, and what helps."""
    if place >= len(text):
        return ToolError(f"{quoted(text[-20:])} ends too early: add the missing number or ')'")
    rest = text[place:].strip()
    return ToolError(f"not understood at {quoted(rest[:20])}: {_advice(text[:place], rest)}")


def _advice(before: str, rest: str) -> str:
    first = rest[0]
    if first == ",":
        return "write 1234.5 or 1,234.5 for a number; commas also separate values of a function"
    if first == ")":
        empty = before.rstrip().endswith("(")
        return "put a value between ( and )" if empty else "there is a ) too many, or no value"
    if first == "=":
        return "write one equation, as in 2*x = 6, or a step, as in a = 3"
    name = re.search(r"([^\W\d]\w*)\s*$", before)
    if name and calls.is_function(name[1]):
        return f"write {name[1]}({rest[:10]})"
    if first == "!":
        return "for a factorial of a factorial write (3!)!"
    if first.isdecimal() or first == ".":
        return f"write an operator, such as *, before {quoted(rest[:10])}"
    return _HOW
