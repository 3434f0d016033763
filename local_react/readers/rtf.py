"""Rich Text Format."""

from __future__ import annotations

import re

from local_react.readers.document import Document, Part, Unreadable, document

_FIELD = "{\\field"
_FONTS = re.compile(r"\{[^{}]*\\fonttbl")
_FONT = re.compile(r"\\f(\d{1,5})(?!\d)[^;]{0,200}?\\fcharset(\d{1,3})(?!\d)")
_BRACE = re.compile(r"[{}]")


def read_rtf(data: bytes) -> Document:
    """Return the text, a paragraph a line.

    Raises Unreadable where it can't be made out.
    """
    from striprtf.striprtf import rtf_to_text

    # A line end means nothing in RTF, and striprtf seeks the end of a link to the line's.
    source = data.decode("latin-1").replace(_FIELD, "\n" + _FIELD)
    source = _with_plain_fonts(source)
    try:
        text: str = rtf_to_text(source, errors="replace")  # type: ignore[no-untyped-call]
    except (ValueError, LookupError, TypeError, OverflowError, ArithmeticError) as error:
        raise Unreadable("damaged RTF: save it again") from error
    return document("", "", [Part(text, "paragraph", 1)])


def _with_plain_fonts(source: str) -> str:
    """Return the source with no more in its table of fonts than each one's character set:
    on a long table in another form, striprtf's pattern takes for ever."""
    start = _FONTS.search(source)
    if not start:
        return source
    depth, end = 1, len(source)
    for brace in _BRACE.finditer(source, start.end()):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            end = brace.start()
            break
    fonts = _FONT.findall(source[start.end() : end])
    plain = "".join(f"{{\\f{number}\\fcharset{charset} x;}}" for number, charset in fonts)
    return source[: start.end()] + plain + source[end:]
