"""Messages (RFC 5322, MIME): who wrote to whom, when, about what, and the text."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.policy import compat32
from email.utils import collapse_rfc2231_value, parsedate_to_datetime

from local_react.readers.document import Document, Part, Unreadable, document, one_line
from local_react.readers.encoding import decode
from local_react.readers.page import read_page

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_FAULTS = (MessageError, LookupError, ValueError, TypeError, AttributeError)
"""What the email package raises on headers and encodings that aren't as they should be."""
_MOST_PARTS = 1000
_MOST_HEADER = 10_000
"""Characters of a header: the time to decode one grows with their square."""


def read_mail(data: bytes) -> Document:
    """Return the headers that people read, the text, and what is attached: its names,
    and what it says where it is text.

    Raises Unreadable where it is no message or nested without end.
    """
    try:
        # The newer policies parse each header by a grammar that hostile ones overtax.
        message = message_from_bytes(data, policy=compat32)
        lines = "\n".join(_told(message))
    except RecursionError as error:
        raise Unreadable("a message nested too deeply") from error
    return document(_header(message, "Subject"), _date(message), [Part(lines, "paragraph", 1)])


def _told(message: Message) -> Iterator[str]:
    yield from _headers(message)
    for part, is_message in _parts(message):
        if is_message:
            yield from _headers(part)
            continue
        name = _file_name(part)
        if name:
            yield f"Attachment: {name}"
        if part.get_content_maintype() == "text":
            yield _text(part)


def _parts(message: Message) -> Iterator[tuple[Message, bool]]:
    """Yield, in order, the parts that hold no others, of alternatives the plain one; and
    before the parts of a forwarded message that itself, marked True."""
    waiting = [(message, False)]
    for _ in range(_MOST_PARTS):
        if not waiting:
            return
        part, is_message = waiting.pop()
        if is_message:
            yield part, True
        payload = part.get_payload()
        if not isinstance(payload, list):
            yield part, False
            continue
        kind = part.get_content_type()
        inner = [item for item in payload if isinstance(item, Message)]
        chosen = _chosen(inner) if kind == "multipart/alternative" else inner
        waiting += [(item, kind == "message/rfc822") for item in reversed(chosen)]


def _chosen(alternatives: list[Message]) -> list[Message]:
    """Return the alternative that is plain text, if it says anything, or the last one,
    which is the sender's best (RFC 2046, 5.1.4)."""
    for part in alternatives:
        if part.get_content_type() == "text/plain" and _text(part).strip():
            return [part]
    return alternatives[-1:]


def _text(part: Message) -> str:
    """Return the text of a part, or nothing where it can't be read."""
    try:
        payload = part.get_payload(decode=True)
        data = payload if isinstance(payload, bytes) else b""
        charset = str(part.get_content_charset() or "")
        if part.get_content_type() != "text/html":
            return decode(data, charset)
        return "\n".join(found.text for found in read_page(data, charset=charset).parts)
    except (Unreadable, *_FAULTS):
        return ""


def _headers(message: Message) -> Iterator[str]:
    for name in _SHOWN:
        value = _header(message, name)
        if value:
            yield f"{name}: {value}"


def _header(message: Message, name: str) -> str:
    """Return a header's text on one line, with the words that it encodes (RFC 2047)."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    return _words(str(raw)[:_MOST_HEADER])


def _words(raw: str) -> str:
    try:
        text = decode(raw.encode("ascii", "surrogateescape"))
        return one_line(str(make_header(decode_header(text))), 1000)
    except (Unreadable, *_FAULTS):
        return one_line(raw, 1000)


def _file_name(part: Message) -> str:
    """Return the name of an attachment, or nothing."""
    try:
        name = part.get_param("filename", None, "content-disposition") or part.get_param("name")
        return _words(collapse_rfc2231_value(name)) if name else ""
    except _FAULTS:
        return "without a name"


def _date(message: Message) -> str:
    try:
        return parsedate_to_datetime(_header(message, "Date")).date().isoformat()
    except (OverflowError, *_FAULTS):
        return ""
