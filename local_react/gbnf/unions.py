"""Alternatives that begin alike, one within another.

llama.cpp keeps each reading of what was written so far, so that two objects that both begin
with a property that holds either of them again are twice as many readings with each level:
at fourteen it no longer goes on. Such alternatives become one, which admits what each does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from local_react.gbnf.documents import Document, Schema
from local_react.gbnf.merging import KINDS, kinds
from local_react.gbnf.notation import as_json

_BRANCHES: Final = ("anyOf", "oneOf")

_MOST: Final = 5_000
"""Parts of a schema that are looked through."""


def holds_itself(document: Document, options: Sequence[object]) -> bool:
    """Return whether one of the options holds a choice between the same options."""
    waiting, seen = [*options], set[int]()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if len(seen) > _MOST:
            return True  # as it may be: what follows is right for any
        if isinstance(part, Mapping):
            if any(part.get(keyword) == options for keyword in _BRANCHES):
                return True
            waiting += part.values()
            if isinstance(part.get("$ref"), str):
                waiting.append(document.target("", part["$ref"]))
        elif isinstance(part, (list, tuple)):
            waiting += part
    return False


def joined(options: Sequence[Schema]) -> list[Schema]:
    """Return options that admit all that these do, no two of which begin alike for long. An
    option is told by its type, and objects also by what they begin with."""
    found: list[Schema] = []
    for kind, alike in _by_kind(options).items():
        if len(alike) == 1 or kind not in ("object", "array"):
            found += alike
        elif kind == "object" and all(_is_plain(option) for option in alike):
            found += alike if _told_apart(alike) else [_either(alike)]
        else:
            found.append({"type": kind})
    return found


def _by_kind(options: Sequence[Schema]) -> dict[str, list[Schema]]:
    sorted_: dict[str, list[Schema]] = {}
    for option in options:
        for kind in _kinds(option):
            whole = {**option, "type": kind} if kind in KINDS else option
            sorted_.setdefault(kind, []).append(whole)
    return {"": [{}]} if "" in sorted_ else sorted_


def _kinds(option: Schema) -> Iterator[str]:
    """Yield the kind of an option that has one; "" where it may be any."""
    named = kinds(option.get("type"))
    if "enum" in option:
        yield "enum"
    elif len(named) == 1 and not any(keyword in option for keyword in _BRANCHES):
        yield named[0]
    elif not named and option.get("properties"):
        yield "object"
    else:
        yield from named or [""]


def _is_plain(option: Schema) -> bool:
    return not any(keyword in option for keyword in (*_BRANCHES, "$ref", "allOf"))


def _told_apart(objects: Sequence[Schema]) -> bool:
    """Return whether no two of the objects may begin with the same property and value."""
    taken: dict[str, list[Any]] = {}
    for schema in objects:
        name, part = next(iter(schema.get("properties", {}).items()), ("", None))
        if name not in schema.get("required", ()):
            return False
        values = _values(part)
        others = taken.setdefault(name, [])
        if any(value in others for value in values) or (others and [None] in (values, others)):
            return False
        others += values
    return True


def _values(part: object) -> list[Any]:
    """Return the values that a property may have as JSON, or a None that stands for any."""
    found = _enumerated(part)
    return [None] if found is None else [as_json(value) for value in found]


def _enumerated(part: object) -> Sequence[Any] | None:
    said = part if isinstance(part, Mapping) else {}
    found = [said["const"]] if "const" in said else said.get("enum")
    return found if isinstance(found, (list, tuple)) else None


def _either(objects: Sequence[Schema]) -> Schema:
    """Return a schema of an object that admits what each of these does."""
    names = dict.fromkeys(name for schema in objects for name in schema.get("properties", {}))
    open_ = any(schema.get("additionalProperties", True) is not False for schema in objects)
    required = [name for name in names if all(name in o.get("required", ()) for o in objects)]
    return {
        "type": "object",
        "properties": {name: _either_value(name, objects) for name in names},
        "required": required,
        "additionalProperties": open_,
    }


def _either_value(name: str, objects: Sequence[Schema]) -> Any:
    said = [
        schema.get("properties", {}).get(name, schema.get("additionalProperties", True))
        for schema in objects
    ]
    said = [part for part in said if part is not False]
    if all(part == said[0] for part in said):
        return said[0] if said else False
    values = [value for part in said for value in _enumerated(part) or ()]
    if all(map(_enumerated, said)):
        return {"enum": values}
    named = [kinds(part.get("type")) if isinstance(part, Mapping) else [] for part in said]
    return {"type": sorted({kind for some in named for kind in some})} if all(named) else True
