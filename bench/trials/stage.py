"""A place to try the commands in: directories with something in each, and a small model."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO, Final

from tiny_model import write_tiny_model

import local_react

SECONDS: Final = 90
"""After which a command hangs."""
CODES: Final = frozenset({0, 1, 2, 3, 4, 5, 6, 7, 129, 130, 143})
"""The exit codes that are documented."""
FAST: Final = (
    *("--thought-tokens", "8", "-t", "1", "--max-steps", "1"),
    *("--offline", "-T", "calculator", "--votes", "1"),
)
DELETES: Final = frozenset({"sessions delete", "trace rm"})
"""Commands after which there is no run any more."""
_HERE: Final = Path(local_react.__file__).parent.parent
_PLACES: Final = {
    "LOCAL_REACT_DATA_DIR": "data",
    "LOCAL_REACT_CACHE": "cache",
    "LOCAL_REACT_CONFIG": "config",
    "LOCAL_REACT_MODELS": "models",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int | None
    """None where it did not end."""
    out: str
    err: str

    def fault(self, *, silent: bool = False) -> str:
        """Return what is wrong with it, nothing where it ended as it should; `silent` says
        that its complaints could not be heard."""
        if self.code is None:
            return f"it hangs: {self._last}"
        for sign in ("Traceback", "internal error", "Exception ignored"):
            if sign in self.err:
                return f"{sign}: {self._last}"
        if self.code not in CODES:
            return f"exit code {self.code}: {self._last}"
        told = [line for line in self.err.splitlines() if "local-react: " in line]
        if self.code in (1, 2, 3, 5) and not (told or silent or self.out):
            return f"exit code {self.code} without a word: {self._last}"
        return ""

    @property
    def _last(self) -> str:
        return " / ".join(self.err.splitlines()[-3:])[-300:]


class Stage:
    """Directories under `root`, which `fresh` makes anew as they were prepared."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="surroundings-")
        top = Path(self._folder.name).resolve()
        self.root, self._template = top / "here", top / "template"
        self.spare = top / "spare"
        """Room for what a case makes beside them."""
        top.chmod(0o755)  # who is not root may look in, too
        self._prepare()

    def __enter__(self) -> Stage:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    @property
    def model(self) -> str:
        """The model's file."""
        return str(self.root / "tiny.gguf")

    @property
    def commands(self) -> dict[str, list[str]]:
        """The arguments of every command, by its name."""
        ask = ["-m", self.model, *FAST]
        papers, out = str(self.root / "papers"), self.root / "out"
        return {
            "ask": [*ask, "hello"],
            "ask json": [*ask, "--json", "hello"],
            "ask stream": [*ask, "--output-format", "stream-json", "hello"],
            "ask transcript": [*ask, "--transcript", str(out / "t.jsonl"), "hello"],
            "chat": ["chat", *ask],
            "batch": [
                *("batch", str(self.root / "questions.txt"), "--format", "text"),
                *("-o", str(out / "answers.jsonl"), *ask),
            ],
            "calc": ["calc", "2/3 + 1"],
            "docs": ["docs"],
            "docs add": ["docs", "add", papers],
            "docs list": ["docs", "list"],
            "docs status": ["docs", "status"],
            "docs search": ["docs", "search", "apple"],
            "docs remove": ["docs", "remove", papers],
            "sessions list": ["sessions", "list"],
            "sessions show": ["sessions", "show", "one"],
            "sessions export": ["sessions", "export", "one"],
            "sessions export file": ["sessions", "export", "one", "-o", str(out / "s.md")],
            "sessions rename": ["sessions", "rename", "one", "two"],
            "sessions delete": ["sessions", "delete", "one", "--yes"],
            "memory list": ["memory", "list"],
            "memory add": ["memory", "add", "I like tea"],
            "memory forget": ["memory", "forget", "1"],
            "memory clear": ["memory", "clear", "--yes"],
            "models": ["models"],
            "models path": ["models", "path"],
            "models add": ["models", "add", self.model, "--name", "other"],
            "models show": ["models", "show", "smollm2-135m"],
            "models verify": ["models", "verify"],
            "models recommend": ["models", "recommend"],
            "models rm": ["models", "rm", "mine", "--yes"],
            "pull": ["pull", "smollm2-135m", "--source", self.model],
            "doctor": ["doctor", "-m", self.model],
            "bench": ["bench", "-m", self.model],
            "eval": [
                "eval",
                str(self.root / "set.jsonl"),
                "-m",
                self.model,
                "-a",
                "bare",
                "-t",
                "1",
            ],
            "cache": ["cache"],
            "cache clear": ["cache", "clear"],
            "trace list": ["trace", "list"],
            "trace show": ["trace", "show", "last"],
            "trace export": ["trace", "export", "last"],
            "trace export file": ["trace", "export", "last", "-o", str(out / "e.jsonl")],
            "trace replay": ["trace", "replay", "last"],
            "trace rm": ["trace", "rm", "last", "--yes"],
            "tools list": ["tools", "list"],
            "tools show": ["tools", "show", "calculator"],
            "tools test": ["tools", "test", "calculator", '{"expression": "2/3"}'],
            "network": ["network"],
            "network log": ["network", "log"],
            "network log clear": ["network", "log", "clear"],
            "network forget": ["network", "forget"],
            "config show": ["config", "show"],
            "config set": ["config", "set", "max-steps", "4"],
            "config unset": ["config", "unset", "thought-tokens"],
            "config path": ["config", "path"],
            "config set project": ["config", "set", "--project", "max-steps", "4"],
            "completion": ["completion", "bash"],
            "man": ["man"],
            "version": ["--version"],
            "help": ["--help"],
            "help docs add": ["help", "docs", "add"],
        }

    def fresh(self) -> None:
        """Make all as it was prepared."""
        for folder in (self.root, self.spare):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._template, self.root)
        self.spare.mkdir()

    def environment(self, changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """Return the environment of a command, with the changes; None takes a variable out."""
        plain = {name: text for name, text in os.environ.items() if "LOCAL_REACT" not in name}
        own = {name: str(self.root / folder) for name, folder in _PLACES.items()}
        wanted = {**plain, **own, "PYTHONPATH": str(_HERE), **(changes or {})}
        return {name: text for name, text in wanted.items() if text is not None}

    def line(self, arguments: Sequence[str], python: Sequence[str] = ()) -> list[str]:
        """Return the command line of a command."""
        return [sys.executable, *python, "-m", "local_react", *arguments]

    def run(
        self,
        arguments: Sequence[str],
        *,
        prefix: Sequence[str] = (),
        python: Sequence[str] = (),
        environment: Mapping[str, str | None] | None = None,
        folder: Path | None = None,
        before: Callable[[], object] | None = None,
        out: int | IO[bytes] = subprocess.PIPE,
    ) -> Ended:
        """Run a command to its end, and return how that was."""
        child = subprocess.Popen(
            [*prefix, *self.line(arguments, python)],
            env=self.environment(environment),
            cwd=folder or self.root / "work",
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            preexec_fn=before,
            start_new_session=True,
        )
        return ended(child)

    def damage(self, command: str) -> str:
        """Return what a command has damaged, or lost of what was there before; nothing where
        all is whole."""
        for path in (path for top in (self.root, self.spare) for path in top.rglob("*.*")):
            fault = ""
            if path.suffix == ".sqlite" and path.is_file():
                fault = _damage(path, runs=0 if command in DELETES else 1)
            elif path.name == "config.toml" and path.is_file() and command != "config unset":
                fault = "" if "=" in path.read_text() else "what it held is lost"
            elif path.suffix == ".new":
                fault = "it is left behind"
            if fault:
                return f"{path.name}: {fault}"
        for name in ("questions.txt", "papers/apple.txt"):
            if (self.root / name).read_bytes() != (self._template / name).read_bytes():
                return f"{name} is not what it was"
        return ""

    def _prepare(self) -> None:
        for name in ("papers", "out", "work", "models"):
            (self.root / name).mkdir(parents=True)
        write_tiny_model(self.root / "tiny.gguf")
        (self.root / "papers" / "apple.txt").write_text("An apple a day.\n")
        (self.root / "questions.txt").write_text("one?\ntwo?\n")
        row = {"question": "What is 2 + 2?", "answer": "4"}
        (self.root / "set.jsonl").write_text(json.dumps(row) + "\n")
        beginnings: tuple[Sequence[str], ...] = (
            ("docs", "add", str(self.root / "papers")),
            ("--session", "one", "-m", self.model, *FAST, "hi"),
            ("models", "add", self.model, "--name", "mine"),
            ("memory", "add", "I am Ann"),
            ("config", "set", "thought-tokens", "9"),
        )
        for arguments in beginnings:
            ended = self.run(arguments)
            if ended.code not in (0, 4):
                raise RuntimeError(f"{arguments}: {ended.err}")
        self.root.rename(self._template)


def ended(child: subprocess.Popen[bytes]) -> Ended:
    """Return how a process ended, which is killed with all its own where it does not."""
    try:
        out, err = child.communicate(timeout=SECONDS)
        code: int | None = child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        (out, err), code = child.communicate(), None
    return Ended(code, (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace"))


def _damage(path: Path, runs: int) -> str:
    try:
        with closing(sqlite3.connect(path)) as db:
            (said,) = db.execute("PRAGMA integrity_check").fetchone()
            if said != "ok":
                return str(said)
            if path.name == "history.sqlite":
                (count,) = db.execute("SELECT count(*) FROM runs").fetchone()
                return "" if count >= runs else "the run that was kept is lost"
    except sqlite3.Error as error:
        return str(error)
    return ""
