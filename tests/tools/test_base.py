"""Tools made of functions: name, description, schema, validation, failures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from local_react.documents import Library
from local_react.errors import ToolError, UsageError
from local_react.network import Network
from local_react.tools import builtin_tools
from local_react.tools.base import as_text, tool


@tool
def area(
    width: Annotated[float, Field(description="in metres", gt=0)],
    height: float = 2,
    unit: Literal["m2", "ft2"] = "m2",
) -> str:
    """Compute an area.

    This paragraph is for people and is not shown.
    """
    return f"{width * height:g} {unit}"


def test_is_described_by_its_function() -> None:
    assert area.name == "area"
    assert area.description == "Compute an area."
    schema = area.schema
    assert schema["required"] == ["width"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["width"]["description"] == "in metres"
    assert schema["properties"]["unit"]["enum"] == ["m2", "ft2"]


def test_is_still_the_function() -> None:
    assert area(3, height=4) == "12 m2"


def test_runs_on_validated_arguments() -> None:
    assert area.run({"width": 3}) == "6 m2"
    assert area.run({"width": "3", "height": 1}) == "3 m2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "area: argument width: Field required"),
        ({"width": "wide"}, "area: argument width"),
        ({"width": -1}, "area: argument width: .*greater than 0"),
        ({"width": 1, "depth": 2}, "area: argument depth"),
        ({"width": 1, "unit": "acre"}, "area: argument unit: .*m2"),
    ],
)
def test_names_the_argument_at_fault(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ToolError, match=message) as caught:
        area.run(arguments)
    assert "\n" not in str(caught.value)


def test_a_failure_is_a_tool_error_and_a_refusal_stays_itself() -> None:
    @tool
    def half(of: int) -> float:
        """Halve a number."""
        if of % 2:
            raise ToolError("odd: give an even number")
        return 1 / (of - 2)

    with pytest.raises(ToolError, match=r"^odd: give an even number$"):
        half.run({"of": 3})
    with pytest.raises(ToolError, match=r"^half failed: ZeroDivisionError") as caught:
        half.run({"of": 2})
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_interruption_is_not_swallowed() -> None:
    @tool
    def stop() -> None:
        """Stop."""
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop.run({})


class Point(BaseModel):
    x: int
    y: int


def test_arguments_may_be_models_and_arrive_as_such() -> None:
    @tool
    def norm(point: Point) -> int:
        """Measure a point."""
        return abs(point.x) + abs(point.y)

    assert norm.run({"point": {"x": 1, "y": -2}}) == "3"
    with pytest.raises(ToolError, match=r"norm: argument point\.y"):
        norm.run({"point": {"x": 1}})


class Loose(BaseModel, extra="allow"):
    x: int


def test_the_schema_says_what_a_class_would_only_drop() -> None:
    @tool
    def norm(point: Point, loose: Loose) -> int:
        """Measure a point."""
        return point.x

    parts = norm.schema["$defs"]
    assert parts["Point"]["additionalProperties"] is False
    assert parts["Loose"]["additionalProperties"] is True


@dataclass
class Pair:
    a: int
    b: str


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("as it is", "as it is"),
        (None, "done"),
        (True, "true"),
        (57, "57"),
        (0.1, "0.1"),
        ([1, "two"], '[1,"two"]'),
        ({"größe": 1}, '{"größe":1}'),
        (Pair(1, "x"), '{"a":1,"b":"x"}'),
        (object, "\"<class 'object'>\""),
    ],
)
def test_results_become_text(result: object, text: str) -> None:
    assert as_text(result) == text


def test_faults_of_a_definition_are_named() -> None:
    def undocumented(x: int) -> int:
        return x

    def untyped(x) -> int:  # type: ignore[no-untyped-def]
        """Do."""
        return int(x)

    def starred(*x: int) -> int:
        """Do."""
        return sum(x)

    def positional(x: int, /) -> int:
        """Do."""
        return x

    with pytest.raises(UsageError, match="undocumented has no docstring"):
        tool(undocumented)
    with pytest.raises(UsageError, match="untyped: x has no type hint"):
        tool(untyped)
    with pytest.raises(UsageError, match=r"\*x cannot be described"):
        tool(starred)
    with pytest.raises(UsageError, match="x cannot be positional-only"):
        tool(positional)


@pytest.mark.parametrize("name", ["Finish", "finish", "two words", "9lives", "währung", 'a"b'])
def test_a_name_that_cannot_be_an_action_is_refused(name: str) -> None:
    def do() -> None:
        """Do."""

    with pytest.raises(UsageError, match="tool name"):
        tool(name=name)(do)


def test_the_built_in_tools_are_most_specific_first_and_search_last() -> None:
    names = [built_in.name for built_in in builtin_tools(Network("allow"))]
    assert names == ["calculator", "current_time", "exchange_rate", "read_page", "search"]


def test_offline_the_network_tools_are_left_out() -> None:
    tools = builtin_tools(Network("deny"))
    # The rates are there: they answer from those that are kept, or say that there are none.
    assert [built_in.name for built_in in tools] == ["calculator", "current_time", "exchange_rate"]


def test_the_tools_for_what_the_user_added_are_there_where_something_was(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("The key is under the mat.")
    library = Library(tmp_path / "index")
    library.add([tmp_path / "notes.txt"])
    tools = builtin_tools(Network("deny"), library=library)
    assert [built_in.name for built_in in tools][3:] == ["search_documents", "read_document"]
    library.add_archive(tmp_path / "some.zim", "Some")
    names = [built_in.name for built_in in builtin_tools(Network("deny"), library=library)]
    assert names[5:] == ["wikipedia", "lookup"]


def test_a_damaged_index_is_told_where_it_is_asked(tmp_path: Path) -> None:
    library = Library(tmp_path)
    library.path.write_bytes(b"no database at all" * 100)
    tools = {made.name: made for made in builtin_tools(Network("deny"), library=library)}
    with pytest.raises(ToolError, match="documents"):
        tools["search_documents"].run({"query": "key"})


def test_every_string_argument_of_a_built_in_tool_is_bounded_and_described() -> None:
    for built_in in builtin_tools(Network("allow"), everything=True):
        assert len(built_in.description) < 220
        for name, schema in built_in.schema["properties"].items():
            assert schema["description"], name
            assert schema["type"] != "string" or schema["maxLength"] <= 500, name


@pytest.mark.parametrize(
    "name", ["model_config", "model_dump", "_x", "schema", "copy", "json", "self_", "validate"]
)
def test_a_parameter_may_have_a_name_that_pydantic_uses(name: str) -> None:
    namespace: dict[str, Any] = {}
    source = f"def shout({name}: str) -> str:\n    'Return it.'\n    return {name}.upper()"
    exec(source, namespace)  # noqa: S102 - the names are ours
    made = tool(namespace["shout"])
    assert list(made.schema["properties"]) == [name]
    assert made.run({name: "hi"}) == "HI"


def test_what_makes_no_schema_or_no_tool_is_refused() -> None:
    async def later() -> str:
        """Come later."""
        return ""

    def opaque(of: Callable[[int], int]) -> str:
        """Take a function."""
        return ""

    with pytest.raises(UsageError, match="plain function"):
        tool(later)
    with pytest.raises(UsageError, match="no schema"):
        tool(opaque)
    with pytest.raises(UsageError, match="plain function"):
        tool(len)


def test_a_function_that_would_end_the_program_fails() -> None:
    @tool
    def leave(text: str) -> str:
        """Leave."""
        raise SystemExit(4)

    with pytest.raises(ToolError, match="leave failed: SystemExit: 4"):
        leave.run({"text": "x"})
