"""What the benches share: their options, the models that are here, and how they end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from local_react.catalog import load_catalogue, models_dir, resolve
from local_react.errors import LocalReactError, ModelError, ModelNotFound


def parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of the options that every bench over several models has."""
    found = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    found.add_argument("--model", action="append", help="a name or file; may be repeated")
    found.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    return found


def names(options: argparse.Namespace) -> list[str]:
    """Return the models asked for, or else those that are here: of the catalogue, and
    other GGUF files beside them.

    Raises ModelNotFound where there are none.
    """
    found: list[str] = options.model or _present()
    if not found:
        raise ModelNotFound("no model is here: fetch one with `local-react pull smollm2-135m`")
    return found


def _present() -> list[str]:
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


def verdict(missed: Sequence[str], options: argparse.Namespace) -> int:
    """Print what missed its bar and return the exit code."""
    for line in missed:
        print(f"missed: {line}")
    return 1 if options.check and missed else 0


def run(main: Callable[[], int]) -> NoReturn:
    """Run a bench and leave with its exit code, or with one line that says why not."""
    try:
        sys.exit(main())
    except LocalReactError as error:
        sys.exit(f"{error}")
