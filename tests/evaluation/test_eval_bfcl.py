"""The functions of BFCL as tools, and whether calls are those expected."""

from __future__ import annotations

from typing import Any

import pytest
from acceptance import admits

from local_react import LlamaModel
from local_react.evaluation.bfcl import schema_of, tools_of
from local_react.evaluation.bfcl_match import calls_match, read_calls
from local_react.protocol import action_grammar, step_grammar, system_text

AREA: dict[str, Any] = {
    "name": "geometry.area",
    "description": "The area of\n a triangle.",
    "parameters": {
        "type": "dict",
        "properties": {
            "base": {"type": "float", "description": "in metres"},
            "points": {"type": "array", "items": {"type": "tuple", "items": {"type": "float"}}},
            "unit": {"type": "string", "enum": ["m", "cm"], "default": "m"},
            "count": {"type": "integer", "enum": ["1", "2"]},
            "Content-Type": {"type": "any"},
            "style": {
                "type": "dict",
                "properties": {"bold": {"type": "boolean"}, "size": {"type": "integer"}},
                "required": ["bold"],
            },
            "free": {"type": "dict"},
        },
        "required": ["base", "style"],
    },
}


def test_the_schema_says_what_the_function_says() -> None:
    (tool,) = tools_of([AREA])
    schema = tool.schema
    parts = {
        name: {key: value for key, value in part.items() if key != "title"}
        for name, part in schema["properties"].items()
    }
    assert parts == {
        "base": {"type": "number", "description": "in metres"},
        "points": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "number"}},
        },
        "unit": {"type": "string", "enum": ["m", "cm"], "default": "m"},
        "count": {"type": "integer", "enum": [1, 2]},
        "Content-Type": {},
        "style": {
            "type": "object",
            "properties": {"bold": {"type": "boolean"}, "size": {"type": "integer"}},
            "required": ["bold"],
            "additionalProperties": False,
        },
        "free": {"type": "object"},
    }
    assert schema["required"] == ["base", "style"]
    assert schema["additionalProperties"] is False
    assert (tool.name, tool.description) == ("geometry.area", "The area of a triangle.")


def test_values_of_an_enum_have_its_type() -> None:
    assert schema_of({"type": "boolean", "enum": ["True", "False", "dontcare"]})["enum"] == [
        True,
        False,
        "dontcare",
    ]
    assert schema_of({"type": "float", "enum": ["0.5", 1, None]})["enum"] == [0.5, 1, None]
    assert schema_of({"type": "integer", "enum": ["x"]})["enum"] == ["x"]


@pytest.mark.parametrize(
    ("arguments", "holds"),
    [
        ('{"base": 6, "style": {"bold": true}}', True),
        ('{"base": 6.5, "points": [[1, 2.5]], "unit": "cm", "style": {"bold": false}}', True),
        ('{"base": 6, "count": 2, "Content-Type": [null], "style": {"bold": true}}', True),
        ('{"base": 6, "style": {"bold": true, "size": 2}, "free": {"a": "b"}}', True),
        ('{"base": "6", "style": {"bold": true}}', False),
        ('{"style": {"bold": true}}', False),
        ('{"base": 6, "style": {"size": 2}}', False),
        ('{"base": 6, "count": "2", "style": {"bold": true}}', False),
        ('{"base": 6, "unit": "km", "style": {"bold": true}}', False),
    ],
)
def test_the_grammar_admits_what_the_schema_does(
    tiny: LlamaModel, arguments: str, holds: bool
) -> None:
    tools = tools_of([AREA])
    tiny.check(step_grammar(tools))
    assert admits(tiny, action_grammar(tools), f" geometry.area {arguments}") is holds


def test_a_call_does_nothing_and_the_prompt_names_the_function() -> None:
    (tool,) = tools_of([AREA])
    assert tool.run({"base": 1, "style": {"bold": True}, "Content-Type": 1}) == "done"
    assert '- geometry.area {"base": number (in metres)' in system_text([tool])


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('[{"name": "f", "arguments": {"x": 1}}]', [("f", {"x": 1})]),
        ('Here:\n```json\n[{"name": "f", "arguments": {}}]\n```', [("f", {})]),
        ('{"name": "f", "parameters": {"x": [1]}}', [("f", {"x": [1]})]),
        ('[{"name": "f"}, {"name": "g", "arguments": {"y": 2}}] ok', [("f", {}), ("g", {"y": 2})]),
        ('I call [the function] {"name": "f", "arguments": {}}', [("f", {})]),
        ("[]", []),
        ("none of them", []),
        ('x = []; {"name": "f", "arguments": {}}', [("f", {})]),
        ("see [1]", []),
        ('[{"name": "f", "arguments": ', []),
        ('{"x": 1}', []),
    ],
)
def test_calls_are_read_leniently(text: str, calls: list[Any]) -> None:
    assert read_calls(text) == calls


def function(name: str, *required: str, **types: Any) -> dict[str, Any]:
    properties = {
        key: kind if isinstance(kind, dict) else {"type": kind} for key, kind in types.items()
    }
    parameters = {"type": "dict", "properties": properties, "required": list(required)}
    return {"name": name, "description": name, "parameters": parameters}


def expected(*calls: dict[str, dict[str, list[Any]]]) -> dict[str, Any]:
    return {"kind": "calls", "ground_truth": list(calls)}


LIST_OF = {"type": "array", "items": {"type": "string"}}
FLOATS = {"type": "array", "items": {"type": "float"}}
DICTS = {"type": "array", "items": {"type": "dict"}}


@pytest.mark.parametrize(
    ("kind", "allowed", "value", "holds"),
    [
        # Strings: spaces and some marks do not matter, nor case, nor the kind of quote.
        ("string", ["San Francisco, CA"], "san francisco ca", True),
        ("string", ["April 1, 2024"], "April-1/2024", True),
        ("string", ["it's"], 'IT"S', True),
        ("string", ["a+b"], "ab", False),
        ("string", ["a", ""], "", True),
        ("string", ["1"], 1, False),
        ("any", ["model"], "Model", True),
        # Numbers: an int will do for a float, and not the other way round.
        ("float", [5.0], 5, True),
        ("float", [5.0], 5.5, False),
        ("integer", [5], 5, True),
        ("integer", [5], 5.0, False),
        ("integer", [1], True, False),
        ("integer", [5, 6], 6, True),
        ("boolean", [True], True, True),
        ("boolean", [True], 1, False),
        ("boolean", [True], "true", False),
        # Lists: element by element, in their order.
        (LIST_OF, [["A b", "c"]], ["ab", "C"], True),
        (LIST_OF, [["a", "c"]], ["c", "a"], False),
        (LIST_OF, [["a"], ["c"]], ["c"], True),
        (LIST_OF, [["a"]], "a", False),
        (LIST_OF, [["a"]], ["a", "a"], False),
        (LIST_OF, [["a"], ""], [], True),
        (LIST_OF, ["data['x']"], "data['x']", True),
        (LIST_OF, ["data['x']"], "data[x]", False),
        (FLOATS, [[1.0, 2.5]], [1.0, 2.5], True),
        (FLOATS, [[1.0, 2.0]], [1, 2], False),
        (FLOATS, [[1, 2]], [1, 2], True),
        ({"type": "tuple", "items": {"type": "integer"}}, [[1, 2]], [1, 2], True),
        # Objects: each key has its own allowed values.
        ("dict", [{"a": [1], "b": ["x", ""]}], {"a": 1}, True),
        ("dict", [{"a": [1], "b": ["x", ""]}], {"a": 1, "b": "X"}, True),
        ("dict", [{"a": [1], "b": ["x"]}], {"a": 1}, False),
        ("dict", [{"a": [1]}], {"a": 2}, False),
        ("dict", [{"a": [1]}], {"a": 1, "c": 1}, False),
        ("dict", ["", {"a": [1]}], {"a": 1}, True),
        (DICTS, [[{"a": [1]}, {"b": ["x"]}]], [{"a": 1}, {"b": "x"}], True),
        (DICTS, [[{"a": [1]}, {"b": ["x"]}]], [{"b": "x"}, {"a": 1}], False),
        (DICTS, [[{"a": [1]}]], [{"a": 1}, {"a": 1}], False),
        # A value that is described as another type than it has.
        ("float", ["", None], None, True),
        ("string", [None], None, True),
        ("string", [None], "x", False),
    ],
)
def test_a_value(kind: Any, allowed: list[Any], value: Any, holds: bool) -> None:
    wanted = expected({"f": {"x": allowed}})
    assert calls_match([("f", {"x": value})], wanted, [function("f", x=kind)]) is holds


WEATHER = function("weather", "city", city="string", unit="string", days="integer")
TIME = function("time", "city", city="string")
OSLO = {"weather": {"city": ["Oslo"], "unit": ["", "C"]}}
ROME = {"weather": {"city": ["Rome"], "unit": ["", "C"]}}


@pytest.mark.parametrize(
    ("calls", "holds"),
    [
        ([("weather", {"city": "Oslo"})], True),
        ([("weather", {"city": "Oslo", "unit": "c"})], True),
        ([("weather", {"city": "Oslo", "unit": "F"})], False),
        ([("weather", {"city": "Oslo", "days": 1})], False),
        ([("weather", {"city": "Oslo", "x": 1})], False),
        ([("weather", {"unit": "C"})], False),
        ([("time", {"city": "Oslo"})], False),
        ([("weather", {"city": "Oslo"}), ("weather", {"city": "Oslo"})], False),
        ([], False),
    ],
)
def test_one_call(calls: Any, holds: bool) -> None:
    assert calls_match(calls, expected(OSLO), [WEATHER, TIME]) is holds


def test_an_argument_that_may_not_be_left_out() -> None:
    wanted = expected({"weather": {"city": ["Oslo"], "unit": ["C"]}})
    assert not calls_match([("weather", {"city": "Oslo"})], wanted, [WEATHER])


def test_several_calls_in_any_order_and_as_many() -> None:
    oslo, rome = ("weather", {"city": "Oslo"}), ("weather", {"city": "Rome"})
    wanted = expected(OSLO, ROME)
    assert calls_match([rome, oslo], wanted, [WEATHER])
    assert not calls_match([oslo, oslo], wanted, [WEATHER])
    assert not calls_match([oslo], wanted, [WEATHER])
    assert not calls_match([oslo, rome, rome], wanted, [WEATHER])


def test_none_or_some() -> None:
    assert calls_match([], {"kind": "no_call"}, [WEATHER])
    assert not calls_match([("weather", {})], {"kind": "no_call"}, [WEATHER])
    assert calls_match([("weather", {})], {"kind": "some_call"}, [WEATHER])
    assert not calls_match([], {"kind": "some_call"}, [WEATHER])
