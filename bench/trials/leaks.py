"""Secret words in all that is asked and read: none is left where it was not to be kept.

The files are searched byte by byte, packed texts unpacked: what SQLite has left in pages that it
no longer uses counts, too.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from random import Random
from threading import Event, Thread
from typing import Final, TypeAlias

import psutil

from trials.stage import FAST, Ended, Stage
from trials.trial import Report, Trial

_WORD: Final = "qzvelvetotter"
"""What is asked, read and remembered."""
_PASSWORD: Final = "qzsilentheron"
_HEADS: Final = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
"""How what zlib packed begins (RFC 1950)."""
_SHARED: Final = 2
"""First letters that a full-text index may leave out, since the word before has them."""
_ERRORS: Final[Mapping[str, Sequence[str]]] = {
    "model": ("-m", "none", "hi"),
    "file": ("-f", "{secret}", "-m", "none", "hi"),
    "system": ("--system-file", "{secret}", "-m", "none", "hi"),
    "damaged file": ("-f", "{damaged}", "-m", "{model}", "hi"),
    "tool": ("tools", "test", "calculator", '{{"expression": "1/0"}}'),
    "search": ("tools", "test", "search", '{{"query": "x"}}', "--network", "allow"),
    "page": ("tools", "test", "read_page", '{{"url": "https://x.test/"}}', "--network", "allow"),
    "pull": ("pull", "smollm2-135m", "--network", "allow"),
    "doctor": ("doctor", "-m", "{model}"),
    "functions": ("tools", "list", "--functions", "{secret}"),
    "batch": ("batch", "{secret}", "-o", "{out}", "-m", "{model}"),
    "config": ("config", "show"),
    "network": ("network", "log"),
    "verbose": ("-vv", "-m", "{model}", *FAST, "hi"),
}
"""Commands with what is secret in the file {secret}, and a proxy with a password."""

_Case: TypeAlias = Callable[[Stage], Iterator[str]]
"""Tries something on a fresh stage, and yields what went wrong."""


def _asked(*options: str) -> _Case:
    """Return what asks a question that is not to be kept."""

    def case(stage: Stage) -> Iterator[str]:
        (stage.spare / "letter.txt").write_text(f"a letter about {_WORD}\n")
        files = ("-f", str(stage.spare / "letter.txt"), "--system-file")
        told = [*options, *files, str(stage.spare / "letter.txt"), "-m", stage.model, *FAST]
        yield from _bad(_run(stage, [*told, f"what is {_WORD}?"]))
        yield from _left(stage)

    return case


def _deleted(commands: Sequence[Sequence[str]], *, docs: bool = False) -> _Case:
    """Return what keeps a word everywhere, and deletes it by these commands."""

    def case(stage: Stage) -> Iterator[str]:
        letters, asking = stage.spare / "letters", ["-m", stage.model, *FAST, "--session", _WORD]
        letters.mkdir()
        for number in range(3):
            # What was there before it was read anew leaves its traces, too.
            (letters / "letter.txt").write_text(f"{_WORD} and more {number}\n" * (4 - number))
            (letters / "more.txt").write_text("other words\n" * number * 99)
            ask = [*asking, f"and what is {_WORD}?" * (number + 1)]
            yield from _bad(_run(stage, ["docs", "add", str(letters)] if docs else ask))
        yield from _bad(_run(stage, ["docs"] if docs else ["memory", "add", f"I know {_WORD}"]))
        if not list(_left(stage)):
            yield "the word was not kept in the first place"
        for command in commands:
            yield from _bad(_run(stage, [part.format(letters=letters) for part in command]))
        yield from _left(stage)

    return case


def _failed(name: str) -> _Case:
    """Return what fails, or tells of itself, beside what is secret."""

    def case(stage: Stage) -> Iterator[str]:
        (stage.spare / "secret").write_text(f"{_WORD} = {_WORD}(\n{{\n")
        (stage.spare / "damaged.docx").write_bytes(b"PK\x03\x04" + _WORD.encode() * 99)
        places = {
            "secret": stage.spare / "secret",
            "damaged": stage.spare / "damaged.docx",
            "model": stage.model,
            "out": stage.root / "out" / "answers.jsonl",
        }
        ended = _run(stage, [part.format(**places) for part in _ERRORS[name]])
        if _holds(f"{ended.out}{ended.err}".encode(), _PASSWORD):
            yield "the proxy's password is told"
        if name != "verbose" and _holds(ended.err.encode(), _WORD):
            yield f"what is in a file is told: {ended.err[-200:]!r}"
        yield from (fault for fault in _bad(ended) if "without a word" not in fault)
        yield from _left(stage, _PASSWORD)

    return case


def _seen_from_outside(stage: Stage) -> Iterator[str]:
    """Look at the command lines of all processes that commands start."""
    letters = stage.spare / _WORD
    letters.mkdir()
    for number in range(9):
        (letters / f"{_WORD}{number}.txt").write_text(f"about {_WORD}\n")
    seen, ended = set[str](), Event()
    watch = Thread(target=_watch, args=(seen, ended))
    watch.start()
    _run(stage, ["docs", "add", str(letters)])
    _run(stage, ["calc", f"sqrt({_WORD}) + 1"])
    _run(
        stage,
        ["batch", str(letters / f"{_WORD}0.txt"), "--format", "text", "-o", "o", "-m", "none"],
    )
    ended.set()
    watch.join()
    yield from (f"it is in the command line of a process: {line[:200]}" for line in seen)


def _watch(seen: set[str], ended: Event) -> None:
    while not ended.wait(0.02):
        with suppress(psutil.Error):
            for child in psutil.Process().children():
                for inner in child.children(recursive=True):
                    with suppress(psutil.Error):
                        line = " ".join(inner.cmdline())
                        # A child that has just been forked still has its parent's.
                        if _WORD in line and line != " ".join(child.cmdline()):
                            seen.add(line)


def _run(stage: Stage, command: Sequence[str]) -> Ended:
    proxy = f"http://someone:{_PASSWORD}/%23#x@127.0.0.1:9"
    changes = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"), proxy)
    (stage.root / "temporary").mkdir(exist_ok=True)
    changes["TMPDIR"] = str(stage.root / "temporary")
    return stage.run(command, environment=changes)


def _bad(ended: Ended) -> Iterator[str]:
    if fault := ended.fault():
        yield fault


def _left(stage: Stage, word: str = _WORD) -> Iterator[str]:
    """Tell in which files a word is left."""
    for path in sorted(stage.root.rglob("*")):
        is_ours = path.is_file() and not path.is_symlink() and path.suffix != ".gguf"
        if is_ours and _holds(path.read_bytes(), word):
            yield f"{path.relative_to(stage.root)} holds what was not to be kept"
        if word in path.name.casefold():
            yield f"{path.relative_to(stage.root)} is named after what was not to be kept"


def _holds(data: bytes, word: str) -> bool:
    """Return whether bytes hold a word, as it stands or packed."""
    part = word[_SHARED:].encode()
    return part in data.lower() or any(part in text.lower() for text in _unpacked(data))


def _unpacked(data: bytes) -> Iterator[bytes]:
    for head in _HEADS:
        at = data.find(head)
        while at >= 0:
            with suppress(zlib.error):
                yield zlib.decompressobj().decompress(data[at:], 1 << 20)
            at = data.find(head, at + 1)


_CASES: Final[Mapping[str, _Case]] = {
    "--private": _asked("--private"),
    "sessions delete": _deleted(
        [("sessions", "delete", _WORD, "-y"), ("memory", "forget", _WORD, "-y")]
    ),
    "docs remove": _deleted([("docs", "remove", "{letters}")], docs=True),
    "processes": _seen_from_outside,
    "error: search": _failed("search"),
    "--no-log": _asked("--no-log"),
    "sessions delete --all": _deleted(
        [("sessions", "delete", "--all", "-y"), ("memory", "clear", "-y")]
    ),
    "trace rm": _deleted(
        [("trace", "rm", "last", "-y")] * 3
        + [("sessions", "delete", _WORD, "-y"), ("memory", "forget", "2", "-y")]
    ),
    **{f"error: {name}": _failed(name) for name in _ERRORS},
}
"""The first of them are those of the tests."""


def _attempts(count: int, random: Random) -> Report:
    names = (list(_CASES) * (count // len(_CASES) + 1))[:count]
    failures: list[str] = []
    with Stage() as stage:
        for name in names:
            stage.fresh()
            failures += [f"{name}: {fault}" for fault in _CASES[name](stage)]
    return Report(len(names), failures)


TRIALS: tuple[Trial, ...] = (
    Trial(
        "leaks", "secret words: --no-log, --private, deletion, errors, processes", _attempts, 21, 4
    ),
)
