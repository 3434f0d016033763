"""Schemas as grammars: tables of what is admitted and refused, by the real engine."""

from __future__ import annotations

import json
from itertools import islice
from typing import Annotated, Any, Literal, Optional

import pytest
from acceptance import admits
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model
from trials.grammar_cases import GRAMMARS

from local_react import LlamaModel, Sampling
from local_react.core import Message
from local_react.errors import GrammarError
from local_react.gbnf import OWNED, Rules, check_notation, forced_beginning, literal, prose


def grammar_of(schema: Any) -> str:
    rules = Rules()
    rules.add("root", rules.schema("value", schema))
    return rules.text()


class Node(BaseModel, extra="forbid"):
    name: str
    children: list[Node] = []


class Mixed(BaseModel, extra="forbid"):
    a: int
    b: str | None = None
    c: Literal["x", "y z", 'quo"te'] = "x"
    d: dict[str, float] = {}
    e: tuple[int, str] = (1, "a")


TABLE: list[tuple[Any, list[str], list[str]]] = [
    (
        {"type": "string"},
        ['""', '"é中😀"', r'"a\"b\\\n"', r'"\u00e9"'],
        ["a", '"', '"\n"', r'"\ud800"', r'"\q"'],
    ),
    ({"type": "string", "minLength": 2, "maxLength": 3}, ['"ab"', '"abc"'], ['"a"', '"abcd"']),
    ({"type": "integer"}, ["0", "-7", "123"], ["007", "1.5", "+1", "", "1e3"]),
    ({"type": "integer", "minimum": 0}, ["0", "12"], ["-1"]),
    ({"type": "integer", "exclusiveMinimum": 0}, ["5"], ["-5", "0"]),
    (
        {"type": "integer", "minimum": -12, "maximum": 130},
        ["-12", "-9", "0", "7", "99", "100", "130"],
        ["-13", "-20", "131", "200", "1000", "05", "-0"],
    ),
    ({"type": "integer", "exclusiveMaximum": -98.5}, ["-99", "-100", "-1234"], ["-98", "0", "99"]),
    ({"type": "integer", "minimum": 9, "maximum": 10}, ["9", "10"], ["8", "11", "90", "19"]),
    ({"type": "integer", "minimum": True}, ["-5"], ["1.5"]),
    ({"type": "number"}, ["0.5", "-2", "1e-9", "3.25E+10", "1.5e+300"], [".5", "1.", "NaN", "1e"]),
    ({"type": "number"}, [], ["1e309", "123e307", "5e999"]),
    ({"type": "number", "minimum": -3}, ["-1.5"], ["x"]),
    ({"type": "number", "exclusiveMinimum": 0}, ["1.5"], ["-1.5"]),
    ({"type": "number", "maximum": -1}, ["-1.5"], ["1.5"]),
    ({"minLength": 2}, ['"ab"'], ['"a"', "12"]),
    ({"enum": [1.0, "a"]}, ["1.0", "1", '"a"'], ["1.5", "true"]),
    ({"enum": [f"n{n}" for n in range(500)]}, ['"n0"', '"n499"', '"n49"'], ['"n500"', '"n"']),
    ({"type": "string", "enum": ["a", 1]}, ['"a"'], ["1"]),
    (
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "null"}], "minItems": 1},
        ["[1]", "[1, null]", '[1, null, "x", {}]'],
        ["[]", "[null]", "[1, 2]"],
    ),
    (
        {"type": "array", "items": [{"type": "integer"}], "additionalItems": False},
        ["[]", "[1]"],
        ["[1, 1]", '["a"]'],
    ),
    (
        {"type": "object", "properties": {"ab": {"type": "integer"}}},
        ["{}", '{"ab": 1}', '{"ab": 1, "x": [], "abc": 2}', '{"a": "x"}', '{"": 1}'],
        ['{"ab": "x"}', '{"x": 1, "ab": 1}', '{"ab": 1, "ab": "x"}'],
    ),
    (
        {"type": "object", "properties": {"a": True}, "additionalProperties": {"type": "integer"}},
        ['{"a": "x", "b": 1}'],
        ['{"b": "x"}'],
    ),
    (
        {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False},
        ["{}", '{"x1": []}'],
        ["[]"],
    ),
    ({"type": "object", "required": ["a"]}, ['{"a": 1}', '{"a": 1, "b": 2}'], ["{}", '{"b": 1}']),
    ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "null"}}, "maxLength": 3}, ["null"], ['"a"']),
    (
        {"$ref": "#n", "minLength": 2, "$defs": {"a": {"$anchor": "n", "type": "string"}}},
        ['"ab"'],
        ['"a"'],
    ),
    (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/a~1b",
            "minLength": 9,
            "definitions": {"a/b": {"type": "string"}},
        },
        ['"a"'],
        ["1"],
    ),
    (
        {
            "allOf": [
                {"type": ["integer", "string"], "minimum": 3},
                {"type": "number", "maximum": 5},
            ]
        },
        ["3", "5"],
        ["2", "6", '"a"', "3.5"],
    ),
    (
        {
            "allOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"b": {}}, "additionalProperties": {"maxLength": 2}},
            ]
        },
        ['{"a": "xy"}', '{"a": "xy", "b": 1}'],
        ["{}", '{"a": "xyz"}', '{"a": 1}'],
    ),
    (
        {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        ['{"a": 1}', '{"b": 1}'],
        ["{}", "[]"],
    ),
    ({"anyOf": [False, {"enum": []}, {"type": "null"}]}, ["null"], ["1"]),
    ({"not": {"type": "null"}}, ["1", "null"], ["x"]),
    ({"type": "boolean"}, ["true", "false"], ["True", "1"]),
    ({"type": "null"}, ["null"], ["None"]),
    ({"const": "a b"}, ['"a b"'], ['"a"']),
    ({"enum": ["x", 3, None]}, ['"x"', "3", "null"], ["x", '"3"']),
    ({"type": ["string", "null"]}, ['"a"', "null"], ["1"]),
    (
        {"type": "array", "items": {"type": "integer"}},
        ["[]", "[1]", "[1, 2]"],
        ["[1,2]", "[1, ]", '["a"]'],
    ),
    (
        {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3},
        ["[1, 2]", "[1, 2, 3]"],
        ["[1]", "[1, 2, 3, 4]"],
    ),
    ({"type": "array", "maxItems": 0}, ["[]"], ["[1]"]),
    ({"type": "array"}, ['[1, "a", {"b": [null]}]'], ["[1 2]"]),
    ({"type": "object"}, ["{}", '{"a": 1, "b": {}}'], ["{a: 1}"]),
    ({"type": "object", "additionalProperties": False}, ["{}"], ['{"a": 1}']),
    (True, ['{"a": [true]}', "1"], ["oops"]),
    ({}, ['"x"'], ["x"]),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, ["1", '"a"'], ["true"]),
    ({"allOf": [{"type": "integer"}]}, ["1"], ['"a"']),
    ({"type": "string", "maxLength": 5000}, ['"' + "a" * 2500 + '"'], ["a"]),
    (
        Node.model_json_schema(),
        ['{"name": "a"}', '{"name": "a", "children": [{"name": "b"}]}'],
        ['{"children": []}', '{"name": "a", "x": 1}'],
    ),
    (
        Mixed.model_json_schema(),
        [
            '{"a": 1}',
            '{"a": 1, "c": "y z"}',
            r'{"a": 1, "b": null, "c": "quo\"te", "d": {"k": 1.5}, "e": [1, "b"]}',
        ],
        [
            '{"b": null}',
            '{"c": "x", "a": 1}',
            '{"a": 1,}',
            '{"a": 1, "e": [1]}',
            '{"a": 1, "c": "z"}',
        ],
    ),
]


@pytest.mark.parametrize(("schema", "right", "wrong"), TABLE, ids=lambda v: None)
def test_a_schema_admits_its_values_and_refuses_others(
    tiny: LlamaModel, schema: Any, right: list[str], wrong: list[str]
) -> None:
    grammar = grammar_of(schema)
    assert [text for text in right if not admits(tiny, grammar, text)] == []
    assert [text for text in wrong if admits(tiny, grammar, text)] == []


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"


class Home(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


def test_the_tag_of_a_union_is_always_written(tiny: LlamaModel) -> None:
    grammar = grammar_of(Home.model_json_schema())
    assert admits(tiny, grammar, '{"pet": {"kind": "cat", "lives": 3}}')
    assert admits(tiny, grammar, '{"pet": {"kind": "dog"}}')
    assert not admits(tiny, grammar, '{"pet": {}}')


def test_optional_properties_may_be_left_out_in_any_combination(tiny: LlamaModel) -> None:
    properties = {name: {"type": "integer"} for name in "abc"}
    grammar = grammar_of({"type": "object", "properties": properties})
    for mask in range(8):
        chosen = {name: 1 for bit, name in enumerate("abc") if mask & 1 << bit}
        assert admits(tiny, grammar, json.dumps(chosen)), chosen
    assert not admits(tiny, grammar, '{, "a": 1}')
    assert not admits(tiny, grammar, '{"b": 1, "a": 1}')


@pytest.mark.parametrize("bound", [1, 1999, 2000])
def test_a_bound_that_the_notation_can_hold_is_held(tiny: LlamaModel, bound: int) -> None:
    grammar = grammar_of({"type": "string", "maxLength": bound})
    assert admits(tiny, grammar, f'"{"a" * bound}"')
    assert not admits(tiny, grammar, f'"{"a" * (bound + 1)}"')


@pytest.mark.parametrize("name", ["get_rate", "währung", 'a"b\\c]-d', "root", "char", "1st", "a b"])
def test_any_name_makes_a_grammar_that_compiles(tiny: LlamaModel, name: str) -> None:
    model = create_model("M", x=(int, Field(alias=name)))
    schema = model.model_json_schema()
    rules = Rules()
    rules.add("root", rules.schema(name, schema))
    tiny.check(rules.text())
    assert admits(tiny, rules.text(), json.dumps({name: 5}, ensure_ascii=False))


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        (False, "admits no value"),
        ({"enum": []}, "no choice"),
        ({"$ref": "#/$defs/Gone"}, "points to nothing"),
        ({"$ref": "http://example.org/x"}, "points to nothing"),
        ({"type": "florb"}, "florb"),
    ],
)
def test_a_schema_that_cannot_be_read_is_named(schema: Any, told: str) -> None:
    with pytest.raises(GrammarError, match=told):
        grammar_of({"type": "object", "properties": {"p": schema}, "required": ["p"]})


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        (5, "5 is no schema"),
        ({"$ref": "#"}, "nothing but that it is itself"),
        ({"allOf": [{"$ref": "#"}]}, "nothing but that it is itself"),
        ({"properties": [1]}, r"\[1\] is nothing for 'properties'"),
        ({"required": ["a", 1]}, "nothing for 'required'"),
        ({"enum": "abc"}, "nothing for 'enum'"),
        ({"$ref": 5}, r"its \$ref is no text"),
        ({5: {}}, "5 is no name"),
        ({"const": float("nan")}, "no number"),
        ({"const": 10**5000}, "too large"),
        ({"const": {1, 2}}, "no value of JSON"),
        ({"const": "\ud800"}, "half a character"),
        ({"minimum": 5, "maximum": 4, "type": "integer"}, "no whole number"),
        ({"minLength": 5, "maxLength": 4}, "less than its least"),
        ({"allOf": [{"type": "string"}, {"type": "null"}]}, "no type of value"),
        ({"properties": {"a\nb": {"type": "florb"}}}, r"value-a\?b: a schema of type 'florb'"),
    ],
)
def test_what_is_no_schema_is_named_in_one_line(schema: Any, told: str) -> None:
    with pytest.raises(GrammarError, match=told) as caught:
        grammar_of(schema)
    assert "\n" not in str(caught.value)


def test_depth_and_size_end_in_a_refusal_or_a_wider_grammar(tiny: LlamaModel) -> None:
    deep: Any = {"type": "integer"}
    for _ in range(60):
        deep = {"type": "object", "properties": {"a": deep}}
    grammar = grammar_of(deep)
    assert admits(tiny, grammar, '{"a": ' * 60 + "1" + "}" * 60)
    assert not admits(tiny, grammar, '{"a": 1}')
    for _ in range(2_000):
        deep = {"items": deep}
    with pytest.raises(GrammarError, match="too deeply nested"):
        grammar_of(deep)


@pytest.mark.parametrize("count", [43, 500, 2_000])
def test_many_properties_may_stand_in_any_order(tiny: LlamaModel, count: int) -> None:
    properties = {f"p{n}": {"type": "integer"} for n in range(count)}
    grammar = grammar_of({"type": "object", "properties": properties, "required": ["p7", "p5"]})
    assert admits(tiny, grammar, f'{{"p5": 1, "p7": 1, "p{count - 1}": 2, "p0": 3}}')
    assert not admits(tiny, grammar, '{"p5": 1, "p0": 3}')
    assert not admits(tiny, grammar, '{"p5": "x", "p7": 1}')


@pytest.mark.parametrize(
    "members",
    [
        [{"required": ["a", "x"]}, {"required": ["a", "y"]}],
        [{"required": ["a"], "title": "X"}, {"required": ["a"], "minProperties": 2}],
    ],
)
def test_objects_that_begin_alike_stay_quick_within_one_another(
    tiny: LlamaModel, members: list[dict[str, Any]]
) -> None:
    union = {
        "anyOf": [
            *({**m, "type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}} for m in members),
            {"type": "null"},
        ]
    }
    grammar = grammar_of({"$ref": "#/$defs/n", "$defs": {"n": union}})
    # At twenty levels, as two readings of each, this would take days and all the memory.
    assert admits(tiny, grammar, '{"a": ' * 60 + "null" + ', "x": 1, "y": 1}' * 60)


def test_members_that_a_tag_tells_apart_stay_as_they_are(tiny: LlamaModel) -> None:
    class Sum(BaseModel, extra="forbid"):
        op: Literal["sum"]
        left: Sum | Less | int

    class Less(BaseModel, extra="forbid"):
        op: Literal["less"]
        of: Sum | Less | int

    Sum.model_rebuild(_types_namespace={"Sum": Sum, "Less": Less})
    Less.model_rebuild(_types_namespace={"Sum": Sum, "Less": Less})
    grammar = grammar_of(Sum.model_json_schema())
    assert admits(tiny, grammar, '{"op": "sum", "left": {"op": "less", "of": 5}}')
    assert not admits(tiny, grammar, '{"op": "sum", "left": {"op": "less", "left": 5}}')
    assert admits(tiny, grammar, '{"op": "sum", "left": ' * 40 + "1" + "}" * 40)


@pytest.mark.parametrize("name", sorted(GRAMMARS))
def test_a_hostile_grammar_is_told_in_one_line_before_native_code_sees_it(name: str) -> None:
    # What passes here is for the trial to compile, in a process of its own.
    try:
        check_notation(GRAMMARS[name])
    except GrammarError as error:
        assert "\n" not in str(error)
    else:
        assert name in HARMLESS


HARMLESS = {
    "a comment alone",
    "an undefined rule",
    "no root",
    "an escape of no figures",
    "an underscore",
    "a letter of another script",
    "a loop of nothing",
    "a loop of a loop",
    "a loop marked thrice",
    "a count of a count",
    "an empty class",
    "no end",
    "the root twice",
}
"""What llama.cpp refuses by itself, or is right to take."""


def test_parentheses_in_a_text_are_no_nesting(tiny: LlamaModel) -> None:
    text = "(" * 500 + "[" + "{" * 500
    assert admits(tiny, f"root ::= {literal(text)}", text)


@pytest.mark.parametrize("text", ["a", "ab", "b\\", 'q"', "^", "-]", "größe", "", "\t"])
def test_another_text_is_any_but_these(tiny: LlamaModel, text: str) -> None:
    def written(some: str) -> str:
        return json.dumps(some, ensure_ascii=False)

    names = ["ab", "abc", "b\\", 'q"', "^", "-]", "größe", "\t"]
    rules = Rules()
    rules.add("root", rules.other_string([written(name)[1:-1] for name in names]))
    assert admits(tiny, rules.text(), written(text)) == (text not in names)
    assert admits(tiny, rules.text(), written(f"{text}!"))


_leaf = st.sampled_from(
    [int, float, bool, str, None, Literal["a", 1], Annotated[str, Field(max_length=9)]]
)
_types = st.recursive(
    _leaf,
    lambda inner: st.one_of(
        inner.map(lambda t: list[t]),  # type: ignore[valid-type]
        inner.map(lambda t: dict[str, t]),  # type: ignore[valid-type]
        inner.map(lambda t: Optional[t]),  # noqa: UP045
        st.tuples(inner, inner).map(lambda ts: tuple[ts]),  # type: ignore[valid-type]
    ),
    max_leaves=5,
)
_names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: not hasattr(BaseModel, name) and not name.startswith("model_")
)


def noise(model: LlamaModel, grammar: str, seed: int) -> object:
    """Return the value that the random model writes, or None where it is not at an end
    after some hundred tokens, or where its bytes are no UTF-8."""
    reply = model.start([Message("user", "x")]).generate(
        grammar, Sampling(temperature=1.0, seed=seed)
    )
    text = "".join(islice(reply, 400))
    try:
        return None if "\ufffd" in text else json.loads(text)
    except ValueError:
        return None


@settings(max_examples=60, deadline=None)
@given(fields=st.dictionaries(_names, _types, max_size=5), seed=st.integers(0, 2**16))
def test_what_noise_writes_under_a_generated_schema_validates(
    tiny: LlamaModel, fields: dict[str, Any], seed: int
) -> None:
    model = create_model("M", **{name: (kind, ...) for name, kind in fields.items()})  # type: ignore[call-overload]
    value = noise(tiny, grammar_of(model.model_json_schema()), seed)
    if value is not None:
        model.model_validate(value)


def test_noise_comes_to_an_end_and_validates(tiny: LlamaModel) -> None:
    schema = Mixed.model_json_schema()
    del schema["properties"]["b"]  # a string of noise is seldom UTF-8
    values = [noise(tiny, grammar_of(schema), seed) for seed in range(40)]
    found = [Mixed.model_validate(value) for value in values if value is not None]
    assert len(found) >= 5


OWN = r"""# a plate: letters, a dash, figures
root ::= (letters "-" | "root ") figures{1,2} ("\\n" |
    [\]"] "]")?   # nothing here is a rule: "letters"

letters ::= [a-z]{2,3}
figures ::= [0-9] "." """


@pytest.mark.parametrize("rules", [OWN, OWN.replace("letters", "char").replace("figures", "f_1")])
def test_a_string_may_own_the_grammar_of_its_text(tiny: LlamaModel, rules: str) -> None:
    plate = {"type": "string", "maxLength": 1, OWNED: rules}
    schema = {"type": "object", "properties": {"a": plate, "b": plate, "c": {"type": "string"}}}
    grammar = grammar_of(schema)
    assert "nothing here" not in grammar
    for text in ("ab-1.", "abc-1.2.", "root 7.", r"ab-1.\n"):
        assert admits(tiny, grammar, f'{{"a": "{text}", "b": "{text}", "c": "any"}}'), text
        assert admits(tiny, grammar, f'{{"c": "{text}"}}'), text
    for text in ("", "x", "a-1.", "ab-1", "ab-1.2.3.", "letters-1.", "AB-1.", "ab-1.\n"):
        assert not admits(tiny, grammar, f'{{"a": "{text}"}}'), text


def test_the_grammars_of_two_strings_do_not_meet(tiny: LlamaModel) -> None:
    one, two = (
        {"type": "string", OWNED: f'root ::= word "!"\nword ::= "{word}"'} for word in ("a", "b")
    )
    alike = {"anyOf": [one, two, {"type": "null"}]}
    grammar = grammar_of({"type": "array", "prefixItems": [one, two, alike, alike]})
    assert admits(tiny, grammar, '["a!", "b!", "a!", "b!"]')
    assert admits(tiny, grammar, '["a!", "b!", null, "a!"]')
    assert not admits(tiny, grammar, '["b!", "b!", "a!", "b!"]')
    assert not admits(tiny, grammar, '["a!", "a!", "a!", "b!"]')
    assert not admits(tiny, grammar, '["a!", "b!", "c!", "b!"]')


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "string", OWNED: ""}, "do not define 'root'"),
        ({"type": "string", OWNED: "root"}, "do not define 'root'"),
        ({"type": "string", OWNED: None}, "do not define 'root'"),
        ({"type": "string", OWNED: 'main ::= "a"'}, "do not define 'root'"),
        ({"type": "string", OWNED: "root ::= natural"}, "do not define 'natural'"),
        ({"type": "string", OWNED: 'root ::= "a"\nroot ::= "b"'}, "not understood at 'root ::='"),
        ({"type": "string", OWNED: 'root ::= "a'}, "not understood at '\"'"),
        ({"type": "string", OWNED: "root ::= [a"}, r"not understood at '\['"),
        ({"type": "string", OWNED: 'root ::= "a" = "b"'}, "not understood at '='"),
        ({"type": "integer", OWNED: 'root ::= "1"'}, "a string alone"),
        ({"anyOf": [{"type": "string"}], OWNED: 'root ::= "1"'}, "a string alone"),
    ],
)
def test_rules_of_a_string_that_are_none_are_named(schema: Any, told: str) -> None:
    with pytest.raises(GrammarError, match=f"value-p: .*{told}"):
        grammar_of({"type": "object", "properties": {"p": schema}})


def test_a_literal_holds_any_text(tiny: LlamaModel) -> None:
    text = 'quote " backslash \\ newline \n tab \t é'
    assert admits(tiny, f"root ::= {literal(text)}", text)


def prose_grammar() -> str:
    rules = Rules()
    for name, body in prose(["Action", "Observation"]).items():
        rules.add(name, body)
    rules.add("root", "prose")
    return rules.text()


@pytest.mark.parametrize(
    "text",
    [
        "one line",
        "two\nlines",
        "a blank\n\nline between",
        "Obs is short for something",
        "Actors act",
        "actual sums: {x} and {1, 2}",
        "1. first\n2. second\n- a list\n  * deeper\n# heading\n**bold** text",
        "the action is in the middle",
        "an Observation: in the middle",
        "A",
        "Act",
        "a  b   c",
        "中文 à côté",
        "x = {y",
    ],
)
def test_prose_admits_what_people_write(tiny: LlamaModel, text: str) -> None:
    assert admits(tiny, prose_grammar(), text)


@pytest.mark.parametrize(
    "text",
    [
        "Action: search",
        "action: x",
        "ACTION",
        "ok\nObservation: 5",
        "ok\n  Observation: 5",
        "ok\n**Action:** x",
        "ok\n> Action: x",
        "ok\n### observation",
        'call {"query": 1}',
        'call {{"x',
        '{"a": 1}',
        "",
        " ",
        "a\n\n\nb",
        "a\n",
        "bell \x07",
        "nul \x00",
        "a" + " " * 30 + "b",
    ],
)
def test_prose_refuses_calls_observations_and_runs_of_space(tiny: LlamaModel, text: str) -> None:
    assert not admits(tiny, prose_grammar(), text)


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        ('root ::= "Thought: " prose\nprose ::= "a" | "b"', "Thought: "),
        ('root ::= "all of it"', "all of it"),
        ('root ::= "a\\n\\"b" [|] "c"', 'a\n"b'),
        ('other ::= "x"\nroot ::= "a" other', "a"),
        # A choice, or a count, and nothing is forced.
        ('root ::= "a" | "b"', ""),
        ('root ::= "a" ("b" | "c")', ""),
        ('root ::= "a"* "b"', ""),
        ('root ::= "a" * "b"', ""),
        ('root ::= "a"? "b"', ""),
        ('root ::= "a"{2} "b"', ""),
        ('root ::= "a" {2} "b"', ""),
        ('root ::= ("a") "b"', ""),
        ('root ::= "a"\t* "b"', ""),
        ('root ::= "a" "b"\nroot ::= "c"', ""),
        ('root ::= [a] "b"', ""),
        ('root ::= "\\x41" "b"', ""),
        ("root ::= other", ""),
        ('not-root ::= "a"', ""),
        ("", ""),
    ],
)
def test_the_beginning_that_a_grammar_leaves_no_choice_of(grammar: str, text: str) -> None:
    assert forced_beginning(grammar) == text
