"""What a file is called: to be read, and to be found by."""

from __future__ import annotations

import os
from pathlib import Path

from local_react.words import indexed


def readable(name: str | Path) -> str:
    """Return a file's name or path as text, with a sign for what is none in it."""
    return os.fsencode(name).decode("utf-8", "replace")


def searched_title(title: str, name: bytes) -> str:
    """Return the title and file name, once each, as they are indexed."""
    own = readable(Path(os.fsdecode(name)).name)
    return indexed(own if not title or title in own else f"{title} {own}")
