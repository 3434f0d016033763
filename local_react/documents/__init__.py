"""The user's own documents: an index on disk, and what is found in it without a network."""

from __future__ import annotations

from pathlib import Path

from local_react.documents.library import Library
from local_react.documents.opening import Excerpt
from local_react.documents.reports import Added, Progress
from local_react.documents.searching import Hit
from local_react.documents.summaries import FileSummary, RootSummary, Status

__all__ = [
    "Added",
    "Excerpt",
    "FileSummary",
    "Hit",
    "Library",
    "Progress",
    "RootSummary",
    "Status",
    "add_archive",
    "archives",
    "remove_archive",
]


def archives() -> list[Path]:
    """Return the ZIM archives that the user added."""
    return [path for path, _ in Library().archives()]


def add_archive(path: Path, title: str) -> None:
    """Note a ZIM archive that the user adds."""
    Library().add_archive(path, title)


def remove_archive(path: Path) -> bool:
    """Forget a ZIM archive, and say whether it was known."""
    return Library().remove_archive(path)
