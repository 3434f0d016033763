"""Which file a model is: its SHA-256, without hashing gigabytes at each run."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from local_react.atomic import read_whole
from local_react.catalog import load_catalogue
from local_react.errors import LocalReactError
from local_react.places import cache_dir
from local_react.private import write_own


def model_sha256(path: Path) -> str | None:
    """Return the SHA-256 of a model's file, of a split model that of its first one; None
    where it cannot be known.

    The file is read once, at about a second for each gigabyte, and what came of it is
    remembered as long as its size and time of last change stay: of the catalogue's models
    beside the file, of others in the cache directory. With the cache off others have none.
    """
    try:
        return _of_the_catalogue(path) or _of_another(path.absolute())
    except (OSError, LocalReactError):
        return None


def _of_the_catalogue(path: Path) -> str | None:
    from local_react.download.installed import is_verified

    model = load_catalogue().of_file(path)
    return model.sha256 if model and is_verified(path, model, lambda _: None) else None


def _of_another(path: Path) -> str | None:
    from local_react.download.part import sha256_of

    directory = cache_dir()
    if directory is None:
        return None
    kept, stat = directory / "model_hashes.json", path.stat()
    known, state = _read(kept), [stat.st_size, stat.st_mtime_ns]
    entry = known.get(str(path))
    if isinstance(entry, dict) and entry.get("state") == state and "sha256" in entry:
        return str(entry["sha256"])
    found = sha256_of(path, lambda _: None)
    entries = {**known, str(path): {"sha256": found, "state": state}}
    with suppress(OSError):  # then it is hashed again the next time, and that is all
        write_own(kept, [json.dumps(entries).encode()])
    return found


def _read(kept: Path) -> dict[str, Any]:
    try:
        known = json.loads(read_whole(kept))
    except (OSError, ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}
