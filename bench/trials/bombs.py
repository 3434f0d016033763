"""Files that are small, and would be huge or take for ever if somebody read all of them."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

Make: TypeAlias = Callable[[], bytes]

_MOST: Final = 0xFFFFFFFF
"""What a size says that stands elsewhere."""
_PIECE: Final = 1 << 26
_DOCX: Final = "word/document.xml"
_TEXT: Final = (
    "<w:document xmlns:w='w'><w:body><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:body></w:document>"
)
_LAUGHS: Final = (
    '<!DOCTYPE l [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)
    )
    + "]>"
)
_OUTSIDE: Final = '<!DOCTYPE l [<!ENTITY j SYSTEM "{}">]>'


def packed(entries: Mapping[str, bytes]) -> bytes:
    """Return a zip archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return made.getvalue()


def _zeros(name: str, size: int) -> bytes:
    """Return an archive whose one entry is that many zeros, which are never made: what stands
    for a piece of them stands there again and again."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = squeeze.compress(bytes(_PIECE)) + squeeze.flush(zlib.Z_FULL_FLUSH)
    data = piece * (size // _PIECE) + squeeze.flush()
    entry = _central(name, len(data), size, 0)
    return _ended(_local(name, len(data), size) + data, [entry])


def _overlapping(name: str, count: int, size: int) -> bytes:
    """Return an archive whose many entries are all the same bytes."""
    data = zlib.compress(bytes(size), 9)[2:-4]
    entries = [_central(f"{number}{name}", len(data), size, 0) for number in range(count)]
    return _ended(_local(name, len(data), size) + data, entries)


def _lying(name: str, size: int, claimed: int) -> bytes:
    """Return an archive whose entry says that it is small."""
    data = zlib.compress(bytes(size), 9)[2:-4]
    return _ended(_local(name, len(data), claimed) + data, [_central(name, len(data), claimed, 0)])


def _local(name: str, length: int, size: int) -> bytes:
    head = struct.pack("<4s5H", b"PK\x03\x04", 20, 0, 8, 0, 0)
    sizes = struct.pack("<III", 0, length, min(size, _MOST))
    return head + sizes + struct.pack("<HH", len(name), 0) + name.encode()


def _central(name: str, length: int, size: int, at: int) -> bytes:
    head = struct.pack("<4s6H", b"PK\x01\x02", 20, 20, 0, 8, 0, 0)
    sizes = struct.pack("<III", 0, length, min(size, _MOST))
    extra = struct.pack("<HHQ", 1, 8, size) if size >= _MOST else b""  # as ZIP64 has it
    lengths = struct.pack("<HHHHHII", len(name), len(extra), 0, 0, 0, 0, at)
    return head + sizes + lengths + name.encode() + extra


def _ended(body: bytes, entries: Sequence[bytes]) -> bytes:
    directory = b"".join(entries)
    count = min(len(entries), 0xFFFF)
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


def _nested(depth: int, width: int) -> bytes:
    """Return archives in archives, each of so many, zeros at last."""
    inner = packed({"zeros.txt": bytes(1 << 20)})
    for _ in range(depth):
        inner = packed({f"{number}.zip": inner for number in range(width)})
    return inner


def _pdf(*objects: bytes) -> bytes:
    """Return a PDF of these objects, the first its catalogue."""
    body, places = b"%PDF-1.5\n", []
    for number, inner in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, inner)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n" % size
    return (
        body
        + head
        + table
        + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (
            size,
            len(body),
        )
    )


def _stream(data: bytes, extra: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), extra, data)


def _page_of(contents: bytes, resources: bytes = b"") -> bytes:
    return _pdf(
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << %s >> >>"
        % resources,
        contents,
    )


def _squeezed() -> bytes:
    return zlib.compress(b"(x) Tj " * (1 << 25), 9)


def _pdf_bombs() -> Iterator[tuple[str, Make]]:
    yield "zeros.pdf", lambda: _page_of(_stream(_squeezed(), b"/Filter /FlateDecode"))
    filters = b"/Filter [/FlateDecode /FlateDecode]"
    yield "filters.pdf", lambda: _page_of(_stream(zlib.compress(_squeezed(), 9), filters))
    yield (
        "pages-loop.pdf",
        lambda: _pdf(
            b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9 >>"
        ),
    )
    yield "brackets.pdf", lambda: _page_of(_stream(b"[" * 1_000_000))
    yield "deep.pdf", lambda: _pdf(b"<< /A " * 100_000 + b">>" * 100_000)
    yield "operators.pdf", lambda: _page_of(_stream(b"0 0 m " * 3_000_000))
    form = b"/XObject << /F 4 0 R >>"
    yield (
        "form-loop.pdf",
        lambda: _page_of(
            _stream(b"/F Do " * 9, b"/Type /XObject /Subtype /Form /Resources << %s >>" % form),
            form,
        ),
    )
    yield (
        "count.pdf",
        lambda: _pdf(
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [" + b"3 0 R " * 200_000 + b"] /Count 200000 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
        ),
    )
    picture = b"/Type /XObject /Subtype /Image /Width 100000 /Height 100000 /BitsPerComponent 8"
    yield (
        "picture.pdf",
        lambda: _page_of(
            _stream(_squeezed(), picture + b" /ColorSpace /DeviceGray /Filter /FlateDecode"), form
        ),
    )


def _xml_bombs() -> Iterator[tuple[str, Make]]:
    for encoding in ("utf-8", "utf-16", "utf-16-be", "utf-32"):
        yield f"laughs-{encoding}.docx", partial(_declaring, _LAUGHS, encoding)
        for name, where in (("file", "file:///etc/passwd"), ("net", "http://127.0.0.1:9/x")):
            yield f"{name}-{encoding}.docx", partial(_declaring, _OUTSIDE.format(where), encoding)
    yield "deep.docx", lambda: packed({_DOCX: b"<p>" * 300_000})
    many = b" ".join(b"a%d='x'" % number for number in range(300_000))
    yield "attributes.docx", lambda: packed({_DOCX: b"<p " + many + b"/>"})
    yield "laughs.epub", _laughing_book


def _declaring(entities: str, encoding: str) -> bytes:
    """Return a Word file that shows an entity which it declares."""
    head = f"<?xml version='1.0' encoding='{encoding}'?>"
    return packed({_DOCX: (head + entities + _TEXT.format("&j;")).encode(encoding)})


def _laughing_book() -> bytes:
    place = "<container><rootfiles><rootfile full-path='b.opf'/></rootfiles></container>"
    spine = "<itemref idref='a'/>" * 10_000
    manifest = "<manifest><item id='a' href='a.xhtml'/></manifest>"
    opf = f"<package>{manifest}<spine>{spine}</spine></package>"
    text = f"{_LAUGHS}<html xmlns='http://www.w3.org/1999/xhtml'><body>&j;</body></html>"
    names = ("META-INF/container.xml", "b.opf", "a.xhtml")
    return packed(dict(zip(names, map(str.encode, (place, opf, text)), strict=True)))


def _text_bombs() -> Iterator[tuple[str, Make]]:
    yield "deep.html", lambda: b"<html>" + b"<div>" * 100_000 + b"good"
    yield "deep-table.html", lambda: b"<html>" + b"<table><tr><td>" * 60_000 + b"good"
    yield "deep.xhtml", lambda: b"<?xml version='1.0'?><html>" + b"<b>" * 100_000 + b"good"
    yield (
        "laughs.xhtml",
        lambda: b"<?xml version='1.0'?>" + _LAUGHS.encode() + b"<html><body>&j;</body></html>",
    )
    yield "open.html", lambda: b"<html><body>" + b"<p><a href='x'>" * 400_000
    yield "comments.html", lambda: b"<!--" * 2_000_000
    yield "braces.rtf", lambda: b"{\\rtf1" + b"{" * 2_000_000
    yield "fonts.rtf", lambda: b"{\\rtf1{\\fonttbl" + b"{\\f0\\fcharset0 x" * 300_000
    yield "fields.rtf", lambda: b"{\\rtf1" + b"{\\field{\\*\\fldinst HYPERLINK " * 200_000
    yield "words.rtf", lambda: b"{\\rtf1" + b"\\u8364?" * 2_000_000 + b"}"
    part = b"--b\r\nContent-Type: text/plain\r\n\r\ngood\r\n"
    mail = b"From: a@b\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    yield "parts.eml", lambda: mail + part * 10_000
    yield "many-parts.eml", lambda: mail + part * 800_000
    yield "deep.eml", lambda: b"From: a@b\r\n" + b"Content-Type: message/rfc822\r\n\r\n" * 50_000
    yield "header.eml", lambda: b"Subject: " + b"=?utf-8?q?a?= " * 1_000_000 + b"\r\n\r\ngood"
    yield (
        "boundaries.eml",
        lambda: (
            b"From: a@b\r\n"
            + b"".join(
                b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n)
                for n in range(5000)
            )
        ),
    )
    yield "line.txt", lambda: b"a" * (60 << 20)
    yield "lines.txt", lambda: b"a\n" * (10 << 20)
    yield "words.txt", lambda: b"".join(b"%d " % n for n in range(5_000_000))
    yield "marks.txt", lambda: ("a" + "\u0301" * 20_000_000).encode()
    yield "json.json", lambda: b"[" * 10_000_000


def _zip_bombs() -> Iterator[tuple[str, Make]]:
    yield "zeros.docx", partial(_zeros, _DOCX, 10 << 30)
    yield "small-zeros.docx", partial(_zeros, _DOCX, 90 << 20)
    yield "overlap.epub", partial(_overlapping, "META-INF/container.xml", 15_000, 1 << 20)
    yield (
        "million.docx",
        lambda: packed({"a": b""}) + _ended(b"", [_central("x", 0, 0, 0)] * 1_000_000),
    )
    yield "nested.docx", lambda: packed({_DOCX: _nested(3, 8)})
    yield "lies.docx", partial(_lying, _DOCX, 1 << 28, 1000)
    good = _TEXT.format("good").encode()
    slips = (
        "../../slipped",
        "/tmp/slipped",
        "..\\..\\slipped",
        "C:\\slipped",
        "a/../../../slipped",
    )
    yield "slip.docx", lambda: packed({**dict.fromkeys(slips, b"out"), _DOCX: good})
    yield "twins.docx", lambda: packed({_DOCX: b"<p/>"}) + packed({_DOCX: good})
    yield "names.docx", lambda: packed({"a" * 60_000 + str(number): b"" for number in range(200)})


BOMBS: Final[Mapping[str, Make]] = dict(
    (*_zip_bombs(), *_xml_bombs(), *_pdf_bombs(), *_text_bombs())
)
"""What makes each file, by its name."""
