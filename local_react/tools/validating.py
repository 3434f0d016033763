"""Whether a value is what a JSON schema says, told within a bounded time.

The jsonschema library decides. Nothing is fetched: a reference within the schema is the only
one that it can follow. The regular expressions of a schema, and the schema itself, come from
elsewhere: an expression is given a moment for each text, and the whole some seconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from time import monotonic
from typing import Any, Final, TypeAlias

import jsonschema
import regex
from jsonschema import validators
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import Draft202012Validator, validator_for
from referencing import Registry

from local_react.errors import GrammarError, UsageError
from local_react.gbnf import OWNED
from local_react.gbnf.documents import Document, subschemas

_FORMATS: Final = (
    *("date", "date-time", "time", "email", "idn-email", "ipv4", "ipv6", "uuid", "regex"),
)
_SECONDS: Final = 3.0
"""For a value in all."""
_MOMENT: Final = 0.5
"""Seconds for one expression and one text."""
_LONGEST: Final = 200
"""Characters of what is told of a fault."""
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_ENDS: Final = ContextVar("when a validation must have ended", default=float("inf"))

_Keyword: TypeAlias = Callable[[Any, Any, Any, Any], Iterator[ValidationError]]


class Schema:
    """A JSON schema: of the draft that its "$schema" names, else of 2020-12.

    Raises UsageError, in one line, where it is none, holds an expression that is none, or
    points out of itself.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        kind: Any = validator_for(schema, default=Draft202012Validator)
        try:
            kind.check_schema(schema, format_checker=jsonschema.FormatChecker(formats=()))
            _check_parts(schema)
        except jsonschema.SchemaError as error:
            where = ".".join(map(str, error.absolute_path)) or "the schema"
            raise UsageError(_brief(f"{where}: {error.message}")) from error
        except RecursionError as error:
            raise UsageError("its schema is too deeply nested") from error
        self._validator: Any = _bounded(kind)(
            schema,
            registry=Registry(),
            format_checker=jsonschema.FormatChecker(formats=_FORMATS),
        )

    def fault(self, value: object) -> tuple[tuple[str | int, ...], str] | None:
        """Return where a value is not as the schema says, and what is wrong there, in one
        line; None where it is all right. What cannot be told in time is a fault too."""
        before = _ENDS.set(monotonic() + _SECONDS)
        try:
            found = best_match(self._validator.iter_errors(value))
        except TimeoutError:
            return (), "it takes too long to tell whether it is as the schema says"
        except RecursionError:
            return (), "it is too deeply nested"
        except (ArithmeticError, ValueError) as error:  # a number beyond all bounds
            return (), _brief(f"it cannot be compared with its schema: {error}")
        finally:
            _ENDS.reset(before)
        if found is None:
            return None
        place = tuple(found.absolute_path)
        if found.validator == "required" and isinstance(found.instance, Mapping):
            missing = next(name for name in found.validator_value if name not in found.instance)
            return (*place, missing), "Field required"
        return place, _brief(found.message)


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _check_parts(schema: Mapping[str, Any]) -> None:
    """Raise UsageError where a part of a schema cannot be followed."""
    document = Document("its schema", schema)
    parts = list(subschemas(schema))
    for part in parts:
        if OWNED in part:
            raise UsageError(f"{OWNED} is for functions with type hints, not for a schema")
        for reference in (part[key] for key in _REFERENCES if isinstance(part.get(key), str)):
            _check_reference(document, reference)
        for pattern in [part.get("pattern"), *_names(part.get("patternProperties"))]:
            _check_pattern(pattern)
    if any("unevaluatedProperties" in part for part in parts) and any(
        "patternProperties" in part for part in parts
    ):
        raise UsageError("unevaluatedProperties beside patternProperties is beyond us")


def _check_reference(document: Document, reference: str) -> None:
    if reference.startswith("#") and document.holds_others:
        return  # which document is meant is found when it is followed
    try:
        document.target("its schema", reference)
    except GrammarError as error:
        raise UsageError(str(error)) from error


def _check_pattern(pattern: object) -> None:
    if isinstance(pattern, str):
        try:
            regex.compile(_as_python(pattern))
        except (regex.error, RecursionError, OverflowError) as error:
            told = _brief(f"{json.dumps(pattern)} is no regular expression: {error}")
            raise UsageError(told) from error


def _names(value: object) -> list[Any]:
    return list(value) if isinstance(value, Mapping) else []


def _bounded(kind: Any) -> Any:
    """Return the validator of a draft, with an end to all that it does."""
    keywords: dict[str, _Keyword] = {
        **kind.VALIDATORS,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
    }
    timed = {keyword: _timed(check) for keyword, check in keywords.items()}
    return validators.extend(kind, timed)  # type: ignore[no-untyped-call]


def _timed(check: _Keyword) -> _Keyword:
    def checked(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        if monotonic() > _ENDS.get():
            raise TimeoutError
        yield from check(validator, said, value, schema) or ()

    return checked


def _fits(pattern: str, text: str) -> bool:
    found = regex.search(_as_python(pattern), text, timeout=_MOMENT, concurrent=True)
    return found is not None


def _as_python(pattern: str) -> str:
    """Return a pattern whose `$` is the end alone, as in ECMA 262: here it may have a line
    break behind it."""
    return _END.sub(lambda piece: r"\Z" if piece[0] == "$" else piece[0], pattern)


_END: Final = regex.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", regex.DOTALL)


def _pattern(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(value, str) and not _fits(said, value):
        yield ValidationError(f"{value!r} does not match {said!r}")


def _pattern_properties(
    validator: Any, said: Any, value: Any, schema: Any
) -> Iterator[ValidationError]:
    for name, part in value.items() if isinstance(value, dict) else ():
        for pattern, inner in said.items():
            if _fits(pattern, name):
                yield from validator.descend(part, inner, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, said: Any, value: Any, schema: Any
) -> Iterator[ValidationError]:
    for name, part in value.items() if isinstance(value, dict) else ():
        patterns = schema.get("patternProperties", ())
        if name in schema.get("properties", ()) or any(_fits(one, name) for one in patterns):
            continue
        if said is False:
            yield ValidationError(f"there may be no {name!r}", path=[name])
        else:
            yield from validator.descend(part, said, path=name)
