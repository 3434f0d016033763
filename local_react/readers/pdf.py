"""PDF, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING

from local_react.readers.document import Document, Part, Unreadable, document
from local_react.readers.quiet import quiet

if TYPE_CHECKING:
    from pypdf import PdfReader

_ENCRYPTED = "encrypted PDF: save it without a password"
_DAMAGED = "damaged PDF: fetch or save it again"
_PICTURES = "holds pictures of text only: OCR it first"
_MOST_OPERATIONS = 500_000
"""Of a page; one with more is a drawing, a map say, and would take many seconds."""


def read_pdf(data: bytes) -> Document:
    """Return the text of each page, without those pages that can't be read.

    Raises Unreadable where it needs a password, or no page can be read or holds text.
    """
    from pypdf import apply_configuration

    quiet("pypdf")
    with apply_configuration(stream_parsing_work_maximum_count=_MOST_OPERATIONS):
        return _read(data)


def _read(data: bytes) -> Document:
    try:
        reader = _open(data)
        count = len(reader.pages)
    except Unreadable:
        raise
    except Exception as error:
        # pypdf tells of damage by whatever its code stumbles over.
        raise Unreadable(_DAMAGED) from error
    pages = list(_pages(reader, count))
    if not pages:
        raise Unreadable(_DAMAGED)
    if not any(page.text for page in pages):
        raise Unreadable(_PICTURES)
    title, date = _told(reader)
    return document(title, date, pages)


def _open(data: bytes) -> PdfReader:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable(_ENCRYPTED)
    except DependencyError as error:
        raise Unreadable(_ENCRYPTED) from error
    return reader


def _pages(reader: PdfReader, count: int) -> Iterator[Part]:
    for index in range(count):
        try:
            text = reader.pages[index].extract_text().strip()
        except Exception:  # noqa: BLE001 - one page of many; the others count
            continue
        yield Part(text, "page", index + 1)


def _told(reader: PdfReader) -> tuple[str, str]:
    """Return title and date as the file tells them."""
    try:
        told = reader.metadata
        title = (told.title if told else None) or ""
        date = told.creation_date if told else None
    except Exception:  # noqa: BLE001 - a damaged note about the text is no loss
        return "", ""
    return str(title), date.date().isoformat() if date else ""
