"""The steps of an expression: where one ends, and what sort it is."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from local_react.errors import ToolError
from local_react.tools.calculator import calls, unit_words, words
from local_react.tools.calculator.scanner import Piece
from local_react.tools.calculator.text import quoted

_MAX_STEPS: Final = 50
_MAX_PIECES: Final = 600


def in_brackets(step: list[Piece], known: Collection[str]) -> list[Piece]:
    """Return a step that begins with a function's name, its brackets written: expand (x+1)^3,
    average of 3, 5."""
    name, rest = step[0], step[1:]
    if not rest or name.text in known or not calls.takes_all(name.text):
        return step
    if rest[0].text == "of":
        rest = rest[1:]
    is_call = rest[:1] and rest[0].text == "(" and (not rest[0].spaced or _is_closed(rest))
    if not rest or is_call or (rest[0].kind == "sign" and rest[0].text not in "([|√∛"):
        return step
    if not calls.is_about_unknowns(name.text):
        rest = [
            replace(piece, kind="sign", text=",") if piece.text.casefold() == "and" else piece
            for piece in rest
        ]
    opened = Piece("sign", "(", rest[0].start, spaced=False)
    return [name, opened, *rest, Piece("sign", ")", rest[-1].start, spaced=False)]


def _is_closed(pieces: Sequence[Piece]) -> bool:
    """Return True where the first bracket is closed by the last piece."""
    depth = 0
    for number, piece in enumerate(pieces, 1):
        depth += (piece.text in ("(", "[")) - (piece.text in (")", "]"))
        if depth == 0:
            return number == len(pieces)
    return True


def is_definition(pieces: Sequence[Piece]) -> bool:
    """Return True for f(x) = ..., not for sqrt(x) = 4."""
    kinds = [piece.kind for piece in pieces[:5]]
    signs = "".join(piece.text for piece in pieces[:5] if piece.kind == "sign")
    is_alike = kinds == ["name", "sign", "name", "sign", "sign"] and signs == "()="
    return is_alike and not calls.is_function(pieces[0].text)


def split(pieces: list[Piece]) -> list[list[Piece]]:
    """Return the pieces of each step. Raises ToolError for too many."""
    if len(pieces) > _MAX_PIECES:
        raise ToolError("too large: the expression has too many parts; compute it in several")
    steps: list[list[Piece]] = [[]]
    for piece in pieces:
        if piece.kind == "end":
            steps.append([])
        else:
            steps[-1].append(piece)
    steps = [part for step in steps if step for part in apart(step)]
    if len(steps) > _MAX_STEPS:
        raise ToolError(f"too large: at most {_MAX_STEPS} steps; compute it in several")
    if not steps:
        raise ToolError("empty expression: write what to compute, such as 2 * 3")
    return steps


def apart(step: list[Piece]) -> list[list[Piece]]:
    """Return the equations of a step, where commas or "and" separate several, and what is
    made of the one name that it gives: a = 3, a + 2."""
    equals = sum(piece.text == "=" for piece in step)
    name = assigned(step)
    if equals < 2 and not name:
        return [step]
    parts: list[list[Piece]] = [[]]
    depth = 0
    for piece in step:
        depth += (piece.text in "([") - (piece.text in ")]") if piece.kind == "sign" else 0
        if depth == 0 and (piece.text == "," or piece.text.casefold() == "and"):
            parts.append([])
        else:
            parts[-1].append(piece)
    if equals < 2 and not all(name in {piece.text for piece in part} for part in parts):
        return [step]
    return parts if all(parts) else [step]


def assigned(pieces: Sequence[Piece]) -> str:
    """Return the name of a step a = 3, "" for other steps."""
    if len(pieces) < 3 or pieces[0].kind != "name" or pieces[1].text != "=":
        return ""
    name = pieces[0].text
    is_word = name.casefold() in {*words.OPERATORS, *words.TRUTHS} or name.startswith("_")
    return "" if is_word or any(piece.text == "=" for piece in pieces[2:]) else name


_CHANGES: Final = frozenset({"+", "-", "*", "/", "//", "%", "^", "**"})


def written_out(pieces: list[Piece], known: Collection[str]) -> list[Piece]:
    """Return the step total += 2 as total = total + (2); others as they are.

    Raises ToolError where the name has no value yet.
    """
    if len(pieces) < 4 or [piece.kind for piece in pieces[:3]] != ["name", "sign", "sign"]:
        return pieces
    name, change, equals, *rest = pieces
    if change.text not in _CHANGES or equals.text != "=" or equals.spaced:
        return pieces
    if name.text not in known:
        raise ToolError(
            f"{quoted(f'{name.text[:30]} {change.text}=')} changes what has no value yet: first "
            f"write {name.text[:30]} = 0"
        )
    opened = Piece("sign", "(", rest[0].start, spaced=False)
    closed = Piece("sign", ")", rest[-1].start, spaced=False)
    return [name, equals, name, change, opened, *rest, closed]


def recased(pieces: list[Piece], known: Collection[str]) -> list[Piece]:
    """Return a step in which Total is total, where that name alone is known."""
    given = assigned(pieces)
    is_equation = not given and any(piece.text == "=" for piece in pieces)
    return [
        piece if at == 0 and given else _recased(pieces, at, known, letters=not is_equation)
        for at, piece in enumerate(pieces)
    ]


def _recased(pieces: list[Piece], at: int, known: Collection[str], *, letters: bool) -> Piece:
    piece = pieces[at]
    folded = piece.text.casefold()
    if piece.kind != "name" or piece.text in known or folded in words.OPERATORS:
        return piece
    if len(folded) == 1 and (not letters or folded in "eij"):
        return piece  # in a formula a and A are two
    alike = [name for name in known if name.casefold() == folded]
    if len(alike) != 1:
        return piece
    called = pieces[at + 1 : at + 2] and pieces[at + 1].text == "(" and calls.is_function(folded)
    counted = at > 0 and pieces[at - 1].kind == "number" and unit_words.find(piece.text)
    return piece if called or counted else replace(piece, text=alike[0])


def end(text: str, pieces: Sequence[Piece]) -> int:
    """Return the place in the text after a step."""
    last = _LAST.match(text, pieces[-1].start)
    return last.end() if last else len(text)


def shown(text: str, pieces: Sequence[Piece]) -> str:
    """Return a step as an error shows it: what stands there of the text, cut where long."""
    step = " ".join(text[pieces[0].start : end(text, pieces)].split())
    return quoted(step if len(step) <= _SHOWN else f"{step[:_SHOWN]}...")


_SHOWN: Final = 40
_LAST: Final = re.compile(r"[\d,.]*\d|[^\s;,]+")
