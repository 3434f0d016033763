"""Two schemas that both hold, as one: as near to that as a schema comes, and never less than
what both admit. They are `normal`: reading.py says how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from local_react.gbnf.documents import Schema

KINDS: Final = ("object", "array", "string", "number", "integer", "boolean", "null")


def merged(one: Schema, other: Schema) -> dict[str, Any]:
    """Return a schema of the values that both admit; of more where it can't be said."""
    both: dict[str, Any] = {**one, **{key: other[key] for key in other if key not in one}}
    for key in one.keys() & other.keys():
        if one[key] != other[key] and key in _MERGES:
            both[key] = _MERGES[key](one[key], other[key])
    if "properties" in both or "additionalProperties" in both:
        _merge_properties(one, other, both)
    if "prefixItems" in one or "prefixItems" in other:
        _merge_items(one, other, both)
    return both


def both(one: Any, other: Any) -> Any:
    """Return a schema that says that both hold."""
    if one is True or one == other:
        return other
    return one if other is True else {"allOf": [one, other]}


def kinds(said: object) -> list[str]:
    """Return the kinds that the keyword "type" names, those that it knows of."""
    names = said if isinstance(said, (list, tuple)) else [said]
    return [name for name in names if name in KINDS]


def _of_both_kinds(one: object, other: object) -> list[str]:
    ones, others = kinds(one), kinds(other)
    shared = [kind for kind in ones if kind in others]
    for some, rest in ((ones, others), (others, ones)):
        if "integer" in some and "number" in rest and "integer" not in shared:
            shared.append("integer")
    return shared


def _in_both(one: Any, other: Any) -> Any:
    if not isinstance(one, (list, tuple)) or not isinstance(other, (list, tuple)):
        return one
    return [value for value in one if any(same(value, item) for item in other)]


def same(one: object, other: object) -> bool:
    """Return whether two values are the same to JSON, to which true is no 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _all_of_both(one: Any, other: Any) -> Any:
    if not isinstance(one, (list, tuple)):
        return other
    return list(dict.fromkeys([*one, *other])) if isinstance(other, (list, tuple)) else one


def _extreme(choose: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def chosen(one: Any, other: Any) -> Any:
        if isinstance(one, bool) or not isinstance(one, (int, float)):
            return other
        return choose(one, other) if isinstance(other, (int, float)) else one

    return chosen


_MERGES: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "type": _of_both_kinds,
    "enum": _in_both,
    "required": _all_of_both,
    **dict.fromkeys(("minLength", "minItems", "minimum", "exclusiveMinimum"), _extreme(max)),
    **dict.fromkeys(("maxLength", "maxItems", "maximum", "exclusiveMaximum"), _extreme(min)),
    "items": both,
    "additionalProperties": both,
}


def _merge_properties(one: Schema, other: Schema, both_: dict[str, Any]) -> None:
    """Give each property what either schema says of it: by name, or of all that it names not."""
    ones, others = _properties(one), _properties(other)
    if ones is None or others is None:
        return
    names = [*ones, *(name for name in others if name not in ones)]
    both_["properties"] = {
        name: both(_said_of(name, ones, one), _said_of(name, others, other)) for name in names
    }


def _properties(schema: Schema) -> Mapping[str, Any] | None:
    found = schema.get("properties", {})
    return found if isinstance(found, Mapping) else None


def _said_of(name: str, properties: Mapping[str, Any], schema: Schema) -> Any:
    if name in properties:
        return properties[name]
    # A pattern may fit the name: then the rest is not asked.
    return True if schema.get("patternProperties") else schema.get("additionalProperties", True)


def _merge_items(one: Schema, other: Schema, both_: dict[str, Any]) -> None:
    """Keep the one list of items; what the other schema says of all is left to validation,
    unless it has no list and says nothing."""
    for some, rest in ((one, other), (other, one)):
        if "prefixItems" in some and ("prefixItems" in rest or "items" in rest):
            both_["prefixItems"] = some["prefixItems"]
            both_["items"] = True
            return
