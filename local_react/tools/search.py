"""search: the first results of DuckDuckGo, through the library ddgs."""

from __future__ import annotations

import difflib
import random
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from local_react.errors import ToolError, UsageError
from local_react.network import Fault, no_answer, proxy_for
from local_react.tools.base import Tool, tool

if TYPE_CHECKING:
    from local_react.network import Network

HOST = "html.duckduckgo.com"
SECONDS = 10.0
"""The whole wait, retries included."""
TRIES = 3
_TRY_SECONDS = 5
_NOTHING = "no results, or the service refused: answer from what you know, or use other words"
_TITLE, _SNIPPET, _SOURCE = 120, 300, 200

_REGIONS: Final = (
    "ar-es at-de au-en be-fr be-nl bg-bg br-pt ca-en ca-fr ch-de ch-fr ch-it cl-es cn-zh co-es"
    " ct-ca cz-cs de-de dk-da ee-et es-es fi-fi fr-fr gr-el hk-tzh hr-hr hu-hu id-en id-id ie-en"
    " il-he in-en it-it jp-jp kr-kr lt-lt lv-lv mx-es my-en my-ms nl-nl no-no nz-en pe-es ph-en"
    " ph-tl pl-pl pt-pt ro-ro ru-ru se-sv sg-en sk-sk sl-sl th-th tr-tr tw-tzh ua-uk ue-es uk-en"
    " us-en us-es ve-es vn-vi wt-wt xa-ar xa-en xl-es za-en"
)
"""DuckDuckGo's regions, as its own settings page spells them; wt-wt is none."""
_SAFESEARCH: Final[Mapping[str, str]] = {
    "on": "on",
    "strict": "on",
    "moderate": "moderate",
    "off": "off",
}

Query = Annotated[str, Field(description="a few words to look up", max_length=200)]


def make_search(
    network: Network,
    *,
    region: str = "us-en",
    safesearch: str = "moderate",
    max_results: int = 3,
    sleep: Callable[[float], None] = time.sleep,
) -> Tool[..., str]:
    """Return the tool; `region`, `safesearch` (on, moderate, off) and `max_results`
    (1 to 10) are passed on to ddgs.

    ddgs 9.16 takes safesearch but its DuckDuckGo engine does not send it.
    Raises UsageError where a setting is not one of those.
    """
    options = {
        "region": _checked_region(region),
        "safesearch": _checked_safesearch(safesearch),
        "max_results": _checked_count(max_results),
        "backend": "duckduckgo",  # the default asks other engines too
    }

    @tool(network=True)
    def search(query: Query) -> str:
        """Search the web, only when no other tool fits: news, prices, facts you don't know."""
        words = clean(query)
        if not words:
            raise ToolError("the query is empty: write the words to look up")
        network.check("search", HOST)
        found = _patiently(network, lambda: _ask(words, options), sleep)
        return _listing(found[:max_results])

    return search


def clean(text: str, limit: int | None = None) -> str:
    """Return outside text as one line: no control, invisible or bidirectional
    characters, single spaces, clipped to `limit` characters."""
    line = " ".join("".join(map(_visible, text)).split())
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def _visible(character: str) -> str:
    """Return the character, a space for a control or line break, nothing where unseen."""
    kind = unicodedata.category(character)
    if kind in ("Cc", "Zl", "Zp"):
        return " "
    return "" if kind.startswith("C") else character


def _ask(words: str, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    try:
        from ddgs import DDGS
    except ImportError as error:
        raise ToolError("search needs the package ddgs: pip install ddgs") from error
    # By position: the parameter has had two names.
    return list(DDGS(timeout=_TRY_SECONDS).text(words, **options))


def _patiently(
    network: Network, ask: Callable[[], list[dict[str, Any]]], sleep: Callable[[float], None]
) -> list[dict[str, Any]]:
    """Return the results of the first try that works, within SECONDS in all.

    Only what may pass is tried again: a refusal for asking too often, a timeout, an
    answer cut off. Raises ToolError, one line, for the last failure.
    """
    deadline = time.monotonic() + SECONDS
    for attempt in range(TRIES):
        try:
            return network.within(max(0.1, deadline - time.monotonic()), ask, host=HOST)
        except ToolError:
            raise
        except Exception as error:  # ddgs and its client raise types of their own
            explained, may_pass = _explain(error)
            pause = 0.5 * 2**attempt + random.uniform(0, 0.2)
            late = time.monotonic() + pause >= deadline
            if not may_pass or late or attempt == TRIES - 1:
                raise explained from error
            sleep(pause)
    raise AssertionError("unreachable: the last try returns or raises")


def _explain(error: Exception) -> tuple[ToolError, bool]:
    """Return the line for a failure inside ddgs, and whether it may pass by itself.

    ddgs keeps the type and text of its client's error only inside its message.
    """
    text = f"{type(error).__name__}: {error}"
    fault = _fault(text)
    if fault is not None:
        return no_answer(fault, HOST), fault == "timeout"
    if "No results found" in text:
        # Any status but 200 ends here too: the library keeps it to itself.
        return ToolError(
            "no results, or the service refused: answer from what you know, or use other words"
        ), False
    if any(sign in text.casefold() for sign in ("ratelimit", "202", "403", "429")):
        refused = "the search service refuses or limits requests now: go on without it"
        return ToolError(refused), True
    return ToolError(f"search failed ({clean(text, 120)}): go on without it"), True


def _fault(text: str) -> Fault | None:
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
        return "proxy" if proxy_for(HOST) else "network"
    return None


def _listing(results: Iterable[Mapping[str, Any]]) -> str:
    lines = [
        f"{number}. {_part(result, 'title', _TITLE)} — {_part(result, 'body', _SNIPPET)}"
        f" ({_part(result, 'href', _SOURCE)})"
        for number, result in enumerate(results, start=1)
    ]
    if not lines:
        raise ToolError(
            "no results, or the service refused: answer from what you know, or use other words"
        )
    return "\n".join(lines)


def _part(result: Mapping[str, Any], key: str, limit: int) -> str:
    return clean(str(result.get(key) or ""), limit) or "-"


def _checked_region(region: str) -> str:
    regions = _REGIONS.split()
    if region not in regions:
        near = difflib.get_close_matches(region, regions, n=3, cutoff=0.5)
        raise UsageError(f"search region {region!r} is unknown: {', '.join(near) or 'use wt-wt'}")
    return region


def _checked_safesearch(safesearch: str) -> str:
    if safesearch not in _SAFESEARCH:
        raise UsageError(f"search safesearch {safesearch!r}: use on, moderate or off")
    return _SAFESEARCH[safesearch]


def _checked_count(max_results: int) -> int:
    if not 1 <= max_results <= 10:
        raise UsageError(f"search max_results must be from 1 to 10, not {max_results}")
    return max_results
