"""Tables of rates: what a dollar is worth, where they come from, and those that are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timezone
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from local_react.atomic import read_whole
from local_react.errors import ToolError
from local_react.private import write_own

_HALF_A_DAY: Final = 12 * 3600.0
"""Seconds that a table is taken for the newest where its source doesn't say when the next
one comes."""
_TWO_DAYS: Final = 48 * 3600.0
"""Seconds that it is taken for that at most, whatever its source says."""
_LATER: Final = 300.0
"""Seconds after a new table is due at which the service would rather be asked."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What one US dollar is worth in each currency, on a day."""

    per_dollar: Mapping[str, Decimal]
    day: date | None
    source: str
    fetched: float
    """Seconds since 1970, UTC, as the next."""
    due: float
    """When its source has newer ones."""

    def is_newest(self, now: float) -> bool:
        """Return whether its source has no newer ones yet."""
        return self.fetched <= now < min(self.due, self.fetched + _TWO_DAYS)

    def has(self, codes: Sequence[str]) -> bool:
        """Return whether there is a rate for each of the codes."""
        return all(code in self.per_dollar for code in codes)

    def convert(self, amount: Decimal, base: str, target: str) -> str:
        """Return the amounts and the rate, such as 5 EUR = 4.69 GBP (1 EUR = 0.9375 GBP."""
        with localcontext() as context:
            context.prec = 40
            rate = self.per_dollar[target] / self.per_dollar[base]
            result = _money(amount * rate)
        return (
            f"{_plain(amount)} {base} = {result} {target} "
            f"(1 {base} = {_significant(rate, 6)} {target}"
        )

    def age(self, now: float) -> str:
        """Return how old the rates are, such as 3 days old."""
        today = datetime.fromtimestamp(now, timezone.utc).date()
        then = self.day or datetime.fromtimestamp(self.fetched, timezone.utc).date()
        days = (today - then).days
        count = f"{days} day{'s' * (days > 1)}" if days > 0 else "less than a day"
        return f"{count} old" if self.day else f"fetched {count} ago"

    @property
    def day_text(self) -> str:
        """The day, such as 2026-11-27."""
        return self.day.isoformat() if self.day else "an unknown day"


@dataclass(frozen=True, slots=True)
class Source:
    """A service that gives a table of rates without a key."""

    url: str
    about: str
    read: Callable[[Any, Source, float], Rates]
    """Makes Rates of its answer and the time. Raises ToolError where it has none."""

    @property
    def name(self) -> str:
        """What is named as the source."""
        return f"{urlsplit(self.url).netloc}{self.about}"


def open_er_api(base_url: str) -> Source:
    """Return the service that has some 160 currencies, once a day, and asks users to name
    it. Format: https://www.exchangerate-api.com/docs/free"""
    return Source(f"{base_url}/v6/latest/USD", "", _read_er_api)


def frankfurter(base_url: str) -> Source:
    """Return the service that has the European Central Bank's reference rates of some 30
    currencies, of working days. Format: https://frankfurter.dev"""
    return Source(f"{base_url}/v1/latest?base=USD", " (European Central Bank)", _read_frankfurter)


def _read_er_api(answer: Any, source: Source, now: float) -> Rates:
    if not isinstance(answer, dict):
        raise ToolError(f"{source.name} answered without rates: try again later")
    if answer.get("result") != "success":
        reason = " ".join(str(answer.get("error-type", "no reason given")).split())[:60]
        raise ToolError(f"{source.name} refused: {reason}; try again later")
    if answer.get("base_code", "USD") != "USD":
        raise ToolError(f"{source.name} answered without rates in US dollars: try again later")
    next_one = answer.get("time_next_update_unix")
    known = isinstance(next_one, int) and 0 < next_one < 1 << 40
    due = float(next_one or 0) + _LATER if known else now + _HALF_A_DAY
    return _checked(
        Rates(
            _positive(answer.get("rates")),
            _day_of_mail(answer.get("time_last_update_utc")),
            source.name,
            now,
            due,
        )
    )


def _read_frankfurter(answer: Any, source: Source, now: float) -> Rates:
    if not isinstance(answer, dict) or answer.get("base") != "USD" or answer.get("amount") != 1:
        raise ToolError(f"{source.name} answered without rates in US dollars: try again later")
    rates = _positive(answer.get("rates"))
    per_dollar = {**rates, "USD": Decimal(1)} if rates else {}
    return _checked(
        Rates(per_dollar, _day(answer.get("date")), source.name, now, now + _HALF_A_DAY)
    )


def _checked(rates: Rates) -> Rates:
    if rates.per_dollar.get("USD") != 1:
        raise ToolError(f"{rates.source} answered without rates in US dollars: try again later")
    return rates


def _positive(rates: Any) -> dict[str, Decimal]:
    if not isinstance(rates, dict):
        return {}
    numbers = {
        code: Decimal(rate)
        for code, rate in rates.items()
        if isinstance(rate, (int, Decimal)) and not isinstance(rate, bool)
    }
    return {code: rate for code, rate in numbers.items() if rate.is_finite() and rate > 0}


def _day(text: Any) -> date | None:
    """Return the day of a text such as 2026-11-30."""
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        return None


def _day_of_mail(text: Any) -> date | None:
    """Return the day of a time such as Mon, 30 Nov 2026 00:00:01 +0000."""
    try:
        return parsedate_to_datetime(text).date()
    except (TypeError, ValueError, AttributeError):
        return None


def load_rates(path: Path) -> Sequence[Rates]:
    """Return the tables that are kept in a file, one of each source, the newest first; none
    where it is missing or damaged."""
    try:
        tables = json.loads(read_whole(path))["tables"]
        rates = [_loaded(source, table) for source, table in tables.items()]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
        return []
    except RecursionError:
        return []
    return sorted(rates, key=lambda table: -table.fetched)


def _loaded(source: str, table: Mapping[str, Any]) -> Rates:
    per_dollar = {str(code): Decimal(str(rate)) for code, rate in table["per_dollar"].items()}
    if per_dollar.get("USD") != 1 or per_dollar != _positive(per_dollar):
        raise ValueError("no table of rates in dollars")
    fetched, due = float(table["fetched"]), float(table["due"])
    datetime.fromtimestamp(fetched, timezone.utc)  # raises where it is no time
    return Rates(per_dollar, _day(table["day"]), source, fetched, due)


def keep_rates(path: Path, rates: Rates) -> None:
    """Keep a table in a file, in place of the last of its source; not being able to do so
    is no fault."""
    tables = {table.source: table for table in load_rates(path)} | {rates.source: rates}
    texts = {source: _kept(table) for source, table in tables.items()}
    with suppress(OSError):
        write_own(path, [json.dumps({"tables": texts}).encode()])


def _kept(rates: Rates) -> Mapping[str, Any]:
    return {
        "day": rates.day.isoformat() if rates.day else None,
        "fetched": rates.fetched,
        "due": rates.due,
        "per_dollar": {code: str(rate) for code, rate in rates.per_dollar.items()},
    }


def _money(value: Decimal) -> str:
    """Return the value with two decimals, or six digits where that would hide it."""
    if 0 < value < 1:
        return _significant(value, 6)
    return str(value.quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN))


def _significant(value: Decimal, digits: int) -> str:
    with localcontext() as context:
        context.prec = digits
        return _plain(+value)


def _plain(value: Decimal) -> str:
    """Return the value without an exponent and without zeros at the end."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
