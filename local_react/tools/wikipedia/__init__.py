"""wikipedia and lookup: open an article, then find the sentences that hold a word, as in
the ReAct paper (Yao et al., 2022, section 3.1); from ZIM archives, and over the network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from local_react.core import Findings
from local_react.errors import ToolError
from local_react.tools.base import Ability, Tool, tool
from local_react.tools.wikipedia.online import Online
from local_react.tools.wikipedia.shelf import Shelf, cleaned
from local_react.tools.wikipedia.telling import tell_beginning, tell_missing, tell_sentence
from local_react.zim import Article, look

if TYPE_CHECKING:
    from local_react.network import Network

Title = Annotated[str, Field(description="title, such as Marie Curie", max_length=200)]
Word = Annotated[str, Field(description="a word or a few", max_length=100)]
Result = Annotated[int, Field(description="which of the sentences", ge=1, le=9999)]


def make_wikipedia(
    network: Network,
    archives: Sequence[Path] = (),
    *,
    language: str = "en",
    base_url: str | None = None,
) -> list[Tool[..., Any]]:
    """Return the tools `wikipedia` and `lookup`.

    They read the ZIM archives, in their order, and where none has the article and
    `network` is open, the Wikipedia of `language` (at `base_url`, for one elsewhere).

    Raises UsageError where the language cannot be one.
    """
    online = Online(network, language, base_url)
    local = [partial(look, path) for path in archives]
    reaches_out = not (archives and network.offline)
    shelf = Shelf([*local, online.look] if reaches_out else local)
    may: list[Ability] = ["reads files"] if archives else []
    may += ["reads network"] if reaches_out else []

    @tool(may=may)
    def wikipedia(title: Title) -> Findings:
        """Open a Wikipedia article by its title: its first sentences, or the nearest titles."""
        found = shelf.find(cleaned(title))
        return tell_beginning(found) if isinstance(found, Article) else tell_missing(found)

    @tool(may=may)
    def lookup(article: Title, word: Word, result: Result = 1) -> Findings:
        """Find a word in a Wikipedia article: the first sentence with it; result=2 the next."""
        if not word.strip():
            raise ToolError("the word is empty: write what to find in the article")
        found = shelf.find(cleaned(article))
        if isinstance(found, Article):
            return tell_sentence(found, word, result)
        return tell_missing(found)

    return [wikipedia, lookup]
