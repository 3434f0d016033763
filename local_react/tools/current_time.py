"""current_time: the date and time now, in a zone, city or country; needs no network.

Zones and countries come from the IANA database (zoneinfo, or the package tzdata);
only cities that it has no zone for are listed here, and countries whose far islands
or borders have another time than nearly everyone.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
import zoneinfo
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone, tzinfo
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from local_react.errors import ToolError
from local_react.tools.base import Tool, tool

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_CITIES: Final[Mapping[str, str]] = {
    "Africa/Cairo": "alexandria",
    "Africa/Casablanca": "marrakesh, rabat",
    "Africa/Johannesburg": "cape town, durban, pretoria",
    "Africa/Lagos": "abuja",
    "America/Bogota": "medellin",
    "America/Chicago": "austin, dallas, houston, minneapolis, new orleans, san antonio, st louis",
    "America/Edmonton": "calgary",
    "America/Guayaquil": "ecuador, quito",
    "America/Los_Angeles": "hollywood, la, las vegas, sacramento, san diego, san francisco, "
    "seattle, sf, silicon valley, pacific time",
    "America/Mexico_City": "guadalajara mexico, puebla",
    "America/New_York": "atlanta, boston, charlotte, manhattan, miami, new york city, nyc, "
    "orlando, philadelphia, pittsburgh, washington, washington d.c., washington dc, eastern time",
    "America/Santiago": "chile",
    "America/Sao_Paulo": "brasilia, rio, rio de janeiro",
    "America/Toronto": "ottawa, quebec, quebec city",
    "Asia/Dubai": "abu dhabi",
    "Asia/Ho_Chi_Minh": "hanoi",
    "Asia/Hong_Kong": "香港",
    "Asia/Jerusalem": "tel aviv, haifa",
    "Asia/Karachi": "islamabad, lahore, rawalpindi",
    "Asia/Kolkata": "agra, ahmedabad, bangalore, bengaluru, bombay, chennai, delhi, jaipur, "
    "mumbai, new delhi, pune",
    "Asia/Riyadh": "jeddah, mecca, medina",
    "Asia/Seoul": "busan, incheon, 서울, 首尔",
    "Asia/Shanghai": "beijing, chengdu, china, guangzhou, hangzhou, nanjing, peking, shenzhen, "
    "tianjin, wuhan, xian, xi'an, 上海, 中国, 北京, 广州, 深圳",
    "Asia/Taipei": "台北",
    "Asia/Tokyo": "hiroshima, kyoto, nagoya, osaka, sapporo, yokohama, 東京, 东京",
    "Australia/Sydney": "canberra",
    "Europe/Berlin": "bonn, cologne, dresden, dusseldorf, frankfurt, germany, hamburg, koln, "
    "leipzig, munchen, munich, stuttgart",
    "Europe/Istanbul": "ankara, izmir",
    "Europe/Kyiv": "kharkiv, lviv, odesa, ukraine",
    "Europe/Lisbon": "porto, portugal",
    "Europe/London": "edinburgh, england, glasgow, great britain, liverpool, manchester, oxford, "
    "scotland, u.k., uk, united kingdom, wales, 伦敦",
    "Europe/Madrid": "barcelona, seville, spain, valencia",
    "Europe/Moscow": "saint petersburg, st petersburg, st. petersburg",
    "Europe/Amsterdam": "eindhoven, holland, rotterdam, the hague, the netherlands, utrecht",
    "Europe/Paris": "lyon, marseille, nice, toulouse, 巴黎",
    "Europe/Prague": "brno, czech republic",
    "Europe/Rome": "florence, milan, milano, naples, roma, turin, venice",
    "Europe/Vienna": "graz, salzburg, wien",
    "Europe/Warsaw": "gdansk, krakow",
    "Europe/Zurich": "basel, bern, geneva",
    "Pacific/Auckland": "christchurch, new zealand, wellington",
}
_COUNTRY_NAMES: Final[Mapping[str, str]] = {
    "america": "US",
    "u.s.": "US",
    "u.s.a.": "US",
    "uae": "AE",
    "us": "US",
    "usa": "US",
}
# Zones of these areas repeat a place under another name, or name none.
_NO_PLACES: Final = ("Etc/", "US/", "Canada/", "Mexico/", "Brazil/", "Chile/", "SystemV/")
_OFFSET: Final = re.compile(r"(?:utc|gmt)?\s*([+-])\s*(\d{1,2})(?::?([0-5]\d))?", re.IGNORECASE)
_MINUSES: Final = str.maketrans("−–—", "---")

Place = Annotated[
    str, Field(description="city, IANA zone, UTC or UTC+2; empty: here", max_length=80)
]


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)


def make_current_time(now: Callable[[], datetime] = _utc_now) -> Tool[..., str]:
    """Return the tool; `now` returns the time, aware of its zone."""

    @tool
    def current_time(place: Place = "") -> str:
        """Tell the date, weekday and time now in a city, such as Lima, or a time zone."""
        moment = now()
        name = _plain(place)
        if name in ("", "local", "local time", "here", "now"):
            return _told(moment.astimezone(), "local time")
        if name in ("utc", "z", "zulu", "gmt", "utc+0", "utc-0", "coordinated universal"):
            return _told(moment.astimezone(timezone.utc), "UTC")
        offset = _offset(name)
        if offset is not None:
            return _told(moment.astimezone(offset), str(offset))
        zone = _zone(name, moment, place.strip())
        return _told(moment.astimezone(zoneinfo.ZoneInfo(zone)), zone)

    return current_time


def _told(moment: datetime, where: str) -> str:
    """Return a line such as Monday 2026-11-30 10:05:00 in Asia/Shanghai (CST, UTC+08:00)."""
    # Not strftime's %A, which follows the locale.
    when = f"{_DAYS[moment.weekday()]} {moment:%Y-%m-%d %H:%M:%S}"
    offset = f"{moment:%z}"
    offset = f"UTC{offset[:3]}:{offset[3:5]}"
    if where == "local time":
        return f"{when} {where} ({offset})"
    if where.startswith("UTC"):
        return f"{when} {where}"
    short = moment.tzname() or ""
    # Zones without letters of their own are named by the offset, such as +0545.
    known = f"{short}, {offset}" if short.isalpha() else offset
    return f"{when} in {where} ({known})"


def _plain(text: str) -> str:
    """Return the name without case, accents, underscores and words about time."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_MINUSES))
    name = "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()
    name = " ".join(name.replace("_", " ").split()).strip(" .?!\"'")
    name = re.sub(r"^(?:the )?(?:current )?(?:local )?(?:time )?(?:in|at) ", "", name)
    return re.sub(r" (?:local )?time(?: ?zone)?$", "", name) if " " in name else name


def _offset(name: str) -> tzinfo | None:
    """Return the fixed offset that UTC+2, GMT-3:30 or +0530 means, else None."""
    match = _OFFSET.fullmatch(name)
    if match is None:
        return None
    sign, hours, minutes = match.groups()
    offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
    if offset > timedelta(hours=14):
        raise ToolError(f"no place has the offset {name!r}: write one from UTC-12 to UTC+14")
    return timezone(-offset if sign == "-" else offset)


def _zone(name: str, moment: datetime, asked: str) -> str:
    """Return the IANA zone of a place. Raises ToolError, with near names, for none."""
    places = _places()
    if not places:
        raise ToolError(
            "no time zone database on this machine: pip install tzdata "
            "(UTC, offsets such as UTC+2, and local time work without it)"
        )
    city, _, region = (part.strip() for part in name.partition(","))
    zone = places.get(name) or _in_country(name, moment)
    if zone is None and region and city in places and _belongs(places[city], region):
        zone = places[city]
    if zone is None:
        names = [*places, *_country_codes()]
        close = difflib.get_close_matches(city, names, n=3, cutoff=0.7)
        near = list(dict.fromkeys(name.title() for name in close))
        advice = f"did you mean {', '.join(near)}?" if near else "write a zone such as Europe/Paris"
        raise ToolError(f"unknown place {asked!r}: {advice}")
    return zone


def _in_country(name: str, moment: datetime) -> str | None:
    """Return the zone of a country that has one time now; ToolError where it has several."""
    code = _country_codes().get(name)
    zones = [zone for country, zone in _countries() if country == code]
    times = {moment.astimezone(zoneinfo.ZoneInfo(zone)).utcoffset() for zone in zones}
    if len(times) > 1:
        raise ToolError(
            f"{name.title() if len(name) > 4 else name.upper()} has several times: "
            f"write a city or zone, such as {', '.join(zones[:3])}"
        )
    return zones[0] if zones else None


def _belongs(zone: str, region: str) -> bool:
    """Return True where what follows a city's comma does not contradict its zone.

    A word that is no country (a state, a province) is trusted only in North America:
    "San Francisco, CA" is the one there is, "London, Ontario" is not Europe/London.
    """
    homes = {country for country, its_zone in _countries() if its_zone == zone}
    code = _country_codes().get(region.rpartition(",")[2].strip())
    alias = _places().get(region)
    return code in homes if code else alias == zone if alias else bool(homes & {"US", "CA"})


@cache
def _places() -> Mapping[str, str]:
    """Return the zone of each name: full zone names, their cities, and the table's.

    Empty where there is no time zone database.
    """
    zones = sorted(zoneinfo.available_timezones() - {"localtime", "Factory"})
    listed = {zone for _, zone in _countries()}
    # What zone.tab lists comes last and so wins: the others are old or second names.
    cities = (zone for zone in zones if "/" in zone and not zone.startswith(_NO_PLACES))
    order = sorted(cities, key=lambda zone: zone in listed)
    places = {_plain(zone.rpartition("/")[2]): zone for zone in order}
    for zone, names in _CITIES.items():
        if zone in zones:
            places.update(dict.fromkeys((_plain(name) for name in names.split(", ")), zone))
    # Old names such as "Turkey" are countries here.
    named = (zone for zone in zones if "/" in zone or _plain(zone) not in _country_codes())
    places.update({_plain(zone): zone for zone in named})
    return places


@cache
def _country_codes() -> Mapping[str, str]:
    """Return the ISO code of each country name, as the IANA database spells it."""
    rows = {_plain(name): code for code, name in _table("iso3166.tab")}
    # "Korea (South)" is also asked for as Korea and as South Korea.
    parts = {name: name.rstrip(")").partition(" (") for name in rows}
    short = {first: rows[name] for name, (first, _, _) in parts.items()}
    turned = {f"{last} {first}".strip(): rows[name] for name, (first, _, last) in parts.items()}
    return {**short, **turned, **rows, **_COUNTRY_NAMES}


@cache
def _countries() -> tuple[tuple[str, str], ...]:
    """Return (country code, zone) pairs, the most populous zone of a country first."""
    return tuple((row[0], row[2]) for row in _table("zone.tab"))


def _table(name: str) -> Iterator[list[str]]:
    """Yield the rows of a table beside the zones; none where it is not installed.

    Format: the comment at the head of zone.tab in the IANA time zone database.
    """
    for folder in (*map(Path, zoneinfo.TZPATH), None):
        try:
            root = folder or resources.files("tzdata") / "zoneinfo"
            text = (root / name).read_text(encoding="utf-8")
        except (OSError, ModuleNotFoundError):
            continue
        yield from (row.split("\t") for row in text.splitlines() if not row.startswith("#"))
        return


current_time = make_current_time()
