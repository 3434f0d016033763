"""Whether a model's file may be loaded into this process.

What the catalogue has is known by its hash. Any other file has its header checked, and is
tried in a process of its own; what came of that is remembered as long as the file's size and
time of last change stay, and so does llama.cpp.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import llama_cpp

from local_react.atomic import read_whole
from local_react.backends.llama.trying import Breakdown, can_try, try_file
from local_react.catalog import PULL, all_shards, load_catalogue, models_dir
from local_react.errors import ModelError
from local_react.gguf_header.details import check_model
from local_react.places import cache_dir
from local_react.private import write_own

_FILE: Final = "tried_models.json"
_NO_MATTER: Final = ("context_size", "threads")


def vouch(path: Path, memory: int, options: Mapping[str, Any], *, remember: bool) -> None:
    """Have a model's file checked, and tried where it is not known, with those options of
    LlamaModel; `memory` is the bytes that it is to take.

    Raises ModelError where it cannot be loaded, or is to be the catalogue's and is not.
    """
    try:
        state, size = _state(path, options)
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror or error}") from error
    directory = cache_dir() if remember else None
    kept = directory / _FILE if directory else None
    fault = _remembered(kept, path, state)
    if fault is None:
        fault = _found(path, size, memory, options)
        _keep(kept, path, state, fault)
    if fault:
        raise ModelError(fault)


def _found(path: Path, size: int, memory: int, options: Mapping[str, Any]) -> str:
    """Return what is wrong with a file that ends the process, else nothing. Raises ModelError
    for what another time may be otherwise."""
    if _is_the_catalogues(path):
        return ""
    check_model(path)
    try:
        if can_try():
            try_file(path, size, memory, options)
    except Breakdown as error:
        return str(error)
    return ""


def _is_the_catalogues(path: Path) -> bool:
    """Return whether the file is one that the catalogue has. Raises ModelError where it is
    only in the place of one."""
    from local_react.download.installed import is_verified

    model = load_catalogue().of_file(path)
    if model is None or path.stat().st_size != model.bytes:
        return False
    if is_verified(path, model, lambda _: None):
        return True
    if os.path.realpath(path.parent) == os.path.realpath(models_dir()):
        raise ModelError(
            f"{path} is not what the catalogue has as {model.name}:"
            f" fetch it with `{PULL} --force {model.name}`"
        )
    return False


def _state(path: Path, options: Mapping[str, Any]) -> tuple[list[Any], int]:
    """Return what a trial's outcome depends on, and the bytes of all files of the model."""
    status = [file.stat() for file in all_shards(path)]
    files = [[one.st_size, one.st_mtime_ns] for one in status]
    how = {name: options[name] for name in sorted(options) if name not in _NO_MATTER}
    return [llama_cpp.__version__, how, files], sum(one.st_size for one in status)


def _remembered(kept: Path | None, path: Path, state: list[Any]) -> str | None:
    """Return the fault that was found in a file, "" for none, None where it was not tried."""
    entry = _entries(kept).get(str(path.absolute()))
    if isinstance(entry, dict) and entry.get("state") == state:
        fault = entry.get("fault")
        return fault if isinstance(fault, str) else None
    return None


def _keep(kept: Path | None, path: Path, state: list[Any], fault: str) -> None:
    if kept is None:
        return
    # Of those that are gone nothing is kept.
    entries = {name: entry for name, entry in _entries(kept).items() if Path(name).is_file()}
    entries[str(path.absolute())] = {"state": state, "fault": fault}
    with suppress(OSError):  # then it is tried again the next time, and that is all
        write_own(kept, [json.dumps(entries).encode()], lasting=False)


def _entries(kept: Path | None) -> dict[str, Any]:
    if kept is None:
        return {}
    try:
        known = json.loads(read_whole(kept))
    except (OSError, ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}
