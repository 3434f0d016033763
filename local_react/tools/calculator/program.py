"""A small program, as it is written to solve a word problem: what is code in it taken
away, and its names made such as the scanner reads them.

Only what has a step `name = ...` is a program; anything else stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from local_react.tools.calculator import naming
from local_react.tools.calculator.text import bare

_COMMENT: Final = re.compile(r"[ \t]*#[^\n]*")
_COMMENT_IN_LINE: Final = re.compile(r"\s*#[^;]*")
_DEF: Final = re.compile(r"\s*def\s+(\w+)\s*\([^()]*\)\s*(?:->\s*\w+\s*)?:")
_RETURN: Final = re.compile(r"\s*return\b\s*(?!\s)(?=[^=])")
_PRINT: Final = re.compile(r"\s*print\s*\((.*)\)\s*", re.DOTALL)
_QUOTED: Final = re.compile(r"""\s*(f?)("[^"]*"|'[^']*')\s*""")
_IN_QUOTES: Final = re.compile(r"\{([^{}:]+)(?::[^{}]*)?\}")
_DECLARES: Final = re.compile(r"\s*(?:let|var|const|int|float)\s+(?=[^\W\d]\w*\s*=)", re.I)


@dataclass(frozen=True, slots=True)
class Program:
    """The steps as the calculator reads them, and how their names were written."""

    text: str
    labels: Mapping[str, str] = field(default_factory=dict)
    """By the name that the calculator reads: total_cost is total cost."""
    notes: Sequence[str] = ()
    """How it was read, where there is another way."""

    def spelled(self, told: str) -> str:
        """Return an answer or error with the names as they were written."""
        for name, label in self.labels.items():
            told = re.sub(rf"\b{name}\b", lambda _, label=label: label, told)  # type: ignore[misc]
        return told


def read(expression: str) -> Program:
    """Return the program that an expression is; what is none is returned unchanged."""
    text = _without_comments(bare(expression))
    functions = [head[1] for part, _ in _parts(text) if (head := _DEF.match(part))]
    text = "".join(_DECLARES.sub("", _DEF.sub("", part, 1), 1) + end for part, end in _parts(text))
    lefts = naming.left_sides(part for part, _ in _parts(text))
    if not lefts:
        return Program(expression)
    names = naming.names(lefts, text)
    notes = [f"{left} is read as a difference" for left in naming.doubtful(lefts, text)]
    for name in sorted(names, key=lambda name: -len(name.label)):
        text = name.put_in(text)
    text = "".join(part + end for part, end in _told_last(list(_parts(text)), functions))
    return Program(text, {name.read_as: name.label for name in reversed(names)}, notes)


def _without_comments(text: str) -> str:
    """Return the text without # and what follows in its line; where all is one line, a
    semicolon ends a comment too."""
    return (_COMMENT if "\n" in text else _COMMENT_IN_LINE).sub("", text)


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Yield what may be a step, each with the sign that ends it."""
    begin = depth = 0
    for found in _ENDS.finditer(text):
        sign = found[0]
        depth = max(depth + (sign in "([") - (sign in ")]"), 0)
        is_and = sign.strip() == "and"
        if (
            sign in "()[]"
            or sign[-1] in "\"'"
            or depth
            or (is_and and "=" not in text[begin : found.start()])
        ):
            continue
        yield text[begin : found.start()], sign
        begin = found.end()
    yield text[begin:], ""


_ENDS: Final = re.compile(
    r"""[()\[\];\n]| and (?=[^\W\d])|,(?!(?<=\d,)\d{3}(?!\d))"""
    r"""|(?<!\w)f?(?:"[^"\n]*"|'[^'\n]*')"""
)
"""What ends a step where no bracket is open, and brackets and texts, within which nothing
does. A comma within a number is no end."""


def _told_last(
    parts: Sequence[tuple[str, str]], functions: Collection[str]
) -> list[tuple[str, str]]:
    """Return the steps without what is code around them; what is returned or printed is
    the last of them."""
    kept: list[tuple[str, str]] = []
    shown = ""
    for number, (part, end) in enumerate(parts):
        if given := _RETURN.match(part):
            shown = _one(_line(parts[number:])[given.end() :])
            break
        if printed := _PRINT.fullmatch(part):
            shown = _one(printed[1]) or shown
        elif not (_is_call(part, functions) or part.strip() in ("python", "py")):
            kept.append((part, end))
    return [(part, ";") for part, _ in kept] + [(shown, "")] if shown else kept


def _is_call(part: str, functions: Collection[str]) -> bool:
    found = re.fullmatch(r"\s*(\w+)\(\)\s*", part)
    return found is not None and found[1] in functions


def _line(parts: Sequence[tuple[str, str]]) -> str:
    """Return the text up to where a line or step ends: return a, b."""
    line = ""
    for part, end in parts:
        line += part
        if end != ",":
            break
        line += end
    return line


def _one(given: str) -> str:
    """Return what is to be told of the arguments of a print, or after return: what is no
    text in quotes, and a list of several."""
    values: list[str] = []
    for value in _values(given):
        quoted = _QUOTED.fullmatch(value)
        if quoted is None:
            values.append(value.strip())
        elif quoted[1]:
            values += _IN_QUOTES.findall(quoted[2])
    return f"[{', '.join(values)}]" if len(values) > 1 else "".join(values)


def _values(given: str) -> Iterator[str]:
    value = ""
    for part, end in _parts(given):
        value += part
        if end == ",":
            yield value
            value = ""
        else:
            value += end
    if value.strip():
        yield value
