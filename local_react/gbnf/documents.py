"""A schema as it came: that it is one at all, and what its references point to."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from local_react.errors import GrammarError

Schema: TypeAlias = Mapping[str, Any]

DEEPEST: Final = 200
"""Values within one another, of which a schema's part takes two or three."""
_MOST: Final = 200_000
"""Values in all."""
_LONGEST_NUMBER: Final = 10**300
"""More than a float holds is no number that anyone compares with."""
_DATA: Final = frozenset({"const", "enum", "default", "example", "examples"})
"""Keywords whose values are no schemas."""
_BEFORE_SIBLINGS: Final = ("draft-03", "draft-04", "draft-06", "draft-07")
"""Drafts in which nothing beside a reference counts."""


class NoValue(GrammarError):
    """A schema that admits nothing, which others beside it may make up for."""


class Document:
    """A JSON schema, its references resolved within it. Nothing is ever fetched.

    Raises GrammarError, with the name, where it holds what JSON does not, or is too large.
    """

    def __init__(self, place: str, schema: object) -> None:
        _check(place, schema)
        self._root = schema
        self._named: dict[str, object] = {}
        said = str(schema.get("$schema")) if isinstance(schema, Mapping) else ""
        self.siblings_count = not any(draft in said for draft in _BEFORE_SIBLINGS)
        """Whether what stands beside a reference holds too."""
        own = "id" if "draft-03" in said or "draft-04" in said else "$id"
        self.holds_others = False
        """Whether parts of it are documents of their own, within which "#" is another."""
        for part in subschemas(schema):
            if isinstance(anchor := part.get("$anchor"), str):
                self._named.setdefault(f"#{anchor}", part)
            if isinstance(name := part.get(own), str):
                self._named.setdefault(name.removesuffix("#"), part)
                self.holds_others |= part is not schema and not name.startswith("#")

    def target(self, place: str, reference: object) -> object:
        """Return what a reference points to.

        Raises GrammarError where it points to nothing, or out of the schema.
        """
        if not isinstance(reference, str):
            raise GrammarError(f"{place}: its $ref is no text")
        if reference in self._named:
            return self._named[reference]
        base, _, pointer = reference.partition("#")
        found = self._named.get(base) if base else self._root
        for step in pointer.split("/")[1:]:
            found = _step(found, unquote(step).replace("~1", "/").replace("~0", "~"))
        if (pointer and not pointer.startswith("/")) or not isinstance(found, (Mapping, bool)):
            raise GrammarError(
                f"{place}: {brief(reference)} points to nothing in the schema, and none is fetched"
            )
        return found


def subschemas(schema: object) -> Iterator[Schema]:
    """Yield the schema and all objects within it that may be schemas too."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            yield value
            waiting += [part for key, part in value.items() if key not in _DATA]
        elif isinstance(value, (list, tuple)):
            waiting += value


def brief(value: object) -> str:
    """Return a value of a schema for a message: in one line, and short."""
    shown = ascii(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _step(value: object, name: str) -> object:
    if isinstance(value, Mapping):
        return value.get(name)
    if isinstance(value, (list, tuple)) and name.isdecimal() and len(name) < 9:
        return next(islice(value, int(name), None), None)
    return None


def _check(name: str, schema: object) -> None:
    """Raise GrammarError where the schema is not what JSON can hold, or too much of it."""
    waiting: list[tuple[object, int]] = [(schema, 1)]
    count = 0
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if depth > DEEPEST or count > _MOST:
            raise GrammarError(f"{name}: the schema is too large or too deeply nested")
        if isinstance(value, Mapping):
            for key, part in value.items():
                if not isinstance(key, str):
                    raise GrammarError(f"{name}: {brief(key)} is no name of a JSON object")
                waiting += [(key, depth), (part, depth + 1)]
        elif isinstance(value, (list, tuple)):
            waiting += [(part, depth + 1) for part in value]
        else:
            _check_plain(name, value)


def _check_plain(name: str, value: object) -> None:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise GrammarError(f"{name}: {brief(value)} holds half a character") from None
    elif isinstance(value, float) and not math.isfinite(value):
        raise GrammarError(f"{name}: {value} is no number of JSON")
    elif isinstance(value, int) and not -_LONGEST_NUMBER < value < _LONGEST_NUMBER:
        raise GrammarError(f"{name}: a number in the schema is too large")
    elif value is not None and not isinstance(value, (bool, int, float)):
        raise GrammarError(f"{name}: {brief(value)} is no value of JSON")


def key_of(schema: Schema) -> str:
    """Return a text that is the same for schemas that are."""
    return json.dumps(schema, ensure_ascii=False, default=dict)
