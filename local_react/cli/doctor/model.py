"""The model: whether it is here, the catalogue's, and fits."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from local_react import hardware
from local_react.catalog import PULL, CatalogModel, human_bytes, load_catalogue, resolve
from local_react.cli.doctor.line import Line
from local_react.cli.show import Display
from local_react.download.installed import is_verified
from local_react.errors import ModelError
from local_react.gguf_header import read_header
from local_react.memory import DEFAULT_CONTEXT, estimate, gib, refuse_if_too_large


def model(chosen: str | None) -> Line:
    """Tell where the model is, and whether it is the catalogue's; it is the default where
    none is chosen."""
    catalogue = load_catalogue()
    name = chosen or catalogue.default
    data: dict[str, Any] = {"model": name, "file": None, "bytes": None, "verified": None}
    try:
        path = resolve(name)
    except ModelError as error:
        return Line("model", f"{name}: not usable", data, problems=(str(error),))
    size = path.stat().st_size
    known = catalogue.get(name) or catalogue.of_file(path)
    verified = _verified(path, known, size)
    data |= {"file": str(path), "bytes": size, "verified": verified}
    file = path if name == str(path) else f"{name}: {path}"
    text = f"{file}, {human_bytes(size)}, {_VERIFIED[verified]}"
    wrong = f"{path} is not what the catalogue has as {known.name}" if known else ""
    problem = f"{wrong}: fetch it with `{PULL} --force {known.name}`" if known else ""
    return Line("model", text, data, problems=(problem,) if verified is False else ())


_VERIFIED = {
    True: "its SHA-256 is the catalogue's",
    False: "its SHA-256 is NOT the catalogue's",
    None: "not one of the catalogue's, so nothing to verify it against",
}


def _verified(path: Path, known: CatalogModel | None, size: int) -> bool | None:
    """Return whether the file is the catalogue's; None where it is none of them. It is
    read only where no record says that it was before."""
    if known is None or known.bytes != size:
        return None
    with Display().waiting(f"verifying {path.name}"):
        return is_verified(path, known, lambda _: None)


def needs(name: str, path: Path, on_gpu: bool) -> Line:
    """Tell the memory that the model takes, and whether that is there."""
    try:
        header = read_header(path)
        context = min(DEFAULT_CONTEXT, header.context_length)
        needed = estimate(path, header, context)
    except ModelError as error:
        return Line("needs", "not known", problems=(str(error),))
    data = {"context": context, "needed": {**asdict(needed), "total": needed.total}}
    text = (
        f"{gib(needed.total)} with {context} tokens of context (weights {gib(needed.weights)},"
        f" context {gib(needed.cache)}, the rest {gib(needed.overhead)})"
    )
    try:
        refuse_if_too_large(needed, name, hardware.available_memory())
    except ModelError as error:
        data |= {"fits": False}
        if on_gpu:
            told = f"{error}; what fits into the GPU's own memory is not known here"
            return Line("needs", f"{text}: only with the GPU", data, advice=(told,))
        return Line("needs", f"{text}: does not fit", data, problems=(str(error),))
    return Line("needs", f"{text}: fits", {**data, "fits": True})
