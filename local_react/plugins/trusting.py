"""Whose code is run: the user's and the system's, and nobody else's who may have put it there.

A file that somebody else could have written, or can change before it is read, is left alone; so
is what brings entry points without being installed: it lies in the folder where somebody works,
such as a repository that was cloned, or where PYTHONPATH leads.
"""

from __future__ import annotations

import os
import site
import stat
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path


def distrust(path: Path) -> str:
    """Return why a file of code is not to be run: it, or a folder on the way to it, is another
    user's, or all may write to it. Nothing for one that may."""
    if os.name != "posix":
        return ""
    # The way of a link, and of what it leads to.
    ways = dict.fromkeys([path.absolute(), Path(os.path.realpath(path))])
    found = (_why_not(at, way) for way in ways for at in (way, *way.parents))
    return next(filter(None, found), "")


def _why_not(at: Path, way: Path) -> str:
    try:
        status = at.stat()
    except OSError:  # a pipe, as of a shell's <( ), has no way
        return ""
    if status.st_uid not in (0, os.geteuid()):
        whose = "it" if at == way else f"its folder {at}"
        return f"{whose} belongs to another user: make it yours, or copy it"
    # In a folder such as /tmp each may remove only what is their own.
    if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        return f"every user can write to {'it' if at == way else at}: `chmod o-w {at}`"
    return ""


def installed(group: str) -> Iterator[EntryPoint]:
    """Yield the entry points of a group that installed packages have."""
    yield from (point for _, point in _points(group, _trusted()))


def not_installed(group: str) -> Iterator[tuple[str, EntryPoint]]:
    """Yield the other entry points of a group that Python would find, and where they lie."""
    trusted = _trusted()
    known = {name for name, _ in _points(group, trusted)}
    for name, point in _points(group, [entry for entry in sys.path if entry not in trusted]):
        if name not in known and point.dist is not None:
            yield str(point.dist.locate_file("")), point


def _points(group: str, path: list[str]) -> Iterator[tuple[str, EntryPoint]]:
    """Yield entry points with the name of their package, of which the first that lies on the
    path counts."""
    seen = set[str]()
    for found in distributions(path=path):
        name = _name(found)
        if name not in seen:
            seen.add(name)
            yield from ((name, point) for point in found.entry_points if point.group == group)


def _name(found: Distribution) -> str:
    return (found.metadata["Name"] or "").casefold().replace("_", "-").replace(".", "-")


def _trusted() -> list[str]:
    """Return where packages are installed, of what Python looks at."""
    always = {*map(_real, site.getsitepackages()), _real(site.getusersitepackages())}
    never = {_real(""), *map(_real, os.environ.get("PYTHONPATH", "").split(os.pathsep))} - always
    return [entry for entry in sys.path if _real(entry) not in never]


def _real(entry: str) -> str:
    try:
        return os.path.realpath(entry or os.curdir)
    except OSError:  # the folder where somebody works may be gone
        return entry
