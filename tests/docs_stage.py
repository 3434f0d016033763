"""Where the commands of README.md and docs/ are run: a folder with all that they speak of, in
which nothing of the user's is touched, nothing is sent, and a model answers soon."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from docs_files import prepare
from docs_pages import ROOT, Command

from local_react.catalog import load_catalogue

SMALL = "smollm2-135m"
"""A model of the catalogue, for which the one of random weights stands where it is only to
be removed."""
_NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Stage:
    """A folder, and the environment of what is run in it."""

    folder: Path
    environment: Mapping[str, str]

    @classmethod
    def built(cls, folder: Path, model: Path) -> Stage:
        """Return one with the files of the pages and a program local-react. `model` is what
        answers where no other is named."""
        prepare(folder, model)
        models, program = folder / "models", folder / "bin" / "local-react"
        for path in (models, program.parent):
            path.mkdir()
        shutil.copyfile(model, models / load_catalogue().find(SMALL).file)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m local_react "$@"\n', "utf-8")
        program.chmod(0o755)
        return cls(folder, _environment(folder))

    def played(self, command: Command) -> str:
        """Run a command and return what it printed. Raises AssertionError where its exit code
        is not one that is right."""
        done = self.ran(command)
        assert done.returncode in command.codes, f"{command.text}\n{done.stdout}"
        return done.stdout

    def ran(self, command: Command, **changes: str | None) -> subprocess.CompletedProcess[str]:
        """Run a command and return what came of it, with all that it printed in `stdout`; some
        variables changed, or left out where they are None."""
        if "--only-if-sure" in command.text:
            changes["LOCAL_REACT_VOTES"] = None
        environment = {**self.environment, **changes}
        typed = self.folder / "typed.txt"
        typed.write_text(command.typed, "utf-8")
        with typed.open() as stdin:
            return subprocess.run(
                ["bash", "-o", "pipefail", "-c", command.text],
                cwd=self.folder,
                env={name: value for name, value in environment.items() if value is not None},
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                check=False,
                timeout=600,
            )


def _environment(folder: Path) -> dict[str, str]:
    ours = ("LOCAL_REACT_", "XDG_", "NO_COLOR", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {
        **kept,
        **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), _NOWHERE),
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "HOME": str(folder / "home"),
        "LOCAL_REACT_DATA_DIR": str(folder / "data"),
        "LOCAL_REACT_CACHE": str(folder / "cache"),
        "LOCAL_REACT_CONFIG": str(folder / "config"),
        "LOCAL_REACT_MODELS": str(folder / "models"),
        "LOCAL_REACT_MODEL": str(folder / "my-model.gguf"),
        "LOCAL_REACT_THREADS": "1",
        "LOCAL_REACT_VOTES": "1",
        "LOCAL_REACT_MAX_STEPS": "2",
        "LOCAL_REACT_THOUGHT_TOKENS": "16",
    }
