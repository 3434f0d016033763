"""Files of every kind, made by hand, as the readers must not be tested by themselves."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO

XML = '<?xml version="1.0" encoding="utf-8"?>'
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
)
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def zipped(entries: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive of the entries."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


def docx(body: str, **more: str) -> bytes:
    """Return a Word file with that XML in its body; more entries of word/ by name."""
    entries = {
        "[Content_Types].xml": "<Types/>",
        "word/document.xml": f"{XML}<w:document {W}><w:body>{body}</w:body></w:document>",
        **{f"word/{name}.xml": content for name, content in more.items() if name != "core"},
    }
    if "core" in more:
        entries["docProps/core.xml"] = more["core"]
    return zipped(entries)


def word_paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def odt(body: str, meta: str = "") -> bytes:
    """Return an OpenDocument text with that XML in its body."""
    names = (
        'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
        'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    )
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content {names}><office:body><office:text>{body}"
            "</office:text></office:body></office:document-content>",
            "meta.xml": f"<office:document-meta {names}>{meta}</office:document-meta>",
        }
    )


def epub(chapters: Mapping[str, str], spine: list[str], metadata: str = "", **more: str) -> bytes:
    """Return a book whose chapters, by file name in OPS/, are read in the spine's order."""
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    order = "".join(f'<itemref idref="i{list(chapters).index(name)}"/>' for name in spine)
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" '
            f'xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>{metadata}</metadata>'
            f"<manifest>{items}</manifest><spine>{order}</spine></package>",
            **{f"OPS/{name}": content for name, content in chapters.items()},
            **{f"META-INF/{name}.xml": content for name, content in more.items()},
        }
    )


def xhtml(body: str, doctype: str = "") -> str:
    return (
        f'{XML}{doctype}<html xmlns="http://www.w3.org/1999/xhtml">'
        f"<head><title/></head><body>{body}</body></html>"
    )


def pdf(pages: list[bytes | None], info: bytes = b"", trailer: bytes = b"") -> bytes:
    """Return a PDF with a content stream each page; a page of None has none that can be
    read. `info` and `trailer` are put into those dictionaries."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    objects = {1: b"<< /Type /Catalog /Pages 2 0 R >>", 3: font, 4: b"<< " + info + b" >>"}
    kids = []
    for index, content in enumerate(pages):
        page, stream = 5 + 2 * index, 6 + 2 * index
        kids.append(b"%d 0 R" % page)
        objects[page] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> /XObject << /X %d 0 R >> >> >>" % (stream, stream)
        )
        packed = b"no such stream" if content is None else zlib.compress(content)
        objects[stream] = (
            b"<< /Subtype /Form /Resources << /Font << /F1 3 0 R >> /XObject << /X %d 0 R >> >> "
            b"/Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream"
            % (stream, len(packed), packed)
        )
    objects[2] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(pages))
    return _pdf_file(objects, trailer)


def _pdf_file(objects: Mapping[int, bytes], trailer: bytes) -> bytes:
    file, offsets = bytearray(b"%PDF-1.7\n"), {}
    for number in sorted(objects):
        offsets[number] = len(file)
        file += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    start = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
    file += b"".join(b"%010d 00000 n \n" % offsets[number] for number in sorted(offsets))
    file += b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R %s >>\n" % (len(offsets) + 1, trailer)
    return bytes(file + b"startxref\n%d\n%%%%EOF\n" % start)


def pdf_text(*lines: str) -> bytes:
    """Return a content stream that writes the lines under each other."""
    shown = b"".join(
        b"(%s) Tj 0 -14 Td\n" % line.encode("cp1252").replace(b"(", rb"\(").replace(b")", rb"\)")
        for line in lines
    )
    return b"BT /F1 12 Tf 72 720 Td\n" + shown + b"ET"


def png() -> bytes:
    """Return a picture of one dot."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\x00\xff"))
        + chunk(b"IEND", b"")
    )
