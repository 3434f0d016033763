"""The search engines that ddgs knows, each asked alone and watched while it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from local_react.errors import ToolError
from local_react.tools.search.distinct import distinct, is_advert
from local_react.tools.search.wire import Wire

if TYPE_CHECKING:
    from local_react.tools.search.settings import Settings

FIRST = "duckduckgo"
TRY_SECONDS = 5
"""Seconds that ddgs gives one request."""

_HOST: Final = "html.duckduckgo.com"
_SAFESEARCH: Final[Mapping[str, str]] = {"on": "1", "off": "-2"}
"""DuckDuckGo's own spelling (https://duckduckgo.com/params); moderate is its default."""
_LANGUAGES: Final[Mapping[str, str]] = {"tzh": "zh", "jp": "ja", "kr": "ko", "wt": "en"}
"""Languages that DuckDuckGo spells in a way of its own."""


def require_ddgs() -> None:
    """Raise ToolError where the library is missing."""
    try:
        import ddgs  # noqa: F401
    except ImportError as error:
        raise ToolError("search needs the package ddgs: pip install ddgs") from error


def known_engines() -> Sequence[str]:
    """Return the names of the engines for text, DuckDuckGo's alone where ddgs is missing
    or keeps them elsewhere."""
    try:
        from ddgs.engines import ENGINES

        return sorted(ENGINES["text"])
    except (ImportError, KeyError):
        return [FIRST]


def host_of(engine: str, region: str) -> str:
    """Return the host that an engine sends the query to."""
    try:
        from ddgs.engines import ENGINES

        address = str(ENGINES["text"][engine].search_url)
    except (ImportError, KeyError, AttributeError):
        return _HOST
    language = _region_for(engine, region).rpartition("-")[2]
    return urlsplit(address.replace("{lang}", language)).hostname or _HOST


def ask(engine: str, words: str, settings: Settings, wire: Wire) -> list[dict[str, Any]]:
    """Return what one engine finds, each with title, href and body, without repeats.

    Raises what ddgs and its client raise; `wire` tells what was sent and answered.
    """
    from ddgs import DDGS

    client: Any = DDGS(timeout=TRY_SECONDS)
    _watch(client, wire)
    # By position: the parameter has had two names.
    found = client.text(
        words,
        region=_region_for(engine, settings.region),
        safesearch=settings.safesearch,
        max_results=settings.max_results,
        backend=engine,  # the default asks other engines too
    )
    return list(found)


def form_fields(engine: str, settings: Settings) -> dict[str, str]:
    """Return the fields that DuckDuckGo's form has and ddgs 9.16 leaves out."""
    if engine != FIRST:
        return {}
    fields = {"kl": settings.region}
    if settings.safesearch in _SAFESEARCH:
        fields["kp"] = _SAFESEARCH[settings.safesearch]
    return fields


def _region_for(engine: str, region: str) -> str:
    """Return the region as the engine understands it: country and language (ISO 639)."""
    if engine == FIRST:
        return region
    country, _, language = region.partition("-")
    return f"{'us' if country == 'wt' else country}-{_LANGUAGES.get(language, language)}"


def _watch(client: Any, wire: Wire) -> None:
    """Let `wire` see what the engines of a DDGS send and get, which it keeps to itself.

    A ddgs built another way is used unwatched: then a refusal looks like no results.
    """
    make = getattr(client, "_get_engines", None)
    if make is None:
        return

    def watched(category: str, backend: str) -> list[Any]:
        engines: list[Any] = make(category, backend)
        for engine in engines:
            http: Any = getattr(engine, "http_client", None)
            if hasattr(http, "client"):
                http.client = wire.around(http.client)
            engine.search = _without_repeats(engine.search)
        return engines

    client._get_engines = watched


def _without_repeats(search: Any) -> Any:
    """Drop repeats, adverts and blocks that are no result, before ddgs counts them."""

    def searching(*args: Any, **options: Any) -> list[Any] | None:
        found = search(*args, **options) or []
        real = [item for item in found if item.href and not is_advert(item.href)]
        return distinct(real, lambda item: (item.href, f"{item.title} {item.body}"))

    return searching
