"""exchange_rate against a real server on loopback that answers like open.er-api.com."""

from __future__ import annotations

import json
from typing import Any

import pytest
from loopback import Loopback, closed_port

from local_react.errors import OfflineError, ToolError
from local_react.network import Network
from local_react.tools.exchange_rate import make_exchange_rate

RATES = {"USD": 1, "CNY": 7.1234, "EUR": 0.8, "GBP": 0.75, "JPY": 150.25, "VND": 26000, "KWD": 0.3}


def body(**changes: Any) -> bytes:
    answer = {
        "result": "success",
        "base_code": "USD",
        "time_last_update_utc": "Fri, 27 Nov 2026 00:02:31 +0000",
        "rates": RATES,
    }
    return json.dumps({**answer, **changes}).encode()


def convert(*arguments: Any, answer: bytes | None = None) -> str:
    with Loopback(answer or body()).serve() as server:
        return make_exchange_rate(Network(), base_url=server.url)(*arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("USD", "CNY", 1000), "1000 USD = 7123.40 CNY (1 USD = 7.1234 CNY;"),
        (("usd", "cny"), "1 USD = 7.12 CNY"),
        (("EUR", "GBP", 10), "10 EUR = 9.38 GBP (1 EUR = 0.9375 GBP;"),
        (("USD", "CNY", 1299.99), "1299.99 USD = 9260.35 CNY"),
        (("VND", "KWD", 1), "1 VND = 0.0000115385 KWD"),
        (("EUR", "EUR", 5), "5 EUR = 5.00 EUR (1 EUR = 1 EUR;"),
        (("GBP", "JPY", 0), "0 GBP = 0.00 JPY"),
    ],
)
def test_converts_exactly(arguments: tuple[Any, ...], said: str) -> None:
    assert convert(*arguments).startswith(said)


def test_gives_the_rates_own_day_and_source() -> None:
    told = convert("USD", "EUR")
    assert "rate of 2026-11-27, 127.0.0.1:" in told
    assert "today" not in told
    assert "live" not in told


@pytest.mark.parametrize("day", [None, "yesterday", 5])
def test_says_where_the_day_is_not_known(day: Any) -> None:
    assert "rate of an unknown day" in convert("USD", "EUR", answer=body(time_last_update_utc=day))


@pytest.mark.parametrize(
    ("base", "target", "codes"),
    [
        ("US dollars", "yuan", "USD CNY"),
        ("$", "€", "USD EUR"),
        (" Euros ", "British pounds", "EUR GBP"),
        ("Dollar", "renminbi", "USD CNY"),
        ("japanese yen", "£", "JPY GBP"),
    ],
)
def test_understands_names_and_signs(base: str, target: str, codes: str) -> None:
    first, second = codes.split()
    told = convert(base, target, 2)
    assert told.startswith(f"2 {first} = ")
    assert f" {second} (" in told


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("USX", "unknown currency 'USX': did you mean USD"),
        ("ABQ", "unknown currency 'ABQ'"),
        ("yuann", "did you mean CNY"),
        ("quatloos of Triskelion", "unknown currency .* give its code"),
        ("¥", "JPY or CNY"),
        ("pesos", "MXN, PHP"),
        ("", "unknown currency ''"),
    ],
)
def test_an_unknown_currency_names_near_ones(base: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        convert(base, "EUR")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b'{"result": "error", "error-type": "quota-reached"}', "refused: quota-reached"),
        (body(rates={}), "without rates"),
        (body(rates=None), "without rates"),
        (body(rates={**RATES, "EUR": "0.8"}), "unknown currency 'EUR'"),
        (body(rates={**RATES, "EUR": -1}), "unknown currency 'EUR'"),
        (body(base_code="EUR"), "without rates in US dollars"),
        (b"[]", "without rates"),
    ],
)
def test_an_answer_without_rates_gives_no_number(answer: bytes, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        convert("USD", "EUR", answer=answer)


def test_no_network_gives_no_number() -> None:
    tool = make_exchange_rate(Network(), base_url=f"http://127.0.0.1:{closed_port()}")
    with pytest.raises(ToolError, match="no network"):
        tool("USD", "EUR")
    with pytest.raises(OfflineError):
        make_exchange_rate(Network(offline=True))("USD", "EUR")


def test_is_not_told_what_is_asked() -> None:
    with Loopback(body()).serve() as server:
        make_exchange_rate(Network(), base_url=server.url)("GBP", "JPY", 12345)
    assert server.asked == ["/v6/latest/USD"]


@pytest.mark.parametrize("amount", [-1, float("nan"), float("inf"), 1e300])
def test_an_amount_out_of_range_is_refused(amount: float) -> None:
    tool = make_exchange_rate(Network(offline=True))
    with pytest.raises(ToolError, match="argument amount"):
        tool.run({"base": "USD", "target": "EUR", "amount": amount})
