"""Web pages, and HTML files."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from local_react.readers.document import MIB, Document, Part, document
from local_react.readers.encoding import decode
from local_react.readers.markup import parse_html, parse_xhtml, visible_text
from local_react.readers.quiet import quiet

if TYPE_CHECKING:
    from lxml.etree import _Element

_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]{0,100}?encoding=["']([\w.-]+)""",
    re.IGNORECASE,
)
_DATES = (
    *("article:published_time", "article:modified_time", "date", "dc.date", "dcterms.date"),
    *("dcterms.created", "dcterms.modified", "last-modified", "datepublished"),
)
_MOST_SEARCHED = 4 * MIB
_MOST_TAGS = 30_000
"""Characters and tags of a page, beyond which finding its main text takes many seconds."""


def read_page(data: bytes, url: str = "", charset: str = "") -> Document:
    """Return what a page says, in paragraphs, with its title and date.

    Of a page from the web, the main text without menus and the like, as trafilatura finds
    it. That takes a second or two a megabyte, and of a file of the user's own nothing may
    be lost: so where there is no address, or the page is huge, or nothing was found, all
    the text that is visible.

    Raises Unreadable where there is none.
    """
    text = decode_page(data, charset)
    huge = len(text) > _MOST_SEARCHED or text.count("<") > _MOST_TAGS
    found = _main_text(text, url) if url and not huge else None
    return found or _all_text(text)


def decode_page(data: bytes, charset: str = "") -> str:
    """Return the characters of HTML, by what the server or the page says of them."""
    if not charset and (found := _CHARSET.search(data, 0, 4096)):
        charset = (found[1] or found[2]).decode("ascii", "replace")
    return decode(data, charset)


def _main_text(text: str, url: str) -> Document | None:
    import trafilatura

    quiet("trafilatura", "htmldate", "courlan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of its date parsers
        try:
            found = trafilatura.bare_extraction(
                text, url=url, with_metadata=True, include_comments=False
            )
        except Exception:  # noqa: BLE001 - of a hostile page; all text is still to be had
            return None
    if found is None or isinstance(found, dict) or not (found.text or "").strip():
        return None
    lines = [line.strip() for line in (found.text or "").split("\n")]
    text = "\n".join(filter(None, lines))
    return document(found.title or "", found.date or "", [Part(text, "paragraph", 1)])


def _all_text(text: str) -> Document:
    is_xhtml = text.lstrip("\ufeff \t\r\n").startswith("<?xml")
    root = parse_xhtml(text) if is_xhtml else parse_html(text)
    if root is None:
        return document("", "", ())
    return document(page_title(root), _date(root), [Part(visible_text(root), "paragraph", 1)])


def page_title(root: _Element) -> str:
    """Return the title of a page, or its first heading, or nothing."""
    for path in (".//{*}title", ".//{*}h1"):
        for element in root.iterfind(path):
            title = " ".join("".join(element.itertext(with_tail=False)).split())
            if title:
                return title
    return ""


def _date(root: _Element) -> str:
    for element in root.iterfind(".//{*}meta"):
        for attribute in ("property", "name", "itemprop"):
            if element.get(attribute, "").casefold() in _DATES:
                return element.get("content", "")
    return ""
