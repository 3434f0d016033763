"""Files of ours that are damaged, or have something else in their place: a question is answered
all the same, what cannot be done is told in a line, and what is private is left as it is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from tiny_model import write_tiny_model

from trials.forks import Ended, Forks
from trials.kill_documents import fill
from trials.killing import Place, timed

_ASK: Final = ("-t", "1", "--votes", "1", "--thought-tokens", "4", "--max-steps", "1", "-q")
_WITHOUT: Final = ("--no-tools", "--ctx-size", "700")
_WITH_DOCUMENTS: Final = ("-T", "search_documents")
_LISTS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "data/history.sqlite": (
        *(("sessions", "list"), ("trace", "list"), ("trace", "show", "last"), ("memory", "list")),
        *(
            ("memory", "add", "I have a dog"),
            ("memory", "forget", "1"),
            ("sessions", "show", "one"),
        ),
    ),
    "data/documents.sqlite": (
        *(("docs", "list"), ("docs", "status"), ("docs", "search", "ship"), ("docs", "add", ".")),
        ("docs", "remove", "papers"),
    ),
    "data/network.sqlite": (("network", "log"), ("network",), ("network", "forget")),
    "data/models.json": (("models",), ("models", "add", "tiny.gguf", "--name", "two")),
    "data/machine.json": (("bench", "--forget", "-m", "tiny.gguf"),),
    "data/chat-history": (),
    "cache/answers.sqlite": (("cache",), ("cache", "clear")),
    "cache/model_hashes.json": (("cache",),),
    "cache/prefixes": (("cache",), ("cache", "clear")),
    "config/config.toml": (("config", "show"), ("config", "set", "max-steps", "3")),
}
"""Commands about each file."""
_MAY_CHANGE: Final = frozenset({"data/machine.json"})
"""Beside the cache: what was measured, and is again."""
_FILL: Final = """
from local_react.cli.main import run
from local_react.network import Ledger
from local_react.network.answers import Answers, Kept
from local_react.profiles import Profile, save_profile
Ledger().begin("run", "search", "example.org", "a question")
Answers.usual().save("search", "a question", Kept(b"an answer"))
save_profile("tiny.gguf", Profile(2, True, 1.0))
for argv in ("memory add I_have_a_cat", "models add tiny.gguf --name one", "docs add papers",
             "config set max-steps 2"):
    assert run(argv.split()) == 0, argv
"""


def _cut(path: Path, random: Random) -> None:
    os.truncate(path, random.randrange(path.stat().st_size))


def _zeros(path: Path, random: Random) -> None:
    size, at = path.stat().st_size, random.randrange(path.stat().st_size)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes(min(4096, size - at)))


def _noise(path: Path, random: Random) -> None:
    with path.open("r+b") as file:
        for _ in range(random.choice((1, 30, 300))):
            file.seek(random.randrange(path.stat().st_size))
            file.write(random.randbytes(random.randint(1, 16)))


def _other(path: Path, random: Random) -> None:
    path.write_bytes(
        random.choice((b"", b"[1, 2]", b"\xff\xfe\0", b"a = {", b'{"a": [1]}', b"[" * 100_000))
    )


def _folder(path: Path, random: Random) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path, random: Random) -> None:
    path.unlink()
    os.mkfifo(path)


_DAMAGES: Final[tuple[Callable[[Path, Random], None], ...]] = (
    *(_cut, _zeros, _noise, _other, _folder, _pipe),
)


@dataclass(frozen=True, slots=True)
class Damaged:
    """All files, filled."""

    template: Path

    def attempt(self, forks: Forks, place: Place, random: Random, number: int) -> str:
        """Damage one file, then ask, and give the commands that are about it."""
        shutil.copytree(self.template, place.root, dirs_exist_ok=True)
        name = list(_LISTS)[number % len(_LISTS)]
        damage = _DAMAGES[(number // len(_LISTS)) % len(_DAMAGES)]
        path = place.root / name
        if path.is_dir():
            path = random.choice(sorted(path.iterdir()))
        damage(path, random)
        before = _what(path)
        faults = [self._asked(forks, place, name)]
        for argv in _LISTS[name]:
            faults.append(_told(argv, _run(forks, place, *argv)))
        if name.startswith("data") and name not in _MAY_CHANGE and not _may_heal(before, path):
            faults.append("it is not what it was")
        told = "; ".join(filter(None, faults))
        return f"{name}, {damage.__name__.strip('_')}: {told}" if told else ""

    def _asked(self, forks: Forks, place: Place, name: str) -> str:
        tools = _WITH_DOCUMENTS if "documents" in name else _WITHOUT
        ended = _run(forks, place, "ask", "-m", "tiny.gguf", *_ASK, *tools, "Who is on the ship?")
        if name.startswith("config") and ended.code == 2:
            return _told(("ask",), ended)
        if ended.code not in (0, 4):
            return f"ask is not answered: exit code {ended.code}: {ended.err[-300:]}"
        return _told(("ask",), ended)

    @classmethod
    def filled(cls, forks: Forks, folder: Path) -> Damaged:
        """Return the scene."""
        place = Place(folder / "template")
        (place.root / "papers").mkdir(parents=True)
        write_tiny_model(place.root / "tiny.gguf")
        fill(place.root / "papers", range(8))
        inside = f"import os\nos.chdir({str(place.root)!r})\n"
        timed(lambda: forks.run(env=place.env, before=inside + _FILL))
        ask = ("ask", "-m", "tiny.gguf", *_ASK, *_WITHOUT, "--session", "one", "Hm?")
        timed(lambda: _run(forks, place, *ask))
        (place.data / "chat-history").write_text("\n# 2026-01-01 00:00:00.0\n+Who?\n")
        return cls(place.root)


def _run(forks: Forks, place: Place, *argv: str) -> Ended:
    return forks.run(*argv, env=place.env, before=f"import os\nos.chdir({str(place.root)!r})\n")


def _told(argv: tuple[str, ...], ended: Ended) -> str:
    """Return what is wrong with how a command ended: more than a word about each fault."""
    name = " ".join(argv[:2])
    if ended.frightens:
        return f"{name}: {ended.frightens}"
    said = [line for line in ended.err.splitlines() if "local-react: " in line]
    if ended.code not in (0, 1, 2, 3, 4, 5) or (ended.code not in (0, 4) and len(said) != 1):
        return f"{name}: exit code {ended.code}: {ended.err[-300:]}"
    return ""


def _what(path: Path) -> bytes | str:
    """Return what is at a path: the bytes of a file, or the name of its kind."""
    return path.read_bytes() if path.is_file() else f"{path.stat().st_mode:o}"


def _may_heal(before: bytes | str, path: Path) -> bool:
    """Return whether what is at a path is what it was; a file of which so little is damaged
    that it can be used may have been, and an empty one is a new one."""
    return _what(path) == before or (isinstance(before, bytes) and path.is_file())
