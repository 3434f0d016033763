"""The catalogue of pinned models, and where a model's file is on this machine."""

from __future__ import annotations

import difflib
import os
import re
import stat
import sys
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from local_react.errors import LocalReactError, ModelError, ModelNotFound

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

GGUF_MAGIC = b"GGUF"
"""The first four bytes of every GGUF file (the GGUF specification, "File Structure")."""

PULL = "local-react pull"
LIST = "local-react models"

_SHARD = re.compile(r"(?P<stem>.+)-(?P<this>\d{5})-of-(?P<all>\d{5})\.gguf", re.IGNORECASE)

_Hex40 = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
_Hex64 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_FileName = Annotated[str, Field(pattern=r"^[^/\\]+\.gguf$")]
_Count = Annotated[int, Field(gt=0)]


@dataclass(frozen=True, slots=True)
class IndexSource:
    """A model's bytes inside wheels of the package index, in one part or several.

    In package and member, {n} is the number of the part from 1 and {i} from 0, with
    a format as of str.format, such as {n:02d}.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    package: str
    version: str
    member: str
    part_bytes: _Count
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

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: str
    repository: Annotated[str, Field(pattern=r"^[^/]+/[^/]+$")]
    revision: _Hex40
    file: _FileName
    bytes: _Count
    sha256: _Hex64
    licence: Literal["Apache-2.0", "MIT"]
    parameters: str
    quantisation: str
    context: _Count
    """The model's own limit, in tokens."""
    memory: Annotated[float, Field(gt=0)]
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

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    default: str
    recommended: str
    """For machines with the memory for it."""
    test: str
    models: Annotated[tuple[CatalogModel, ...], Field(alias="model")]

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
        near = self._nearest(name)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise ModelNotFound(
            f"no model is named {name!r}: {hint}`{LIST}` lists them;"
            " the path of a GGUF file will do too"
        )

    def _nearest(self, name: str) -> list[str]:
        wanted = name.strip().casefold()
        names = [model.name for model in self.models]
        holding = [known for known in names if len(wanted) > 2 and wanted in known]
        close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
        return list(dict.fromkeys([*close, *holding]))[:3]


def load_catalogue() -> Catalogue:
    """Return the catalogue: the checkout's where the package runs from one, else the wheel's.

    Raises LocalReactError where the file is not a catalogue.
    """
    root = _checkout()
    text = (
        (root / "models" / "catalog.toml").read_text(encoding="utf-8")
        if root
        else resources.files("local_react").joinpath("catalog.toml").read_text(encoding="utf-8")
    )
    return parse_catalogue(text)


def parse_catalogue(text: str) -> Catalogue:
    """Return the catalogue that a TOML text holds.

    Raises LocalReactError, naming the place, where it holds none.
    """
    try:
        catalogue = TypeAdapter(Catalogue).validate_python(tomllib.loads(text))
        for chosen in (catalogue.default, catalogue.recommended, catalogue.test):
            catalogue.find(chosen)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in fault["loc"])
        raise LocalReactError(
            f"the model catalogue is broken at {place}: {fault['msg']}"
        ) from error
    except (tomllib.TOMLDecodeError, ModelNotFound) as error:
        raise LocalReactError(f"the model catalogue is broken: {error}") from error
    return catalogue


def models_dir() -> Path:
    """Return the directory of the GGUF files, which may not exist yet.

    It is $LOCAL_REACT_MODELS, else models/ of the checkout that the package runs
    from, else the platform's data directory of the user.
    """
    if chosen := os.environ.get("LOCAL_REACT_MODELS"):
        return _expanded(chosen)
    if root := _checkout():
        return root / "models"
    import platformdirs

    return platformdirs.user_data_path("local-react", appauthor=False) / "models"


def resolve(name_or_path: str | Path) -> Path:
    """Return the GGUF file that a catalogue name or a path stands for.

    What is a file, ends in .gguf or holds a path separator is a path. Raises
    ModelNotFound where there is no such model or file, and ModelError where it cannot
    be a whole model: not a GGUF, incomplete, or a shard of a split one.
    """
    text = str(name_or_path)
    path = _expanded(text)
    if _kind(path) == "file":
        return _usable(path)
    catalogue = load_catalogue()
    if model := catalogue.get(text):
        return _installed(model)
    looks_like_path = "/" in text or "\\" in text or text.casefold().endswith(".gguf")
    if looks_like_path or (text and _kind(path) != "missing"):
        raise _no_file(path)
    return _installed(catalogue.find(text))


def is_shard(file: str) -> bool:
    """Return whether a file name is that of one shard of a split GGUF."""
    return _SHARD.fullmatch(file) is not None


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


def _checkout() -> Path | None:
    """Return the root of the checkout that this file is in, or None when it's installed."""
    root = Path(__file__).resolve().parent.parent
    marks = (root / "pyproject.toml", root / "models" / "catalog.toml")
    return root if all(mark.is_file() for mark in marks) else None


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # no home directory: a file may still begin with ~
        return Path(text)


def _kind(path: Path) -> Literal["file", "directory", "other", "missing"]:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # also a name too long, or a NUL in it
        return "missing"
    if stat.S_ISREG(mode):
        return "file"
    return "directory" if stat.S_ISDIR(mode) else "other"


def _no_file(path: Path) -> ModelError:
    _check_shards(path)
    match _kind(path):
        case "directory":
            return ModelError(f"{path} is a directory: give the .gguf file in it")
        case "missing":
            return ModelNotFound(
                f"there is no file {path}: check the path, or give a name that `{LIST}` lists"
            )
        case _:
            return ModelError(f"{path} is not a regular file: give a .gguf file")


def _installed(model: CatalogModel) -> Path:
    path = models_dir() / model.file
    if _kind(path) != "file":
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


def _usable(path: Path) -> Path:
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
    if _kind(path) != "file":
        return
    for n in range(2, count + 1):
        other = _shard_name(shard, n)
        if _kind(path.with_name(other)) != "file":
            raise ModelError(f"{path} needs {other} beside it, which is missing: put it there")


def _shard_name(shard: re.Match[str], n: int) -> str:
    return f"{shard['stem']}-{n:05d}-of-{shard['all']}.gguf"
