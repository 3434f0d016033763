"""exchange_rate against real servers on loopback that answer like the two services."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, closed_port

from local_react.errors import OfflineError, ToolError
from local_react.network import Network, Outgoing, Reply
from local_react.tools import builtin_tools
from local_react.tools.base import AnyTool
from local_react.tools.exchange_rate import make_exchange_rate
from local_react.tools.exchange_rate.currencies import code_of
from local_react.tools.exchange_rate.rates import load_rates

RATES = {"USD": 1, "CNY": 7.1234, "EUR": 0.8, "GBP": 0.75, "JPY": 150.25, "VND": 26000, "KWD": 0.3}
EUROPEAN = {"CNY": 7.1, "EUR": 0.9, "GBP": 0.7}
HOUR = 3600.0


def seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).replace(tzinfo=timezone.utc).timestamp()


SUNDAY = seconds("2026-11-29T10:00")
"""Two days after the Friday that the rates are of."""


def body(**changes: Any) -> bytes:
    answer = {
        "result": "success",
        "base_code": "USD",
        "time_last_update_utc": "Fri, 27 Nov 2026 00:02:31 +0000",
        "rates": RATES,
    }
    return json.dumps({**answer, **changes}).encode()


def second_body(**changes: Any) -> bytes:
    answer = {"amount": 1.0, "base": "USD", "date": "2026-11-26", "rates": EUROPEAN}
    return json.dumps({**answer, **changes}).encode()


@dataclass
class Office:
    """Two servers, a clock, and a file for what is kept."""

    first: Loopback
    second: Loopback
    kept: Path
    time: float = SUNDAY
    network: Network = field(default_factory=lambda: Network("allow"))

    def tool(self) -> AnyTool:
        return make_exchange_rate(
            self.network,
            base_url=self.first.url,
            second_url=self.second.url,
            kept_at=self.kept,
            now=lambda: self.time,
        )

    def convert(self, *arguments: Any) -> str:
        told = self.tool()(*arguments)
        assert isinstance(told, str)
        return told

    @contextmanager
    def unreachable(self) -> Iterator[None]:
        """Until the block ends nothing answers at the servers' addresses."""
        urls = self.first.url, self.second.url
        nowhere = f"http://127.0.0.1:{closed_port()}"
        self.first.url = self.second.url = nowhere
        yield
        self.first.url, self.second.url = urls


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    with Loopback(body()).serve() as first, Loopback(second_body()).serve() as second:
        yield Office(first, second, tmp_path / "data" / "rates.json")


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
        (("US dollars", "yuan", 2), "2 USD = 14.25 CNY"),
    ],
)
def test_converts_exactly(office: Office, arguments: tuple[Any, ...], said: str) -> None:
    assert office.convert(*arguments).startswith(said)


def test_gives_the_rates_own_day_and_source_and_friday_is_not_old_on_a_sunday(
    office: Office,
) -> None:
    told = office.convert("USD", "EUR")
    assert told.endswith(f"; rate of 2026-11-27, {office.first.url.removeprefix('http://')})")
    assert not any(word in told for word in ("today", "live", "old"))


@pytest.mark.parametrize("day", [None, "yesterday", 5])
def test_says_where_the_day_is_not_known(office: Office, day: Any) -> None:
    office.first.body = body(time_last_update_utc=day)
    assert "rate of an unknown day" in office.convert("USD", "EUR")
    office.time += 72 * HOUR
    with office.unreachable():
        assert "rates of an unknown day, fetched 3 days ago;" in office.convert("USD", "EUR")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("dollars", "USD"),
        ("US dollars", "USD"),
        ("U.S. Dollars", "USD"),
        ("American dollars", "USD"),
        ("US Dollar (USD)", "USD"),
        ("$", "USD"),
        ("€", "EUR"),
        (" Euros ", "EUR"),
        ("£", "GBP"),
        ("British pounds", "GBP"),
        ("UK pounds", "GBP"),
        ("pounds sterling", "GBP"),
        ("yuan", "CNY"),
        ("renminbi", "CNY"),
        ("人民币", "CNY"),
        ("美元", "USD"),
        ("Swiss francs", "CHF"),
        ("Franken", "CHF"),
        ("schweizer franken", "CHF"),
        ("Indian rupees", "INR"),
        ("rupee", "INR"),
        ("Mexican pesos", "MXN"),
        ("Korean won", "KRW"),
        ("zlotys", "PLN"),
        ("zł", "PLN"),
        ("₺", "TRY"),
        ("₴", "UAH"),
        ("C$", "CAD"),
        ("NT$", "TWD"),
        ("рублей", "RUB"),
        ("Japan", "JPY"),
        ("currency of Brazil", "BRL"),
        ("XAU", "XAU"),
        ("German marks", "DEM"),
    ],
)
def test_understands_codes_names_and_signs(text: str, code: str) -> None:
    assert code_of(text) == code


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("yuann", "unknown currency 'yuann': did you mean CNY"),
        ("quatloos of Triskelion", "unknown currency .* give its code"),
        ("¥", "JPY or CNY"),
        ("pesos", "could be ARS, .*MXN, PHP"),
        ("krone", "could be DKK, NOK"),
        ("dinars", "could be BHD"),
        ("", "unknown currency ''"),
        ("100 USD", "holds a number: give that as amount"),
    ],
)
def test_an_unclear_currency_names_near_ones(text: str, message: str) -> None:
    with pytest.raises(ToolError, match=message):
        code_of(text)


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("USX", "unknown currency 'USX': did you mean USD"),
        ("ABQ", "unknown currency 'ABQ'"),
        ("gold", r"has no rate for XAU \(Gold\)"),
        ("DEM", r"has no rate for DEM \(German Mark\)"),
    ],
)
def test_a_currency_without_a_rate_gives_no_number(office: Office, base: str, message: str) -> None:
    with pytest.raises(ToolError, match=message) as caught:
        office.convert(base, "EUR")
    assert "\n" not in str(caught.value)


def test_the_second_service_answers_where_the_first_does_not(office: Office) -> None:
    office.first.status = 403
    told = office.convert("EUR", "GBP", 9)
    assert told.startswith("9 EUR = 7.00 GBP")
    host = office.second.url.removeprefix("http://")
    assert told.endswith(f"rate of 2026-11-26, {host} (European Central Bank))")
    assert office.second.asked == ["/v1/latest?base=USD"]


def test_the_second_service_is_not_asked_where_the_first_answers(office: Office) -> None:
    office.convert("EUR", "GBP")
    assert office.second.asked == []


def test_what_only_the_first_has_is_told_as_missing_with_the_reason(office: Office) -> None:
    office.first.status = 403
    with pytest.raises(ToolError, match=r"no rate for VND \(Vietnamese Dong\); .*HTTP 403"):
        office.convert("VND", "EUR")


UNUSABLE = [
    (b'{"result": "error", "error-type": "quota-reached"}', "refused: quota-reached"),
    (body(rates={}), "without rates"),
    (body(rates=None), "without rates"),
    (body(rates={**RATES, "USD": 2}), "without rates"),
    (body(base_code="EUR"), "without rates in US dollars"),
    (b"[]", "without rates"),
    (b"<html>", "did not answer with JSON"),
]


UNUSABLE_SECOND = [b"[]", second_body(base="EUR"), second_body(amount=2), second_body(rates=None)]


@pytest.mark.parametrize(
    ("first", "message", "second"),
    [
        *((answer, message, b"{") for answer, message in UNUSABLE),
        *((b"[]", "without rates", answer) for answer in UNUSABLE_SECOND),
    ],
)
def test_answers_without_rates_give_no_number(
    office: Office, first: bytes, message: str, second: bytes
) -> None:
    office.first.body, office.second.body = first, second
    with pytest.raises(ToolError, match=f"no rates could be had: .*{message}.*; ") as caught:
        office.convert("USD", "EUR")
    assert "\n" not in str(caught.value)
    assert len(office.first.asked) == len(office.second.asked) == 1
    assert load_rates(office.kept) == []


@pytest.mark.parametrize("rate", ["0.8", -1, 0, True, None])
def test_a_rate_that_is_none_is_left_out(office: Office, rate: Any) -> None:
    office.first.body = body(rates={**RATES, "JPY": rate})
    with pytest.raises(ToolError, match=r"no rate for JPY \(Japanese Yen\)"):
        office.convert("USD", "JPY")


def test_no_network_and_nothing_kept_gives_no_number(office: Office) -> None:
    with office.unreachable(), pytest.raises(ToolError, match=r"no network.*; no network"):
        office.convert("USD", "EUR")
    office.network = Network("deny")
    with pytest.raises(OfflineError, match="needs the network"):
        office.convert("USD", "EUR")


def test_kept_rates_answer_without_asking_until_new_ones_are_due(office: Office) -> None:
    office.first.body = body(time_next_update_unix=int(SUNDAY + 20 * HOUR))
    first = office.convert("USD", "CNY", 3)
    office.time += 20 * HOUR
    assert office.convert("USD", "CNY", 3) == first
    assert len(office.first.asked) == 1
    office.time += 0.2 * HOUR
    office.convert("USD", "CNY", 3)
    assert len(office.first.asked) == 2


@pytest.mark.parametrize(("due", "hours"), [(None, 12), ("soon", 12), (1 << 39, 48)])
def test_rates_are_not_taken_for_the_newest_for_ever(
    office: Office, due: Any, hours: float
) -> None:
    office.first.body = body(time_next_update_unix=due)
    office.convert("USD", "CNY")
    office.time += (hours - 0.1) * HOUR
    office.convert("USD", "CNY")
    assert len(office.first.asked) == 1
    office.time += 0.2 * HOUR
    office.convert("USD", "CNY")
    assert len(office.first.asked) == 2


def test_a_clock_that_was_ahead_does_not_keep_rates_for_ever(office: Office) -> None:
    office.convert("USD", "CNY")
    office.time -= 100 * HOUR
    office.convert("USD", "CNY")
    assert len(office.first.asked) == 2


def test_old_rates_answer_with_their_day_and_age_where_no_service_does(office: Office) -> None:
    office.first.body = body(time_last_update_utc="Tue, 02 Jan 2024 00:02:31 +0000")
    office.time = seconds("2024-01-02T08:00")
    office.convert("USD", "EUR")
    office.time = seconds("2026-11-30T08:00")
    with office.unreachable():
        told = office.convert("USD", "EUR", 10)
    assert told.startswith("10 USD = 8.00 EUR (1 USD = 0.8 EUR; rates of 2024-01-02, 1063 days old")
    assert "no newer ones could be had" in told
    assert "today" not in told
    assert "live" not in told


@pytest.mark.parametrize(("hours", "age"), [(13, "2 days old"), (-20, "1 day old")])
def test_the_age_is_the_rates_not_the_files(office: Office, hours: float, age: str) -> None:
    office.convert("USD", "EUR")
    office.time += hours * HOUR
    with office.unreachable():
        assert f"rates of 2026-11-27, {age};" in office.convert("USD", "EUR")


def test_offline_kept_rates_answer_and_the_tool_needs_no_network(office: Office) -> None:
    office.convert("USD", "EUR")
    office.time += 480 * HOUR
    office.network = Network("deny")
    offline = office.tool()
    assert not offline.network
    assert "rates of 2026-11-27, 22 days old" in offline("USD", "EUR")
    assert office.network.refused == []
    assert len(office.first.asked) == 1


def test_what_is_declared_of_the_network(office: Office) -> None:
    assert office.tool().network
    office.network = Network("deny")
    assert not office.tool().network  # it is there, and says that nothing is kept
    with pytest.raises(OfflineError):
        office.convert("USD", "EUR")
    office.network = Network("allow")
    office.convert("USD", "EUR")
    assert office.tool().network


def test_the_user_s_no_is_asked_for_once_and_kept_rates_answer(office: Office) -> None:
    asked: list[Outgoing] = []

    def no(outgoing: Outgoing) -> Reply:
        asked.append(outgoing)
        return "no"

    office.convert("USD", "EUR")
    office.time += 48 * HOUR
    office.network = Network("ask", ask=no)
    assert "rates of 2026-11-27, 4 days old" in office.convert("USD", "EUR")
    assert len(asked) == 1
    office.kept.unlink()
    with pytest.raises(ToolError, match="the user does not let"):
        office.convert("USD", "EUR")


def test_each_service_s_rates_are_kept_beside_the_other_s(office: Office) -> None:
    office.convert("USD", "VND")
    office.time += 24 * HOUR
    office.first.status = 403
    assert office.convert("EUR", "GBP", 9).startswith("9 EUR = 7.00 GBP")
    assert "rates of 2026-11-27, 3 days old" in office.convert("USD", "VND")
    assert len(office.second.asked) == 1


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"tables": 5}',
        b'{"tables": {"x": 5}}',
        b"[" * 100_000,
        b'{"tables": {"x": {"per_dollar": {"USD": "1", "EUR": "x"}, "day": "2026-11-27",'
        b' "fetched": 1, "due": 9e99}}}',
        b'{"tables": {"x": {"per_dollar": {"USD": "1", "EUR": "-2"}, "day": null,'
        b' "fetched": 1, "due": 9e99}}}',
        b'{"tables": {"x": {"per_dollar": {"USD": "1", "EUR": "2"}, "day": null,'
        b' "fetched": NaN, "due": 9e99}}}',
        b'{"tables": {"x": {"per_dollar": {"USD": "1", "EUR": "2"}, "day": null,'
        b' "fetched": 1e99, "due": 9e99}}}',
    ],
)
def test_a_damaged_file_is_ignored_and_replaced(office: Office, damage: bytes) -> None:
    office.kept.parent.mkdir()
    office.kept.write_bytes(damage)
    assert load_rates(office.kept) == []
    assert office.convert("USD", "EUR").startswith("1 USD = 0.8 EUR")
    assert [rates.per_dollar["EUR"] for rates in load_rates(office.kept)]


def test_a_directory_that_cannot_be_written_to_is_no_fault(office: Office) -> None:
    office.kept.parent.write_text("a file, not a directory")
    assert office.convert("USD", "EUR").startswith("1 USD = 0.8 EUR")


def test_what_is_kept_is_the_user_s_alone_and_lies_in_the_data_directory(
    office: Office, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LOCAL_REACT_DATA_DIR", str(tmp_path / "mine"))
    first, second = office.first.url, office.second.url
    make_exchange_rate(Network("allow"), base_url=first, second_url=second)("USD", "EUR")
    (kept,) = (tmp_path / "mine").glob("*rates*")
    assert kept.stat().st_mode & 0o077 == 0
    names = [tool.name for tool in builtin_tools(Network("deny"))]
    assert "exchange_rate" in names


def test_is_not_told_what_is_asked(office: Office) -> None:
    office.convert("GBP", "JPY", 12345)
    assert office.first.asked == ["/v6/latest/USD"]


@pytest.mark.parametrize("amount", [-1, float("nan"), float("inf"), 1e300])
def test_an_amount_out_of_range_is_refused(office: Office, amount: float) -> None:
    with pytest.raises(ToolError, match="argument amount"):
        office.tool().run({"base": "USD", "target": "EUR", "amount": amount})


def test_in_private_nothing_is_written(office: Office, own_places: None, tmp_path: Path) -> None:
    office.network = Network("allow", private=True)
    assert office.convert("USD", "EUR").startswith("1 USD = 0.8 EUR")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
