"""How a tool is described to the model: its name, its arguments and their types, its purpose."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from local_react.tools.base import AnyTool

_DEEPEST: Final = 4
"""How deep a schema that refers to itself is described."""
_MOST: Final = 20
"""Fields or alternatives within one another that are told one by one: more would multiply."""


def described(tool: AnyTool) -> str:
    """Return the line of a tool in the instructions."""
    schema = tool.schema
    named = {**_mapping(schema.get("definitions")), **_mapping(schema.get("$defs"))}
    return f"- {tool.name} {_fields(schema, named)}: {tool.description}"


def _fields(schema: Mapping[str, Any], named: Mapping[str, Any], depth: int = 0) -> str:
    """Return an object's fields and their types; those that may be left out have a "?"."""
    required = schema.get("required", ())
    fields = ", ".join(
        f'"{name}"{"" if name in required else "?"}: {_kind(part, named, depth)}'
        for name, part in _mapping(schema.get("properties")).items()
    )
    return f"{{{fields}}}"


def _kind(schema: object, named: Mapping[str, Any], depth: int) -> str:
    """Return a short description of a parameter's type for the prompt; `named` holds the
    schemas that are referred to."""
    said = _mapping(schema)
    if "enum" in said:
        return " | ".join(json.dumps(item, ensure_ascii=False) for item in said["enum"])
    if "anyOf" in said:
        options: Sequence[object] = said["anyOf"][: None if depth == 0 else _MOST]
        return " | ".join(_kind(item, named, depth) for item in options)
    if "$ref" in said and depth < _DEEPEST:
        return _kind(named.get(str(said["$ref"]).rsplit("/", 1)[-1]), named, depth + 1)
    kinds = said.get("type", "value")
    kind = kinds if isinstance(kinds, str) else " | ".join(kinds)
    if kind == "array":
        kind = f"list of {_kind(said.get('items'), named, depth)}"
    elif (
        said.get("properties")
        and depth < _DEEPEST
        and (depth == 0 or len(said["properties"]) <= _MOST)
    ):
        kind = _fields(said, named, depth + 1)
    description = said.get("description")
    return f"{kind} ({description})" if description else kind


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
