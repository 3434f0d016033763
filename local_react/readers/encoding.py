"""Which characters bytes stand for."""

from __future__ import annotations

import codecs
import re

from local_react.readers.document import Unreadable
from local_react.readers.guessing import likeliest

BINARY = "not text: binary data"

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like the next one
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
)
_SUPERSETS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    "iso8859-9": "cp1254",
}
"""What such a label means in practice, as browsers read it (WHATWG Encoding, 4.2)."""

_SAMPLE = 8192
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\v\f\r\x08\x1a\x1b")
_ODD = re.compile("[\x00-\x07\x0b\x0e-\x1a\x1c-\x1f\ufffd]")
_HIGH = re.compile(rb"[\x80-\xff]")


def decode(data: bytes, declared: str = "") -> str:
    """Return the text of bytes: by their byte order mark, else as UTF-8 where they are
    that, else in the declared encoding, else in the likeliest.

    Raises Unreadable where they are no text.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _checked(data[len(mark) :].decode(name, "replace"))
    declared = _known(declared)
    if declared.startswith(("utf-16", "utf-32", "iso2022", "hz")):
        return data.decode(declared, "replace")
    wide = _wide(data)
    if wide:
        return _checked(data.decode(wide, "replace"))
    text = _utf8(data)
    if _is_binary(data, text is not None):
        raise Unreadable(BINARY)
    if text is not None:
        return text.replace("\x00", "")
    return data.decode(declared or _guess(data), "replace")


def _known(label: str) -> str:
    """Return Python's name for an encoding of text, or nothing."""
    try:
        name = codecs.lookup(label.strip().strip("\"'")).name if label else ""
        "".encode(name or "utf-8")
    except (LookupError, ValueError, UnicodeError):
        return ""
    if name in ("idna", "punycode", "undefined") or "escape" in name:
        return ""
    return _SUPERSETS.get(name, name)


def _wide(data: bytes) -> str:
    """Return which UTF-16 the bytes are where they have no mark: in most languages every
    second byte of it is nearly always NUL where there are spaces and digits."""
    sample = data[:_SAMPLE]
    half = len(sample) // 2
    even, odd = sample[: 2 * half : 2].count(0), sample[1 : 2 * half : 2].count(0)
    if half < 2 or max(even, odd) < 0.4 * half or min(even, odd) > 0.02 * half:
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"


def _checked(text: str) -> str:
    """Return the text, or raise Unreadable where it only looks like UTF-16, say."""
    sample = text[:_SAMPLE]
    odd = len(_ODD.findall(sample))
    if odd > max(1, len(sample) // 50):
        raise Unreadable(BINARY)
    return text


def _is_binary(data: bytes, is_utf8: bool) -> bool:
    """Say whether the bytes hold more NULs and other controls than text ever does. A few
    NULs, as a crash leaves in a log, are forgiven where all else is UTF-8."""
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if is_utf8:
        return controls > len(data) // 100
    return b"\x00" in data or controls > len(data) // 50


def _utf8(data: bytes) -> str | None:
    """Return the text where it is UTF-8, if need be with a fault here and there."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    high = sum(map(len, re.findall("[^\x00-\x7f]+", text)))
    faults = text.count("\ufffd")
    cut_off = text.endswith("\ufffd")  # the end of a download lost the rest of a character
    return text if high - faults >= max(1, 4 * (faults - cut_off)) else None


def _guess(data: bytes) -> str:
    sample = _telling(data)
    return likeliest(sample, cut=len(sample) >= _SAMPLE)


def _telling(data: bytes) -> bytes:
    """Return the lines that hold bytes above 127, up to a sample's size."""
    lines: list[bytes] = []
    size = end = 0
    while size < _SAMPLE and (found := _HIGH.search(data, end)):
        at = found.start()
        start = max(data.rfind(b"\n", end, at) + 1, end, at - 200)
        end = data.find(b"\n", at, at + _SAMPLE)
        end = min(at + _SAMPLE, len(data)) if end < 0 else end
        lines.append(data[start:end])
        size += end - start
    return b"\n".join(lines)
