"""JSON schema -> GBNF, llama.cpp's grammar notation. Pure: text in, text out.

llama-cpp-python brings a converter of its own; it was looked at first. It leaves
white space and numbers unbounded, fails with a bare AssertionError or KeyError on
a part of the schemas, and lives in the package that only the backend may import.
This one covers what pydantic writes; where a schema says more than a grammar can
(a pattern, a format, a multiple), the grammar admits any value of the type and
pydantic validates it afterwards.

The notation: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from local_react.errors import GrammarError

Schema: TypeAlias = Mapping[str, Any]

OWNED = "x-gbnf"
"""The keyword of a string's schema that brings a grammar of its own, as GBNF text: its
"root" is all that may stand between the quotes, where a bare `"`, a bare `\\` and control
characters may not. The schema's bounds are not added to it."""

MAX_REPEAT = 2000
"""llama.cpp drops a bound above this without a word, so none is written."""

_UNSEEN = r"\x00-\x20\x7F-\xA0\u200B-\u200F\u2028-\u202F\u2060-\u206F\u3000\uFEFF"
"""Control characters, white space and what shows nothing, as part of a class."""
_INK = r"[^\x00-\x20\x7F{]"
"""What prose is made of: no white space, no control characters, no brace."""

_TERMINALS = {
    "visible": rf"""[^"\\{_UNSEEN}] | "\\" ["\\/]""",
    # No control characters, and no lone surrogates, which no file can hold.
    "char": r"""[^"\\\x00-\x1F\x7F] | "\\" escape""",
    "escape": r"""["\\/bfnrt] | "u" unit""",
    "unit": r"""[0-9a-cefA-CEF] hex{3} | [dD] [0-7] hex{2}""",
    "hex": r"""[0-9a-fA-F]""",
    "natural": r""""0" | [1-9] [0-9]{0,17}""",
    "fraction": r""""." [0-9]{1,17}""",
    "exponent": r"""[eE] [-+]? [0-9]{1,3}""",
    "any": """any-object | any-array | any-string | number | boolean | null""",
    "any-object": """"{" (any-pair (", " any-pair)*)? "}\"""",
    "any-pair": """any-string ": " any""",
    "any-array": """"[" (any (", " any)*)? "]\"""",
    "any-string": """"\\"" char* "\\"\"""",
    "integer": """"-"? natural""",
    "number": """"-"? natural fraction? exponent?""",
    "boolean": """"true" | "false\"""",
    "null": """"null\"""",
}


def forced_beginning(grammar: str) -> str:
    """Return the text with which everything begins that a grammar admits, as far as its
    root rule says so: the literal that the rule begins with, where it has no choice."""
    found = _ROOT.search(grammar)
    if found is None or len(re.findall(r"^\s*root\s*::=", grammar, re.MULTILINE)) > 1:
        return ""
    if "|" in without_literals(found["rest"]):
        return ""
    try:
        return str(json.loads(found["literal"]))
    except ValueError:  # an escape of GBNF's own
        return ""


_ROOT = re.compile(
    r'^root ::= (?P<literal>"(?:[^"\\]|\\.)*")(?P<rest>(?:[ \t]+[^ \t*+?{\n][^\n]*)?)$',
    re.MULTILINE,
)
_LITERAL_OR_CLASS = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]')


def without_literals(grammar: str) -> str:
    """Return the grammar's text without what stands in quotes and in character classes."""
    return _LITERAL_OR_CLASS.sub("", grammar)


def literal(text: str) -> str:
    """Return the GBNF literal that admits exactly this text."""
    return '"' + "".join(_ESCAPES.get(char, char) for char in text) + '"'


_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def prose(words: Iterable[str]) -> dict[str, str]:
    """Return rules whose "prose" admits lines of text, one blank line between them
    at most, of which none begins with one of the words, in any case of their
    letters and behind white space or Markdown marks, and none holds `{"`.

    The words become a trie, and a line may leave it anywhere but at a word's end:
    there is one reading of every line, which keeps the grammar fast.
    """
    rules = {
        "prose": 'line ("\\n" "\\n"? line)*',
        "line": r"[ \t]{0,12} ([*_#>`-]{1,4} [ ]{0,2})? line-start",
        "rest": f"({_INK} | gap)* line-end",
        "gap": rf'[ \t]{{1,8}} {_INK} | [ \t]{{0,8}} "{{"{{1,3}} [^"{{\x00-\x1F\x7F]',
        "line-end": "[ ]{0,2}",
    }
    _leave_trie("line-start", [word.lower() for word in words], rules)
    return rules


def _leave_trie(name: str, words: Sequence[str], rules: dict[str, str]) -> None:
    branches: dict[str, list[str]] = {}
    for word in words:
        branches.setdefault(word[0], []).append(word[1:])
    letters = "".join(char + char.upper() for char in branches)
    if name == "line-start":  # the marks are behind it, or they would hide a word
        options = [f"[^{letters}{_UNSEEN}{{*_#>`-] rest"]
    else:
        options = [rf"[^{letters}\x00-\x20\x7F{{] rest", "gap rest", "line-end"]
    for char, tails in branches.items():
        if "" not in tails:
            _leave_trie(f"{name}-{char}", tails, rules)
            options.append(f"[{char}{char.upper()}] {name}-{char}")
    rules[name] = " | ".join(options)


class Rules:
    """The rules of one grammar as they are collected; `text` is the grammar."""

    def __init__(self) -> None:
        self._bodies: dict[str, str] = {}

    def add(self, name: str, body: str) -> str:
        """Add a rule and return its name, changed to what GBNF allows and made unique."""
        safe = re.sub(r"[^a-zA-Z0-9]+", "-", name).strip("-") or "rule"
        unique, number = safe, 2
        while self._bodies.get(unique, body) != body or unique in _TERMINALS:
            unique, number = f"{safe}-{number}", number + 1
        self._bodies[unique] = body
        return unique

    def replace(self, name: str, body: str) -> None:
        """Give a rule that was added as a place holder its body."""
        self._bodies[name] = body

    def text(self) -> str:
        """Return the grammar; its start rule is the one that was added as "root"."""
        rules = {**self._bodies, **_used_terminals(self._bodies.values())}
        return "\n".join(f"{name} ::= {body}" for name, body in rules.items()) + "\n"

    def schema(self, name: str, schema: Schema) -> str:
        """Add the rules for a JSON schema and return the name of its first one.

        Raises GrammarError, with the place in the schema, where it cannot be read.
        """
        return _SchemaReader(self, schema).value(name, schema)


def _used_terminals(bodies: Iterable[str]) -> dict[str, str]:
    used: dict[str, str] = {}
    waiting = list(bodies)
    while waiting:
        for word in re.findall(r"[a-z][a-z-]*", waiting.pop()):
            if word in _TERMINALS and word not in used:
                used[word] = _TERMINALS[word]
                waiting.append(_TERMINALS[word])
    return used


class _SchemaReader:
    """Turns one schema document into rules; `$ref` is resolved within the document."""

    def __init__(self, rules: Rules, document: Schema) -> None:
        self._rules = rules
        self._document = document
        self._refs: dict[str, str] = {}

    def value(self, name: str, schema: Schema | bool) -> str:
        """Add the rule of one value and return its name."""
        if isinstance(schema, bool):
            if schema:
                return "any"
            raise GrammarError(f"{name}: the schema admits no value")
        if OWNED in schema:
            return self._owned(name, schema)
        if "$ref" in schema:
            return self._reference(name, schema["$ref"])
        if "const" in schema:
            return self._rules.add(name, literal(_json(schema["const"])))
        if "enum" in schema:
            return self._choice(name, [literal(_json(item)) for item in schema["enum"]])
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in schema:
                return self._combination(name, keyword, schema[keyword])
        return self._typed(name, schema)

    def _reference(self, name: str, target: str) -> str:
        if target in self._refs:
            return self._refs[target]
        found: Any = self._document
        for part in target.removeprefix("#/").split("/"):
            found = found.get(part) if isinstance(found, Mapping) else None
        if not target.startswith("#/") or not isinstance(found, (Mapping, bool)):
            raise GrammarError(f"{name}: {target!r} points to nothing in the schema")
        # Reserved before it is read, because a model may hold itself.
        label = target.rsplit("/", 1)[-1]
        place = self._rules.add(f"{name}-{label}", literal(target))
        self._refs[target] = place
        self._rules.replace(place, self.value(f"{place}-value", found))
        return place

    def _owned(self, name: str, schema: Schema) -> str:
        if schema.get("type") != "string":
            raise GrammarError(f"{name}: {OWNED} belongs to the schema of a string alone")
        bodies = _bodies(name, schema[OWNED])
        # Reserved before they are written, because they refer to one another.
        names = {rule: self._rules.add(f"{name}-{rule}", literal(rule)) for rule in bodies}
        for rule, pieces in bodies.items():
            renamed = (names[piece[0]] if piece["rule"] else piece[0] for piece in pieces)
            self._rules.replace(names[rule], "".join(renamed).strip())
        return self._rules.add(name, f'"\\"" {names["root"]} "\\""')

    def _combination(self, name: str, keyword: str, schemas: Sequence[Schema]) -> str:
        if keyword == "allOf" and len(schemas) > 1:
            return "any"  # an intersection is beyond a grammar: validated afterwards
        options = [self.value(f"{name}-{n}", item) for n, item in enumerate(schemas, 1)]
        return self._choice(name, options)

    def _choice(self, name: str, options: Sequence[str]) -> str:
        if not options:
            raise GrammarError(f"{name}: the schema offers no choice")
        return self._rules.add(name, " | ".join(dict.fromkeys(options)))

    def _typed(self, name: str, schema: Schema) -> str:
        kind = schema.get("type", "object" if "properties" in schema else None)
        if isinstance(kind, list):
            options = [self.value(f"{name}-{item}", {**schema, "type": item}) for item in kind]
            return self._choice(name, options)
        if kind == "string":
            bounds = _repeat(schema.get("minLength", 0), schema.get("maxLength"))
            return self._rules.add(name, f'"\\"" char{bounds} "\\""')
        if kind in ("integer", "number"):
            return self._number(name, kind, schema)
        if kind == "array":
            return self._array(name, schema)
        if kind == "object":
            return self._object(name, schema)
        if kind in ("boolean", "null"):
            return str(kind)
        if kind is None:
            return "any"
        raise GrammarError(f"{name}: a schema of type {kind!r} is not known")

    def _number(self, name: str, kind: str, schema: Schema) -> str:
        if max(schema.get("minimum", -1), schema.get("exclusiveMinimum", -1)) < 0:
            return kind
        body = "natural" if kind == "integer" else "natural fraction? exponent?"
        return self._rules.add(name, body)

    def _array(self, name: str, schema: Schema) -> str:
        if "prefixItems" in schema:
            items = [self.value(f"{name}-{n}", s) for n, s in enumerate(schema["prefixItems"], 1)]
            return self._rules.add(name, '"[" ' + ' ", " '.join(items) + ' "]"')
        item = self.value(f"{name}-item", schema.get("items", True))
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        if most == 0:
            return self._rules.add(name, '"[]"')
        more = _repeat(max(least - 1, 0), None if most is None else most - 1)
        body = f'{item} (", " {item}){more}'
        return self._rules.add(name, f'"[" {body} "]"' if least else f'"[" ({body})? "]"')

    def _object(self, name: str, schema: Schema) -> str:
        properties: Mapping[str, Schema] = schema.get("properties", {})
        if not properties:
            return self._mapping(name, schema.get("additionalProperties", True))
        # A constant can always be written, and it tells the members of a union apart.
        constant = {
            key for key, part in properties.items() if isinstance(part, Mapping) and "const" in part
        }
        required = constant.union(schema.get("required", ()))
        pairs = [
            (f"{literal(_json(key) + ': ')} {self.value(f'{name}-{key}', part)}", key in required)
            for key, part in properties.items()
        ]
        return self._rules.add(name, f'"{{" {self._first_pair(name, pairs)} "}}"')

    def _first_pair(self, name: str, pairs: Sequence[tuple[str, bool]]) -> str:
        """Return an expression for the pairs in their order, optional ones there or not."""
        options = []
        for index, (pair, is_required) in enumerate(pairs):
            options.append(f"{pair}{self._more_pairs(name, pairs, index + 1)}")
            if is_required:
                return f"({' | '.join(options)})"
        return f"({' | '.join(options)})?"

    def _more_pairs(self, name: str, pairs: Sequence[tuple[str, bool]], start: int) -> str:
        """Return a reference to a rule for the pairs from `start` on, each behind a comma."""
        if start == len(pairs):
            return ""
        pair, is_required = pairs[start]
        one = f'", " {pair}' if is_required else f'(", " {pair})?'
        body = one + self._more_pairs(name, pairs, start + 1)
        return " " + self._rules.add(f"{name}-more-{start}", body)

    def _mapping(self, name: str, values: Schema | bool) -> str:
        if values is False:
            return self._rules.add(name, '"{}"')
        value = self.value(f"{name}-value", values)
        pair = self._rules.add(f"{name}-pair", f'any-string ": " {value}')
        return self._rules.add(name, f'"{{" ({pair} (", " {pair})*)? "}}"')


def _bodies(name: str, rules: object) -> dict[str, list[re.Match[str]]]:
    """Return the pieces of each rule's body; raise GrammarError where they are no rules."""
    bodies: dict[str, list[re.Match[str]]] = {}
    for piece in _PIECE.finditer(str(rules)):
        if piece["stray"] or piece["defined"] in bodies:
            raise GrammarError(f"{name}: its rules are not understood at {piece[0]!r}")
        if piece["defined"]:
            bodies[piece["defined"]] = []
        elif bodies and not piece["comment"]:
            bodies[next(reversed(bodies))].append(piece)
    used = {piece["rule"] for pieces in bodies.values() for piece in pieces if piece["rule"]}
    for missing in sorted({"root", *used}.difference(bodies)):
        raise GrammarError(f"{name}: its rules do not define {missing!r}")
    return bodies


_PIECE = re.compile(
    rf"{_LITERAL_OR_CLASS.pattern}|(?P<comment>#.*)|(?P<defined>[\w-]+)\s*::="
    r"|\{[\d,\s]*\}|(?P<rule>[\w-]+)|[()|*+?.\s]|(?P<stray>.)"
)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _repeat(least: int, most: int | None) -> str:
    """Return the repetition mark; a bound that GBNF cannot hold is left to pydantic.

    Raises GrammarError where the bounds contradict each other.
    """
    if most is not None and most < least:
        raise GrammarError(f"its most, {most}, is less than its least, {least}")
    least = min(least, MAX_REPEAT)
    if most is None or most > MAX_REPEAT:
        return "*" if least == 0 else "+" if least == 1 else f"{{{least},}}"
    return f"{{{least},{most}}}"
