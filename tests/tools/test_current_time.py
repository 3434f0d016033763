"""current_time with a fixed clock: rules, names, and a machine without a database."""

from __future__ import annotations

import socket
import sys
import zoneinfo
from collections.abc import Iterator
from datetime import datetime, timezone

import pytest

from local_react.errors import ToolError
from local_react.tools import current_time as module
from local_react.tools.current_time import current_time, make_current_time


def at(moment: str, place: str = "") -> str:
    now = datetime.fromisoformat(moment).replace(tzinfo=timezone.utc)
    return make_current_time(lambda: now)(place)


NOW = "2026-11-30T02:05:00"


@pytest.mark.parametrize(
    ("moment", "zone", "told"),
    [
        ("2024-07-01T12:00", "America/New_York", "Monday 2024-07-01 08:00:00 {}(EDT, UTC-04:00)"),
        ("2024-01-15T12:00", "America/New_York", "Monday 2024-01-15 07:00:00 {}(EST, UTC-05:00)"),
        ("2024-07-01T12:00", "Europe/London", "Monday 2024-07-01 13:00:00 {}(BST, UTC+01:00)"),
        ("2024-01-15T12:00", "Europe/London", "Monday 2024-01-15 12:00:00 {}(GMT, UTC+00:00)"),
        ("2024-07-01T12:00", "Asia/Kathmandu", "Monday 2024-07-01 17:45:00 {}(UTC+05:45)"),
        ("2024-01-15T12:00", "Australia/Sydney", "Monday 2024-01-15 23:00:00 {}(AEDT, UTC+11:00)"),
        ("2024-12-31T23:30", "Pacific/Auckland", "Wednesday 2025-01-01 12:30:00 {}(NZDT, UTC+13:00)"),  # noqa: E501
        ("2024-07-01T12:00", "Australia/Lord_Howe", "Monday 2024-07-01 22:30:00 {}(UTC+10:30)"),
    ],
)  # fmt: skip
def test_follows_the_rules_of_the_zone(moment: str, zone: str, told: str) -> None:
    assert at(moment, zone) == told.format(f"in {zone} ")


@pytest.mark.parametrize(
    ("place", "zone"),
    [
        ("Beijing", "Asia/Shanghai"),
        ("beijing time", "Asia/Shanghai"),
        ("北京", "Asia/Shanghai"),
        ("Mumbai", "Asia/Kolkata"),
        ("San Francisco", "America/Los_Angeles"),
        ("San Francisco, CA", "America/Los_Angeles"),
        ("new_york", "America/New_York"),
        ("New York City", "America/New_York"),
        ("Washington, D.C.", "America/New_York"),
        ("asia/tokyo", "Asia/Tokyo"),
        ("Tokyo, Japan", "Asia/Tokyo"),
        ("the time in São Paulo?", "America/Sao_Paulo"),
        ("Zürich", "Europe/Zurich"),
        ("Paris, France", "Europe/Paris"),
        ("London, UK", "Europe/London"),
        ("Vietnam", "Asia/Ho_Chi_Minh"),
        ("Germany", "Europe/Berlin"),
        ("China", "Asia/Shanghai"),
        ("south korea", "Asia/Seoul"),
        ("Turkey", "Europe/Istanbul"),
        ("Singapore", "Asia/Singapore"),
        ("Buenos Aires", "America/Argentina/Buenos_Aires"),
        ("EST5EDT", "EST5EDT"),
        ("Etc/GMT+5", "Etc/GMT+5"),
    ],
)
def test_finds_the_zone_of_a_place(place: str, zone: str) -> None:
    assert f" in {zone} (" in at(NOW, place)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("UTC", "Monday 2026-11-30 02:05:00 UTC"),
        ("GMT", "Monday 2026-11-30 02:05:00 UTC"),
        ("utc+2", "Monday 2026-11-30 04:05:00 UTC+02:00"),
        ("UTC+05:30", "Monday 2026-11-30 07:35:00 UTC+05:30"),
        ("GMT-3", "Sunday 2026-11-29 23:05:00 UTC-03:00"),
        ("UTC−8", "Sunday 2026-11-29 18:05:00 UTC-08:00"),
        ("+0545", "Monday 2026-11-30 07:50:00 UTC+05:45"),
    ],
)
def test_takes_utc_and_offsets(place: str, told: str) -> None:
    assert at(NOW, place) == told


@pytest.mark.parametrize("place", ["", "  ", "local", "here", "now"])
def test_empty_is_the_time_here(place: str) -> None:
    here = datetime.fromisoformat(NOW).replace(tzinfo=timezone.utc).astimezone()
    told = at(NOW, place)
    assert f"{here:%Y-%m-%d %H:%M:%S} local time (UTC{here:%z}"[:-2] in told


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("Lndon", "unknown place 'Lndon': did you mean London"),
        ("Xqzzy", "write a zone such as Europe/Paris"),
        ("UTC+20", "UTC-12 to UTC.14"),
        ("United States", "United States has several times: .*America/New_York"),
        ("USA", "USA has several times"),
        ("London, Ontario", "unknown place 'London, Ontario'"),
        ("Paris, Texas", "unknown place"),
        ("Lima, Ohio", "unknown place"),
        ("../../etc/passwd", "unknown place"),
        ("/etc/passwd", "unknown place"),
        ("\0", "unknown place"),
        ("localtime", "unknown place"),
    ],
)
def test_an_unknown_place_names_near_ones(place: str, message: str) -> None:
    with pytest.raises(ToolError, match=message) as caught:
        at(NOW, place)
    assert "\n" not in str(caught.value)


def test_every_city_of_the_table_leads_to_its_zone() -> None:
    for zone, names in module._CITIES.items():
        assert zone in zoneinfo.available_timezones()
        for name in names.split(", "):
            assert f" in {zone} (" in at(NOW, name), name


@pytest.fixture
def no_database(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    caches = (module._places, module._country_codes, module._countries)

    def forget() -> None:
        zoneinfo.ZoneInfo.clear_cache()
        for cache in caches:
            cache.cache_clear()

    monkeypatch.setitem(sys.modules, "tzdata", None)
    zoneinfo.reset_tzpath(to=[])
    forget()
    yield
    zoneinfo.reset_tzpath()
    forget()


@pytest.mark.usefixtures("no_database")
def test_without_a_database_fixed_times_still_work() -> None:
    assert at(NOW, "UTC") == "Monday 2026-11-30 02:05:00 UTC"
    assert at(NOW, "UTC+2") == "Monday 2026-11-30 04:05:00 UTC+02:00"
    assert "local time" in at(NOW)
    for place in ("Europe/Paris", "Beijing", "France"):
        with pytest.raises(ToolError, match="pip install tzdata"):
            at(NOW, place)


def test_the_ready_tool_tells_the_real_time_and_opens_no_socket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "socket", None)
    before = datetime.now(timezone.utc).replace(microsecond=0)
    told = current_time.run({"place": "UTC"})
    after = datetime.now(timezone.utc)
    moment = datetime.strptime(told.partition(" ")[2], "%Y-%m-%d %H:%M:%S UTC")
    assert before <= moment.replace(tzinfo=timezone.utc) <= after
    assert not current_time.network
