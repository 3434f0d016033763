"""EPUB books (W3C, EPUB 3.3; OPF 2.0 alike), chapter by chapter."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from urllib.parse import unquote

from local_react.readers.archive import Archive
from local_react.readers.document import Document, Part, Unreadable, document
from local_react.readers.markup import parse_xhtml, visible_text
from local_react.readers.office import local_name, stream
from local_react.readers.page import decode_page

_CONTAINER = "META-INF/container.xml"
_PAGES = (".xhtml", ".html", ".htm", ".xml")
_PROTECTED = "a book under copy protection: it can't be opened here"


def read_epub(archive: Archive) -> Document:
    """Return the chapters in reading order, numbered as far as they hold text.

    Raises Unreadable where the book is encrypted, or no chapter can be read.
    """
    package = _package(archive)
    title, date, names = _described(archive.read(package), posixpath.dirname(package))
    names = [name for name in names if name in archive] or _pages(archive)
    if _is_protected(archive, names):
        raise Unreadable(_PROTECTED)
    return document(title, date, _chapters(archive, names))


def _chapters(archive: Archive, names: list[str]) -> Iterator[Part]:
    number = 0
    for name in dict.fromkeys(names):
        root = parse_xhtml(decode_page(archive.read(name)))
        text = visible_text(root) if root is not None else ""
        if text:
            number += 1
            yield Part(text, "chapter", number)


def _package(archive: Archive) -> str:
    """Return the name of the entry that describes the book."""
    try:
        for _, element in stream(archive.read(_CONTAINER)):
            if local_name(element) == "rootfile" and element.get("full-path"):
                return str(element.get("full-path"))
    except Unreadable:
        pass
    return next((name for name in archive.names if name.endswith(".opf")), "")


def _described(opf: bytes, folder: str) -> tuple[str, str, list[str]]:
    """Return the title, the date, and the entries of the chapters in order."""
    told = {"title": "", "date": ""}
    files: dict[str, str] = {}
    spine: list[str] = []
    try:
        for event, element in stream(opf):
            name = local_name(element)
            if event == "start":
                continue
            if name in told:
                told[name] = told[name] or (element.text or "").strip()
            elif name == "item":
                files[element.get("id", "")] = _resolved(folder, element.get("href", ""))
            elif name == "itemref":
                spine.append(element.get("idref", ""))
    except Unreadable:  # then the pages are taken as they come
        pass
    return told["title"], told["date"], [files[name] for name in spine if name in files]


def _resolved(folder: str, address: str) -> str:
    """Return the name of the entry that an address means. It is only ever looked up."""
    return posixpath.normpath(posixpath.join(folder, unquote(address.partition("#")[0])))


def _pages(archive: Archive) -> list[str]:
    return sorted(
        name
        for name in archive.names
        if name.casefold().endswith(_PAGES) and not name.startswith("META-INF/")
    )


def _is_protected(archive: Archive, names: list[str]) -> bool:
    """Say whether chapters are encrypted; fonts may be, in a book that is free to read."""
    locked = archive.read("META-INF/encryption.xml")
    return any(posixpath.basename(name).encode() in locked for name in names) if locked else False
