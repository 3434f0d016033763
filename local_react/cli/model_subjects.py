"""What the commands of `local-react models` are about: a model by its name or file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from local_react.catalog import (
    CatalogModel,
    added_models,
    expanded,
    kind_of,
    load_catalogue,
    models_dir,
    resolve,
)

if TYPE_CHECKING:
    from local_react.gguf_header import Header
    from local_react.gguf_header.details import Details


@dataclass(frozen=True, slots=True)
class Subject:
    """A model, and where its file is, or would be."""

    name: str
    path: Path
    model: CatalogModel | None
    """What the catalogue has of it; None where it is none of the catalogue's."""
    added: bool = False

    @property
    def here(self) -> bool:
        """Whether its file is there, whatever is in it."""
        return kind_of(self.path) == "file"


def subject_of(name: str) -> Subject:
    """Return the model of a name, a path, or a file's name in the models directory.

    Raises ModelError where there is none; what is in the file is not looked at.
    """
    catalogue = load_catalogue()
    own, beside = expanded(name), models_dir() / name
    if kind_of(own) == "file":
        return Subject(own.name, own, catalogue.of_file(own))
    if model := catalogue.get(name):
        return Subject(model.name, models_dir() / model.file, model)
    if kind_of(beside) == "file":
        return Subject(beside.name, beside, None)
    return Subject(name.strip().casefold(), resolve(name), None, added=True)


def all_here() -> list[Subject]:
    """Return the models whose files are here, the catalogue's and then the user's own;
    of those also the ones that are gone."""
    here = models_dir()
    known = [Subject(model.name, here / model.file, model) for model in load_catalogue().models]
    added = [Subject(name, path, None, added=True) for name, path in added_models().items()]
    return [subject for subject in known if subject.here] + added


def looked_into(path: Path) -> tuple[Header, Details]:
    """Return what a GGUF file says of itself, of a split model the first one.

    Raises ModelError where the file, or one of the others of a split model, is none, is
    damaged, was cut, or contradicts itself.
    """
    from local_react.gguf_header import read_header
    from local_react.gguf_header.details import check_model

    file = resolve(path.absolute())
    details = check_model(file)
    return read_header(file), details
