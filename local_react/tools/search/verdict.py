"""What it means that an engine gave no results: none there are, it refused, or the way to
it is closed."""

from __future__ import annotations

import re
from typing import Final

from local_react.errors import ToolError
from local_react.network import Again, Fault, no_answer, proxy_for
from local_react.tools.age import in_words
from local_react.tools.search.engines import TRY_SECONDS
from local_react.tools.search.wire import Wire

_REFUSALS: Final = (202, 403, 429)
_UNCLEAR: Final = (
    "no results, or the service refused: answer from what you know, or use other words"
)

_NONE_FOUND: Final = re.compile(
    r"""class\s*=\s*["'][^"']*\b(?:result--)?no-results?\b""", re.IGNORECASE
)
"""How DuckDuckGo's page marks that there are none."""
_CHALLENGES: Final = (
    "anomaly-modal",
    "anomaly.js",
    "challenge-form",
    "bots use duckduckgo",
    "captcha",
    "unusual traffic",
)
"""Marks of a page that asks whether a person searches: DuckDuckGo's, and others'."""


class NoResults(ToolError):
    """The engine answered, and knows nothing."""


class EngineTrouble(ToolError):
    """This engine gives no answer now; another one may."""


class Refused(EngineTrouble):
    """The engine does not want to be asked now."""

    def __init__(self, engine: str, after: float | None = None, reason: str = "") -> None:
        because = f" ({reason})" if reason else ""
        super().__init__(
            f"the search service {engine} refuses or limits requests now{because}: "
            f"go on without it{f', or try again in {in_words(after)}' if after else ''}"
        )
        self.after = after
        self.reason = reason


def on_nothing(engine: str, wire: Wire, words: str) -> Exception:
    """Return why there are no results, told by what went over the wire: an Again where
    it may pass within seconds, else a ToolError."""
    status, page = wire.status, wire.page.casefold()
    if status in (200, 202) and _NONE_FOUND.search(page):
        return NoResults("no results for these words: use other words, or what you know")
    if status and any(mark in page and mark not in words.casefold() for mark in _CHALLENGES):
        # It lasts for many minutes, and longer for those who ask on.
        return Refused(engine, wire.after, "it asks whether a person searches")
    if status in _REFUSALS:
        return Again(Refused(engine, wire.after, f"HTTP {status}"), wire.after)
    if status in (None, 200):
        return EngineTrouble(_UNCLEAR)
    trouble = EngineTrouble(
        f"the search service {engine} has trouble (HTTP {status}): go on without it"
    )
    return Again(trouble, wire.after) if status >= 500 else trouble


def on_error(engine: str, host: str, wire: Wire, error: Exception, words: str) -> Exception:
    """Return what an error that came out of ddgs means, as `on_nothing` does.

    ddgs keeps the type and text of its client's error only inside its message.
    """
    text = f"{type(error).__name__}: {error}"
    fault = _fault(text, host)
    if fault == "timeout":
        late = no_answer(fault, host, seconds=TRY_SECONDS)
        return Again(EngineTrouble(str(late)))
    if fault is not None:
        return no_answer(fault, host)
    if "No results found" in text:  # any status but 200 ends here too
        return on_nothing(engine, wire, words)
    if re.search(r"ratelimit|\b(?:202|403|429)\b", text, re.IGNORECASE):
        return Again(Refused(engine, wire.after), wire.after)
    if re.search(r"(?:Decode|Body)Error", text):
        return Again(EngineTrouble(f"the answer of {host} broke off: go on without it"))
    short = " ".join(text.split())[:120]
    return Again(EngineTrouble(f"search failed ({short}): go on without it"))


def _fault(text: str, host: str) -> Fault | None:
    """Return why there was no answer, told by the words of ddgs 9.16 and primp 2."""
    low = text.casefold()
    if "certificate:" in low or "certificate verify" in low:
        return "certificate"
    if "ca cert file" in low or "native root certificate" in low:
        return "ca_file"
    if "timed out" in low or "timeout" in low:
        return "timeout"
    if "proxy" in low:
        return "proxy"
    if any(sign in low for sign in ("dnserror", "connecterror", "error resolving", "unreachable")):
        # A proxy that is not there looks like a host that is not there.
        return "proxy" if proxy_for(host) else "network"
    return None
