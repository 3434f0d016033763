"""Word (Office Open XML, ECMA-376 part 1) and OpenDocument (ISO/IEC 26300) files.

Both are XML in a zip archive: paragraphs, and tables of rows and cells, which hold
paragraphs again. They are read as a stream, as a book's tree would take a gigabyte.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from io import BytesIO
from typing import TYPE_CHECKING, TypeAlias

from local_react.readers.archive import Archive
from local_react.readers.document import Document, Part, Unreadable, document, one_line

if TYPE_CHECKING:
    from lxml.etree import _Element

_PARAGRAPHS = frozenset({"p", "h"})
_ROWS = frozenset({"tr", "table-row"})
_CELLS = frozenset({"tc", "table-cell"})
_LEFT_OUT = frozenset({"moveFrom", "Fallback", "tracked-changes"})
"""Text that was moved away or deleted, and what is there a second time for old readers."""
_SIGNS = {"tab": "\t", "br": " ", "cr": " ", "noBreakHyphen": "-", "line-break": " ", "s": " "}

_Reader: TypeAlias = Callable[["_Element"], str]


def read_docx(archive: Archive) -> Document:
    """Return a Word file's paragraphs and tables in order, its notes at the end."""
    lines = list(_lines(archive.read("word/document.xml"), _word_paragraph))
    for name in ("word/footnotes.xml", "word/endnotes.xml"):
        lines += _lines(archive.read(name), _word_paragraph)
    title, date = _told(archive.read("docProps/core.xml"), ("modified", "created"))
    return document(title, date, [Part("\n".join(lines), "paragraph", 1)])


def read_odt(archive: Archive) -> Document:
    """Return an OpenDocument file's paragraphs and tables in order; a note comes before
    the paragraph that refers to it."""
    if b"encryption-data" in archive.read("META-INF/manifest.xml"):
        raise Unreadable("encrypted: save it without a password")
    lines = _lines(archive.read("content.xml"), _open_paragraph)
    title, date = _told(archive.read("meta.xml"), ("date", "creation-date"))
    return document(title, date, [Part("\n".join(lines), "paragraph", 1)])


def _lines(xml: bytes, paragraph: _Reader) -> Iterator[str]:
    """Yield the paragraphs that aren't empty, and the rows of tables."""
    rows: list[list[str]] = []
    cells: list[list[str]] = []
    left_out = 0
    for event, element in stream(xml, _PARAGRAPHS | _ROWS | _CELLS | _LEFT_OUT):
        name = local_name(element)
        start = event == "start"
        if name in _LEFT_OUT:
            left_out += 1 if start else -1
        elif name in _ROWS and start:
            rows.append([])
        elif name in _CELLS and start:
            cells.append([])
        elif name in _CELLS and cells and rows:
            rows[-1].append(" ".join(cells.pop()))
        line = ""
        if name in _PARAGRAPHS and not start and not left_out:
            line = " ".join(paragraph(element).split())
        elif name in _ROWS and not start and rows:
            line = " | ".join(rows.pop()).strip(" |")
        if line and cells:
            cells[-1].append(line)
        elif line:
            yield line
        if not start and (name in _PARAGRAPHS or name in _LEFT_OUT):
            element.clear(keep_tail=True)  # so that it is not read again, and for room


def stream(xml: bytes, names: Collection[str] = ()) -> Iterator[tuple[str, _Element]]:
    """Yield the elements of XML, of all names or of some, as they open and close.

    Raises Unreadable where it isn't well-formed, or declares a document type: no such
    file does, but for entities that expand without end.
    """
    from lxml import etree

    if not xml:
        return
    if b"<!DOCTYPE" in xml or b"<!ENTITY" in xml:
        raise Unreadable("declares XML entities, as no such file should: left alone")
    tags = [f"{{*}}{name}" for name in names] or None
    try:
        yield from etree.iterparse(
            BytesIO(xml), events=("start", "end"), tag=tags, resolve_entities=False,
            no_network=True, huge_tree=False, load_dtd=False,
            remove_comments=True, remove_pis=True,
        )  # fmt: skip
    except etree.XMLSyntaxError as error:
        raise Unreadable("damaged: its XML is not well-formed") from error


def local_name(element: _Element) -> str:
    """Return an element's name without its namespace, of which each has two in use."""
    return str(element.tag).rpartition("}")[2]


def _word_paragraph(element: _Element) -> str:
    """Return the text of the runs; what was deleted, or is an instruction, is not in "t"."""
    pieces: list[str] = []
    for inner in element.iter("{*}t", *(f"{{*}}{name}" for name in ("tab", "br", "cr"))):
        name = local_name(inner)
        pieces.append(_SIGNS.get(name, inner.text or ""))
    return "".join(pieces)


def _open_paragraph(element: _Element) -> str:
    """Return all text in the paragraph, with its spaces and tabs."""
    pieces = [element.text or ""]
    for inner in element.iterdescendants():
        pieces.append(_SIGNS.get(local_name(inner), ""))
        pieces += (inner.text or "", inner.tail or "")
    return "".join(pieces)


def _told(xml: bytes, dates: tuple[str, ...]) -> tuple[str, str]:
    """Return title and date as the file's properties tell them."""
    title, found = "", dict.fromkeys(dates, "")
    try:
        for event, element in stream(xml):
            name, text = local_name(element), (element.text or "").strip()
            if event == "end" and name == "title":
                title = one_line(text)
            elif event == "end" and name in found:
                found[name] = text
    except Unreadable:  # a damaged note about the text is no loss
        return title, ""
    return title, next(filter(None, found.values()), "")
