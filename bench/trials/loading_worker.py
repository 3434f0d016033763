"""The process that a spoilt model file is given to, as a program of somebody's would be: it
looks into the file, loads it, and asks it something. A line with the path comes in, a line
with what came of it goes out."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from local_react import Agent, LlamaModel
from local_react.cli.model_subjects import looked_into
from local_react.errors import LocalReactError

_MEMORY: Final = 6 << 30
"""Bytes of address space."""


def main() -> None:
    """Answer until there are no more lines."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what native code prints is no answer
    for line in sys.stdin:
        answers.write(json.dumps(_outcome(Path(json.loads(line)))) + "\n")
        answers.flush()


def _outcome(path: Path) -> dict[str, str]:
    """Return where it ended, and what was said."""
    looked = ""  # what `models show` finds wrong
    try:
        looked_into(path)
    except LocalReactError as error:
        looked = str(error)
        if told := _fault(looked, path):
            return {"end": "fault", "told": f"models show: {told}"}
    try:
        with LlamaModel(path, threads=1) as model:
            return _asked(model, looked)
    except LocalReactError as error:
        said = str(error)
        if told := _fault(said, path):
            return {"end": "fault", "told": told}
        end = "broke down" if "broke down" in said else "llama.cpp"
        return {"end": "header" if looked else end, "told": said}
    except Exception as error:  # noqa: BLE001 - which is the fault that is looked for
        return {"end": "fault", "told": f"{type(error).__name__}: {error}"}


def _asked(model: LlamaModel, looked: str) -> dict[str, str]:
    if looked:
        return {"end": "fault", "told": f"it was loaded, and `models show` says: {looked}"}
    try:
        Agent(model, max_steps=1, thought_tokens=8).run("What is 2 + 2?")
    except LocalReactError as error:  # such as a context that is too small for a question
        if told := _fault(str(error), None):
            return {"end": "fault", "told": told}
    return {"end": "answered", "told": ""}


def _fault(said: str, path: Path | None) -> str:
    """Return what is wrong with an error's text, that it does not name the file included."""
    if "\n" in said or not said.isprintable():
        return f"the error is not one line: {said!r}"
    if path and path.name not in said:
        return f"the error does not name the file: {said}"
    return ""
