"""Reads a reply that a grammar did not hold: the same step in other spellings.

A backend may look at no grammar. What its model writes then is a step all the same where it
names a tool that is there and says what it is given: `Action: Calculator[2+2]`,
`**Action:** calculator("2+2")`, `Final Answer: 4`, labels with a full-width colon, a line
`Action Input:`, a call as JSON. It is brought into the one format; what a model writes
behind its first Actions, such as an Observation of its own, is left out.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from local_react import protocol
from local_react.core import Action, Call, Finish
from local_react.tools.base import FINISH, AnyTool

_LABEL: Final = re.compile(
    r"^[ \t>*_#`-]*(thought|(?:action )?input|action|observation|final answer|answer|question)"
    r"[ \t*_`]*(?:[0-9]+[ \t*_`]*)?[:：][ \t*_`]*",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWERS: Final = frozenset({"final answer", "answer"})
_INPUTS: Final = frozenset({"action input", "input"})
_IN_A_LINE: Final = re.compile(r"(?<=\S)[ \t]+(?=Action: ?[`*]*\w+[`*]* ?[\[({])")
_WIDE: Final = str.maketrans("［］（）｛｝【】", "[](){}[]")
_CLOSING: Final = {"[": "]", "(": ")", "{": "}"}
_NAMES: Final = ("name", "action", "tool", "function")
_ARGUMENTS: Final = ("arguments", "action_input", "input", "parameters", "args")
"""How the parts of a call are named where it is an object of JSON."""
_LONGEST_NAME: Final = 64
_NO_LITERAL: Final = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)
_LONGEST_LITERAL: Final = 2000
"""Characters that are read as Python, whose own parser knows no bounds."""


def mended(text: str, tools: Sequence[AnyTool], *, again: bool = False) -> str:
    """Return a reply in the format of a step, as it is where it is one, or where it holds
    none. Where the model was told before that it wrote none, and writes plain words `again`,
    they are its answer."""
    if _is_in_format(protocol.parse(text)[1][0], tools):
        return text
    parts = _parts(text)
    if all(label != "action" for label, _ in parts):
        parts = _parts(_IN_A_LINE.sub("\n", text))
    first, said = parts[0]
    found = _actions(parts, tools) or [*_without_label(text, tools)]
    if not found and again and not first and len(parts) == 1 and said:
        found, said = [Finish(said)], ""
    thought = said if first in ("", "thought") and len(parts) > 1 else ""
    try:
        return protocol.written(" ".join(thought.split()), *found) if found else text
    except (TypeError, ValueError):  # what is given is nothing that JSON has
        return text


def _is_in_format(action: Action, tools: Sequence[AnyTool]) -> bool:
    """Return whether nothing can be made better of an Action: a tool of no such name is told
    as one."""
    if isinstance(action, Call):
        return any(tool.name == action.tool for tool in tools) or not _known(action.tool, tools)
    return isinstance(action, Finish)


def _parts(text: str) -> list[tuple[str, str]]:
    """Return the pieces of a reply, each with its label in lower case; the first may have
    none. The text of an answer is not parted at "Answer:"."""
    parts, label, start = list[tuple[str, str]](), "", 0
    for found in _LABEL.finditer(text):
        name = " ".join(found[1].casefold().split())
        if label in _ANSWERS and name in _ANSWERS | _INPUTS:
            continue
        parts.append((label, text[start : found.start()].strip()))
        label, start = name, found.end()
    parts.append((label, text[start:].strip()))
    return parts if parts[0][1] or len(parts) == 1 else parts[1:]


def _actions(parts: Sequence[tuple[str, str]], tools: Sequence[AnyTool]) -> list[Call | Finish]:
    """Return the first answer, or the first calls, as many as follow each other; no answer
    behind a call, which cannot know what the call gives."""
    found = list[Call | Finish]()
    for number, (label, said) in enumerate(parts):
        if label == "action":
            following = parts[number + 1 : number + 2]
            given = next((text for name, text in following if name in _INPUTS), None)
            action = _action(said, given, tools)
            if action is None or (found and isinstance(action, Finish)):
                return found
            found.append(action)
        elif label in _ANSWERS and not found:
            return [Finish(answer)] if (answer := _unbold(said)) else []
        if found and (label not in {"action", *_INPUTS} or isinstance(found[0], Finish)):
            break
    return found[: protocol.MOST_CALLS]


def _action(said: str, given: str | None, tools: Sequence[AnyTool]) -> Call | Finish | None:
    """Return the Action that a line says, with what stands behind its "Action Input:"."""
    if _LABEL.match(said):
        return None
    if re.match(r"`*(?:json)?\s*\{", said):
        return next(_without_label(said, tools), None)
    name, rest = _named(said, tools)
    if name is None:
        # It is told which tools there are.
        called = "_".join(said[: len(said) - len(rest)].split())
        told = 0 < len(called) <= _LONGEST_NAME and (rest or given)
        return Call(called, {"input": given or _inner(rest) or rest}) if told else None
    values = _values(given if given is not None else rest, name, tools)
    if values is None:
        return None
    return _answer(values) if name == FINISH else Call(name, values)


def _named(said: str, tools: Sequence[AnyTool]) -> tuple[str | None, str]:
    """Return the tool that an Action line names, and what stands behind its name."""
    head = re.split(r"[\[({［（｛【:：\n]", said, maxsplit=1)[0]
    words = head.split()
    for named in (head, *words[:1], *words[-1:]):
        if name := _known(named, tools):
            end = len(head) if named == head else said.index(named) + len(named)
            rest = said[end:].strip(" \t:：*`_\"'\\\n")
            return name, re.sub(r"^(?:tool|function)\b\s*", "", rest)
    return None, said[len(head) :]


def _answer(values: Mapping[str, Any]) -> Finish | None:
    answer = values.get("answer")
    return Finish(answer.strip()) if isinstance(answer, str) and answer.strip() else None


def _known(written: str, tools: Sequence[AnyTool]) -> str | None:
    """Return the name of the one tool that a text names in whatever way, or Finish."""
    plain = _plain(written)
    names = {tool.name for tool in tools if _plain(tool.name) == plain}
    if not names and plain in {FINISH.casefold(), *map(_plain, _ANSWERS)}:
        return FINISH
    return names.pop() if len(names) == 1 else None


def _plain(name: str) -> str:
    """Return a name without what people, and Markdown, write it differently with."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def _values(given: str, name: str, tools: Sequence[AnyTool]) -> Mapping[str, Any] | None:
    """Return the arguments that a text gives to a tool, or None where it is cut off."""
    schema = next((tool.schema for tool in tools if tool.name == name), None)
    fields = list(schema["properties"]) if schema else ["answer"]
    needed = list(schema.get("required", [])) if schema else ["answer"]
    given = given.strip(" \t\n`")
    if given[:1].translate(_WIDE) == "{" or given.startswith("json"):
        return _object(given.translate(_WIDE) if given[:1] == "｛" else given.removeprefix("json"))
    inner = _inner(given)
    if inner is None:
        return None
    if not inner and not needed:
        return {}
    return _literals(inner, fields, needed) or {
        (needed or fields or ["input"])[0]: _unquoted(inner)
    }


def _inner(given: str) -> str | None:
    """Return what stands between the brackets around a text, or the text where there are
    none: up to the last one where it ends with one, since the text may hold others."""
    opening = given[:1].translate(_WIDE)
    if opening not in _CLOSING:
        return given
    closing, depth = _CLOSING[opening], 0
    plain = given.translate(_WIDE)
    if plain.endswith(closing):
        return given[1:-1].strip()
    for place, sign in enumerate(plain):
        depth += (sign == opening) - (sign == closing)
        if depth == 0:
            return given[1:place].strip()
    return None


def _literals(inner: str, fields: Sequence[str], needed: Sequence[str]) -> dict[str, Any]:
    """Return arguments that are written as those of a call in Python, `amount=5, to="EUR"`,
    or, where several are needed, one behind the other; empty where they are not."""
    call = _python(f"f({inner})")
    named, placed = dict[str, Any](), list[Any](map(str.strip, inner.split(",")))
    if isinstance(call, ast.Call):
        with suppress(*_NO_LITERAL):
            read = {word.arg or "": ast.literal_eval(word.value) for word in call.keywords}
            placed, named = [ast.literal_eval(value) for value in call.args], read
    if named and (set(named) <= set(fields) or len(needed) > 1):
        return {**dict(zip(fields, placed, strict=False)), **named}
    return dict(zip(fields, placed, strict=False)) if 1 < len(needed) <= len(placed) else {}


def _unbold(text: str) -> str:
    """Return a text without the end of a bold passage that began before it."""
    return text.removesuffix("**").rstrip() if text.count("**") % 2 else text


def _unquoted(inner: str) -> str:
    quoted = len(inner) > 1 and inner[0] == inner[-1] and inner[0] in "\"'"
    return inner[1:-1] if quoted and inner[0] not in inner[1:-1] else inner


def _without_label(text: str, tools: Sequence[AnyTool]) -> Iterator[Call | Finish]:
    """Yield the first call that stands in a text as JSON, or as a line of its own, and names a
    tool that is there."""
    found = _object(text)
    if found:
        name = next((found[key] for key in _NAMES if isinstance(found.get(key), str)), "")
        known = _known(name, tools)
        values: Any = next((found[key] for key in _ARGUMENTS if key in found), {})
        if known and not isinstance(values, Mapping):
            values = _values(str(values), known, tools) or {}
        if known and (action := _answer(values) if known == FINISH else Call(known, values)):
            yield action
        return
    for line in text.splitlines():
        if re.match(r"[\w\s*`\\-]{2,64}[\[({［（｛【].*[\])}］）｝】][\s.`]*$", line):
            head = re.split(r"[\[({［（｛【]", line, maxsplit=1)[0]
            if _known(head, tools) and (action := _action(line.strip(" \t`."), None, tools)):
                yield action
                return


def _object(text: str) -> dict[str, Any] | None:
    """Return the first object that a text holds, of JSON or of Python; None where there is
    none, or it is cut off."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0:
        return None
    found: Any = None
    with suppress(ValueError, RecursionError):
        found = json.JSONDecoder(strict=False).raw_decode(text, start)[0]
    if found is None and (tree := _python(text[start : end + 1])):
        with suppress(*_NO_LITERAL):
            found = ast.literal_eval(tree)
    return found if isinstance(found, dict) else None


def _python(text: str) -> ast.expr | None:
    """Return an expression of Python, which is never run; None where it is none, or Python
    would warn of what it escapes."""
    if len(text) > _LONGEST_LITERAL or "\\" in text:
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except _NO_LITERAL:
        return None
