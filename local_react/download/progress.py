"""What a download tells its caller while it works, and the fault that lets it go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from local_react.errors import DownloadError


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a download is."""

    stage: str
    """A few words for a person, such as "hub", "index part 3 of 22" or "verifying"."""
    done: int
    """Bytes of this stage's file that are there."""
    total: int
    """Bytes of the whole file."""


Report: TypeAlias = Callable[[Progress], None]


class SourceError(DownloadError):
    """This source cannot give the file; another one may."""


class WrongHash(SourceError):
    """All bytes came, and they are not the pinned ones."""
