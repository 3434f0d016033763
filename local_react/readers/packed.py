"""Which document a zip archive is."""

from __future__ import annotations

from local_react.readers.archive import Archive
from local_react.readers.document import Document, Unreadable
from local_react.readers.epub import read_epub
from local_react.readers.office import read_docx, read_odt

_OTHERS = (
    ("xl/", "an Excel workbook: save it as CSV"),
    ("ppt/", "a PowerPoint presentation: save it as PDF"),
    ("Index/", "an Apple iWork file: save it as PDF or .docx"),
)


def read_packed(data: bytes) -> Document:
    """Return what a Word, OpenDocument or EPUB file says.

    Raises Unreadable, with what it is, for any other archive.
    """
    archive = Archive(data)
    if not archive.names:
        raise Unreadable("empty")
    if "META-INF/container.xml" in archive:
        return read_epub(archive)
    if "word/document.xml" in archive:
        return read_docx(archive)
    if "content.xml" in archive:
        return read_odt(archive)
    for start, reason in _OTHERS:
        if any(name.startswith(start) for name in archive.names):
            raise Unreadable(reason)
    raise Unreadable("an archive: unpack it and add what it holds")
