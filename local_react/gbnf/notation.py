"""The pieces that a grammar's text is made of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

MAX_REPEAT: Final = 2000
"""llama.cpp drops a bound above this without a word, so none is written."""

UNSEEN: Final = r"\x00-\x20\x7F-\xA0\u200B-\u200F\u2028-\u202F\u2060-\u206F\u3000\uFEFF"
"""Control characters, white space and what shows nothing, as part of a class."""

_LITERAL_OR_CLASS: Final = r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]'
_PIECE: Final = re.compile(
    rf"(?P<literal>{_LITERAL_OR_CLASS})|(?P<comment>#[^\r\n]*)|(?P<defined>[\w-]+)[ \t]*::="
    r"|(?P<count>\{[^}]*\}?)|(?P<rule>[\w-]+)|(?P<sign>[()|*+?.])|(?P<space>\s)|(?P<stray>.)",
    re.DOTALL,
)


def pieces(grammar: str) -> Iterator[re.Match[str]]:
    """Yield the pieces of a grammar's text, all of it, each in the group of its kind."""
    return _PIECE.finditer(grammar)


def without_literals(grammar: str) -> str:
    """Return the grammar's text without what stands in quotes and in character classes."""
    return re.sub(_LITERAL_OR_CLASS, "", grammar)


def literal(text: str) -> str:
    """Return the GBNF literal that admits exactly this text."""
    return '"' + "".join(_ESCAPES.get(char) or _plain(char) for char in text) + '"'


_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _plain(char: str) -> str:
    return char if char >= " " else f"\\x{ord(char):02X}"


def as_json(value: object) -> str:
    """Return a value as it is written here."""
    return json.dumps(value, ensure_ascii=False)


def choice(options: Iterable[str]) -> str:
    """Return an expression that admits what any of the options does."""
    return " | ".join(dict.fromkeys(options))


def first_letters(texts: Iterable[str]) -> dict[str, list[str]]:
    """Return what is behind each letter that a text begins with."""
    branches: dict[str, list[str]] = {}
    for text in filter(None, texts):
        branches.setdefault(text[0], []).append(text[1:])
    return branches


def one_of(texts: Iterable[str]) -> str:
    """Return an expression of the texts. Many are told apart letter by letter: llama.cpp
    keeps each of several options alive as long as it fits, and compares them all."""
    found = list(dict.fromkeys(texts))
    return _trie(found) if len(found) > _FEW else choice(map(literal, found))


def _trie(texts: Sequence[str], depth: int = 0) -> str:
    if len(texts) == 1 or depth > _DEEPEST:
        return choice(map(literal, texts))
    shared = _shared(min(texts), max(texts))
    tails = [text[len(shared) :] for text in texts]
    options = ['""'] if "" in tails else []
    for letter, behind in first_letters(tails).items():
        options.append(_trie([letter + tail for tail in behind], depth + 1))
    return f"{literal(shared)} ({choice(options)})" if shared else choice(options)


def _shared(first: str, last: str) -> str:
    """Return what two texts begin with, and so do those between them in their order."""
    pairs = enumerate(zip(first, last, strict=False))
    return first[: next((index for index, (one, other) in pairs if one != other), len(first))]


_FEW: Final = 30
"""Options that are left as they are."""
_DEEPEST: Final = 40


def repeat(least: int, most: int | None) -> str:
    """Return the mark of a repetition; what is above MAX_REPEAT is left to validation."""
    least = min(least, MAX_REPEAT)
    if most is None or most > MAX_REPEAT:
        return "*" if least == 0 else "+" if least == 1 else f"{{{least},}}"
    return f"{{{least},{most}}}"


def forced_beginning(grammar: str) -> str:
    """Return the text with which everything begins that a grammar admits, as far as its
    root rule says so: the literal that the rule begins with, where it has no choice."""
    found = _ROOT.search(grammar)
    if found is None or len(re.findall(r"^\s*root\s*::=", grammar, re.MULTILINE)) > 1:
        return ""
    if "|" in without_literals(found["rest"]):
        return ""
    try:
        return str(json.loads(found["literal"]))
    except ValueError:  # an escape of GBNF's own
        return ""


_ROOT: Final = re.compile(
    r'^root ::= (?P<literal>"(?:[^"\\]|\\.)*")(?P<rest>(?:[ \t]+[^ \t*+?{\n][^\n]*)?)$',
    re.MULTILINE,
)
