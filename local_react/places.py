"""Where on this machine things are kept for the user."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from local_react.errors import UsageError

DATA_VARIABLE = "LOCAL_REACT_DATA_DIR"
CACHE_VARIABLE = "LOCAL_REACT_CACHE"
CONFIG_VARIABLE = "LOCAL_REACT_CONFIG"


def data_dir() -> Path:
    """Return the directory of what is kept for this user, which may not exist yet: it is
    $LOCAL_REACT_DATA_DIR, else the platform's. Raises UsageError where the user has no home."""
    if chosen := os.environ.get(DATA_VARIABLE):
        return Path(chosen)
    import platformdirs

    return _of_user(platformdirs.user_data_path, DATA_VARIABLE)


def cache_dir() -> Path | None:
    """Return the directory of what can be made or fetched again, which may not exist yet,
    or None where the cache is off.

    It is $LOCAL_REACT_CACHE, else the platform's cache directory of the user. The word
    "off" turns it off, and so does having no home.
    """
    chosen = os.environ.get(CACHE_VARIABLE, "")
    if chosen.casefold() == "off":
        return None
    if chosen:
        return Path(chosen)
    import platformdirs

    with suppress(UsageError):
        return _of_user(platformdirs.user_cache_path, CACHE_VARIABLE)
    return None


def config_dir() -> Path:
    """Return the directory of what the user sets, which may not exist yet: it is
    $LOCAL_REACT_CONFIG, else the platform's. Raises UsageError where the user has no home."""
    if chosen := os.environ.get(CONFIG_VARIABLE):
        return Path(chosen)
    import platformdirs

    return _of_user(platformdirs.user_config_path, CONFIG_VARIABLE)


def known_dirs() -> list[Path]:
    """Return those of the three that there are."""
    found: list[Path | None] = []
    for find in (data_dir, cache_dir, config_dir):
        with suppress(UsageError):
            found.append(find())
    return [path for path in found if path is not None]


def _of_user(find: Callable[..., Path], variable: str) -> Path:
    """Return the platform's directory. Raises UsageError where there is none: a relative one
    would be another in each folder that somebody works in."""
    try:
        found: Path | None = find("local-react", appauthor=False)
    except RuntimeError:  # nobody knows the user's home
        found = None
    if found is None or not found.is_absolute():
        raise UsageError(
            "you have no home directory to keep things in: set HOME, or "
            f"{variable} to a directory of yours"
        )
    return found
