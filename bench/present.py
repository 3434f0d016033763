"""The models that are here, for the benches."""

from __future__ import annotations

from local_react.catalog import load_catalogue, models_dir, resolve
from local_react.errors import ModelError


def present() -> list[str]:
    """Return the models of the catalogue that are here, and other GGUF files beside them."""
    found = []
    for model in load_catalogue().models:
        try:
            resolve(model.name)
        except ModelError:
            continue
        found.append(model.name)
    known = {model.file for model in load_catalogue().models}
    others = [path for path in sorted(models_dir().glob("*.gguf")) if path.name not in known]
    return found + [str(path) for path in others]
