"""search_documents and read_document: the user's own documents, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from local_react.core import Findings, Passage
from local_react.errors import ToolError, UsageError
from local_react.tools.base import Tool, tool

if TYPE_CHECKING:
    from local_react.documents import Excerpt, Hit, Library

LOOKING_FIRST: Final = "The user's documents may say it, so I look there first."
"""The Thought of the search that is offered before the model's first reply."""
_HITS = 5
_LINKED = 2
_LONGEST_QUERY = 200
_NOTHING = "nothing of that in the user's documents: use another tool, or what you know"
_NO_DOCUMENTS = "no documents were added yet: answer without them"

Query = Annotated[str, Field(description="words to look for", max_length=_LONGEST_QUERY)]
Document = Annotated[
    int, Field(description="its number, as search_documents tells it", ge=1, le=10**9)
]
Where = Annotated[
    str,
    Field(
        description='place such as "page 3", "lines 40-80" or "after page 3"; "" is its beginning',
        max_length=200,
    ),
]


def make_documents(library: Library) -> list[Tool[..., Any]]:
    """Return the tools: one that searches the library, one that reads on in it."""

    @tool(may=("reads files",))
    def search_documents(query: Query) -> Findings:
        """Search the user's documents: for whatever is about me, my, our, or people you don't
        know; not for general knowledge."""
        with _refusals():
            hits = library.search(query, _HITS, _LINKED)
            if hits:
                return Findings(tuple(map(_passage, hits)))
            return Findings(note=_NO_DOCUMENTS if library.is_empty else _NOTHING)

    @tool(may=("reads files",))
    def read_document(document: Document, where: Where = "") -> Findings:
        """Read on in a document that search_documents found, at a page, lines or chapter."""
        with _refusals():
            return _findings(library.read(document, where))

    def offer(question: str) -> dict[str, str] | None:
        # What comes after the last question mark is how to answer.
        asked = question[: question.rfind("?") + 1] or question
        words = " ".join(asked.split())[:_LONGEST_QUERY]
        try:
            return {"query": words} if library.speaks_of(words) else None
        except UsageError:  # told where it is searched
            return None

    def suits(question: str) -> bool:
        return offer(question) is not None

    return [
        replace(search_documents, offer=offer, offered=LOOKING_FIRST, suits=suits),
        replace(read_document, suits=suits),
    ]


@contextmanager
def _refusals() -> Iterator[None]:
    """Tell the model what else would be told to a person."""
    try:
        yield
    except UsageError as error:
        raise ToolError(str(error)) from error


def _passage(hit: Hit) -> Passage:
    return Passage(hit.text, _where(hit.document, hit.name, hit.place), _title(hit.title, hit.name))


def _findings(read: Excerpt) -> Findings:
    title = _title(read.title, read.name)
    passages = (
        Passage(text, _where(read.document, read.name, place), title)
        for place, text in read.passages
    )
    return Findings(tuple(passages), _note(read))


def _where(document: int, name: str, place: str) -> str:
    """Return where a person finds it, with the number by which the model reads on in it."""
    return f"document {document}: {name}, {place}"


def _title(title: str, name: str) -> str:
    """Return the title where it says more than the file's name does."""
    return "" if title in (Path(name).name, Path(name).stem) else title


def _note(read: Excerpt) -> str:
    if read.next:
        return f'goes on: read_document with "{read.next}" as where'
    return "the document ends here"
