"""The nouns of reading: a document, its parts, and why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Unit: TypeAlias = Literal["line", "page", "paragraph", "chapter"]

MIB = 1 << 20
MOST_TEXT = 64 * MIB
"""Bytes of a plain file, and characters of any document, beyond which it isn't read."""
MOST_PACKED = 256 * MIB
"""The same for files that hold more than their text: PDF, Word, EPUB."""


class Unreadable(Exception):
    """There is no text to be had; the message is the reason, a few words for a person."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a document and its place. Only "\\n" ends a line of its text."""

    text: str
    unit: Unit
    number: int
    """Counted from 1. Of a "page" or "chapter": which it is. Of "line" and "paragraph":
    that of the text's first one; each line of the text is one."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says."""

    title: str
    """Empty where it has none."""
    date: str
    """As in 2024-05-31; empty where it has none."""
    parts: tuple[Part, ...]


_ODD = re.compile("[\x00\x0b\x0c\x1b\x1c-\x1e\x85\u2028\u2029\ud800-\udfff]")
_COLOURS = re.compile("\x1b\\[[0-9;:?]*[A-Za-z]")
_BREAKS = str.maketrans(dict.fromkeys("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", " "))


def tidy(text: str) -> str:
    """Return the text with the lines that an editor shows, and as Unicode admits it.

    A line ends at \\n, \\r\\n or \\r, which all become \\n; the other characters at which
    Python would split a line become spaces. NULs and terminal colours go; surrogates are
    paired, or replaced where they are alone.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not _ODD.search(text):
        return text
    text = _COLOURS.sub("", text).replace("\x00", "").translate(_BREAKS)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def one_line(text: str, most: int = 300) -> str:
    """Return a title, say, without line breaks and not endless."""
    return " ".join(tidy(text[: 4 * most]).split())[:most]


def iso_date(text: str) -> str:
    """Return the date that a timestamp begins with, or nothing."""
    found = re.match(r"\s*(\d{4}-[01]\d-[0-3]\d)(?!\d)", text)
    return found[1] if found else ""


def document(title: str, date: str, parts: Iterable[Part]) -> Document:
    """Return the document, tidied, without the parts that hold no text.

    Raises Unreadable where no part holds any, or all are too much together.
    """
    kept: list[Part] = []
    size = 0
    for part in parts:
        text = tidy(part.text)
        size += len(text)
        if size > MOST_TEXT:
            raise Unreadable(larger_than(MOST_TEXT, "of text"))
        if text and not text.isspace():
            kept.append(Part(text, part.unit, part.number))
    if not kept:
        raise Unreadable("holds no text")
    return Document(one_line(title), iso_date(date), tuple(kept))


def larger_than(limit: int, of: str = "") -> str:
    """Return the reason for leaving out what is too large."""
    return f"larger than {limit // MIB} MB {of}".rstrip()
