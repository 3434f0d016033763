"""Commands that keep something, what was kept before them, and what has to be so at any moment
and at their end."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from local_react.documents import Library
from local_react.history import History
from trials.kill_documents import word_of
from trials.kill_downloads import is_right
from trials.killing import Place

Check: TypeAlias = Callable[[Place], str]
"""Returns what is wrong in a place, or nothing."""
_ASK: Final = (
    *("-t", "1", "--votes", "1", "--thought-tokens", "4", "--no-tools", "--max-steps", "1"),
    *("--ctx-size", "600", "--offline", "-q"),
)


def _nothing(place: Place) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Case:
    """A command."""

    argv: Sequence[str]
    before: Sequence[Sequence[str]] = ()
    """Commands that come first."""
    always: Check = field(default=_nothing)
    """What has to be so at any moment after those."""
    done: Check = field(default=_nothing)
    """What has to be so once the command has ended well."""
    codes: frozenset[int] = frozenset({0})
    """That the command may end with, done again."""


def cases(model: Path, papers: Path, letters: Path, questions: Path) -> dict[str, Case]:
    """Return the commands by their names: two folders of `kill_documents`, and a file with
    three questions, one of them too long."""
    ask = ("ask", "-m", str(model), *_ASK)
    out = ("--format", "text", "-o", "out.jsonl", "-m", str(model))
    return {
        "config set": Case(
            ("config", "set", "max-steps", "7"),
            [("config", "set", "thought-tokens", "40")],
            _holds("config/config.toml", "thought_tokens = 40"),
            _holds("config/config.toml", "max_steps = 7"),
        ),
        "config unset": Case(
            ("config", "unset", "thought-tokens"),
            [("config", "set", "max-steps", "7"), ("config", "set", "thought-tokens", "40")],
            _holds("config/config.toml", "max_steps = 7"),
            codes=frozenset({0, 2}),
        ),
        "models add": Case(
            ("models", "add", str(model), "--name", "two"),
            [("models", "add", str(model), "--name", "one")],
            _holds("data/models.json", '"one"'),
            _holds("data/models.json", '"two"'),
        ),
        "models rm": Case(
            ("models", "rm", "two", "--yes"),
            [("models", "add", str(model), "--name", name) for name in ("one", "two")],
            _holds("data/models.json", '"one"'),
            codes=frozenset({0, 3}),
        ),
        "memory add": Case(
            ("memory", "add", "I have a cat"),
            [("memory", "add", "I have a dog")],
            _remembers("I have a dog"),
            _remembers("I have a cat"),
        ),
        "memory forget": Case(
            ("memory", "forget", "1"),
            [("memory", "add", "I have a dog"), ("memory", "add", "I have a cat")],
            _remembers("I have a cat"),
            _holds_no_more("I have a dog"),
            frozenset({0, 2}),
        ),
        "sessions delete": Case(
            ("sessions", "delete", "one", "--yes"),
            [(*ask, "--session", "two", "Who?"), (*ask, "--session", "one", "Where is Bern?")],
            _keeps("Who?"),
            _holds_no_more("Where is Bern?"),
            frozenset({0, 2}),
        ),
        "ask": Case(
            (*ask, "And where?"),
            [(*ask, "Who?")],
            _keeps("Who?"),
            _keeps("And where?"),
            frozenset({0, 4}),
        ),
        "batch": Case(
            ("batch", str(questions), *out, *_ASK),
            [("batch", str(questions), *out, *_ASK)],
            _answered(2),
            _answered(3),
            frozenset({2}),
        ),
        "docs add": Case(
            ("docs", "add", str(papers)),
            [("docs", "add", str(papers / "000.txt"))],
            _finds(word_of("papers", 0)),
            _finds(word_of("papers", 3)),
        ),
        "docs remove": Case(
            ("docs", "remove", str(papers)),
            [("docs", "add", str(papers), str(letters))],
            _finds(word_of("letters", 3)),
            _finds_no_more(word_of("papers", 3)),
            frozenset({0, 2}),
        ),
        "pull": Case(("pull", "tiny"), always=_is_right_if_there, done=_is_right),
        "pull --force": Case(("pull", "tiny", "--force"), [("pull", "tiny")], _is_right, _is_right),
    }


def _holds(name: str, text: str) -> Check:
    def check(place: Place) -> str:
        there = (place.root / name).read_text()
        return "" if text in there else f"{name} has no {text}: {there!r}"

    return check


def _remembers(text: str) -> Check:
    def check(place: Place) -> str:
        facts = [fact.text for fact in History(place.data / "history.sqlite").facts()]
        return "" if text in facts else f"{text!r} is forgotten"

    return check


def _keeps(question: str) -> Check:
    def check(place: Place) -> str:
        runs = [run.question for run in History(place.data / "history.sqlite").runs()]
        return "" if question in runs else f"the run {question!r} is not kept"

    return check


def _holds_no_more(text: str) -> Check:
    def check(place: Place) -> str:
        files = place.data.glob("history.sqlite*")
        held = [path.name for path in files if text.encode() in path.read_bytes()]
        return f"what was deleted is in {held} still" if held else ""

    return check


def _answered(count: int) -> Check:
    def check(place: Place) -> str:
        lines = (place.root / "out.jsonl").read_bytes().split(b"\n")[:-1]
        numbers = sorted(json.loads(line)["line"] for line in lines)
        right = len(numbers) >= count and numbers == sorted(set(numbers))
        return "" if right else f"the results are those of the lines {numbers}"

    return check


def _finds(word: str) -> Check:
    def check(place: Place) -> str:
        hits = Library(place.data).search(word)
        return "" if any(word in hit.text for hit in hits) else f"{word} is not found"

    return check


def _finds_no_more(word: str) -> Check:
    return lambda place: "" if _finds(word)(place) else f"{word} is found still"


def _is_right(place: Place) -> str:
    path = place.root / "models" / "tiny.gguf"
    return "" if path.exists() and is_right(path) else "the model in place is not the right one"


def _is_right_if_there(place: Place) -> str:
    return _is_right(place) if (place.root / "models" / "tiny.gguf").exists() else ""
