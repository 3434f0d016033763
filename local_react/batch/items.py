"""What the lines of a file ask."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

Told: TypeAlias = Mapping[str, Any]
"""What a question came to, as JSON's types, with its `exit_code`; an `error` where it could
not be put."""
_BYTE_ORDER_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Item:
    """What a line of the input asks."""

    line: int
    """Its number, from 1."""
    question: str = ""
    id: str | int | None = None
    rest: Mapping[str, Any] = field(default_factory=dict)
    """What else stands there."""
    fault: str = ""
    """Why it cannot be asked."""
    is_twin: bool = False
    """Whether its id is that of another one, too, and so tells nothing."""

    @property
    def name(self) -> str:
        """What tells it from all others of its file."""
        return name_of(None if self.is_twin else self.id, self.line)

    def result(self, told: Told, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return what it came to as one object."""
        head = {"id": self.id, "line": self.line, "question": self.question}
        rest = {"input": dict(self.rest)} if self.rest else {}
        return {**head, **told, "settings": dict(settings), **rest}


def name_of(identity: str | int | None, line: int) -> str:
    """Return the name of the item with that id, or else on that line."""
    return f"line {line}" if identity is None else f"id {json.dumps(identity)}"


def read_items(data: bytes, *, as_text: bool = False) -> list[Item]:
    """Return what the lines of a file ask, blank ones left out: each a JSON object with a
    "question" (or "prompt") and perhaps an "id", a text or a whole number; `as_text` takes
    the line itself. One that cannot be asked, or has the id of one before, has its fault."""
    if data.startswith(_BYTE_ORDER_MARKS):  # as PowerShell 5 writes files
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    lines = enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1)
    found = [_item(number, line, as_text=as_text) for number, line in lines if line.strip()]
    first = dict[str, int]()
    for item in found:
        first.setdefault(item.name, item.line)
    return [
        item if item.line == (before := first[item.name]) else _twin(item, before) for item in found
    ]


def _twin(item: Item, before: int) -> Item:
    fault = f"its id {json.dumps(item.id)} is that of line {before} too"
    return replace(item, fault=fault, is_twin=True)


def _item(number: int, line: bytes, *, as_text: bool) -> Item:
    try:
        text = line.decode("utf-8").strip()
        return Item(number, text) if as_text else _from_json(number, text)
    except UnicodeError:
        return Item(number, fault="it is no text in UTF-8")
    except (ValueError, RecursionError):
        return Item(number, fault=f"it is no JSON: {_WANTED}")


def _from_json(number: int, text: str) -> Item:
    """Return what a line of JSON asks. Raises ValueError where it is none."""
    values = json.loads(text, parse_constant=_refuse)
    if not isinstance(values, dict):
        return Item(number, fault=f"it is no JSON object: {_WANTED}")
    json.dumps(values, ensure_ascii=False, allow_nan=False).encode()  # nor half a character
    question = values.pop("question") if "question" in values else values.pop("prompt", None)
    identity = values.pop("id", None)
    if not isinstance(identity, str | int | None) or isinstance(identity, bool):
        return Item(number, fault="its id is neither a text nor a whole number")
    if not isinstance(question, str) or not question.strip():
        return Item(number, id=identity, fault=f"it has no question: {_WANTED}")
    return Item(number, question.strip(), identity, values)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_WANTED: Final = 'it wants {"question": "..."}'
