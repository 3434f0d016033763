"""Plain text: notes, logs, tables, settings, source code."""

from __future__ import annotations

import re
from pathlib import PurePath

from local_react.readers.document import Document, Part, document, tidy
from local_react.readers.encoding import decode

_MARKDOWN = {".md", ".markdown", ".mdx", ".qmd", ".rmd"}
_JSON = {".json", ".jsonl", ".ndjson", ".geojson", ".ipynb"}
_HEADING = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_LATEX_TITLE = re.compile(r"\\title\{([^{}]+)\}")
_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u([0-9A-Fa-f]{4})")


def read_plain(data: bytes, name: str = "", charset: str = "") -> Document:
    """Return the text as it stands, in lines.

    In JSON, \\uXXXX is shown as the character that it writes, as nobody could find it
    otherwise. Raises Unreadable where the bytes are no text.
    """
    text = tidy(decode(data, charset))
    suffix = PurePath(name).suffix.casefold()
    if suffix in _JSON and "\\u" in text:
        text = _ESCAPE.sub(_written_out, text)
    return document(_title(text[:4000], suffix), "", [Part(text, "line", 1)])


def _title(start: str, suffix: str) -> str:
    pattern = _HEADING if suffix in _MARKDOWN else _LATEX_TITLE if suffix == ".tex" else None
    found = pattern.search(start) if pattern else None
    return found[1] if found else ""


def _written_out(found: re.Match[str]) -> str:
    """Return the character of an escape, unless it is one that JSON must escape or that
    would end the line."""
    character = chr(int(found[2], 16))
    plain = character.isprintable() and character not in '"\\'
    surrogate = "\ud800" <= character <= "\udfff"
    return found[1] + character if plain or surrogate else found[0]
