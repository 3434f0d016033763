"""Tools that are described by a JSON schema: grammar, validation, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from acceptance import admits

from local_react import LlamaModel, ToolError
from local_react.errors import UsageError
from local_react.protocol import action_grammar, check, system_text
from local_react.tools.base import AnyTool
from local_react.tools.schemas import tool_of_schema

FORECAST = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "its name", "minLength": 2},
        "day": {"type": "string", "format": "date"},
        "place": {"$ref": "#/definitions/place"},
        "unit": {"enum": ["C", "F"]},
        "code": {"type": "string", "pattern": "^[A-Z]{2}$"},
        "hours": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    },
    "required": ["city"],
    "additionalProperties": False,
    "definitions": {
        "place": {"type": "object", "properties": {"lat": {"maximum": 90}}, "required": ["lat"]}
    },
}


def made(schema: Any, **options: Any) -> AnyTool:
    return tool_of_schema(
        "forecast", "Tell the\n  weather.", schema, lambda given: given, **options
    )


def test_is_described_by_its_schema() -> None:
    forecast = made(FORECAST)
    assert forecast.name == "forecast"
    assert forecast.description == "Tell the weather."
    assert forecast.schema == FORECAST
    assert '"city": string (its name), "day"?: string, "place"?: {"lat": ' in system_text(
        [forecast]
    )


def test_the_function_is_given_the_arguments_as_they_are() -> None:
    given: list[Mapping[str, Any]] = []
    keep = tool_of_schema("keep", "Keep.", {"required": ["self"]}, given.append)
    arguments = {"self": 1, "model_config": [None], "_x": 1.0, "größe": {}, "a b": "", "copy": True}
    assert keep.run(arguments) == "done"
    assert given == [arguments]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "argument city: Field required"),
        ({"city": "x"}, "argument city: 'x' is too short"),
        ({"city": 5}, "argument city: 5 is not of type 'string'"),
        ({"city": "Bonn", "day": "2024-02-30"}, "argument day: '2024-02-30' is not a 'date'"),
        ({"city": "Bonn", "place": {}}, r"argument place\.lat: Field required"),
        ({"city": "Bonn", "place": {"lat": 91}}, r"argument place\.lat: 91 is greater"),
        ({"city": "Bonn", "unit": "K"}, "argument unit: 'K' is not one of"),
        ({"city": "Bonn", "code": "DE\n"}, "argument code: .*does not match"),
        ({"city": "Bonn", "hours": [1, 1]}, "argument hours: .*non-unique"),
        ({"city": "Bonn", "wind\n": 1}, "argument wind ?: there may be no 'wind"),
        ({"city": "Bonn", "code": "x" * 9_000}, r"argument code: .*\.\.\."),
    ],
)
def test_a_fault_is_told_in_a_line_that_names_the_argument(
    arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(ToolError, match=f"^forecast: {told}") as caught:
        made(FORECAST).run(arguments)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_the_model_writes_under_a_grammar_of_the_schema(tiny: LlamaModel) -> None:
    forecast = made(FORECAST)
    check(tiny, [forecast])
    grammar = action_grammar([forecast])
    assert admits(tiny, grammar, ' forecast {"city": "Bonn", "place": {"lat": 5}, "unit": "C"}')
    for wrong in (
        "{}",
        '{"city": "B"}',
        '{"city": "Bonn", "unit": "K"}',
        '{"city": "Bonn", "x": 1}',
    ):
        assert not admits(tiny, grammar, f" forecast {wrong}"), wrong


def test_the_draft_that_a_schema_names_is_the_one_that_holds() -> None:
    four = {"$schema": "http://json-schema.org/draft-04/schema#"}
    bound = {"properties": {"n": {"minimum": 5, "exclusiveMinimum": True}}}
    assert made({**four, **bound}).run({"n": 6}) == '{"n":6}'
    with pytest.raises(ToolError, match="argument n"):
        made({**four, **bound}).run({"n": 5})
    with pytest.raises(UsageError, match=r"properties\.n\.exclusiveMinimum"):
        made(bound)  # in 2020-12 it is a number
    made({"$schema": "http://example.org/none", "properties": {"n": {"minimum": 5}}})


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        (True, "a JSON object, not True"),
        (["type"], "is no schema"),
        ({"type": "array"}, "are an object, not of type 'array'"),
        ({"type": ["string", "null"]}, "are an object"),
        ({"properties": {"a": {"type": "florb"}}}, "florb"),
        ({"properties": {"a": {"minLength": "x"}}}, "minLength"),
        ({"properties": {"a": {"$ref": "http://example.org/a"}}}, "none is fetched"),
        ({"properties": {"a": {"$ref": "other.json#/a"}}}, "none is fetched"),
        ({"properties": {"a": {"not": {"$ref": "file:///etc/passwd"}}}}, "none is fetched"),
        ({"properties": {"a": {"contains": {"$dynamicRef": "//x/y"}}}}, "none is fetched"),
        ({"properties": {"a": {"pattern": "(("}}}, "no regular expression"),
        ({"patternProperties": {"(?P<": {}}}, "no regular expression"),
        ({"properties": {"a": {"type": "string", "x-gbnf": 'root ::= "a"'}}}, "x-gbnf"),
        ({"properties": {"a": {"const": float("inf")}}}, "no number"),
        ({"properties": {1: {}}}, "no name"),
        ({"$ref": "#"}, "itself"),
        ({"unevaluatedProperties": False, "patternProperties": {"a": {}}}, "beyond us"),
    ],
)
def test_a_schema_that_cannot_be_a_tools_is_refused_in_a_line(schema: Any, told: str) -> None:
    with pytest.raises(UsageError, match=f"^tool forecast: .*{told}") as caught:
        made(schema)
    assert "\n" not in str(caught.value)


def test_a_name_and_what_it_may_do_are_checked_as_any_tools() -> None:
    with pytest.raises(UsageError, match="tool name"):
        tool_of_schema("a b", "Do.", {}, lambda given: "")
    with pytest.raises(UsageError, match="cannot be one that"):
        made({}, may=["flies"])
    assert made({}, may=["reads network"]).brings_outside_text


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"properties": {"a": {"pattern": "^(a|aa)+$"}}}, {"a": "a" * 90 + "!"}),
        ({"patternProperties": {"^(a|aa)+$": True}}, {"a" * 90 + "!": 1}),
        (
            {"additionalProperties": False, "patternProperties": {"^(a|aa)+$": 1 > 0}},
            {"a" * 90 + "!": 1},
        ),
        (
            {
                "properties": {"a": {"$ref": "#/$defs/d0"}},
                "$defs": {
                    **{
                        f"d{n}": {
                            "allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]
                        }
                        for n in range(60)
                    },
                    "d60": {"type": "integer"},
                },
            },
            {"a": 5},
        ),
    ],
)
def test_what_would_take_for_ever_is_a_fault(schema: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="takes too long"):
        made(schema).run(arguments)


def test_a_later_change_of_the_schema_changes_no_tool() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"type": "integer"}}}
    forecast = made(schema)
    schema["properties"]["a"]["type"] = "string"
    forecast.schema["properties"].clear()
    with pytest.raises(ToolError, match="argument a"):
        forecast.run({"a": "x"})


def test_any_schema_can_be_shown_to_the_model() -> None:
    odd: dict[str, Any] = {
        "properties": {"a": True, "b": {"type": ["string", "null"]}, "c": {"items": False}},
        "$defs": {"n": {"properties": {f"p{n}": {"$ref": "#/$defs/n"} for n in range(60)}}},
    }
    odd["properties"]["d"] = {"$ref": "#/$defs/n"}
    shown = system_text([made(odd)])
    assert '"a"?: value, "b"?: string | null, "c"?: value' in shown
    assert len(shown) < 10_000
