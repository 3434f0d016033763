"""The catalogue of pinned models, and where a model's file is on this machine.

    pinned  the models, and what their file has to be
    files   what is at a path, and the shards of a split model
    added   the names that the user has given to other files

A model is named by the catalogue, by the user, or by the path of its file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from local_react.catalog.added import added_models, checked_name, forget_name, keep_name, name_for
from local_react.catalog.files import (
    GGUF_MAGIC,
    LIST,
    PULL,
    all_shards,
    expanded,
    is_shard,
    kind_of,
    no_file,
    stem_of,
    usable,
)
from local_react.catalog.pinned import (
    CatalogModel,
    Catalogue,
    IndexSource,
    human_bytes,
    parse_catalogue,
    unknown_model,
)
from local_react.errors import ModelError, ModelNotFound, UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

__all__ = [
    "GGUF_MAGIC",
    "LIST",
    "PULL",
    "CatalogModel",
    "Catalogue",
    "IndexSource",
    "add_model",
    "added_models",
    "all_shards",
    "catalogue_names",
    "expanded",
    "forget_name",
    "human_bytes",
    "installed_names",
    "is_shard",
    "kind_of",
    "load_catalogue",
    "models_dir",
    "parse_catalogue",
    "resolve",
]


def load_catalogue() -> Catalogue:
    """Return the catalogue: the checkout's where the package runs from one, else the wheel's.

    Raises LocalReactError where the file is not a catalogue.
    """
    return parse_catalogue(_catalogue_text())


def _catalogue_text() -> str:
    root = _checkout()
    if root:
        return (root / "models" / "catalog.toml").read_text(encoding="utf-8")
    from importlib import resources

    return resources.files("local_react").joinpath("catalog.toml").read_text(encoding="utf-8")


def models_dir() -> Path:
    """Return the directory of the GGUF files, which may not exist yet.

    It is $LOCAL_REACT_MODELS, else models/ of the checkout that the package runs
    from, else the platform's data directory of the user.
    """
    if chosen := os.environ.get("LOCAL_REACT_MODELS"):
        return expanded(chosen)
    if root := _checkout():
        return root / "models"
    import platformdirs

    return platformdirs.user_data_path("local-react", appauthor=False) / "models"


def resolve(name_or_path: str | Path) -> Path:
    """Return the GGUF file that a name or a path stands for.

    What is a file, ends in .gguf or holds a path separator is a path; a name is one of
    the catalogue's, or one that `add_model` gave. Raises ModelNotFound where there is no
    such model or file, and ModelError where it cannot be a whole model: not a GGUF,
    incomplete, or a shard of a split one.
    """
    text = str(name_or_path)
    path = expanded(text)
    if kind_of(path) == "file":
        return usable(path)
    catalogue = load_catalogue()
    if model := catalogue.get(text):
        return _installed(model)
    if "/" in text or "\\" in text or text.casefold().endswith(".gguf"):
        raise no_file(path)
    added = added_models()
    if file := added.get(text.strip().casefold()):
        return _added(text.strip().casefold(), file)
    if text and kind_of(path) != "missing":
        raise no_file(path)
    raise unknown_model(text, [*(model.name for model in catalogue.models), *added])


def add_model(path: Path, name: str | None = None) -> str:
    """Have a name stand for a GGUF file, and return it; without one it gets the file's own.

    Raises ModelError where the file cannot be a whole model, UsageError where the name
    cannot be used or stands for another.
    """
    file = resolve(expanded(str(path)).absolute())
    chosen = checked_name(name_for(stem_of(file)) if name is None else name)
    if model := load_catalogue().get(chosen):
        raise UsageError(
            f"the name {chosen} means {model.name} of the catalogue: give another one with"
            " --name NAME"
        )
    other = added_models().get(chosen)
    if other and other != file and kind_of(other) == "file":
        raise UsageError(
            f"{chosen} is the name of {other}: give another one with --name NAME,"
            f" or forget that with `{LIST} rm {chosen}`"
        )
    keep_name(chosen, file)
    return chosen


def catalogue_names() -> list[str]:
    """Return the names of the catalogue. Nothing heavy is imported: it is for completion."""
    return [model["name"] for model in _entries()]


def installed_names() -> list[str]:
    """Return the names of the models whose files are here, the catalogue's and then the
    user's own. Nothing heavy is imported, and no file is read: it is for completion."""
    here = models_dir()
    names = [model["name"] for model in _entries() if kind_of(here / model["file"]) == "file"]
    with suppress(ModelError):
        names += [name for name, file in added_models().items() if kind_of(file) == "file"]
    return names


def _entries() -> Sequence[dict[str, str]]:
    entries: Sequence[dict[str, str]] = tomllib.loads(_catalogue_text())["model"]
    return entries


def _checkout() -> Path | None:
    """Return the root of the checkout that this file is in, or None when it's installed."""
    root = Path(__file__).resolve().parents[2]
    marks = (root / "pyproject.toml", root / "models" / "catalog.toml")
    return root if all(mark.is_file() for mark in marks) else None


def _installed(model: CatalogModel) -> Path:
    path = models_dir() / model.file
    if kind_of(path) != "file":
        raise ModelNotFound(
            f"{model.name} is not in {path.parent}:"
            f" fetch it ({model.size}) with `{PULL} {model.name}`"
        )
    held = path.stat().st_size
    if held != model.bytes:
        raise ModelError(
            f"{path} holds {held} bytes, but {model.name} has {model.bytes}:"
            f" fetch it again with `{PULL} {model.name}`"
        )
    return path


def _added(name: str, file: Path) -> Path:
    if kind_of(file) != "file":
        raise ModelNotFound(
            f"{name} was added as {file}, which is gone: add it again from where it is now with"
            f" `{LIST} add PATH --name {name}`, or forget it with `{LIST} rm {name}`"
        )
    return usable(file)
