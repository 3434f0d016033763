"""exchange_rate: an amount of one currency in another, with the rate's date and source.

The rates of the last days that were asked for are kept in the user's data directory. They
answer while they are the newest there are, and, with their age, where no newer ones can be
had. currencies finds the codes, rates holds the tables.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import urlsplit

from pydantic import Field

from local_react import places
from local_react.errors import OfflineError, ToolError
from local_react.tools.base import Tool, tool
from local_react.tools.exchange_rate.currencies import code_of, name_of, unknown
from local_react.tools.exchange_rate.rates import (
    Rates,
    Source,
    frankfurter,
    keep_rates,
    load_rates,
    open_er_api,
)

if TYPE_CHECKING:
    from local_react.network import Network

BASE_URL: Final = "https://open.er-api.com"
SECOND_URL: Final = "https://api.frankfurter.dev"
"""Asked where the first has no answer, or no rate for a currency."""
_NAME: Final = "exchange_rate"
_KEPT: Final = "exchange_rates.json"

Currency = Annotated[str, Field(description="currency code, such as USD", max_length=40)]
Amount = Annotated[float, Field(description="how much of base", ge=0, le=1e15)]


def make_exchange_rate(
    network: Network,
    *,
    base_url: str = BASE_URL,
    second_url: str = SECOND_URL,
    kept_at: Path | None = None,
    now: Callable[[], float] = time.time,
) -> Tool[..., str]:
    """Return the tool; it fetches through `network` from the services at `base_url` and,
    where that fails, `second_url`, and keeps the rates in the file `kept_at`, by default in
    the user's data directory. `now` returns the seconds since 1970.

    The whole table in dollars is fetched, whatever the currencies are: so an unknown
    code gets its near ones named, and the service is not told what was asked. Where
    nothing can be sent the tool is there all the same, and answers from the rates that are
    kept, or says that there are none: without it a small model makes a rate up.
    """
    path = kept_at or places.data_dir() / _KEPT
    desk = Desk(network, (open_er_api(base_url), frankfurter(second_url)), path, now)

    @tool(may=("reads network",) if network.admits(_NAME) else (), own_words=True)
    def exchange_rate(base: Currency, target: Currency, amount: Amount = 1) -> str:
        """Convert an amount of money from one currency (base) to another (target)."""
        codes = [code_of(base), code_of(target)]
        rates = desk.rates_for(codes)
        return f"{rates.convert(_decimal(amount), *codes)}; {desk.about(rates)})"

    return exchange_rate


@dataclass
class Desk:
    """Where rates are had: those that are kept, the services, those that are old."""

    network: Network
    sources: Sequence[Source]
    kept_at: Path
    now: Callable[[], float]

    def rates_for(self, codes: Sequence[str]) -> Rates:
        """Return the newest rates that there are for the codes.

        Raises ToolError where there are none, OfflineError where nothing is kept and
        nothing can be sent.
        """
        kept = load_rates(self.kept_at)
        newest = [rates for rates in kept if rates.is_newest(self.now())]
        open_now = self.network.admits(_NAME)
        if rates := _with(codes, newest) or (None if open_now else _with(codes, kept)):
            return rates
        fetched, faults = self._fetch(codes, {rates.source for rates in newest})
        if rates := _with(codes, [*fetched, *kept]):
            return rates
        if tables := [*fetched, *kept]:
            raise _no_rate(codes, tables, faults)
        if len(faults) == 1 or isinstance(faults[0], OfflineError):
            raise faults[0]
        raise ToolError(f"no rates could be had: {_in_one(faults)}")

    def about(self, rates: Rates) -> str:
        """Return the day and source of rates, and that they are old where they are."""
        if rates.is_newest(self.now()):
            return f"rate of {rates.day_text}, {rates.source}"
        age = rates.age(self.now())
        return f"rates of {rates.day_text}, {age}; no newer ones could be had; {rates.source}"

    def _fetch(
        self, codes: Sequence[str], known: set[str]
    ) -> tuple[list[Rates], list[ToolError | OfflineError]]:
        """Return the tables of the services, up to the first that has all codes, and why
        others gave none. What is known already is not asked for."""
        tables: list[Rates] = []
        faults: list[ToolError | OfflineError] = []
        hosts = [urlsplit(source.url).hostname or "" for source in self.sources]
        try:  # one yes for both
            permit = self.network.permit(_NAME, hosts, self.sources[0].url)
        except (ToolError, OfflineError) as fault:
            return [], [fault]
        for source in self.sources:
            if source.name in known:
                continue
            try:
                answer = self.network.get_json(source.url, tool=_NAME, permit=permit)
                tables.append(source.read(answer, source, self.now()))
            except (ToolError, OfflineError) as fault:
                faults.append(fault)
                continue
            if not self.network.private:
                keep_rates(self.kept_at, tables[-1])
            if tables[-1].has(codes):
                break
        return tables, faults


def _decimal(amount: float) -> Decimal:
    """Return the amount as it was written. Raises ToolError where it is no number."""
    try:
        value = Decimal(str(amount).replace(",", ""))
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise ToolError(f"the amount {str(amount)[:40]!r} is no number")
    return value


def _with(codes: Sequence[str], tables: Sequence[Rates]) -> Rates | None:
    return next((rates for rates in tables if rates.has(codes)), None)


def _no_rate(
    codes: Sequence[str], tables: Sequence[Rates], faults: Sequence[Exception]
) -> ToolError:
    """Return the error for the first code that has no rate, with those that are like it, or
    why no other rates could be had."""
    known = {code for rates in tables for code in rates.per_dollar}
    missing = next((code for code in codes if code not in known), "")
    name = name_of(missing)
    if missing and name == missing:
        return unknown(missing, difflib.get_close_matches(missing, sorted(known), n=4, cutoff=0.5))
    what = f"{missing} ({name})" if missing else f"both {' and '.join(codes)}"
    sources = ", ".join(dict.fromkeys(rates.source for rates in tables))
    others = f"; no others could be had: {_in_one(faults)}" if faults else ""
    return ToolError(f"{sources} has no rate for {what}{others}")


def _in_one(faults: Sequence[Exception]) -> str:
    return "; ".join(str(fault) for fault in faults)
