"""A schema, keyword by keyword: what a grammar can say of it, and the kind of value for the
rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from local_react.errors import GrammarError
from local_react.gbnf.arrays import array
from local_react.gbnf.documents import Document, NoValue, Schema, brief, key_of
from local_react.gbnf.figures import lengths, number
from local_react.gbnf.merging import KINDS, kinds, merged, same
from local_react.gbnf.notation import as_json, choice, one_of
from local_react.gbnf.objects import object_
from local_react.gbnf.owned import OWNED, owned
from local_react.gbnf.rules import Rules
from local_react.gbnf.unions import holds_itself, joined

_ABOUT: Final[Mapping[str, Sequence[str]]] = {
    "object": (
        *("properties", "required", "additionalProperties", "patternProperties"),
        *("minProperties", "maxProperties", "propertyNames", "dependencies"),
        *("dependentRequired", "dependentSchemas"),
    ),
    "array": (
        *("items", "prefixItems", "additionalItems", "contains", "uniqueItems"),
        *("minItems", "maxItems"),
    ),
    "string": ("minLength", "maxLength", "pattern", "format", OWNED),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
"""The keywords that are about one kind of value."""
_SAID: Final = frozenset(
    ("$ref", "const", "enum", "anyOf", "oneOf", "allOf", "discriminator", "type")
).union(*_ABOUT.values())
_NESTED: Final = frozenset(
    ("anyOf", "oneOf", "properties", "additionalProperties", "items", "prefixItems")
)
"""The keywords that the grammar follows into other schemas."""
_HOLDS: Final[Mapping[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "enum", "prefixItems", "required"), (list, tuple)),
    **dict.fromkeys(("properties", "patternProperties"), Mapping),
}
"""What a keyword's value is."""
_ANY_OF_A_KIND: Final = {"object": "any-object", "array": "any-array", "string": "any-string"}
_DEEPEST: Final = 48
"""Objects, lists and alternatives within one another that are told apart."""
_MOST: Final = 5_000_000
"""Characters of all the parts of a schema that were read, those within others counted again:
what goes beyond is a schema that multiplies itself."""
_CHOICES: Final = 3
"""Choices within one another from which on alternatives that begin alike become one."""
_CHOICE: Final = 2_000
"""What it takes to look through a choice, in characters."""
_NAME: Final = 40
"""Characters of a property's name that are part of its place."""


class SchemaReader:
    """Turns one schema document into rules; `$ref` is resolved within the document."""

    def __init__(self, rules: Rules, name: str, document: object) -> None:
        self.rules = rules
        self._document = Document(name, document)
        self._known: dict[str, str] = {}
        self._passed: list[str] = []
        self._depth = 0
        self._left = _MOST
        self._choices = 0

    def within(self, place: str, name: object, schema: object) -> str:
        """Return an expression of a value that stands within another."""
        passed, self._passed = self._passed, []
        try:
            shown = "".join(c if c.isprintable() else "?" for c in str(name)[:_NAME])
            return self.value(f"{place}-{shown}"[-5 * _NAME :], schema)
        finally:
            self._passed = passed

    def value(self, place: str, schema: object) -> str:
        """Return an expression, mostly a rule's name, of a value.

        Raises GrammarError where the schema is none or, as NoValue, admits no value.
        """
        said = self._normal(place, schema)
        if not said:
            return "any"
        key = key_of(said)
        self._left -= len(key)
        if self._depth > _DEEPEST or self._left < 0:
            return self._widest(said)
        if key in self._known:
            if key in self._passed:
                raise NoValue(f"{place}: the schema says nothing but that it is itself")
            return self._known[key]
        with self._deeper(key):
            if "$ref" in said or "allOf" in said:
                return self.value(place, self._together(place, said))
            if not said.keys() & _NESTED:
                return self.rules.named(place, self._body(place, said))
            return self._ruled(place, key, said)

    def _ruled(self, place: str, key: str, said: Schema) -> str:
        # Reserved before it is read, because a schema may hold itself.
        rule = self.rules.reserve(place)
        self._known[key] = rule
        try:
            self.rules.replace(rule, self._body(place, said))
        except NoValue:
            del self._known[key]
            raise
        return rule

    @contextmanager
    def _deeper(self, key: str) -> Iterator[None]:
        self._depth += 1
        self._passed.append(key)
        try:
            yield
        finally:
            self._passed.pop()
            self._depth -= 1

    def _normal(self, place: str, schema: object) -> dict[str, Any]:
        """Return what a grammar may say of a schema, in one way where there are several."""
        if schema is False:
            raise NoValue(f"{place}: the schema admits no value")
        if schema is True:
            return {}
        if not isinstance(schema, Mapping):
            raise GrammarError(f"{place}: {brief(schema)} is no schema")
        said = {key: schema[key] for key in schema if key in _SAID}
        if "$ref" in said and not self._document.siblings_count:
            said = {"$ref": said["$ref"]}
        if self._document.holds_others:
            said.pop("$ref", None)
        if isinstance(said.get("items"), (list, tuple)):  # as it was before 2020
            said["prefixItems"] = said["items"]
            said["items"] = schema.get("additionalItems", True)
        self._check_kinds(place, said)
        if "const" in said:
            said["enum"] = [c for c in said.get("enum", [said["const"]]) if same(c, said["const"])]
            del said["const"]
        return said

    def _check_kinds(self, place: str, said: dict[str, Any]) -> None:
        """Raise GrammarError where a keyword's value is none that it can have."""
        if isinstance(said.get("required"), bool):  # as it once was, of a property itself
            del said["required"]
        for keyword in said.keys() & _HOLDS.keys():
            value = said[keyword]
            if not isinstance(value, _HOLDS[keyword]) or (
                keyword == "required" and not _are_names(said[keyword])
            ):
                raise GrammarError(f"{place}: {brief(value)} is nothing for {keyword!r}")

    def _body(self, place: str, said: Schema) -> str:
        if "enum" in said:
            return self._one_of(place, said)
        if OWNED in said:
            return owned(self.rules, place, said)
        for keyword in ("anyOf", "oneOf"):
            if keyword in said:
                return self._alternatives(place, keyword, said)
        options = [self._of_kind(place, kind, said) for kind in self._kinds(place, said)]
        return choice(options)

    def _together(self, place: str, said: Schema) -> Schema:
        """Return one schema of all that holds here: what a reference points to, and each of
        `allOf`. What refers to itself on the way adds nothing."""
        whole: Schema = {}
        waiting: list[tuple[object, frozenset[str]]] = [(said, frozenset())]
        turned = False
        while waiting and self._left > 0:
            part, passed = waiting.pop()
            found = self._normal(place, part)
            waiting += [(inner, passed) for inner in reversed(found.pop("allOf", ()))]
            if "$ref" in found:
                reference = str(found["$ref"])
                target = self._document.target(place, found.pop("$ref"))
                turned |= reference in passed
                if reference not in passed:
                    waiting.append((target, passed | {reference}))
            self._left -= _size(found) + _size(whole)
            whole = merged(whole, found)
        if turned and not whole:
            raise NoValue(f"{place}: the schema says nothing but that it is itself")
        return whole

    def _alternatives(self, place: str, keyword: str, said: Schema) -> str:
        beside = {key: part for key, part in said.items() if key not in (keyword, "discriminator")}
        if tag := _tag(said):
            # It can always be written, and tells the members apart.
            beside = merged(beside, {"required": [tag]})
        options: list[object] = [
            {"allOf": [beside, option]} if beside else option for option in said[keyword]
        ]
        self._left -= _CHOICE
        if self._choices >= _CHOICES or holds_itself(self._document, said[keyword]):
            options = [*joined(list(self._wholes(place, options)))]
        self._choices += 1
        try:
            return choice(self._possible(place, options))
        finally:
            self._choices -= 1

    def _wholes(self, place: str, options: Iterable[object]) -> Iterator[Schema]:
        for option in options:
            with suppress(NoValue):
                yield self._together(place, {"allOf": [option]})

    def _possible(self, place: str, options: Sequence[object]) -> list[str]:
        """Return expressions of those options that admit a value."""
        found, fault = [], NoValue(f"{place}: the schema offers no choice")
        for index, option in enumerate(options, 1):
            try:
                found.append(self.value(f"{place}-{index}", option))
            except NoValue as error:
                fault = error
        if not found:
            raise fault
        return found

    def _one_of(self, place: str, said: Schema) -> str:
        allowed = kinds(said["type"]) if "type" in said else KINDS
        values = [value for value in said["enum"] if any(_is_of(value, kind) for kind in allowed)]
        if not values:
            raise NoValue(f"{place}: the schema offers no choice")
        return one_of(text for value in values for text in _written(value))

    def _kinds(self, place: str, said: Schema) -> list[str]:
        """Return the kinds of value that are admitted: those of `type`, else those that the
        other keywords are about."""
        if "type" not in said:
            about = [kind for kind, words in _ABOUT.items() if said.keys() & set(words)]
            return about or list(KINDS)
        named = said["type"]
        found = kinds(named)
        for kind in named if isinstance(named, (list, tuple)) else [named]:
            if kind not in KINDS:
                raise GrammarError(f"{place}: a schema of type {brief(kind)} is not known")
        if not found:
            raise NoValue(f"{place}: the schema admits no type of value")
        return [kind for kind in found if kind != "integer" or "number" not in found]

    def _of_kind(self, place: str, kind: str, said: Schema) -> str:
        if kind == "object":
            return object_(self, place, said)
        if kind == "array":
            return array(self, place, said)
        if kind == "string":
            least, most = lengths(place, said, "minLength", "maxLength")
            return self.rules.string(least, most)
        return number(place, kind, said) if kind in ("integer", "number") else kind

    def _widest(self, said: Schema) -> str:
        """Return an expression of every value that is of the kind."""
        if "type" not in said:
            return "any"
        options = [_ANY_OF_A_KIND.get(kind, kind) for kind in kinds(said["type"])]
        return self.rules.named("any-of", choice(options)) if options else "any"


def _are_names(values: Sequence[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _tag(said: Schema) -> str | None:
    found = said.get("discriminator")
    name = found.get("propertyName") if isinstance(found, Mapping) else None
    return name if isinstance(name, str) else None


def _size(schema: Schema) -> int:
    """Return about how much there is to look at in a schema."""
    return 50 + sum(len(part) for part in schema.values() if isinstance(part, (Mapping, list)))


def _written(value: object) -> list[str]:
    """Return the texts of a value, of which a whole number has two."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE
    return [as_json(value), *([str(int(value))] if whole else [])]  # type: ignore[call-overload]


_WHOLE: Final = 1e15
"""A float below it is written with a point."""


def _is_of(value: object, kind: str) -> bool:
    if kind in ("integer", "number"):
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return not isinstance(value, bool) and (whole or kind == "number" == _kind_of(value))
    return _kind_of(value) == kind


def _kind_of(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"
