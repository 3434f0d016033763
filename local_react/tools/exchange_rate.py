"""exchange_rate: an amount of one currency in another, with the rate's date and source."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from local_react.errors import ToolError
from local_react.tools.base import Tool, tool

if TYPE_CHECKING:
    from local_react.network import Network

BASE_URL = "https://open.er-api.com"
"""Key-free; updated once a day; asks users to name it as the source.
Format: https://www.exchangerate-api.com/docs/free"""

_NAMES: Final[Mapping[str, str]] = {
    "AED": "dirham, uae dirham, emirati dirham",
    "AUD": "australian dollar, aussie dollar, a$",
    "BRL": "real, reais, brazilian real, r$",
    "CAD": "canadian dollar, c$",
    "CHF": "franc, swiss franc",
    "CNY": "yuan, renminbi, rmb, chinese yuan, chinese renminbi, yuan renminbi, 人民币, 元",
    "CZK": "koruna, czech koruna",
    "DKK": "danish krone",
    "EUR": "euro, €",
    "GBP": "pound, british pound, pound sterling, pounds sterling, sterling, uk pound, £",
    "HKD": "hong kong dollar, hk dollar, hk$",
    "HUF": "forint, hungarian forint",
    "IDR": "rupiah, indonesian rupiah",
    "ILS": "shekel, new shekel, israeli shekel, ₪",
    "INR": "rupee, indian rupee, ₹",
    "JPY": "yen, japanese yen, 日元, 円",
    "KRW": "won, korean won, south korean won, ₩",
    "MXN": "mexican peso, mx$",
    "MYR": "ringgit, malaysian ringgit",
    "NGN": "naira, nigerian naira, ₦",
    "NOK": "norwegian krone",
    "NZD": "new zealand dollar, nz$",
    "PHP": "philippine peso, ₱",
    "PKR": "pakistani rupee",
    "PLN": "zloty, polish zloty",
    "RUB": "ruble, rouble, russian ruble, russian rouble, ₽",
    "SAR": "riyal, saudi riyal",
    "SEK": "swedish krona",
    "SGD": "singapore dollar, s$",
    "THB": "baht, thai baht, ฿",
    "TRY": "lira, turkish lira, ₺",
    "TWD": "taiwan dollar, new taiwan dollar, nt$",
    "UAH": "hryvnia, ukrainian hryvnia, ₴",
    "USD": "dollar, us dollar, american dollar, united states dollar, u.s. dollar, $, us$",
    "VND": "dong, vietnamese dong, ₫",
    "ZAR": "rand, south african rand",
}
_AMBIGUOUS: Final[Mapping[str, str]] = {
    "¥": "JPY or CNY",
    "peso": "MXN, PHP, ARS, CLP or COP",
    "krone": "NOK or DKK",
    "krona": "SEK or ISK",
}

Currency = Annotated[str, Field(description="currency code, such as USD", max_length=40)]
Amount = Annotated[float, Field(description="how much of base", ge=0, le=1e15)]


@dataclass(frozen=True, slots=True)
class Rates:
    """What one US dollar is worth in each currency, on a day."""

    per_dollar: Mapping[str, Decimal]
    day: str
    source: str

    def convert(self, amount: Decimal, base: str, target: str) -> str:
        """Return the line that answers: the amounts, the rate, its date and source."""
        with localcontext() as context:
            context.prec = 40
            rate = self.per_dollar[target] / self.per_dollar[base]
            result = _money(amount * rate)
        return (
            f"{_plain(amount)} {base} = {result} {target} "
            f"(1 {base} = {_significant(rate, 6)} {target}; rate of {self.day}, {self.source})"
        )


def make_exchange_rate(network: Network, *, base_url: str = BASE_URL) -> Tool[..., str]:
    """Return the tool; it fetches through `network` from the service at `base_url`.

    The whole table in dollars is fetched, whatever the currencies are: so an unknown
    code gets its near ones named, and the service is not told what was asked.
    """

    @tool(network=True)
    def exchange_rate(base: Currency, target: Currency, amount: Amount = 1) -> str:
        """Convert an amount of money from one currency (base) to another (target)."""
        wanted = [_code(base), _code(target)]
        answer = network.get_json(f"{base_url}/v6/latest/USD", tool="exchange_rate")
        rates = _rates(answer, source=base_url.partition("://")[2])
        for code in wanted:
            _check_known(code, rates.per_dollar)
        return rates.convert(Decimal(str(amount)), *wanted)

    return exchange_rate


def _code(text: str) -> str:
    """Return the currency code that a code, name or sign means."""
    name = " ".join(text.split()).casefold()
    for form in (name, name.removesuffix("s")):
        if form in _AMBIGUOUS:
            raise ToolError(f"currency {text.strip()!r} could be {_AMBIGUOUS[form]}: give the code")
        for code, names in _NAMES.items():
            if form == code.casefold() or form in names.split(", "):
                return code
    if len(name) == 3 and name.isascii() and name.isalpha():
        return name.upper()
    raise _unknown(text.strip(), [])


def _check_known(code: str, per_dollar: Mapping[str, Decimal]) -> None:
    if code not in per_dollar:
        raise _unknown(code, difflib.get_close_matches(code, per_dollar, n=4, cutoff=0.5))


def _unknown(text: str, codes: list[str]) -> ToolError:
    if not codes:
        names = {name: code for code, names in _NAMES.items() for name in names.split(", ")}
        near = difflib.get_close_matches(text.casefold(), names, n=3)
        codes = list(dict.fromkeys(names[name] for name in near))
    advice = f"did you mean {', '.join(codes)}?" if codes else "give its code, such as USD or EUR"
    return ToolError(f"unknown currency {text!r}: {advice}")


def _rates(answer: Any, source: str) -> Rates:
    """Return the rates in the service's answer. Raises ToolError where it has none."""
    if not isinstance(answer, dict):
        raise ToolError(f"{source} answered without rates: try again later")
    if answer.get("result") != "success":
        reason = " ".join(str(answer.get("error-type", "no reason given")).split())[:60]
        raise ToolError(f"{source} refused: {reason}; try again later")
    per_dollar = _positive(answer.get("rates"))
    if answer.get("base_code", "USD") != "USD" or "USD" not in per_dollar:
        raise ToolError(f"{source} answered without rates in US dollars: try again later")
    return Rates(per_dollar, _day(answer.get("time_last_update_utc")), source)


def _positive(rates: Any) -> dict[str, Decimal]:
    if not isinstance(rates, dict):
        return {}
    numbers = {
        code: Decimal(rate)
        for code, rate in rates.items()
        if isinstance(rate, (int, Decimal)) and not isinstance(rate, bool)
    }
    return {code: rate for code, rate in numbers.items() if rate > 0}


def _day(text: Any) -> str:
    """Return the date, as 2026-11-30, of a time like Mon, 30 Nov 2026 00:00:01 +0000."""
    try:
        return parsedate_to_datetime(text).date().isoformat()
    except (TypeError, ValueError, AttributeError):
        return "an unknown day"


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
