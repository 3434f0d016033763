"""The address of a web page, as a model or a person writes it."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urldefrag, urlsplit

from local_react.errors import ToolError
from local_react.outside import clean

_MARKDOWN: Final = re.compile(r"\[[^\]]*\]\(\s*<?([^\s>]+?)>?(?:\s+\"[^\"]*\")?\s*\)")
_INSIDE: Final = re.compile(r"https?://[^\s<>\"]+", re.IGNORECASE)
_HTTP: Final = re.compile(r"(https?):/*", re.IGNORECASE)
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+-]*):(?!\d)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\[?\d+\]?\.?")
_CLOSING: Final = {")": "(", "]": "[", "}": "{"}


def web_address(written: str) -> str:
    """Return the http or https address that is meant, without its fragment: https where no
    scheme is written, and without the signs of a sentence or of Markdown around it.

    Raises ToolError where it is none, or holds a name and password.
    """
    text = _bare(clean(written))
    if not text or _NUMBER.fullmatch(clean(written)):
        raise ToolError("write the address of the page, https://…, not the number of a source")
    if _HTTP.match(text):
        text = _HTTP.sub(lambda found: f"{found[1].lower()}://", text, count=1)
    elif scheme := _SCHEME.match(text):
        raise ToolError(f"{scheme[1]}: addresses are not read, only https and http ones")
    else:
        text = f"https://{text.lstrip('/')}"
        _check_guessed(text, written)
    return _checked(urldefrag(text).url, written)


def _bare(text: str) -> str:
    """Return the address alone, of a link or a sentence."""
    if linked := _MARKDOWN.search(text):
        text = linked[1]
    elif " " in text and (inside := _INSIDE.search(text)):
        text = inside[0]
    return _without_closing(re.sub(r"^[(\[{]+(?=\w)", "", text.strip(" <>\"'`*")))


def _without_closing(text: str) -> str:
    """Drop the punctuation that ends a sentence; a bracket stays where its own is open."""
    while text and text[-1] in ".,;:!?…'\"`*>)]}":
        opening = _CLOSING.get(text[-1])
        if opening and text.count(opening) >= text.count(text[-1]):
            break
        text = text[:-1]
    return text


def _check_guessed(address: str, written: str) -> None:
    """Raise ToolError where words or a name were written that no host is called by."""
    host = address.removeprefix("https://").partition("/")[0]
    if " " in address or "." not in host.strip("."):
        raise ToolError(
            f"{clean(written, 60)!r} is no address of a page: search for it, "
            "then write the address that is found, https://…"
        )


def _checked(address: str, written: str) -> str:
    try:
        parts = urlsplit(address)
        sound = bool(parts.hostname) and " " not in address and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise ToolError(f"{clean(written, 60)!r} is no address of a page: write https://… in full")
    if parts.username is not None or parts.password is not None:
        raise ToolError("the address holds a name or password: leave them out")
    return address
