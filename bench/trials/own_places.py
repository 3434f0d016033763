"""Directories of a trial's own, for what runs in this very process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_PLACES = ("LOCAL_REACT_DATA_DIR", "LOCAL_REACT_CACHE", "LOCAL_REACT_CONFIG")
_SETTINGS = ("LOCAL_REACT_NETWORK", "LOCAL_REACT_NETWORK_LOG", "LOCAL_REACT_OFFLINE")


@contextmanager
def own_places() -> Iterator[Path]:
    """Yield an empty directory, in which within the block all is kept that is kept for the
    user, and, in its folder "temporary", all temporary files of Python's."""
    before, usual = dict(os.environ), tempfile.tempdir
    with TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as name:
        root = Path(name)
        (root / "temporary").mkdir()
        try:
            os.environ.update({place: str(root / place) for place in _PLACES})
            for setting in _SETTINGS:
                os.environ.pop(setting, None)
            tempfile.tempdir = str(root / "temporary")
            yield root
        finally:
            tempfile.tempdir = usual
            os.environ.clear()
            os.environ.update(before)
