"""Where on this machine things are kept for the user."""

from __future__ import annotations

import os
from pathlib import Path

DATA_VARIABLE = "LOCAL_REACT_DATA_DIR"
CACHE_VARIABLE = "LOCAL_REACT_CACHE"
CONFIG_VARIABLE = "LOCAL_REACT_CONFIG"


def data_dir() -> Path:
    """Return the directory of what is kept for this user, which may not exist yet: it is
    $LOCAL_REACT_DATA_DIR, else the platform's."""
    if chosen := os.environ.get(DATA_VARIABLE):
        return Path(chosen)
    import platformdirs

    return platformdirs.user_data_path("local-react", appauthor=False)


def cache_dir() -> Path | None:
    """Return the directory of what can be made or fetched again, which may not exist yet,
    or None where the cache is off.

    It is $LOCAL_REACT_CACHE, else the platform's cache directory of the user. The word
    "off" turns it off.
    """
    chosen = os.environ.get(CACHE_VARIABLE, "")
    if chosen.casefold() == "off":
        return None
    if chosen:
        return Path(chosen)
    import platformdirs

    return platformdirs.user_cache_path("local-react", appauthor=False)


def config_dir() -> Path:
    """Return the directory of what the user sets, which may not exist yet: it is
    $LOCAL_REACT_CONFIG, else the platform's."""
    if chosen := os.environ.get(CONFIG_VARIABLE):
        return Path(chosen)
    import platformdirs

    return platformdirs.user_config_path("local-react", appauthor=False)
