"""From a file, or bytes, to a document."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from local_react.readers.document import (
    MOST_PACKED,
    MOST_TEXT,
    Document,
    Unreadable,
    larger_than,
)
from local_react.readers.encoding import BINARY, decode
from local_react.readers.kinds import HEAD, kind, kind_of
from local_react.readers.opening import opened

_PACKED = frozenset({"pdf", "zip"})


def read_file(path: Path) -> Document:
    """Return what a file says, read by its kind: its content decides, then its name.

    Only a regular file is opened, so that nothing waits for a device or a pipe; a link is
    followed. Raises Unreadable with the reason, and OSError where it can't be opened.
    """
    with opened(path) as file:
        return read_opened(file, path.name)


def read_opened(file: BinaryIO, name: str) -> Document:
    """Return what a file of that name says which is open, from where it is. Raises Unreadable
    and OSError as `read_file` does."""
    size = os.fstat(file.fileno()).st_size
    if not size:
        raise Unreadable("empty")
    head = file.read(HEAD)
    found = kind(head, name)
    limit = _limit(found)
    if size > limit:
        raise Unreadable(larger_than(limit))
    data = head + file.read(limit + 1 - len(head))  # no more, should it grow meanwhile
    return _read(data, found, name)


def read_bytes(data: bytes, *, name: str = "", content_type: str = "", url: str = "") -> Document:
    """Return what bytes say, as `read_file` does.

    `content_type` is the server's; `url` says that it is a page from the web, of which
    only the main text counts, and lends its name. Raises Unreadable with the reason.
    """
    name = name or PurePosixPath(unquote(urlsplit(url).path)).name
    found = kind(data[:HEAD], name, content_type)
    return _read(data, found, name, _charset(content_type), url)


def text_of(data: bytes) -> str:
    """Return the text of bytes that came without a name: what a PDF, Word or EPUB file
    says (read in a process of its own), and of all else every character, in whatever
    encoding. Raises Unreadable."""
    if not data.strip():
        return ""
    if data.startswith((b"%PDF", b"PK\x03\x04")):
        from local_react.readers.apart import read_bytes_apart

        return "\n".join(part.text for part in read_bytes_apart(data).parts)
    return decode(data)


def _read(data: bytes, found: str, name: str, charset: str = "", url: str = "") -> Document:
    if not data.strip(b"\x00\t\n\r\f "):
        raise Unreadable("empty")
    if len(data) > _limit(found):
        raise Unreadable(larger_than(_limit(found)))
    try:
        return _read_kind(data, found, name, charset, url)
    except Unreadable as error:
        promised = kind_of(name)
        if str(error) == BINARY and promised not in (None, "text"):
            raise Unreadable(f"damaged: its content is no {promised}") from error
        raise


def _read_kind(data: bytes, found: str, name: str, charset: str, url: str) -> Document:
    if found == "pdf":
        from local_react.readers.pdf import read_pdf

        return read_pdf(data)
    if found == "zip":
        from local_react.readers.packed import read_packed

        return read_packed(data)
    if found == "html":
        from local_react.readers.page import read_page

        return read_page(data, url, charset)
    if found == "eml":
        from local_react.readers.mail import read_mail

        return read_mail(data)
    if found == "rtf":
        from local_react.readers.rtf import read_rtf

        return read_rtf(data)
    from local_react.readers.plain import read_plain

    return read_plain(data, name, charset)


def _limit(found: str) -> int:
    return MOST_PACKED if found in _PACKED else MOST_TEXT


def _charset(content_type: str) -> str:
    """Return the charset parameter of a MIME type, or nothing."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().casefold() == "charset":
            return value.strip()
    return ""
