"""Tools drawn at random: all kinds of names, types, models and schemas that may be registered."""

from __future__ import annotations

import keyword
from collections.abc import Callable
from random import Random
from typing import Annotated, Any, Literal, Optional, Union

from pydantic import BaseModel, Field, create_model

from local_react.tools.base import AnyTool, tool
from local_react.tools.schemas import tool_of_schema

_WORDS = (
    *(
        "city",
        "größe",
        "名前",
        "a-b",
        "x y",
        "type",
        "class",
        "self",
        "model_config",
        "_x",
        "schema",
    ),
    *('quo"te', "back\\slash", "[x]", "^a", "a\tb", "root", "char", "any", "😀", "", "json", "1st"),
)
_VALUES = (
    "x",
    "y z",
    'quo"te',
    "größe",
    "中文",
    "😀",
    "\n",
    "\\",
    "[",
    "]",
    "^",
    "-",
    "",
    "true",
    "5",
)
_LEAVES: tuple[Any, ...] = (
    *(int, float, bool, None),
    Annotated[int, Field(ge=-7, le=120)],
    Annotated[int, Field(gt=10**6)],
    Annotated[float, Field(ge=0)],
    Annotated[str, Field(max_length=6)],
    Annotated[str, Field(min_length=2, max_length=5)],
    Literal["a", 1, True],
)


def tool_set(random: Random) -> list[AnyTool]:
    """Return from 1 to 30 tools; now and then one of hundreds of parameters."""
    count = random.choice((1, 2, 3, 5, 8, 30))
    made = [
        _function_tool(random, n) if random.random() < 0.7 else _raw(random, n)
        for n in range(count)
    ]
    if random.random() < 0.1:
        made.append(_large(random))
    return made


def _function_tool(random: Random, number: int) -> AnyTool:
    names = {name for name in random.sample(_WORDS, 4) if name.isidentifier()}
    names = {name for name in names if not keyword.iskeyword(name)} | {"plain"}
    hints = {name: _hint(random, 3) for name in sorted(names)}
    return tool(_function(f"do_{number}", hints, random))


def _large(random: Random) -> AnyTool:
    hints = {f"p{n}": _hint(random, 0) for n in range(random.choice((60, 200, 500)))}
    return tool(_function("large", hints, random))


def _function(name: str, hints: dict[str, Any], random: Random) -> Callable[..., str]:
    listed = ", ".join(f"{n} = None" if random.random() < 0.4 else n for n in hints)
    space: dict[str, Any] = {}
    exec(f"def {name}(*, {listed}):\n 'Do it.'\n return ''", space)  # noqa: S102 - names are ours
    made: Callable[..., str] = space[name]
    made.__annotations__.update(hints)
    return made


def _hint(random: Random, depth: int) -> Any:
    """Return a type hint."""
    if depth == 0 or random.random() < 0.3:
        some = tuple(random.sample(_VALUES, 3))
        return random.choice((*_LEAVES, Literal[some]))
    inner = _hint(random, depth - 1)
    wrap: tuple[Callable[[], Any], ...] = (
        lambda: Annotated[list[inner], Field(max_length=3)],  # type: ignore[valid-type]
        lambda: Optional[inner],  # noqa: UP045
        lambda: tuple[inner, bool],  # type: ignore[valid-type]
        lambda: Union[inner, _hint(random, depth - 1)],  # noqa: UP007
        lambda: _model(random, depth),
        lambda: _tagged(random, depth),
    )
    return random.choice(wrap)()


def _model(random: Random, depth: int) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for index, name in enumerate(random.sample(_WORDS, random.randrange(1, 4))):
        default = ... if random.random() < 0.6 else None
        fields[f"f{index}"] = (_hint(random, depth - 1), Field(default, alias=name))
    return create_model("Part", **fields)


def _tagged(random: Random, depth: int) -> Any:
    """Return a union of classes that a tag tells apart."""
    cat: dict[str, Any] = {"kind": (Literal["cat"], "cat"), "lives": (_hint(random, 0), 1)}
    dog: dict[str, Any] = {"kind": (Literal["dog"], ...), "part": (_hint(random, depth - 1), ...)}
    one, other = create_model("Cat", **cat), create_model("Dog", **dog)
    return Annotated[Union[one, other], Field(discriminator="kind")]  # noqa: UP007


def _raw(random: Random, number: int) -> AnyTool:
    schema = {"type": "object", **raw_object(random, 3)}
    return tool_of_schema(f"raw_{number}", "Do it.", schema, lambda arguments: "")


def raw_schema(random: Random, depth: int) -> Any:
    """Return a schema as other programs write them, of what a grammar can say alone."""
    if depth == 0 or random.random() < 0.4:
        return random.choice(
            (
                *({"type": "integer"}, {"type": "boolean"}, {"type": "number"}, {"type": "null"}),
                {"type": ["string", "null"], "maxLength": 4},
                {"enum": random.sample(_VALUES, 4)},
                {"const": random.choice(_VALUES)},
                {"type": "integer", "minimum": random.randrange(-50, 50), "maximum": 3000},
            )
        )
    if random.random() < 0.5:
        return {"type": "object", **raw_object(random, depth)}
    return random.choice(
        (
            {"type": "array", "items": raw_schema(random, depth - 1), "maxItems": 2},
            {"anyOf": [raw_schema(random, depth - 1), raw_schema(random, depth - 1)]},
        )
    )


def raw_object(random: Random, depth: int) -> dict[str, Any]:
    """Return the keywords of an object's schema."""
    names = random.sample(_WORDS, random.randrange(4))
    return {
        "properties": {name: raw_schema(random, depth - 1) for name in names},
        "required": [name for name in names if random.random() < 0.5],
        "additionalProperties": False,
    }
