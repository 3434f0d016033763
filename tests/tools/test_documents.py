"""The tools over the user's own documents: search_documents and read_document."""

from __future__ import annotations

from pathlib import Path

import pytest

from local_react.core import Findings, Passage
from local_react.documents import Library
from local_react.errors import ToolError
from local_react.tools.base import AnyTool
from local_react.tools.documents import make_documents

LONG = "The keeper walks up the stairs of the tower and lights the lamp. " * 15


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A library of two documents: 1 is long.txt, 2 is plan.md."""
    folder = tmp_path_factory.mktemp("notes")
    (folder / "plan.md").write_text("# Plan\n\nThe lighthouse costs 40 crowns.\n")
    (folder / "long.txt").write_text("\n\n".join([LONG.strip()] * 12))
    library = Library(tmp_path_factory.mktemp("data"))
    library.add([folder])
    return library


def tools(library: Library) -> dict[str, AnyTool]:
    return {tool.name: tool for tool in make_documents(library)}


def run(library: Library, name: str, **arguments: object) -> Findings:
    result = tools(library)[name].run(arguments)
    assert isinstance(result, Findings)
    return result


def test_they_say_what_they_may_do(library: Library) -> None:
    assert list(tools(library)) == ["search_documents", "read_document"]
    for tool in tools(library).values():
        assert tool.may == {"reads files"}
        assert len(tool.description) < 220
        for schema in tool.schema["properties"].values():
            assert schema["description"]
            assert schema["type"] != "string" or schema["maxLength"] <= 200


def test_a_passage_is_found_with_its_source(library: Library) -> None:
    found = run(library, "search_documents", query="What does the lighthouse cost?")
    text = "# Plan\n\nThe lighthouse costs 40 crowns."
    assert found == Findings((Passage(text, "document 2: plan.md, lines 1-3", "Plan"),))


def test_nothing_found_is_no_fault(library: Library, tmp_path: Path) -> None:
    found = run(library, "search_documents", query="quark")
    assert found.passages == ()
    assert "nothing of that" in found.note
    nothing = run(Library(tmp_path), "search_documents", query="quark")
    assert "no documents were added" in nothing.note


def test_a_document_is_read_on_by_what_the_note_names(library: Library) -> None:
    read = run(library, "read_document", document=1)
    places = [passage.source for passage in read.passages]
    assert places[0] == "document 1: long.txt, line 1"
    assert sum(len(passage.text) for passage in read.passages) <= 4000
    while "goes on" in read.note:
        read = run(library, "read_document", document=1, where=read.note.split('"')[1])
        places += [passage.source for passage in read.passages]
    assert places == [f"document 1: long.txt, line {number}" for number in range(1, 24, 2)]
    assert read.note == "the document ends here"


def test_a_place_alone_is_read(library: Library) -> None:
    read = run(library, "read_document", document=1, where="long.txt, line 5")
    assert [passage.source for passage in read.passages] == ["document 1: long.txt, line 5"]
    assert read.passages[0].title == ""
    more = run(library, "read_document", document=1, where=read.note.split('"')[1])
    assert more.passages[0].source == "document 1: long.txt, line 7"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"document": 7}, "there is no document 7: a search tells"),
        ({"document": 2, "where": "page 9"}, "document 2 has no page 9: it has lines 1-3"),
        ({"document": 0}, "argument document"),
    ],
)
def test_what_is_not_there_is_told(
    library: Library, arguments: dict[str, object], told: str
) -> None:
    with pytest.raises(ToolError, match=told) as caught:
        run(library, "read_document", **arguments)
    assert "\n" not in str(caught.value)


def test_a_broken_index_is_one_line(tmp_path: Path) -> None:
    broken = Library(tmp_path)
    broken.path.write_text("no database " * 1000)
    for name, arguments in (
        ("search_documents", {"query": "x"}),
        ("read_document", {"document": 1}),
    ):
        with pytest.raises(ToolError, match="cannot be used") as caught:
            run(broken, name, **arguments)
        assert "\n" not in str(caught.value)
        with pytest.raises(ToolError, match="cannot be used"):
            tools(broken)[name](*arguments.values())


def test_a_search_is_offered_where_the_documents_speak_of_a_question(
    library: Library, tmp_path: Path
) -> None:
    offer = tools(library)["search_documents"].offer
    assert offer is not None
    (tmp_path / "garden.txt").write_text("The gardener comes on Tuesdays.")
    library.add([tmp_path / "garden.txt"])
    assert offer("When does the\n gardener come?") == {"query": "When does the gardener come?"}
    assert offer("When does the gardener come? Say it in the fewest words possible.") == {
        "query": "When does the gardener come?"
    }
    assert offer("Tell when the gardener comes.") == {"query": "Tell when the gardener comes."}
    assert offer("What is the capital of Peru?") is None
    assert tools(library)["read_document"].offer is None
