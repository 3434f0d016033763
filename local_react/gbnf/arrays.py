"""Lists: items that are told one by one, then any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local_react.gbnf.documents import NoValue, Schema
from local_react.gbnf.figures import lengths
from local_react.gbnf.notation import repeat

if TYPE_CHECKING:
    from local_react.gbnf.reading import SchemaReader


def array(reader: SchemaReader, place: str, schema: Schema) -> str:
    """Return an expression of a list."""
    least, most = lengths(place, schema, "minItems", "maxItems")
    first: list[str] = []
    rest = ""
    try:
        for number, part in enumerate(schema.get("prefixItems", ())[:most], 1):
            first.append(reader.within(place, number, part))
        if most is None or most > len(first):
            rest = reader.within(place, "item", schema.get("items", True))
    except NoValue:  # so that it ends here at the latest
        if least > len(first):
            raise
        most = len(first)
    most = most if rest else len(first)
    return f'"[" {_items(reader, place, first, rest, (least, most))} "]"'


def _items(
    reader: SchemaReader, place: str, first: list[str], rest: str, bounds: tuple[int, int | None]
) -> str:
    """Return an expression of the items, those that may be left out in rules of their own."""
    least, most = bounds
    if most == 0:
        return '""'
    if not first:
        marks = repeat(max(least - 1, 0), None if most is None else most - 1)
        # A rule of its own, or llama.cpp counts its repetitions as a part of what is optional.
        others = reader.rules.add(f"{place}-rest", f'(", " {rest}){marks}')
        return f"{rest} {others}" if least else f"({rest} {others})?"
    body = ""
    if rest:
        more = None if most is None else most - len(first)
        marks = repeat(max(least - len(first), 0), more)
        body = " " + reader.rules.add(f"{place}-rest", f'(", " {rest}){marks}')
    for index in range(len(first) - 1, -1, -1):
        comma = '", " ' if index else ""
        body = f"{comma}{first[index]}{body}"
        if index >= least:
            body = reader.rules.add(f"{place}-more", f"({body})?")
        body = f" {body}"
    return body.strip()
