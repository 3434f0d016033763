"""Paragraphs as documents: an index of them as a user's own is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from local_react.documents import Library
from local_react.errors import UsageError

SUFFIX: Final = ".txt"


def write_documents(corpus: Path, folder: Path) -> int:
    """Write each paragraph of a JSONL file, {"title", "text"}, into a file that is named
    by its title; return how many that are. Raises UsageError where they cannot be read."""
    try:
        lines = corpus.read_text(encoding="utf-8").split("\n")
        rows = (json.loads(line) for line in lines if line.strip())
        texts = {file_name(row["title"]): str(row["text"]) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f'{corpus} cannot be read: its lines should be {{"title": ..., "text": ...}}: {error}'
        ) from error
    for name, text in texts.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
    return len(texts)


def file_name(title: str) -> str:
    """Return the name of a title's file: without a slash, and not hidden."""
    return f"{title.replace('/', '-').lstrip('.').strip()}{SUFFIX}"


@contextmanager
def indexed(sources: Sequence[Path]) -> Iterator[Library]:
    """Give a library of these documents alone: each a JSONL file of paragraphs, or any
    other file or folder. It is gone afterwards.

    Raises UsageError where one cannot be read.
    """
    with TemporaryDirectory() as place:
        library = Library(Path(place))
        written = Path(place, "documents")
        written.mkdir()
        for source in sources:
            if source.suffix == ".jsonl":
                write_documents(source, written)
        others = [source for source in sources if source.suffix != ".jsonl"]
        if sources:
            library.add([written, *others] if len(others) < len(sources) else others)
        yield library
