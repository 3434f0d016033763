"""Settings that last: from the environment, the project's file and the user's file.

A variable wins over the project's file, and that over the user's. What there is to set is
handed in, as `Setting`s: the command line makes them of its options, which wins over all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from local_react.places import CACHE_VARIABLE, CONFIG_VARIABLE, DATA_VARIABLE
from local_react.settings.files import existing_files

PREFIX: Final = "LOCAL_REACT_"
"""How the name of every variable begins."""
OTHER_VARIABLES: Final = frozenset(
    {
        CACHE_VARIABLE,
        CONFIG_VARIABLE,
        DATA_VARIABLE,
        "LOCAL_REACT_DATA",
        "LOCAL_REACT_MODELS",
        "LOCAL_REACT_NETWORK_LOG",
    }
)
"""Variables that are read elsewhere: none of them is a setting's."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be set to last."""

    key: str
    """Its name in a file; there - may stand for _."""
    variable: str
    hint: Any
    """Its type: int, float, bool, str, list[str], or a Literal of texts."""
    default: object = None
    about: str = ""
    """What it does, in one line."""
    check: Callable[[Any], object] | None = None
    """Raises ValueError for a value that cannot be; it says so as the rest of a sentence that
    begins with the setting: "must be 0 or more, not -1"."""
    read: Callable[[str], object] | None = None
    """Makes the value of its variable's text, where that is read unlike others of its type."""


@dataclass(frozen=True, slots=True)
class Given:
    """A value that is set, and by what."""

    value: Any
    origin: str
    """Its variable, or "project file PATH", or "user file PATH"."""


def is_anything_set() -> bool:
    """Return whether there may be anything to read. This costs next to nothing, and so does
    everything where it is False."""
    ours = (name for name, value in os.environ.items() if name.startswith(PREFIX) and value)
    return not OTHER_VARIABLES.issuperset(ours) or bool(existing_files())


def given(settings: Sequence[Setting]) -> Mapping[str, Given]:
    """Return by key what environment and files set.

    Raises UsageError, in one line that names the variable or the file and line, for a file
    that cannot be read or is no TOML, a key that is none, one that a project's file may not
    set, and a value that cannot be.
    """
    if not is_anything_set():
        return {}
    # Imported here: pydantic-settings takes longer than all that happens without it.
    from local_react.settings.reading import read

    return read(settings, existing_files())


__all__ = ["OTHER_VARIABLES", "PREFIX", "Given", "Setting", "given", "is_anything_set"]
