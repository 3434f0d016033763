"""A model's file on disk: whether it is one, and the shards of a split one.

A split GGUF has names such as big-00001-of-00003.gguf, by which llama.cpp finds the
others once it is given the first (llama.cpp, llama_split_path).
"""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Literal

from local_react.errors import ModelError, ModelNotFound

GGUF_MAGIC = b"GGUF"
"""The first four bytes of every GGUF file (the GGUF specification, "File Structure")."""

PULL = "local-react pull"
LIST = "local-react models"

_SHARD = re.compile(r"(?P<stem>.+)-(?P<this>\d{5})-of-(?P<all>\d{5})\.gguf", re.IGNORECASE)


def expanded(text: str) -> Path:
    """Return the path that a text is, with the home directory filled in."""
    try:
        return Path(text).expanduser()
    except RuntimeError:  # no home directory: a file may still begin with ~
        return Path(text)


def kind_of(path: Path) -> Literal["file", "directory", "other", "missing"]:
    """Return what is at a path, whatever the path is like."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # also a name too long, or a NUL in it
        return "missing"
    if stat.S_ISREG(mode):
        return "file"
    return "directory" if stat.S_ISDIR(mode) else "other"


def usable(path: Path) -> Path:
    """Return a path at which a file is, after a look at how it begins.

    Raises ModelError where it cannot be a whole model: not a GGUF, or a shard that is not
    the first or lacks the others.
    """
    _check_shards(path)
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error.strerror}") from error
    if magic != GGUF_MAGIC:
        what = f"it begins with {magic!r}" if magic else "it is empty"
        raise ModelError(f"{path} is not a GGUF file ({what}): give a file in GGUF format")
    return path


def no_file(path: Path) -> ModelError:
    """Return why there is no file to use at a path; raise ModelError where it would be a
    shard that is not the first."""
    _check_shards(path)
    match kind_of(path):
        case "directory":
            return ModelError(f"{path} is a directory: give the .gguf file in it")
        case "missing":
            return ModelNotFound(
                f"there is no file {path}: check the path, or give a name that `{LIST}` lists"
            )
        case _:
            return ModelError(f"{path} is not a regular file: give a .gguf file")


def is_shard(file: str) -> bool:
    """Return whether a file name is that of one shard of a split GGUF."""
    return _SHARD.fullmatch(file) is not None


def all_shards(path: Path) -> list[Path]:
    """Return the files that a model consists of: of a split one all shards, there or not."""
    shard = _SHARD.fullmatch(path.name)
    if not shard:
        return [path]
    others = range(2, int(shard["all"]) + 1)
    return [path.with_name(_shard_name(shard, n)) for n in (1, *others)]


def stem_of(path: Path) -> str:
    """Return a model's file name without .gguf and without the number of its shard."""
    shard = _SHARD.fullmatch(path.name)
    return shard["stem"] if shard else path.stem


def _check_shards(path: Path) -> None:
    """Refuse any shard but the first, and a first one whose others are not beside it."""
    shard = _SHARD.fullmatch(path.name)
    if not shard:
        return
    this, count = int(shard["this"]), int(shard["all"])
    if this != 1:
        raise ModelError(
            f"{path} is shard {this} of {count} of a split model:"
            f" give the first shard, {_shard_name(shard, 1)}"
        )
    if kind_of(path) != "file":
        return
    for other in all_shards(path)[1:]:
        if kind_of(other) != "file":
            raise ModelError(f"{path} needs {other.name} beside it, which is missing: put it there")


def _shard_name(shard: re.Match[str], n: int) -> str:
    return f"{shard['stem']}-{n:05d}-of-{shard['all']}.gguf"
