"""The visible text of HTML and XHTML, line by line.

HTML is parsed without the network, without entities of the document's own, and without
limit on what is broken. The elements follow the HTML standard (section 15.3, "Rendering").
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lxml.etree import _Element

_SKIPPED = frozenset(
    """
    head script style template noscript svg iframe object embed canvas audio video select
    option button dialog noframes
    """.split()
)
_MENUS = _SKIPPED | {"nav"}
_BLOCKS = frozenset(
    """
    address article aside blockquote body br caption center dd details dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main
    menu nav ol p plaintext pre search section summary table tbody tfoot thead tr ul xmp
    """.split()
)
_INNER = sorted(_BLOCKS - {"br"})
_CELLS = frozenset({"td", "th"})
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_PROLOG = re.compile(
    r"[\s\ufeff]*(?:<\?xml[^>]*\?>\s*)?(?:<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>\s*)?",
    re.IGNORECASE | re.DOTALL,
)
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31};)")
_OWN_ENTITIES = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})


def parse_html(text: str) -> _Element | None:
    """Return the tree of HTML, however broken, or None where there is none."""
    from lxml import etree
    from lxml.html import HTMLParser

    # Old pages nest deeper than 256, where the parser otherwise gives up.
    parser: Any = HTMLParser(
        encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True
    )
    data = _without_prolog(text).encode("utf-8", "replace")
    try:
        root: _Element | None = etree.fromstring(data, parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    return root


def parse_xhtml(text: str) -> _Element | None:
    """Return the tree of XHTML; where it isn't well-formed, that of HTML.

    Its document type, and all entities that it may declare, are left out unread; those of
    HTML itself are known.
    """
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    plain = _ENTITY.sub(_character, _without_prolog(text))
    try:
        return etree.fromstring(plain.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return parse_html(text)


def _without_prolog(text: str) -> str:
    """Return the text from its root element on."""
    return text[end.end() :] if (end := _PROLOG.match(text)) else text


def _character(found: re.Match[str]) -> str:
    name = found[1]
    return found[0] if name in _OWN_ENTITIES else html.unescape(found[0])


def visible_text(root: _Element) -> str:
    """Return what a reader sees: one line a block, list items with "- ", the cells of a
    row with " | " between them; menus only where there is nothing else."""
    return _visible(root, _MENUS) or _visible(root, _SKIPPED)


def _visible(root: _Element, skipped: frozenset[str]) -> str:
    lines = _Lines()
    for event, element in _walk(root, skipped):
        if event == "start":
            lines.open(element, _tag(element))
        else:
            lines.close(_tag(element))
            lines.add(element.tail or "")
    lines.end_line()
    return "\n".join(lines.done)


def _walk(root: _Element, skipped: frozenset[str]) -> Iterator[tuple[str, _Element]]:
    """Yield the elements that are shown, as they open and close; of one that isn't
    shown only the close, as text may follow it."""
    from lxml import etree

    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        if event == "start" and (_tag(element) in skipped or _is_hidden(element)):
            walker.skip_subtree()
        else:
            yield event, element


def _is_hidden(element: _Element) -> bool:
    style = element.get("style")
    return "hidden" in element.attrib or (style is not None and bool(_HIDDEN.search(style)))


def _tag(element: _Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


class _Lines:
    """The lines of a text as its elements open and close."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self._line: list[str] = []
        self._begun = False
        """Whether there is anything on the line."""
        self._bullet = ""
        """What the next line begins with."""
        self._verbatim = 0
        self._in_cell = 0
        """Above 0 inside a cell that is shown within its row."""

    def open(self, element: _Element, tag: str) -> None:
        """Begin an element."""
        if self._in_cell:
            self._in_cell += 1
            self._line.append(" " if tag in _BLOCKS else "")
        elif tag in _CELLS:
            self._open_cell(element)
        elif tag in _BLOCKS:
            self.end_line()
            self._bullet = "- " if tag == "li" else self._bullet
            self._verbatim += tag == "pre"
        self.add(element.text or "")

    def _open_cell(self, element: _Element) -> None:
        if not _is_small(element):  # a table for layout
            self.end_line()
            return
        self._in_cell = 1
        self._line.append(" | " if self._begun else "")

    def close(self, tag: str) -> None:
        """End an element."""
        if self._in_cell:
            self._in_cell -= 1
            self._line.append(" " if tag in _BLOCKS else "")
        elif tag in _BLOCKS or tag in _CELLS:
            self.end_line()
            self._verbatim -= tag == "pre"
            self._bullet = "" if tag == "li" else self._bullet

    def add(self, text: str) -> None:
        """Go on with the line, or with several in preformatted text."""
        if not self._verbatim or self._in_cell:
            self._line.append(text)
            self._begun = self._begun or not (text == "" or text.isspace())
            return
        first, *others = text.split("\n")
        self._line.append(first)
        for other in others:
            self.end_line()
            self._line.append(other)

    def end_line(self) -> None:
        """Begin a new line, if there is anything on this one."""
        line = "".join(self._line)
        line = line.rstrip() if self._verbatim else " ".join(line.split())
        self._line.clear()
        self._begun = False
        if line or self._verbatim:
            self.done.append(self._bullet + line)
            self._bullet = ""


def _is_small(cell: _Element) -> bool:
    """Say whether a cell holds a value, and not a good part of the page."""
    inner = [_tag(element) for element in islice(cell.iter(_INNER), 2)] if len(cell) else []
    return not inner or inner in (["p"], ["div"])
