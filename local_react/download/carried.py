"""The source FILE: a GGUF carried in on a stick, copied like any other download."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from local_react.catalog import CatalogModel
from local_react.download.part import Part
from local_react.download.progress import Progress, Report, SourceError
from local_react.network import Network

_BLOCK = 1 << 20


def fetch_from(path: Path, model: CatalogModel) -> Callable[[Part, Report, Network], None]:
    """Return the source that copies a file.

    Raises SourceError where its size already says that it is not the model.
    """
    size = path.stat().st_size
    if size != model.bytes:
        raise SourceError(
            f"{path} is not {model.file}: it has {size} bytes instead of {model.bytes};"
            " to use another GGUF file, give its path as the model"
        )

    def fetch(part: Part, report: Report, network: Network) -> None:
        stage = f"copying {path.name}"
        part.append(
            _blocks(path, part.size), lambda done: report(Progress(stage, done, model.bytes))
        )

    return fetch


def _blocks(path: Path, start: int) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            file.seek(start)
            while block := file.read(_BLOCK):
                yield block
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}; copy it again") from error
