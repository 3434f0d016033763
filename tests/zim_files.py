"""ZIM archives, made for the tests with libzim's own writer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

pytest.importorskip("libzim", reason="SKIPPED: libzim has no wheel for this platform")

from libzim.writer import Creator, Hint, Item, StringProvider


class _Page(Item):  # type: ignore[misc]  # libzim says nothing of its types
    def __init__(self, title: str, html: str) -> None:
        super().__init__()
        self._title, self._html = title, html

    def get_path(self) -> str:
        return self._title.replace(" ", "_")

    def get_title(self) -> str:
        return self._title

    def get_mimetype(self) -> str:
        return "text/html"

    def get_contentprovider(self) -> StringProvider:
        return StringProvider(self._html)

    def get_hints(self) -> dict[Hint, int]:
        return {Hint.FRONT_ARTICLE: 1}


def write_zim(
    path: Path,
    pages: Mapping[str, str],
    redirects: Mapping[str, str] = {},
    *,
    indexed: bool = True,
    metadata: Mapping[str, str] = {},
) -> Path:
    """Write an archive of pages, title to HTML, and redirects, title to title; return
    its path. Without `indexed` it has no full-text index."""
    with Creator(path).config_indexing(indexed, "eng") as creator:
        for title, html in pages.items():
            creator.add_item(_Page(title, html))
        for title, target in redirects.items():
            hints = {Hint.FRONT_ARTICLE: 1}
            creator.add_redirection(title.replace(" ", "_"), title, target.replace(" ", "_"), hints)
        for name, value in metadata.items():
            creator.add_metadata(name, value)
    return path


def plain_page(text: str) -> str:
    """Return a page of paragraphs, one a line, and headings, lines that begin with ==."""
    return "".join(
        f"<h2>{line[2:]}</h2>" if line.startswith("==") else f"<p>{line}</p>"
        for line in text.splitlines()
    )
