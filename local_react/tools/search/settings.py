"""What of a search can be set, checked before anything is sent."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from local_react.errors import UsageError
from local_react.tools.search.engines import FIRST, known_engines

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


@dataclass(frozen=True, slots=True)
class Settings:
    """Where, how strictly, how many, and whom to ask in turn. In ddgs's spelling."""

    region: str
    safesearch: str
    max_results: int
    engines: tuple[str, ...]

    def key(self, words: str) -> str:
        """Return what tells one search from another in the cache."""
        return json.dumps(
            [words, self.region, self.safesearch, self.max_results, *self.engines],
            ensure_ascii=False,
        )


def checked(
    region: str, safesearch: str, max_results: int, engines: Sequence[str] | str
) -> Settings:
    """Return the settings. Raises UsageError for one that there is not."""
    return Settings(
        _checked_region(region),
        _checked_safesearch(safesearch),
        _checked_count(max_results),
        _checked_engines(engines),
    )


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


def _checked_engines(engines: Sequence[str] | str) -> tuple[str, ...]:
    """Return the engines, each once, in the order given."""
    listed = engines.split(",") if isinstance(engines, str) else engines
    names = tuple(dict.fromkeys(name.strip().casefold() for name in listed if name.strip()))
    if not names:
        raise UsageError(f"search engines: name one at least, such as {FIRST}")
    if names == (FIRST,):  # ddgs need not be loaded for that
        return names
    known = known_engines()
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or known
            raise UsageError(f"search engine {name!r} is unknown: {', '.join(near)}")
    return names
