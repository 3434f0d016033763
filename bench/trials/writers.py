"""Everything small that is kept, written again and again in a process that will be killed.

`wrote` says on standard output what it has confirmed; `faults` looks, in a new process,
whether that is there, and writes once more.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from datetime import date
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np

from local_react.catalog import added_models
from local_react.catalog.added import keep_name
from local_react.cli.main import run
from local_react.history import History
from local_react.network import Ledger
from local_react.network.answers import Answers, Kept
from local_react.places import config_dir, data_dir
from local_react.prefix_cache import PrefixCache, prefix_dir
from local_react.profiles import Profile, load_profile, save_profile
from local_react.tools.exchange_rate.rates import Rates, keep_rates, load_rates

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

_KEYS: Final = {"a": "max-steps", "b": "thought-tokens"}
"""What each of two processes sets."""
_BODY: Final = bytes(range(256)) * 400


def wrote(kind: str, who: str, most: int | None = None) -> None:
    """Write over and over, and say the number of each time that is confirmed."""
    for number in count(1) if most is None else range(1, most + 1):
        if WRITES[kind](who, number):
            print(number, flush=True)


def faults(kind: str, confirmed: Mapping[str, int]) -> None:
    """Print what is lost of that many confirmed times of each writer, or damaged."""
    for who, most in confirmed.items():
        there = [number for number in range(1, most + 1) if HELD[kind](who, number)]
        if missing := _missing(kind, most, there):
            print(f"{who} wrote {missing}, which is gone")
    if not WRITES[kind]("a", 900):
        print("it cannot be written any more")
    elif not HELD[kind]("a", 900):
        print("what is written now does not stay")


def _missing(kind: str, most: int, there: Iterable[int]) -> list[int]:
    """Return which numbers are not there that should be."""
    last_alone = kind in _OVERWRITTEN
    wanted = {most} if last_alone and most else set(range(1, most + 1))
    return [] if kind in _CACHES else sorted(wanted - set(there))


def _command(*arguments: str) -> bool:
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = run(list(arguments))
    if code:
        print(said.getvalue(), file=sys.stderr)
    return code == 0


def _set(who: str, number: int) -> bool:
    return _command("config", "set", _KEYS[who], str(number))


def _is_set(who: str, number: int) -> bool:
    text = (config_dir() / "config.toml").read_text()
    values = {name.replace("_", "-"): value for name, value in tomllib.loads(text).items()}
    # What was set again before it was killed counts as well.
    return int(values.get(_KEYS[who], 0)) >= number


def _add_model(who: str, number: int) -> bool:
    keep_name(f"{who}{number}", Path(f"{who}.gguf"))  # as `models add` does with a good file
    return True


def _remember(who: str, number: int) -> bool:
    return _command("memory", "add", f"{who} has {number} cats")


def _remembers(who: str, number: int) -> bool:
    return f"{who} has {number} cats" in [fact.text for fact in History().facts()]


def _send(who: str, number: int) -> bool:
    return Ledger().begin("run", who, "example.org", str(number)) is not None


def _sent(who: str, number: int) -> bool:
    return (who, str(number)) in [(entry.asker, entry.text) for entry in Ledger().entries()]


def _answers() -> Answers:
    answers = Answers.usual()
    assert answers is not None
    return answers


def _keep_answer(who: str, number: int) -> bool:
    _answers().save(who, str(number), Kept(_BODY, meta={"n": number}))
    return True


def _has_answer(who: str, number: int) -> bool:
    kept = _answers().load(who, str(number), 600.0)
    if kept is not None and (kept.body, kept.meta) != (_BODY, {"n": number}):
        print("an answer is damaged")
    return kept is not None


def _prefixes() -> PrefixCache:
    directory = prefix_dir()
    assert directory is not None
    return PrefixCache(directory, limit=8_000_000)


def _prefix(who: str, number: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.full(700_000 + number, number % 256, dtype=np.uint8)


def _keep_prefix(who: str, number: int) -> bool:
    return _prefixes().save(who + str(number), _prefix(who, number), model="m", tokens=number)


def _has_prefix(who: str, number: int) -> bool:
    data = _prefixes().load(who + str(number))
    if data is not None and not np.array_equal(data, _prefix(who, number)):
        print("a prefix is damaged")
    return data is not None


def _rates_file() -> Path:
    return data_dir() / "exchange_rates.json"


def _keep_rates(who: str, number: int) -> bool:
    table = {"USD": Decimal(1), "EUR": Decimal(number)}
    keep_rates(_rates_file(), Rates(table, date(2026, 1, 1), who, float(number), 9e9))
    return True


def _has_rates(who: str, number: int) -> bool:
    json.loads(_rates_file().read_bytes())  # raises where it is damaged
    return any(table.source == who for table in load_rates(_rates_file()))


def _keep_profile(who: str, number: int) -> bool:
    save_profile(f"{who}{number}.gguf", Profile(number, True, 1.0))
    return True


WRITES: Final[Mapping[str, Callable[[str, int], bool]]] = {
    "config.toml": _set,
    "models.json": _add_model,
    "memory": _remember,
    "ledger": _send,
    "answers": _keep_answer,
    "prefixes": _keep_prefix,
    "rates": _keep_rates,
    "machine.json": _keep_profile,
}
"""What is written, each by who writes and a number; whether that was confirmed."""
HELD: Final[Mapping[str, Callable[[str, int], bool]]] = {
    "config.toml": _is_set,
    "models.json": lambda who, number: f"{who}{number}" in added_models(),
    "memory": _remembers,
    "ledger": _sent,
    "answers": _has_answer,
    "prefixes": _has_prefix,
    "rates": _has_rates,
    "machine.json": lambda who, number: load_profile(f"{who}{number}.gguf").threads == number,
}
"""Whether that is there."""
_CACHES: Final = frozenset({"answers", "prefixes", "rates"})
"""What may be missing, since it is made anew."""
_OVERWRITTEN: Final = frozenset({"config.toml"})
"""Where only the last number is there."""
