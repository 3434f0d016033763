"""Whether calls are those that BFCL expects.

The rules are those of the Berkeley Function Calling Leaderboard (Patil et al., 2025),
its ast_checker.py for Python, with its odd corners: what is published was scored by them.
An allowed value of "" says that the argument may be left out; as a value it stands for
an empty string or list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from local_react.evaluation.items import Function

Calls: TypeAlias = list[tuple[str, Mapping[str, Any]]]
"""Names of functions, and the arguments of each."""

_TYPES: Final[Mapping[str, type]] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
_IGNORED: Final = str.maketrans({**dict.fromkeys(" ,./-_*^"), "'": '"'})


def read_calls(text: str) -> Calls:
    """Return the calls that a text holds: the first JSON in it that is a list of
    {"name", "arguments"}, or one of these; none where there is no such JSON."""
    for value in _values(text):
        found = value if isinstance(value, list) else [value]
        if found and all(
            isinstance(one, dict) and isinstance(one.get("name"), str) for one in found
        ):
            return [(one["name"], _arguments(one)) for one in found]
    return []


def _values(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    for opening in re.finditer(r"[\[{]", text):
        try:
            yield decoder.raw_decode(text, opening.start())[0]
        except (ValueError, RecursionError):
            continue


def _arguments(call: Mapping[str, Any]) -> Mapping[str, Any]:
    found = call.get("arguments", call.get("parameters", {}))
    return found if isinstance(found, dict) else {}


def calls_match(calls: Calls, expected: Mapping[str, Any], functions: Sequence[Function]) -> bool:
    """Return whether the calls are those expected, in any order; where none or some call
    is expected, whether there is none or some."""
    if expected["kind"] == "no_call":
        return not calls
    if expected["kind"] == "some_call":
        return bool(calls)
    wanted = expected["ground_truth"]
    if len(calls) != len(wanted):
        return False
    left = list(calls)
    for one in wanted:
        ((name, allowed),) = one.items()
        match = next((call for call in left if _is_call(call, name, allowed, functions)), None)
        if match is None:
            return False
        left.remove(match)
    return True


def _is_call(
    call: tuple[str, Mapping[str, Any]],
    name: str,
    allowed: Mapping[str, Sequence[Any]],
    functions: Sequence[Function],
) -> bool:
    given, arguments = call
    described = next((one for one in functions if one["name"] == name), None)
    if given != name or described is None:
        return False
    parameters: Mapping[str, Any] = described["parameters"].get("properties", {})
    required = described["parameters"].get("required", ())
    optional = (argument for argument, values in allowed.items() if "" not in values)
    if not {*required, *optional} <= set(arguments):
        return False
    return all(
        argument in parameters
        and argument in allowed
        and _is_allowed(value, allowed[argument], parameters[argument])
        for argument, value in arguments.items()
    )


def _is_allowed(value: Any, allowed: Sequence[Any], described: Mapping[str, Any]) -> bool:
    wanted: type[Any] = _TYPES.get(str(described.get("type")), str)
    inner = _TYPES.get(str((described.get("items") or {}).get("type")), str)
    if wanted is float and type(value) is int:
        value = float(value)
    named = next((type(one) for one in allowed if one != ""), wanted)
    if type(value) is not wanted:
        # The name of a variable, where a value is described: exactly that.
        return type(value) is named and value in allowed
    if wanted is list and not any(_are_of(value, one, inner) for one in allowed):
        return False
    if named is not wanted:
        return value in allowed
    if wanted is dict:
        return any(_is_dict(value, one) for one in allowed if one != "")
    if wanted is list and inner is dict:
        return any(_are_dicts(value, one) for one in allowed)
    if wanted is list:
        return _bare_list(value) in [_bare_list(one) for one in allowed]
    return _bare(value) in [_bare(one) for one in allowed]


def _are_of(values: Sequence[Any], allowed: Any, inner: type) -> bool:
    """Return whether the elements are of the type described, or of that of the allowed ones.
    What is no list allows any."""
    if not isinstance(allowed, list):
        return True
    named = next((type(one) for one in allowed if one != ""), None)
    return all(type(value) in (inner, named) for value in values)


def _are_dicts(values: Sequence[Any], allowed: Sequence[Any]) -> bool:
    return len(values) == len(allowed) and all(
        isinstance(value, dict) and _is_dict(value, one)
        for value, one in zip(values, allowed, strict=True)
    )


def _is_dict(value: Mapping[str, Any], allowed: Mapping[str, Sequence[Any]]) -> bool:
    known = all(
        key in allowed and _bare(part) in [_bare(one) for one in allowed[key]]
        for key, part in value.items()
    )
    return known and all(key in value or "" in values for key, values in allowed.items())


def _bare_list(values: Sequence[Any]) -> list[Any]:
    return [_bare(value) for value in values]


def _bare(value: Any) -> Any:
    """Return a string as it is compared, and anything else as it is."""
    return value.translate(_IGNORED).lower() if isinstance(value, str) else value
