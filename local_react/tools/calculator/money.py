"""Amounts of money in an expression: signs, codes and words of currencies."""

from __future__ import annotations

import re
from typing import Final

from local_react.errors import ToolError

_SIGNS: Final = "$€£¥₹₩₽₪₺₫₴₦₱฿"
_CODES: Final = (
    "AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|IDR|ILS|INR|JPY|KRW|MXN|MYR|NGN|NOK|NZD|PHP"
    "|PLN|RON|RUB|SEK|SGD|THB|TRY|TWD|UAH|USD|VND|ZAR"
)
_OF_SIGNS: Final = {"€": "EUR", "£": "GBP", "₹": "INR", "₩": "KRW", "₽": "RUB", "₪": "ILS"}
_OF_WORDS: Final = {"dollar": "$", "euro": "EUR", "yen": "JPY", "yuan": "CNY", "rupee": "INR"}
_DOLLARS: Final = {
    **dict.fromkeys(("C", "CA"), "CAD"),
    **dict.fromkeys(("A", "AU"), "AUD"),
    **dict.fromkeys(("S", "SG"), "SGD"),
    "US": "USD",
    "NZ": "NZD",
    "HK": "HKD",
    "R": "BRL",
    "MX": "MXN",
    "NT": "TWD",
}
"""What stands before a dollar sign, and the currency that it makes of it."""
_PREFIX: Final = re.compile(rf"(?<![A-Za-z])({'|'.join(_DOLLARS)})\$")
_NAMED: Final = re.compile(
    rf"(?<![A-Za-z_])({_CODES}) ?(?=[0-9])"
    r"|(?<=[0-9])(?: (?:hundred|thousand|million|billion))? ?"
    rf"(?:({_CODES})|(?i:(?:US )?({'|'.join(_OF_WORDS)})s?))(?![A-Za-z_])"
)
"""A code before a number, or a code or word behind one."""
_ANY: Final = rf"(?:[{_SIGNS}]|{_CODES}|(?i:(?:{'|'.join(_OF_WORDS)})s?))"
_RATE: Final = re.compile(rf"{_ANY} ?(?:/|per) ?{_ANY}")
_AMOUNT: Final = re.compile(
    rf"(?<=[{_SIGNS}])([0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]+)(\.[0-9]+)?"
    r"(?: ?(k|m|mn|b|bn)(?![a-z]))?",
    re.IGNORECASE,
)
"""An amount of money: one number whatever stands around it."""


def has_currency(expression: str) -> bool:
    """Return True where a currency's sign stands in the expression."""
    return any(sign in expression for sign in _SIGNS)


def without_currency(text: str) -> str:
    """Return the text without the signs of its currency and the codes before numbers; what
    stands behind a number stays, as a word.

    Raises ToolError where it mixes currencies and no rate of one to another is among them.
    """
    found = _currencies(text)
    if len(found) > 1 and not _RATE.search(text):
        told = " and ".join(sorted(found.values()))
        raise ToolError(f"mixed currencies {told}: convert them to one first")
    text = _AMOUNT.sub(_plain, _PREFIX.sub("$", text))
    text = re.sub(rf"(?<=[{_SIGNS}])([0-9.,]+) ?/ ?(?=[a-z]{{3}})", r"\1 per ", text)
    text = re.sub(rf"(?<![A-Za-z_])(?:{_CODES}) ?(?=[{_SIGNS}0-9])", "", text)
    text = re.sub(rf"(?<=[0-9])(?={_CODES}(?![A-Za-z_]))", " ", text)
    return text.translate({ord(sign): None for sign in _SIGNS})


def _currencies(text: str) -> dict[str, str]:
    """Return the currencies of the amounts in a text, and how each is written there; a plain
    dollar is any of those that are named."""
    found = {_OF_SIGNS.get(sign, sign): sign for sign in text if sign in _SIGNS}
    for match in _NAMED.finditer(text):
        code, word = match[1] or match[2], (match[3] or "").lower()
        if word or not re.search(rf"(?<![A-Za-z_]){code}\s*=(?!=)", text):
            found.setdefault(_OF_WORDS.get(word, code), word or code)
    if prefixes := {_DOLLARS[match[1]]: match[0] for match in _PREFIX.finditer(text)}:
        found.pop("$", None)
        found = {**prefixes, **found}
    if any(code.endswith("D") for code in found):
        found.pop("$", None)
    if {"JPY", "CNY"} & set(found):
        found.pop("¥", None)
    return found


def _plain(found: re.Match[str]) -> str:
    """Return $1,000 as $1000, and $3B as $3 billion."""
    word = {"k": " thousand", "m": " million", "b": " billion"}.get(
        (found[3] or "")[:1].lower(), ""
    )
    return f"{found[1].replace(',', '')}{found[2] or ''}{word}"
