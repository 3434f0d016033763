"""Hostile grammars and schemas by what is wrong with them, and schemas with values at random."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Final


def _rules(count: int, body: str, last: str = '"a"') -> str:
    """Return rules of which each begins with the next; `body` has NEXT for its name."""
    lines = ["root ::= r0"]
    lines += [f"r{n} ::= {body.replace('NEXT', f'r{n + 1}')}" for n in range(count)]
    return "\n".join([*lines, f"r{count} ::= {last}"])


GRAMMARS: Final[Mapping[str, str]] = {
    "no rule": "asdf",
    "nothing": "",
    "a comment alone": "# root",
    "an undefined rule": "root ::= missing",
    "no root": 'main ::= "a"',
    "a schema": '{"type": "object"}',
    "a class that ends early": "root ::= [^]x]",
    "an open class": "root ::= [a",
    "a range without an end": "root ::= [a-",
    "an open literal": 'root ::= "a',
    "an open escape": 'root ::= "a\\',
    "an escape of no figures": 'root ::= "\\xZZ"',
    "an open parenthesis": 'root ::= ("a"',
    "a parenthesis too many": 'root ::= "a")',
    "an underscore": 'root ::= a_b\na_b ::= "x"',
    "a letter of another script": 'root ::= größe\ngröße ::= "x"',
    "left recursion": 'root ::= root "x" | "y"',
    "left recursion through others": 'root ::= a\na ::= b "x"\nb ::= a "y" | "z"',
    "left recursion in a group": 'root ::= (root "x") | "y"',
    "left recursion behind what is empty": 'root ::= a root "x" | "y"\na ::= b\nb ::= "" | "z"',
    "left recursion behind an empty class": 'root ::= [] root "x" | "y"',
    "left recursion behind none of": 'root ::= "a"{0} root "x" | "y"',
    "a loop of nothing": 'root ::= ("" | "a")*',
    "a loop of a loop": "root ::= ( [x]* )*",
    "a loop marked thrice": 'root ::= "a"***',
    "60000 parentheses": "root ::= " + "(" * 60_000 + '"a"' + ")" * 60_000,
    "parentheses closed in comments": "root ::= "
    + ("(" * 50 + "#" + ")" * 50 + "\n") * 300
    + '"a"',
    "parentheses closed in literals": "root ::= "
    + ("(" * 50 + '"' + ")" * 50 + '" ') * 300
    + '"a"',
    "parentheses closed in classes": "root ::= " + ("(" * 50 + "[" + ")" * 50 + "] ") * 300 + '"a"',
    "more at least than at most": 'root ::= "a"{3,1}',
    "the same with spaces": 'root ::= "a"{ 3 , 1 }',
    "the same with a comment": 'root ::= ("a"{3 # most\n,1})',
    "the same with many figures": 'root ::= "a"{9999999999,1}',
    "a count beyond all bounds": 'root ::= "a"{99999999999999999999999}',
    "a most that would be dropped": 'root ::= "a"{0,2001}',
    "a least that is too large": 'root ::= "a"{2001}',
    "a count of nothing": "root ::= {3}",
    "a count of a count": 'root ::= "a"{2000}{2000}',
    "copies of a long text": f'root ::= "{"a" * 100_000}"{{0,2000}}',
    "counts within counts": "root ::= " + "(" * 60 + '"a"' + "{0,2000})" * 60,
    "a chain of rules": _rules(14_000, "NEXT"),
    "a chain of groups": _rules(400, "(" * 90 + "NEXT" + ")" * 90),
    "a chain of choices": _rules(40, 'NEXT "a" | NEXT "b"'),
    "a chain of doubles": _rules(40, "NEXT NEXT", '"a"?'),
    "a row of optional texts": 'root ::= "a" ' + '"x"? ' * 30_000,
    "a row of optional rules": 'root ::= "a" ' + "b? " * 4_000 + '\nb ::= "x" | "y"',
    "very many choices": "root ::= " + " | ".join(f'"{n}"' for n in range(20_000)),
    "a very long text": f'root ::= "{"x" * 600_000}"',
    "a NUL": 'root ::= "a\0b"',
    "half a character": 'root ::= "\ud800"',
    "a token": "root ::= <|im_end|>",
    "a token's number": "root ::= <[5]>",
    "any token but one": "root ::= !<[999999999]>",
    "an empty class": "root ::= []",
    "no end": 'root ::= "(" root ")"',
    "the root twice": 'root ::= "a"\nroot ::= "b"',
}


def _nested(depth: int) -> Any:
    schema: Any = {}
    for _ in range(depth):
        schema = {"properties": {"a": schema}}
    return schema


def _doubled(depth: int, keyword: str) -> Any:
    """Return a schema of which each definition holds the next one twice."""
    parts: dict[str, Any] = {
        f"d{n}": {
            keyword: [{"$ref": f"#/$defs/d{n + 1}"}, {keyword: [{"$ref": f"#/$defs/d{n + 1}"}]}]
        }
        for n in range(depth)
    }
    parts[f"d{depth}"] = {"type": "integer"}
    return {"$defs": parts, "properties": {"a": {"$ref": "#/$defs/d0"}}}


def _forked(depth: int) -> Any:
    """Return a schema of objects that begin alike, one within another."""
    parts: dict[str, Any] = {"d0": {"type": "integer"}}
    for n in range(depth):
        inner = {"type": "object", "properties": {"a": {"$ref": f"#/$defs/d{n}"}}}
        forks = [{**inner, "required": ["a", letter]} for letter in "xy"]
        parts[f"d{n + 1}"] = {"anyOf": forks}
    return {"$defs": parts, "properties": {"a": {"$ref": f"#/$defs/d{depth}"}}}


_WRONG: Final[tuple[Any, ...]] = (5, "x", None, [1], {"x": 5}, True, -1, 1.5, [[]], {"": {}})
_KEYWORDS: Final = (
    *("type", "properties", "required", "additionalProperties", "items", "prefixItems", "enum"),
    *("anyOf", "oneOf", "allOf", "$ref", "minLength", "maxItems", "minimum", "pattern", "x-gbnf"),
    *("patternProperties", "discriminator", "$defs", "const", "not", "$anchor", "$id", "$schema"),
)

SCHEMAS: Final[Mapping[str, Any]] = {
    **{
        f"{keyword} of the {number}. kind": {
            "properties": {"a": {keyword: value}},
            "required": ["a"],
        }
        for keyword in _KEYWORDS
        for number, value in enumerate(_WRONG, 1)
    },
    "a reference to itself": {"$ref": "#"},
    "a part that is itself": {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    "a choice of itself": {"anyOf": [{"$ref": "#"}, {"type": "object"}]},
    "all of itself": {"allOf": [{"$ref": "#"}], "type": "object"},
    "an endless object": {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
    "a reference out": {"properties": {"a": {"$ref": "http://example.org/a.json"}}},
    "a reference to a file": {"properties": {"a": {"not": {"$ref": "file:///etc/passwd"}}}},
    "a reference to nothing": {"properties": {"a": {"$ref": "#/$defs/gone"}}},
    "no value": False,
    "no schema": 5,
    "no choice": {"properties": {"a": {"enum": []}}, "required": ["a"]},
    "an impossible property": {"properties": {"a": False}, "required": ["a"]},
    "bounds that contradict": {"properties": {"a": {"minimum": 5, "maximum": 1}}},
    "lengths that contradict": {"properties": {"a": {"minLength": 5, "maxLength": 1}}},
    "types that contradict": {"allOf": [{"type": "object"}, {"type": "string"}]},
    "5000 properties": {"properties": {f"p{n}": {"type": "string"} for n in range(5_000)}},
    "5000 required": {
        "properties": {f"p{n}": {"type": "string"} for n in range(5_000)},
        "required": [f"p{n}" for n in range(5_000)],
    },
    "5000 names that no rule may have": {
        "properties": {f"ö{chr(0x4E00 + n)}": {} for n in range(5_000)}
    },
    "a name of 100000 letters": {"properties": {"n" * 100_000: {"type": "integer"}}},
    "5000 values": {"properties": {"a": {"enum": [f"value {n}" for n in range(5_000)]}}},
    "60 optional properties": {"properties": {f"p{n}": {"type": "integer"} for n in range(60)}},
    "50 levels": _nested(50),
    "900 levels": _nested(900),
    "a choice of choices": _doubled(40, "anyOf"),
    "all of all": _doubled(40, "allOf"),
    "forks in forks": _forked(40),
    "an endless fork": {
        "properties": {"a": {"$ref": "#/$defs/n"}},
        "$defs": {
            "n": {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"a": {"$ref": "#/$defs/n"}},
                        "required": ["a", "x"],
                    },
                    {
                        "type": "object",
                        "properties": {"a": {"$ref": "#/$defs/n"}},
                        "required": ["a", "y"],
                    },
                ]
            }
        },
    },
    "an expression without end": {"properties": {"a": {"pattern": "^(a|aa)+$"}}},
    "an expression that is none": {"properties": {"a": {"pattern": "(("}}},
    "a pattern of a name": {
        "patternProperties": {"^(a|a?a)+$": True},
        "additionalProperties": False,
    },
    "a number for a name": {"properties": {5: {"type": "integer"}}},
    "a list of letters": {"properties": {"a": {"type": ["string", "florb"]}}},
    "lengths of a million": {"properties": {"a": {"minLength": 10**6, "maxLength": 10**7}}},
    "a million items": {"properties": {"a": {"minItems": 10**6, "items": {"type": "integer"}}}},
    "numbers of 300 figures": {"properties": {"a": {"type": "integer", "minimum": 10**299}}},
    "a number of 5000 figures": {"properties": {"a": {"const": 10**4_999}}},
    "no number": {"properties": {"a": {"const": float("nan")}}},
    "half a character": {"properties": {"\ud800": {"type": "integer"}}},
    "a NUL": {"properties": {"a\0b": {"const": "\0"}}},
    "letters of classes": {"properties": {c: {"const": c} for c in '^-]["\\\n\r\t\x7f\u2028'}},
}


def drawn_schema(random: Random, depth: int) -> Any:
    """Return a schema of any keywords, in a few names and values, so that much fits."""
    if depth == 0 or random.random() < 0.25:
        return random.choice(_plain_schemas(random))
    make = random.choice((_object, _object, _array, _choice, _choice))
    return make(random, depth)


def _plain_schemas(random: Random) -> tuple[Any, ...]:
    low = random.randrange(-30, 30)
    return (
        *(
            True,
            {},
            {"type": "string"},
            {"type": "boolean"},
            {"type": "null"},
            {"not": {"type": "null"}},
        ),
        {"type": "integer", "minimum": low, "maximum": low + random.randrange(40)},
        {"type": "integer", "exclusiveMinimum": low},
        {"type": "integer", "maximum": low, "multipleOf": 3},
        {"type": "number", "exclusiveMaximum": low},
        {"type": ["number", "string"], "minimum": 0, "maxLength": 2},
        {"type": "string", "pattern": "^a", "minLength": random.randrange(3)},
        {"enum": ["a", "b", 1, 2.0, None, False, ["a"], {"a": 1}]},
        {"const": random.choice(("a", 1, None, True, []))},
        {"type": "string", "format": "date"},
    )


def _object(random: Random, depth: int) -> Any:
    names = random.sample("abc", random.randrange(4))
    schema: dict[str, Any] = {"type": "object"}
    if random.random() < 0.8:
        schema["properties"] = {name: drawn_schema(random, depth - 1) for name in names}
    if random.random() < 0.5:
        schema["required"] = random.sample("abd", random.randrange(3))
    if random.random() < 0.4:
        schema["additionalProperties"] = random.choice((False, True, {"type": "integer"}))
    if random.random() < 0.2:
        schema["patternProperties"] = {"^a": drawn_schema(random, 0)}
    return schema


def _array(random: Random, depth: int) -> Any:
    schema: dict[str, Any] = {"type": "array"}
    if random.random() < 0.5:
        schema["prefixItems"] = [
            drawn_schema(random, depth - 1) for _ in range(random.randrange(1, 3))
        ]
    if random.random() < 0.7:
        schema["items"] = random.choice((drawn_schema(random, depth - 1), False))
    if random.random() < 0.5:
        schema["minItems"] = random.randrange(3)
    if random.random() < 0.5:
        schema["maxItems"] = schema.get("minItems", 0) + random.randrange(3)
    return schema


def _choice(random: Random, depth: int) -> Any:
    keyword = random.choice(("anyOf", "oneOf", "allOf"))
    schema: dict[str, Any] = {
        keyword: [drawn_schema(random, depth - 1) for _ in range(random.randrange(1, 4))]
    }
    if random.random() < 0.3:
        schema |= {"type": random.choice(("object", "array", "string", "integer"))}
    if random.random() < 0.3:
        schema = {"$defs": {"part": schema}, "$ref": "#/$defs/part"} if depth == 3 else schema
    return schema


def drawn_value(random: Random, schema: Any, depth: int) -> Any:
    """Return a value that has a chance to be what a schema says."""
    if depth == 0 or random.random() < 0.1:
        return random.choice(
            ("", "a", "ab", "b", 0, 1, 2, -3, 12, 1.5, -0.5, None, True, False, [], {})
        )
    said = schema if isinstance(schema, dict) else {}
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in said and random.random() < 0.8:
            return drawn_value(random, random.choice(said[keyword]), depth)
    if "enum" in said:
        return random.choice(said["enum"])
    if "const" in said:
        return said["const"]
    if said.get("type") == "array":
        parts = [*said.get("prefixItems", ()), *[said.get("items", True)] * 2]
        return [drawn_value(random, part, depth - 1) for part in parts[: random.randrange(5)]]
    if said.get("type") == "object":
        names = random.sample("abcd", random.randrange(4))
        properties = said.get("properties", {})
        return {name: drawn_value(random, properties.get(name), depth - 1) for name in names}
    if said.get("type") == "integer":
        return random.randrange(-40, 80)
    return drawn_value(random, None, 0)
