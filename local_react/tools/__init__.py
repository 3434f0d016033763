"""Tools: what the model may call. This module only gathers the built-in ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from local_react.errors import UsageError

if TYPE_CHECKING:
    from local_react.documents import Library
    from local_react.network import Network
    from local_react.tools.base import Tool

    Tools: TypeAlias = list[Tool[..., Any]]


def builtin_tools(
    network: Network,
    *,
    library: Library | None = None,
    search: Mapping[str, Any] | None = None,
    everything: bool = False,
) -> Tools:
    """Return the built-in tools that are of use, the most specific first and search last.

    `library` holds the user's documents, by default those that `local-react docs add`
    indexed; the tools that read them are there where there are any, and those for
    Wikipedia where an archive of it was added. `search` holds settings of make_search.
    Tools that need the network are left out where the door does not admit them: one that
    always fails draws a small model into trying it again and again. With `everything` all
    are there.

    Raises UsageError for a setting that search cannot have.
    """
    # Imported here, so that a name like calculator stays the module's.
    from local_react.documents import Library
    from local_react.tools.calculator import calculator
    from local_react.tools.current_time import current_time
    from local_react.tools.exchange_rate import make_exchange_rate
    from local_react.tools.read_page import make_read_page
    from local_react.tools.search import make_search

    tools: Tools = [
        calculator,
        current_time,
        make_exchange_rate(network),
        *_of_the_users(network, library or Library(), everything=everything),
        make_read_page(network),
        make_search(network, **(search or {})),
    ]
    tools = [
        replace(tool, suits=_SUITS[tool.name]) if tool.name in _SUITS else tool for tool in tools
    ]
    if everything:
        return tools
    return [tool for tool in tools if not tool.network or network.admits(tool.name)]


def _speaks_of(words: str) -> Callable[[str], bool]:
    pattern = re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    return lambda question: pattern.search(question) is not None


_CHANGED: Final = _speaks_of(r"exchange|convert(?:ed)?|currency|currencies|worth in")
_CURRENCIES: Final = (
    r"\$|\bdollars?\b|\bUSD\b",
    r"€|\beuros?\b|\bEUR\b",
    r"£|\bpounds? sterling\b|\bBritish pounds?\b|\bGBP\b",
    r"\byen\b|\bJPY\b",
    r"\byuan\b|\brenminbi\b|\bRMB\b|\bCNY\b",
    r"\brupees?\b|\bINR\b",
    r"\bfrancs?\b|\bCHF\b",
    r"\b(?:krona|kronor|krone|kroner)\b|\b(?:SEK|NOK|DKK)\b",
    r"\bz[łl]oty(?:ch)?\b|\bPLN\b",
    r"\brou?bles?\b|\bRUB\b",
    r"\bpesos?\b|\bMXN\b",
    r"\bwon\b(?= (?:in|to|into)\b)|\bKRW\b",
)


def _currencies(question: str) -> int:
    """Return how many currencies a question names: one alone is what its prices are in."""
    return sum(bool(re.search(one, question, re.IGNORECASE)) for one in _CURRENCIES)


_OUTSIDE: Final = _speaks_of(
    r"current|today['’]s|(?:worth|cost|of|as of) today|latest|newest|right now|at present"
    r"|(?<!in )(?<!of )stocks?(?! of \d)|shares of|according to|websites?|https?"
    r"|(?:find|check) .{1,40} online|look up|search"
)
_SUITS: Final[Mapping[str, Callable[[str], bool]]] = {
    "current_time": _speaks_of(
        r"what time|time is it|time (?:zone|difference)|current (?:time|date|year)|hours? ahead of"
        r"|what (?:day|date|year|month)|(?:from|since|until|till|before|after|is|was|be)"
        r" (?:now|today|tomorrow|yesterday)|today['’]s date|days? ago"
        r"|(?:left|remain(?:s|ing)?) (?:in|of) (?:this|the) (?:week|month|year)"
    ),
    "exchange_rate": lambda question: _CHANGED(question) or _currencies(question) >= 2,
    **dict.fromkeys(("read_page", "search", "wikipedia", "lookup"), _OUTSIDE),
}
"""What a question that brings its own numbers speaks of where it needs the tool all the same."""


def _of_the_users(network: Network, library: Library, *, everything: bool) -> Tools:
    """Return the tools for what the user has added."""
    from local_react.tools.documents import make_documents
    from local_react.tools.wikipedia import make_wikipedia

    try:
        documents, archives = not library.is_empty, [path for path, _ in library.archives()]
    except UsageError:  # a damaged index: its tools say so where they are called
        documents, archives = True, []
    return [
        *(make_documents(library) if documents or everything else []),
        *(make_wikipedia(network, archives) if archives or everything else []),
    ]
