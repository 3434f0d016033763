"""The functions of the Berkeley Function Calling Leaderboard as tools.

Its dialect of JSON schema: types are named as Python's ("dict", "float", "tuple"), "any" is
anything, and values of an enum may be written as text whatever their type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, create_model

from local_react.evaluation.items import Function
from local_react.tools.base import AnyTool, Tool

_TYPES: Final[Mapping[str, str]] = {
    "dict": "object",
    "object": "object",
    "float": "number",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
    "string": "string",
    "array": "array",
    "list": "array",
    "tuple": "array",
}
"""By BFCL's name; any other is anything."""
_AS_THEY_ARE: Final = ("description", "default", "minItems", "maxItems", "minimum", "maximum")
_BOOLEANS: Final = {"true": True, "false": False}


def tools_of(functions: Sequence[Function]) -> list[AnyTool]:
    """Return a tool for each function. Calling one does nothing: what counts is that it
    is called, and with what."""
    return [_tool(function) for function in functions]


def _tool(function: Function) -> AnyTool:
    def call(**arguments: object) -> str:
        return "done"

    return Tool(
        name=function["name"],
        description=" ".join(str(function.get("description", "")).split()),
        function=call,
        arguments=_arguments(function["name"], function["parameters"]),
    )


def _arguments(name: str, parameters: Mapping[str, Any]) -> type[BaseModel]:
    required = parameters.get("required", ())
    fields: dict[str, Any] = {}
    for number, (argument, part) in enumerate(parameters.get("properties", {}).items()):
        schema = schema_of(part)
        if argument in required:
            field = Field(alias=argument)
        elif "default" in part:
            field = Field(part["default"], alias=argument)
        else:  # a default of its own would be told as the function's
            field = Field(default_factory=lambda: None, alias=argument)
        fields[f"argument_{number}"] = (Annotated[Any, WithJsonSchema(schema)], field)
    config = ConfigDict(extra="forbid", protected_namespaces=())
    model: type[BaseModel] = create_model(name, __config__=config, **fields)
    return model


def schema_of(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a value that is described in BFCL's dialect."""
    kind = _TYPES.get(str(part.get("type")))
    schema: dict[str, Any] = {"type": kind} if kind else {}
    schema |= {name: part[name] for name in _AS_THEY_ARE if name in part}
    if "enum" in part:
        schema["enum"] = [_typed(value, kind) for value in part["enum"]]
    if kind == "array" and part.get("items"):
        schema["items"] = schema_of(part["items"])
    if kind == "object" and part.get("properties"):
        schema |= {
            "properties": {name: schema_of(one) for name, one in part["properties"].items()},
            "required": list(part.get("required", ())),
            "additionalProperties": False,
        }
    return schema


def _typed(value: Any, kind: str | None) -> Any:
    """Return an enum's value as its type has it, where it is written as text."""
    if not isinstance(value, str):
        return value
    if kind == "boolean":
        return _BOOLEANS.get(value.lower(), value)
    try:
        return {"integer": int, "number": float}.get(str(kind), str)(value)
    except ValueError:
        return value
