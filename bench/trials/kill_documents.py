"""Indexes that are killed while files are added, read again or taken out."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final
from zipfile import ZipFile

from local_react.documents import Library
from trials.forks import Ended, Forks
from trials.killing import Place, moment, timed, unsound

_FILES: Final = 120
_KINDS: Final = ("txt", "md", "html", "csv", "eml", "rtf", "docx", "py")
_SAMPLE: Final = 6
"""Files that are looked for."""


def word_of(folder: str, number: int) -> str:
    """Return a word that one file alone holds."""
    letters = "".join(chr(ord("a") + int(digit)) for digit in f"{number:03}")
    return f"{folder}zq{letters}"


def fill(folder: Path, numbers: Iterable[int], more: str = "") -> None:
    """Write files of several kinds into a folder, each with a word of its own."""
    folder.mkdir(exist_ok=True)
    for number in numbers:
        kind = _KINDS[number % len(_KINDS)]
        text = f"The {word_of(folder.name, number)} sails {number}. {more}"
        _write(folder / f"{number:03}.{kind}", kind, text)


def _write(path: Path, kind: str, text: str) -> None:
    if kind == "docx":
        name = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
        body = f'<w:document xmlns:w="{name}"><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p>'
        with ZipFile(path, "w") as archive:
            archive.writestr("word/document.xml", f"{body}</w:body></w:document>")
        return
    form = {
        "html": "<html><body><p>{}</p></body></html>",
        "eml": "From: a@example.org\nSubject: ships\n\n{}\n",
        "rtf": r"{{\rtf1\ansi {}\par}}",
        "csv": "ship,says\none,{}\n",
        "py": "# {}\n",
    }.get(kind, "{}\n" * 30)
    path.write_text(form.replace("{}", text).replace("{{", "{").replace("}}", "}"))


@dataclass(frozen=True, slots=True)
class Documents:
    """`docs add` of a second folder, or of a first one that has changed, or `docs remove`."""

    template: Path
    seconds: float

    def attempt(self, forks: Forks, place: Place, random: Random, number: int) -> str:
        """Kill one, look whether all that was reported is found, and do it again."""
        shutil.copytree(self.template, place.root, dirs_exist_ok=True)
        _moved(place)
        command, wanted, gone = self._prepared(place, number % 3)
        child = forks.start("docs", *command, env=place.env)
        pause = moment(random, self.seconds * (0.2 if command[0] == "remove" else 1.1))
        child.kill(group=number % 2 == 0)
        child.ended()
        told = "; ".join(filter(None, self._faults(forks, place, random, command, wanted, gone)))
        return f"docs {command[0]} killed after {pause * 1000:.0f} ms: {told}" if told else ""

    def _prepared(self, place: Place, which: int) -> tuple[list[str], list[str], list[str]]:
        """Return a command, words that are found once it has ended, and words that are not."""
        first, second = place.root / "first", place.root / "second"
        if which == 0:
            return ["add", str(second)], _words("second", range(_FILES)), []
        if which == 1:
            fill(first, range(20), "It was seen anew.")
            for path in sorted(first.iterdir())[20:40]:
                path.unlink()
            return ["add", str(first)], _words("first", range(20)), _words("first", range(20, 40))
        return ["remove", str(first)], [], _words("first", range(60))

    def _faults(
        self,
        forks: Forks,
        place: Place,
        random: Random,
        command: list[str],
        wanted: list[str],
        gone: list[str],
    ) -> list[str]:
        library = Library(place.data)
        kept = _words("first", range(40, 60)) if command[0] == "add" else []
        seen = forks.run("docs", "search", random.choice(kept or ["zq"]), env=place.env)
        faults = [_wrong(seen), _lost(library, random.sample(kept, 3))] if kept else []
        again = forks.run("docs", *command, env=place.env)
        removed = command[0] == "remove" and again.code == 2 and "nothing was added" in again.err
        return [
            *faults,
            "" if removed else _wrong(again),
            _lost(library, random.sample(wanted, min(_SAMPLE, len(wanted))) + kept[:3]),
            _found(library, random.sample(gone, min(_SAMPLE, len(gone)))),
            _miscounted(library, command),
            unsound(place.data / "documents.sqlite"),
            place.leftovers(),
            place.survivors(),
        ]

    @classmethod
    def measured(cls, forks: Forks, folder: Path) -> Documents:
        """Return the scene: a first folder that is indexed, and a second one that is not."""
        place, other = Place(folder / "template"), Place(folder / "unkilled")
        place.root.mkdir()
        fill(place.root / "first", range(60))
        fill(place.root / "second", range(_FILES))
        timed(lambda: forks.run("docs", "add", str(place.root / "first"), env=place.env))
        shutil.copytree(place.root, other.root)
        second = str(other.root / "second")
        return cls(place.root, timed(lambda: forks.run("docs", "add", second, env=other.env)))


def _moved(place: Place) -> None:
    """Have the index know the first folder by where it is now."""
    with closing(sqlite3.connect(place.data / "documents.sqlite")) as db, db:
        db.execute("UPDATE roots SET path = ?", (os.fsencode(place.root / "first"),))


def _words(folder: str, numbers: range) -> list[str]:
    return [word_of(folder, number) for number in numbers]


def _wrong(ended: Ended) -> str:
    if ended.code or ended.frightens:
        return ended.frightens or f"exit code {ended.code}: {ended.err[-200:]}"
    return ""


def _lost(library: Library, words: list[str]) -> str:
    lost = [word for word in words if not any(word in hit.text for hit in library.search(word))]
    return f"not found: {', '.join(lost)}" if lost else ""


def _found(library: Library, words: list[str]) -> str:
    found = [word for word in words if any(word in hit.text for hit in library.search(word))]
    return f"found though it is gone: {', '.join(found)}" if found else ""


def _miscounted(library: Library, command: list[str]) -> str:
    wanted = {"first": 40, "second": 60 + _FILES}[Path(command[1]).name]
    held = library.status().files
    return "" if command[0] == "remove" or held == wanted else f"{held} files, not {wanted}"
