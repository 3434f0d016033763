"""The articles that were opened lately, and where others are looked for."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from local_react.errors import LocalReactError, ToolError
from local_react.outside import clean
from local_react.zim import Article, Nearest, key

Source: TypeAlias = Callable[[str], Article | Nearest]
"""Gives the article of a title, or what is nearest; raises LocalReactError, one line."""

_HELD: Final = 8
"""Articles that are kept at hand, so that a second look at one costs nothing."""


@dataclass(frozen=True, slots=True)
class Missing:
    """What came of looking for an article that no source has."""

    title: str
    nearest: tuple[Nearest, ...]
    troubles: tuple[str, ...]
    """What kept a source from being asked, one line each."""


class Shelf:
    """Finds articles in the first source that has them. It may be used by threads."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)
        self._held: OrderedDict[str, Article] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, title: str) -> Article | Missing:
        """Return the article, or what there is instead.

        Raises what the last source raised, where none could be asked.
        """
        with self._lock:
            if held := self._held.get(key(title)):
                self._held.move_to_end(key(title))
                return held
        found = self._looked_for(title)
        if isinstance(found, Article):
            self._hold(title, found)
        return found

    def _looked_for(self, title: str) -> Article | Missing:
        nearest, troubles = list[Nearest](), list[LocalReactError]()
        for source in self._sources:
            try:
                found = source(title)
            except LocalReactError as error:
                troubles.append(error)
                continue
            if isinstance(found, Article):
                return found
            nearest.append(found)
        if troubles and not nearest:
            raise troubles[-1]
        return Missing(title, tuple(nearest), tuple(map(str, troubles)))

    def _hold(self, title: str, article: Article) -> None:
        with self._lock:
            for name in {key(title), key(article.title)}:
                self._held[name] = article
                self._held.move_to_end(name)
            while len(self._held) > _HELD:
                self._held.popitem(last=False)


def cleaned(title: str) -> str:
    """Return the title that a model means: of a link or a quotation, too.

    Raises ToolError where there is none.
    """
    from urllib.parse import unquote, urlsplit

    text = clean(title).strip("\"'“”‘’")
    if text.startswith(("http://", "https://")):
        text = unquote(urlsplit(text).path.rpartition("/")[2])
    text = " ".join(text.replace("_", " ").split()).removesuffix(" - Wikipedia")
    if not key(text):
        raise ToolError("the title is empty: write that of an article, such as Marie Curie")
    return text
