"""Disks and directories, settings, the network's mode, the terminal, optional parts."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from local_react.catalog import human_bytes, load_catalogue, models_dir
from local_react.cli.doctor.line import Line
from local_react.cli.doctor.machine import version_of
from local_react.places import (
    CACHE_VARIABLE,
    CONFIG_VARIABLE,
    DATA_VARIABLE,
    cache_dir,
    config_dir,
    data_dir,
)
from local_react.prefix_cache import prefix_dir

_MODELS_VARIABLE = "LOCAL_REACT_MODELS"
_ENOUGH = 1_000_000_000
"""Bytes that should be free: an index of documents, or a small model."""
_SHOWN = "→ – ✓ é 漢"
"""Some of what models and web pages write."""


def disk() -> Line:
    """Tell how much room there is for models and for what is kept."""
    default = load_catalogue().find(load_catalogue().default)
    wanted = (
        ("models", models_dir(), _MODELS_VARIABLE, max(_ENOUGH, default.bytes)),
        ("data", data_dir(), DATA_VARIABLE, _ENOUGH),
    )
    free = {use: shutil.disk_usage(_existing(path)).free for use, path, _, _ in wanted}
    advice = [
        f"only {human_bytes(free[use])} are free in {path}, and {human_bytes(enough)} should be:"
        f" make room, or set {variable} to a directory on another disk"
        for use, path, variable, enough in wanted
        if free[use] < enough
    ]
    text = ", ".join(f"{human_bytes(room)} free for {use}" for use, room in free.items())
    return Line("disk", text, {"disk_free": free}, advice=tuple(advice))


def directories() -> Line:
    """Tell where things are kept, and whether they can be."""
    cache = prefix_dir()
    places = [
        ("models", models_dir(), "no model can be fetched", _MODELS_VARIABLE),
        ("data", data_dir(), "nothing that is measured or said is kept", DATA_VARIABLE),
        ("config", config_dir(), "no setting is kept", CONFIG_VARIABLE),
    ]
    if top := cache_dir():
        places += [("cache", top, "no start is quicker than the first", CACHE_VARIABLE)]
    advice = [
        f"{path} cannot be written to, so {effect}: set {variable} to another directory"
        for _, path, effect, variable in places
        if not _is_writable(path)
    ]
    told = [f"{use} {path}{'' if path.exists() else ' (not made yet)'}" for use, path, *_ in places]
    data = {
        "models_dir": str(models_dir()),
        "data_dir": str(data_dir()),
        "config_dir": str(config_dir()),
        "cache_dir": str(cache) if cache else None,
    }
    text = "; ".join(told if cache else [*told, "cache off"])
    return Line("directories", text, data, advice=tuple(advice))


def _existing(path: Path) -> Path:
    """Return the directory itself, or the nearest above it that is there."""
    return next((part for part in (path, *path.absolute().parents) if part.exists()), path)


def _is_writable(path: Path) -> bool:
    """Return whether files can be put into a directory, which may have to be made."""
    there = _existing(path)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def settings() -> Line:
    """Tell whether the user has a file of settings."""
    file = config_dir() / "config.toml"
    if not file.exists():
        return Line("config", f"no {file}, so the defaults hold", {"config_file": None})
    unreadable = f"{file} cannot be read: check its permissions"
    advice = () if file.is_file() and os.access(file, os.R_OK) else (unreadable,)
    return Line("config", str(file), {"config_file": str(file)}, advice=advice)


def network() -> Line:
    """Tell what may leave this machine, and what may without a question."""
    from local_react.network import NETWORK_VARIABLE, OFFLINE_VARIABLE, Ledger, Network, is_set

    mode = Network.from_environment().mode
    allowed = list(Ledger().allowed())
    why = f"{OFFLINE_VARIABLE} is set" if is_set(OFFLINE_VARIABLE) else f"by {NETWORK_VARIABLE}"
    text = {
        "deny": f"off, {why}",
        "ask": "on, for the tools that need it; you are asked each time",
        "allow": f"on, for the tools that need it; you are not asked, by {NETWORK_VARIABLE}",
    }[mode]
    if mode == "ask" and allowed:
        text += f", but for {', '.join(allowed)}"
    data = {"offline": mode == "deny", "network_mode": mode, "always_allowed": allowed}
    return Line("network", text, data)


def terminal() -> Line:
    """Tell what can be shown where the answers go."""
    from rich.console import Console

    console = Console(file=sys.stdout)
    encoding = getattr(sys.stdout, "encoding", None) or "unknown"
    colours = console.color_system if console.is_terminal and not console.no_color else None
    data = {
        "is_terminal": console.is_terminal,
        "columns": console.width if console.is_terminal else None,
        "rows": console.height if console.is_terminal else None,
        "colours": colours,
        "encoding": encoding,
    }
    size = f"{console.width} x {console.height}" if console.is_terminal else "none"
    why = " (NO_COLOR)" if console.is_terminal and console.no_color else ""
    text = f"{size}, {f'{colours} colours' if colours else 'no colours'}{why}, {encoding}"
    advice = (
        f"{encoding} cannot show all that is written, and a ? stands for the rest: set PYTHONUTF8=1"
    )
    return Line("terminal", text, {"terminal": data}, () if _shows(encoding) else (advice,))


def _shows(encoding: str) -> bool:
    try:
        _SHOWN.encode(encoding)
    except (LookupError, UnicodeError):
        return False
    return True


def optional() -> Line:
    """Tell which of the parts that not everybody needs are installed."""
    libzim = version_of("libzim")
    text = (
        f"libzim {libzim}"
        if libzim
        else 'no libzim; `pip install "local-react[zim]"` adds it, for Wikipedia from a file'
    )
    return Line("optional", text, {"optional": {"libzim": libzim}})
