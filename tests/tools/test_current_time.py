"""current_time with a fixed clock: rules, names, and a machine without a database."""

from __future__ import annotations

import socket
import sys
import zoneinfo
from collections.abc import Iterator
from datetime import datetime, timezone
from functools import cache

import pytest

from local_react.errors import ToolError
from local_react.tools.current_time import (
    cities,
    current_time,
    finding,
    make_current_time,
    zones,
)
from local_react.tools.names import key, loose, may_hold


@pytest.fixture(autouse=True, scope="module")
def read_once() -> Iterator[None]:
    """The smaller cities are let go after each name, but not between these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cities, "_read", cache(cities._read))
        yield


def at(moment: str, place: str = "", compare_with: str = "") -> str:
    now = datetime.fromisoformat(moment).replace(tzinfo=timezone.utc)
    return make_current_time(lambda: now)(place, compare_with)


NOW = "2026-11-30T02:05:00"
SUMMER = "2026-07-30T02:05:00"


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
    ("place", "zone", "taken"),
    [
        ("London", "Europe/London", "London, United Kingdom"),
        ("London, UK", "Europe/London", "London, United Kingdom"),
        ("new_york", "America/New_York", "New York, United States"),
        ("nyc", "America/New_York", "New York, United States"),
        ("LA", "America/Los_Angeles", "Los Angeles, United States"),
        ("the time in São Paulo?", "America/Sao_Paulo", "Sao Paulo, Brazil"),
        ("what time is it in Tokyo right now?", "Asia/Tokyo", "Tokyo, Japan"),
        ("Zürich", "Europe/Zurich", "Zurich, Switzerland"),
        ("Singapore", "Asia/Singapore", "Singapore"),
        # GeoNames
        ("Beijing", "Asia/Shanghai", "Beijing, China"),
        ("beijing time", "Asia/Shanghai", "Beijing, China"),
        ("北京", "Asia/Shanghai", "Beijing, China"),
        ("Peking", "Asia/Shanghai", "Beijing, China"),
        ("Asia/Beijing", "Asia/Shanghai", "Beijing, China"),
        ("München", "Europe/Berlin", "Munich, Germany"),
        ("दिल्ली", "Asia/Kolkata", "Delhi, India"),
        ("Mumbai", "Asia/Kolkata", "Mumbai, India"),
        ("St. Louis", "America/Chicago", "St. Louis, Missouri, United States"),
        ("saint louis, missouri", "America/Chicago", "St. Louis, Missouri, United States"),
        ("SF", "America/Los_Angeles", "San Francisco, California, United States"),
        ("Washington", "America/New_York", "Washington, District of Columbia, United States"),
        ("New York, NY", "America/New_York", "New York City, New York, United States"),
        ("Washington, D.C.", "America/New_York", "Washington, District of Columbia, United States"),
        ("Buenos Aires", "America/Argentina/Buenos_Aires", "Buenos Aires, Argentina"),
        ("Zermatt", "Europe/Zurich", "Zermatt, Switzerland"),
        # Which of several
        ("Springfield", "America/Chicago", "Springfield, Missouri, United States"),
        ("Springfield, MA", "America/New_York", "Springfield, Massachusetts, United States"),
        ("Springfield, IL, USA", "America/Chicago", "Springfield, Illinois, United States"),
        ("Portland, Maine", "America/New_York", "Portland, Maine, United States"),
        ("Portland Oregon", "America/Los_Angeles", "Portland, Oregon, United States"),
        ("London, Ontario", "America/Toronto", "London, Ontario, Canada"),
        ("Paris (Texas)", "America/Chicago", "Paris, Texas, United States"),
        ("Athens, Georgia", "America/New_York", "Athens, Georgia, United States"),
        ("Tbilisi, Georgia", "Asia/Tbilisi", "Tbilisi, Georgia"),
        ("Richmond, CA", "America/Los_Angeles", "Richmond, California, United States"),
        ("San Juan", "America/Puerto_Rico", "San Juan, Puerto Rico"),
        ("Köln, Deutschland", "Europe/Berlin", "Köln, Germany"),
        ("Campinas, São Paulo", "America/Sao_Paulo", "Campinas, Brazil"),
        # By a second name, and not by what was once another's
        ("Odessa", "Europe/Kyiv", "Odesa, Ukraine"),
        ("Venice", "Europe/Rome", "Venice, Italy"),
        # Countries and states
        ("China", "Asia/Shanghai", "most of China"),
        ("Spain", "Europe/Madrid", "most of Spain"),
        ("Germany", "Europe/Berlin", "Germany"),
        ("south korea", "Asia/Seoul", "South Korea"),
        ("Turkey", "Europe/Istanbul", "Türkiye"),
        ("Trinidad and Tobago", "America/Port_of_Spain", "Trinidad & Tobago"),
        ("California", "America/Los_Angeles", "California, United States"),
        ("Texas", "America/Chicago", "most of Texas, United States"),
        ("Queensland, Australia", "Australia/Brisbane", "Queensland, Australia"),
        ("Scotland", "Europe/London", "Scotland, United Kingdom"),
        ("Deutschland", "Europe/Berlin", "Germany"),
        ("Allemagne", "Europe/Berlin", "Germany"),
        ("日本", "Asia/Tokyo", "Japan"),
        ("대한민국", "Asia/Seoul", "South Korea"),
        # Which of a city and a country in another language
        ("Granada", "Europe/Madrid", "Granada, Spain"),
        ("Tailandia", "Asia/Bangkok", "Thailand"),
        ("França", "Europe/Paris", "France"),
    ],
)  # fmt: skip
def test_finds_the_zone_of_a_place_and_says_what_it_took(place: str, zone: str, taken: str) -> None:
    told = at(NOW, place)
    assert f" in {zone} (" in told
    assert told.endswith(f"; {taken})")


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("EST5EDT", "Sunday 2026-11-29 21:05:00 EST5EDT (EST, UTC-05:00)"),
        ("Etc/GMT+5", "Sunday 2026-11-29 21:05:00 in Etc/GMT+5 (UTC-05:00)"),
        ("US/Pacific", "Sunday 2026-11-29 18:05:00 in US/Pacific (PST, UTC-08:00)"),
        ("asia/tokyo", "Monday 2026-11-30 11:05:00 in Asia/Tokyo (JST, UTC+09:00)"),
    ],
)
def test_takes_the_names_of_zones_as_they_are(place: str, told: str) -> None:
    assert at(NOW, place) == told


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
        ("UTC+2h", "Monday 2026-11-30 04:05:00 UTC+02:00"),
        ("utc plus 2", "Monday 2026-11-30 04:05:00 UTC+02:00"),
        ("GMT minus 3 hours", "Sunday 2026-11-29 23:05:00 UTC-03:00"),
        ("UTC+5.5", "Monday 2026-11-30 07:35:00 UTC+05:30"),
        ("UTC+5.75", "Monday 2026-11-30 07:50:00 UTC+05:45"),
    ],
)
def test_takes_utc_and_offsets(place: str, told: str) -> None:
    assert at(NOW, place) == told


@pytest.mark.parametrize("place", ["UTC+15", "UTC-13", "UTC+14:01", "utc minus 20 hours"])
def test_no_place_is_further_from_utc_than_one_is(place: str) -> None:
    with pytest.raises(ToolError, match=r"no place has the offset .* from UTC-12 to UTC\+14"):
        at(NOW, place)


@pytest.mark.parametrize(
    ("moment", "name", "told"),
    [
        (NOW, "CET", "Monday 2026-11-30 03:05:00 CET (UTC+01:00)"),
        (NOW, "EST", "Sunday 2026-11-29 21:05:00 EST (UTC-05:00)"),
        (NOW, "jst", "Monday 2026-11-30 11:05:00 JST (UTC+09:00)"),
        (NOW, "Pacific Time", "Sunday 2026-11-29 18:05:00 in America/Los_Angeles (PST, UTC-08:00)"),
        (NOW, "ET", "Sunday 2026-11-29 21:05:00 in America/New_York (EST, UTC-05:00)"),
        (NOW, "India Standard Time", "Monday 2026-11-30 07:35:00 in Asia/Kolkata (IST, UTC+05:30)"),
        # Named in winter's words in summer: what is on the clocks there is said.
        (
            SUMMER,
            "EST",
            "Wednesday 2026-07-29 21:05:00 EST (UTC-05:00); "
            "America/New_York now has EDT, UTC-04:00",
        ),
        (SUMMER, "MST", "Wednesday 2026-07-29 19:05:00 MST (UTC-07:00)"),
        (
            NOW,
            "BST",
            "Monday 2026-11-30 03:05:00 BST (UTC+01:00); Europe/London now has GMT, UTC+00:00",
        ),
    ],
)
def test_takes_abbreviations_and_names_of_times(moment: str, name: str, told: str) -> None:
    assert at(moment, name) == told


@pytest.mark.parametrize(("name", "known"), sorted(finding._ALSO.items()))
def test_what_people_say_leads_to_what_is_known(name: str, known: str) -> None:
    assert at(NOW, name) == at(NOW, known)


def test_of_an_abbreviation_of_several_times_the_others_are_named() -> None:
    told = at(NOW, "PST")
    assert told.startswith("Sunday 2026-11-29 18:05:00 PST (UTC-08:00); PST is also Asia/Manila")
    assert "Asia/Shanghai (UTC+08:00)" in at(NOW, "CST")
    with pytest.raises(ToolError, match="IST could be ") as caught:
        at(NOW, "IST")
    for meant in ("Asia/Kolkata (UTC+05:30)", "Europe/Dublin (UTC+01:00)", "Asia/Jerusalem"):
        assert meant in str(caught.value)


@pytest.mark.parametrize("place", ["", "  ", "local", "here", "now"])
def test_empty_is_the_time_here(place: str) -> None:
    here = datetime.fromisoformat(NOW).replace(tzinfo=timezone.utc).astimezone()
    told = at(NOW, place)
    assert f"{here:%Y-%m-%d %H:%M:%S} local time (UTC{here:%z}"[:-2] in told


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("Tokyo", "London", "Tokyo is 9 h ahead of London. Tokyo: Monday 2026-11-30 11:05:00 in "),
        ("London", "Tokyo", "London is 9 h behind Tokyo. London: "),
        ("Kathmandu", "New York", "Kathmandu is 10 h 45 min ahead of New York, and its date is 1 "),
        ("Honolulu", "Kiritimati", "Honolulu is 24 h behind Kiritimati, and its date is 1 day ear"),
        ("Paris", "Berlin", "Paris has the same time as Berlin. Paris: "),
        ("Asia/Kolkata", "UTC", "Kolkata is 5 h 30 min ahead of UTC. Kolkata: "),
        ("UTC+2", "EST", "UTC+02:00 is 7 h ahead of EST, and its date is 1 day later. UTC+02:00: "),
        ("Tokyo and London", "", "Tokyo is 9 h ahead of London. "),
        ("Tokyo vs. London", "", "Tokyo is 9 h ahead of London. "),
        ("the time difference between Tokyo and Beijing", "", "Tokyo is 1 h ahead of Beijing. "),
        (
            "Springfield, Illinois",
            "Springfield, Oregon",
            "Springfield, Illinois, United States is 2 h ahead of Springfield, Oregon, ",
        ),
    ],
)
def test_tells_two_places_apart(one: str, other: str, said: str) -> None:
    told = at(NOW, one, other)
    assert told.startswith(said)
    assert "\n" not in told


def test_the_difference_follows_the_rules_of_both_zones() -> None:
    assert "is 5 h behind London" in at(NOW, "New York", "London")
    # In these weeks the United States already have summer time.
    assert "is 4 h behind London" in at("2026-03-20T12:00", "New York", "London")


def test_the_second_place_may_be_the_first_or_here() -> None:
    assert at(NOW, "Tokyo", "tokyo") == at(NOW, "Tokyo")
    told = at(NOW, "here", "UTC+14")
    assert told.startswith("here is ")
    assert "local time (UTC" in told


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("Lndon", "unknown place 'Lndon': did you mean London"),
        ("Nairobbi", "did you mean Nairobi"),
        ("Xqzzy", "write a zone such as Europe/Paris"),
        ("UTC+20", "UTC-12 to UTC.14"),
        ("United States", "United States has several times: .*America/New_York, America/Chicago"),
        ("USA", "United States has several times"),
        ("Россия", "Russia has several times: .*Europe/Moscow"),
        ("Kentucky", "Kentucky has several times: .*America/New_York, America/Chicago"),
        ("Guadalajara, Xyz", "'Xyz' is no region known here, .*Guadalajara, Mexico .*Spain"),
        ("Xyz, Abc", "unknown place"),
        ("../../etc/passwd", "unknown place"),
        ("/etc/passwd", "unknown place"),
        ("\0", "unknown place"),
        ("localtime", "unknown place"),
        ("zz", "unknown place"),
    ],
)
def test_an_unclear_place_names_near_ones(place: str, message: str) -> None:
    with pytest.raises(ToolError, match=message) as caught:
        at(NOW, place)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("Xqzzy, France", "in Europe/Paris (CET, UTC+01:00; France); no 'Xqzzy' is known there"),
        ("Paris, Vermont", "(EST, UTC-05:00; Vermont, United States); no 'Paris' is known there"),
    ],
)
def test_a_place_too_small_has_the_time_of_its_country_or_state(place: str, said: str) -> None:
    assert said in at(NOW, place)


def test_every_city_s_zone_is_in_the_database() -> None:
    known = zoneinfo.available_timezones()
    assert {row.zone for row in cities._read(15_000)} <= known


@pytest.mark.parametrize(
    "names",
    [
        ["Saint John's", "St. John’s", "st johns", "SAINT-JOHN'S"],
        ["München", "munchen", "MU\u0308NCHEN"],
        ["The Hague", "hague"],
        ["Trinidad & Tobago", "trinidad and tobago"],
        ["दिल्ली"],
        ["ガーナ"],
        ["Port-au-Prince", "port au prince"],
        ["St", "st"],
    ],
)
def test_spellings_of_a_name_have_one_key(names: list[str]) -> None:
    assert len({key(name) for name in names}) == 1
    text = loose("\n".join(["Elsewhere", *names]))
    assert {key(line) for line in text.split("\n")} == {"elsewhere", key(names[0])}
    assert may_hold(text, key(names[0]))
    assert not may_hold(loose("Elsewhere\n東京"), "nowhere")


@pytest.fixture
def no_database(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    kept = (zones.full_names, zones.listed, zones.listed_cities, zones.other_places)

    def forget() -> None:
        zoneinfo.ZoneInfo.clear_cache()
        for function in kept:
            function.cache_clear()

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
    assert at(NOW, "UTC+2", "UTC").startswith("UTC+02:00 is 2 h ahead of UTC. ")
    for place in ("Europe/Paris", "Beijing", "France", "EST"):
        with pytest.raises(ToolError, match="pip install tzdata"):
            at(NOW, place)


def test_the_ready_tool_tells_the_real_time_and_opens_no_socket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "socket", None)
    before = datetime.now(timezone.utc).replace(microsecond=0)
    told = current_time.run({"place": "UTC"})
    after = datetime.now(timezone.utc)
    assert isinstance(told, str)
    moment = datetime.strptime(told.partition(" ")[2], "%Y-%m-%d %H:%M:%S UTC")
    assert before <= moment.replace(tzinfo=timezone.utc) <= after
    assert not current_time.network
    assert "Japan" in str(current_time.run({"place": "Osaka"}))


@pytest.mark.parametrize(
    ("asked", "zone"),
    [
        ("Chatham Islands", "Pacific/Chatham"),
        ("Lord Howe Island", "Australia/Lord_Howe"),
        ("Crete", "Europe/Athens"),
        ("Svalbard", "Arctic/Longyearbyen"),
        ("my time", "local time"),
        ("my", "local time"),
    ],
)
def test_places_that_are_no_city_or_country(asked: str, zone: str) -> None:
    assert zone in str(make_current_time()(asked))


@pytest.mark.parametrize("asked", ["Asia", "the EU", "EU", "Europe", "South America"])
def test_a_part_of_the_world_has_many_times(asked: str) -> None:
    with pytest.raises(ToolError, match="has many times: write a city or a country there"):
        make_current_time()(asked)
