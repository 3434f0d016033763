"""Tools that are described by a JSON schema instead of type hints, such as those of another
program."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from local_react.errors import UsageError
from local_react.gbnf import Rules
from local_react.tools.base import Ability, AnyTool, Tool, checked_abilities, checked_name

if TYPE_CHECKING:
    from local_react.tools.validating import Schema


def tool_of_schema(
    name: str,
    description: str,
    schema: Mapping[str, Any],
    function: Callable[[Mapping[str, Any]], object],
    *,
    may: Iterable[Ability] = (),
    own_words: bool = False,
) -> AnyTool:
    """Make a Tool whose arguments, an object, are what a JSON schema says: of the draft that
    its "$schema" names, else of 2020-12. The function is given them as they were validated.

    The model writes under a grammar of the schema as far as a grammar can say it; the rest,
    formats and patterns too, is validated by jsonschema, and a fault is told like any other
    tool's. Nothing that the schema refers to is ever fetched.

    Raises UsageError, in one line, where the schema is none, is of no object, points out of
    itself, or no grammar can be made of it; and for the name and `may` as `tool` does.
    """
    known = checked_name(name)
    abilities = checked_abilities(may)
    try:
        arguments = _arguments(schema)
    except UsageError as error:
        raise UsageError(f"tool {known}: {error}") from error

    def call(**given: Any) -> object:
        return function(given)

    return Tool(
        name=known,
        description=" ".join(description.split()),
        function=call,
        arguments=arguments,
        may=abilities,
        own_words=own_words,
    )


def _arguments(schema: Mapping[str, Any]) -> type[BaseModel]:
    """Return a class that is described by the schema, and validates what it is given by it."""
    from local_react.tools.validating import Schema

    Rules().schema(_NAME, schema)  # which tells first what is no JSON at all
    raw = _of_an_object(schema)
    Rules().schema(_NAME, raw)
    checked = Schema(raw)

    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return deepcopy(raw)

        @classmethod
        def model_validate(cls, obj: Any, **options: Any) -> Arguments:
            _validate(checked, obj)
            return super().model_validate(obj, **options)

    return Arguments


def _validate(schema: Schema, value: object) -> None:
    """Raise pydantic's ValidationError where a value is not as the schema says."""
    fault = schema.fault(value)
    if fault is not None:
        place, message = fault
        told = PydanticCustomError("json_schema", "{message}", {"message": message})
        raise ValidationError.from_exception_data(
            "arguments", [InitErrorDetails(type=told, loc=place, input=value)]
        )


_NAME: Final = "arguments"


def _of_an_object(schema: object) -> dict[str, Any]:
    """Return a copy of a schema that says that it is of an object."""
    if not isinstance(schema, Mapping):
        raise UsageError(f"its schema is a JSON object, not {schema!r}")
    raw: dict[str, Any] = json.loads(json.dumps(schema, default=dict))
    kind = raw.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise UsageError(f"the arguments of a tool are an object, not of type {kind!r}")
    if "$ref" in raw:  # beside which nothing counts in older drafts
        raw["allOf"] = [{"$ref": raw.pop("$ref")}, *raw.get("allOf", ())]
    return {**raw, "type": "object"}
