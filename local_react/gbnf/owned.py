"""A string that brings a grammar of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from local_react.errors import GrammarError
from local_react.gbnf.notation import pieces
from local_react.gbnf.rules import Rules

OWNED: Final = "x-gbnf"
"""The keyword of a string's schema that brings a grammar of its own, as GBNF text: its
"root" is all that may stand between the quotes, where a bare `"`, a bare `\\` and control
characters may not. The schema's bounds are not added to it."""


def owned(rules: Rules, place: str, schema: Mapping[str, Any]) -> str:
    """Add the rules that the schema of a string brings, under names of this grammar's own,
    and return an expression of the string.

    Raises GrammarError where they are no rules, or it is no string.
    """
    if schema.get("type") != "string":
        raise GrammarError(f"{place}: {OWNED} belongs to the schema of a string alone")
    bodies = _bodies(place, schema[OWNED])
    # Reserved before they are written, because they refer to one another.
    names = {rule: rules.reserve(f"{place}-{rule}") for rule in bodies}
    for rule, body in bodies.items():
        renamed = (names[piece[0]] if piece["rule"] else piece[0] for piece in body)
        rules.replace(names[rule], "".join(renamed).strip())
    return f'"\\"" {names["root"]} "\\""'


def _bodies(place: str, text: object) -> dict[str, list[re.Match[str]]]:
    """Return the pieces of each rule's body; raise GrammarError where they are no rules."""
    bodies: dict[str, list[re.Match[str]]] = {}
    for piece in pieces(str(text)):
        if piece["stray"] or piece["defined"] in bodies:
            raise GrammarError(f"{place}: its rules are not understood at {piece[0]!r}")
        if piece["defined"]:
            bodies[piece["defined"]] = []
        elif bodies and not piece["comment"]:
            bodies[next(reversed(bodies))].append(piece)
    used = {piece["rule"] for body in bodies.values() for piece in body if piece["rule"]}
    for missing in sorted({"root", *used}.difference(bodies)):
        raise GrammarError(f"{place}: its rules do not define {missing!r}")
    return bodies
