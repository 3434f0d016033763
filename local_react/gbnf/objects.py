"""Objects: their properties in the schema's order, and what else they may hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from local_react.gbnf.documents import NoValue, Schema
from local_react.gbnf.notation import as_json, choice, literal

if TYPE_CHECKING:
    from local_react.gbnf.reading import SchemaReader

_IN_ORDER: Final = 40
"""Optional properties that stand in the schema's order: each is a reading that llama.cpp
keeps alive. More of them may stand in any order."""
_NAMED: Final = 400
"""Optional properties that are told apart; the others are any property."""
_LETTERS: Final = 400
"""Letters of all names up to which another property is kept from having one of them."""


class _Object:
    """What the grammar of one object is made of."""

    def __init__(self, reader: SchemaReader, place: str) -> None:
        self.reader = reader
        self.place = place
        self.pairs: list[tuple[str, bool]] = []
        """Expressions of `"name": value`, and whether each is required, in order."""
        self.others = ""
        """The rule of a pair beside those; empty where there may be none."""

    def add_pair(self, name: str, schema: object, required: bool) -> None:
        try:
            value = self.reader.within(self.place, name, schema)
        except NoValue:
            if required:
                raise
            return
        key = literal(f"{as_json(name)}: ")
        self.pairs.append((f"{key} {value}", required))

    def add_others(self, names: Sequence[str], schema: object) -> None:
        try:
            value = self.reader.within(self.place, "value", schema)
        except NoValue:
            return
        key = "any-string"
        if 0 < sum(map(len, names)) <= _LETTERS:
            key = self.reader.rules.other_string([as_json(name)[1:-1] for name in names])
        self.others = self.reader.rules.add(f"{self.place}-pair", f'{key} ": " {value}')

    def in_order(self) -> str:
        """Return an expression for the pairs in their order, optional ones there or not."""
        options = []
        for index, (pair, is_required) in enumerate(self.pairs):
            options.append(f"{pair}{self._more(index + 1)}")
            if is_required:
                return f"({choice(options)})"
        if self.others:
            options.append(f'{self.others} (", " {self.others})*')
        return f"({choice(options)})?" if options else '""'

    def _more(self, start: int) -> str:
        """Return a reference to a rule for the pairs from `start` on, each behind a comma."""
        body = f' (", " {self.others})*' if self.others else ""
        for index in range(len(self.pairs) - 1, start - 1, -1):
            pair, is_required = self.pairs[index]
            one = f'", " {pair}' if is_required else f'(", " {pair})?'
            body = f" {self.reader.rules.add(f'{self.place}-more-{index}', f'{one}{body}')}"
        return body

    def in_any_order(self) -> str:
        """Return an expression for the required pairs in their order, then any others."""
        required = ' ", " '.join(pair for pair, is_required in self.pairs if is_required)
        optional = [pair for pair, is_required in self.pairs if not is_required]
        options = optional[:_NAMED]
        if len(optional) > _NAMED:
            options.append('any-string ": " any')
        elif self.others:
            options.append(self.others)
        one = self.reader.rules.add(f"{self.place}-one", choice(options))
        return f'{required} (", " {one})*' if required else f'({one} (", " {one})*)?'


def object_(reader: SchemaReader, place: str, schema: Schema) -> str:
    """Return an expression of an object."""
    found = _Object(reader, place)
    properties = dict(schema.get("properties", {}))
    required = dict.fromkeys(schema.get("required", ()))
    rest: Any = schema.get("additionalProperties", True)
    if schema.get("patternProperties"):  # what it says of a name is for validation to find
        rest = True
    for name in required:
        properties.setdefault(name, rest)
    for name, part in properties.items():
        found.add_pair(name, part, name in required)
    found.add_others(list(properties), rest)
    is_long = sum(not is_required for _, is_required in found.pairs) > _IN_ORDER
    return f'"{{" {found.in_any_order() if is_long else found.in_order()} "}}"'
