"""What `local-react bench` measured as best on this machine, model by model.

Kept in machine.json: machine -> file name of the model -> what was best. The file may
come along from another machine, so entries are found by the machine's fingerprint.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from local_react.atomic import read_whole
from local_react.errors import LocalReactError
from local_react.hardware import fingerprint
from local_react.locking import changing
from local_react.places import DATA_VARIABLE, data_dir
from local_react.private import write_own


@dataclass(frozen=True, slots=True)
class Profile:
    """The settings that were the fastest; None where nothing was measured."""

    threads: int | None = None
    repack: bool | None = None
    """Whether llama.cpp should lay the weights out anew when it loads them."""
    write_rate: float | None = field(default=None, compare=False)
    """Tokens written in a second with these settings."""


def load_profile(model: str) -> Profile:
    """Return what was measured on this machine for a model, told by its file's name. It
    is empty where nothing was, or where the file cannot be read."""
    entry = _section(_section(_stored(_file()), fingerprint()), Path(model).name)
    threads, repack = entry.get("threads"), entry.get("repack")
    usable = isinstance(threads, int) and not isinstance(threads, bool) and threads > 0
    return Profile(
        threads if usable else None,
        repack if isinstance(repack, bool) else None,
        _rate(entry.get("write_rate")),
    )


def save_profile(model: str, profile: Profile) -> None:
    """Keep a profile for this machine and model; what is kept for others stays.

    Raises LocalReactError where it cannot be written.
    """
    path = _file()
    try:
        with changing(path):
            stored = _stored(path)
            machine = {**_section(stored, fingerprint()), Path(model).name: asdict(profile)}
            text = json.dumps({**stored, fingerprint(): machine}, indent=2)
            write_own(path, [text.encode()])
    except OSError as error:
        raise LocalReactError(
            f"what was measured cannot be kept in {path}: {error.strerror or error};"
            f" set {DATA_VARIABLE} to a directory that can be written"
        ) from error


def _rate(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < inf else None


def _file() -> Path:
    return data_dir() / "machine.json"


def _stored(path: Path) -> dict[str, Any]:
    """Return the sections of the file, none where it is missing or damaged."""
    try:
        stored = json.loads(read_whole(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _section(of: dict[str, Any], name: str) -> dict[str, Any]:
    section = of.get(name)
    return section if isinstance(section, dict) else {}
