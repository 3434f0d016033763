"""When two results are the same, and what is no result at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeVar
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

T = TypeVar("T")

_TRACKING: Final = re.compile(
    r"utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|igshid"
    r"|mc_[ce]id|_ga|_gl|_hsenc|_hsmi|srsltid"
)
"""Query parameters that say where a reader came from, not what is read."""
_WRAPPED: Final = re.compile(r"(?:https?:)?//(?:\w+\.)?duckduckgo\.com/l/\?(?:.*?&)?uddg=")
_ADVERT: Final = re.compile(r"(?:https?:)?//(?:\w+\.)?duckduckgo\.com/y\.js\b")


def distinct(items: Iterable[T], parts: Callable[[T], tuple[str, str]]) -> list[T]:
    """Return the items in their order, without those whose address or text came before;
    `parts` gives the two."""
    kept, seen = list[T](), set[str]()
    for item in items:
        address, text = parts(item)
        marks = {mark for mark in (_address_mark(address), _text_mark(text)) if mark}
        if marks & seen:
            continue
        seen |= marks
        kept.append(item)
    return kept


def is_advert(address: str) -> bool:
    """Return whether an address leads through DuckDuckGo's counter of clicks on adverts."""
    return bool(_ADVERT.match(address))


def real_address(address: str) -> str:
    """Return the address that DuckDuckGo's redirector leads to; any other as it is."""
    wrapped = _WRAPPED.match(address)
    if not wrapped:
        return address
    inner = address[wrapped.end() :].partition("&rut=")[0]
    # ddgs has unquoted it once; what is quoted whole still needs it.
    return inner if "://" in inner else unquote(inner.partition("&")[0])


def _address_mark(address: str) -> str:
    """Return an address without what does not change the page: scheme, www, the default
    port, the fragment, a closing slash, tracking parameters and their order."""
    try:
        parts = urlsplit(real_address(address.strip()))
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return address
    if not host:
        return address
    if port and port not in (80, 443):
        host = f"{host}:{port}"
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode(sorted(pair for pair in pairs if not _TRACKING.fullmatch(pair[0])))
    path = unquote(parts.path).rstrip("/")
    return f"//{host.removeprefix('www.')}{path}{'?' if query else ''}{query}"


def _text_mark(text: str) -> str:
    """Return the words alone, in small letters."""
    return " ".join(re.findall(r"\w+", text.casefold()))
