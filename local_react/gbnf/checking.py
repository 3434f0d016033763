"""What llama.cpp would crash on, never end with or silently misread, told before it sees it.

Its parser and its search for left recursion call themselves, and the latter looks at a rule
again each time it is reached; a repetition is written out item by item, and a bound that is
too large is dropped; of an option it only asks whether it is empty as it stands: a rule that
is empty through others hides left recursion from it, which then fills the memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Final, TypeAlias

from local_react.errors import GrammarError
from local_react.gbnf.notation import MAX_REPEAT, pieces

MAX_CHARACTERS: Final = 500_000
MAX_NESTING: Final = 100
MAX_ITEMS: Final = 3_000_000
"""Letters, classes and rules, once its repetitions are written out."""
MAX_DEPTH: Final = 3_000
"""Rules that begin with one another."""
MAX_WAYS: Final = 5_000
"""Ways to go on from one place: each is kept, and compared with all others."""
_TOO_MANY: Final = "the grammar has too many ways to go on from one place: make fewer optional"


@dataclass(slots=True)
class _Item:
    """A part of an option: a text, or a rule, so many times."""

    size: int
    rule: str = ""
    least: int = 1
    most: int | None = 1

    @property
    def written_out(self) -> int:
        return self.size * max(self.least, self.most or 0, 1)


_Options: TypeAlias = list[list[_Item]]


@dataclass(slots=True)
class _Reading:
    """The rules as far as they were read; a group in parentheses is one too."""

    rules: dict[str, _Options] = field(default_factory=dict)
    open: list[_Options] = field(default_factory=list)
    """The groups that have begun, within the rule that is read."""

    def add(self, piece: re.Match[str]) -> None:
        if piece["defined"]:
            self.close_rule()
            self.open = [self._begun(piece["defined"])]
        elif piece["comment"] or piece["space"]:
            return
        elif piece["stray"] or not self.open:
            raise GrammarError(f"the grammar is not understood at {_shown(piece)}")
        elif piece["count"] or piece[0] in "*+?":
            self._repeat(piece)
        elif piece["sign"] and piece[0] != ".":
            self._group(piece)
        else:
            size = 1 if piece["literal"] is None else len(_NO_TEXT.sub("", piece[0]))
            self.open[-1][-1].append(_Item(size, piece["rule"] or ""))

    def close_rule(self) -> None:
        if len(self.open) > 1:
            raise GrammarError("the grammar does not compile: a parenthesis is left open")

    def _begun(self, name: str) -> _Options:
        self.rules[name] = [[]]
        return self.rules[name]

    def _group(self, piece: re.Match[str]) -> None:
        if piece[0] == "|":
            self.open[-1].append([])
        elif piece[0] == ")":
            if len(self.open) == 1:
                raise GrammarError("the grammar does not compile: a parenthesis too many is closed")
            self.open.pop()
        else:
            if len(self.open) > MAX_NESTING:
                raise GrammarError("the grammar is too large or too deeply nested")
            name = f"({len(self.rules)}"
            self.open[-1][-1].append(_Item(1, name))
            self.open.append(self._begun(name))

    def _repeat(self, piece: re.Match[str]) -> None:
        if not self.open[-1][-1]:
            raise GrammarError(f"the grammar repeats nothing at {_shown(piece)}")
        item = self.open[-1][-1][-1]
        item.least, item.most = _counts(piece)
        if not item.most and item.least <= 1:  # the item, and the rule for more of it
            item.size *= 2


_NO_TEXT: Final = re.compile(r'^(?:"|\[\^?)|["\]]$')
"""What encloses a text or a class."""
_COUNTS: Final = re.compile(r"\{[ \t]*(\d{1,9})[ \t]*(?:(,)[ \t]*(\d{1,9})?[ \t]*)?\}")


def _counts(piece: re.Match[str]) -> tuple[int, int | None]:
    if piece[0] in _MARKS:
        return _MARKS[piece[0]]
    found = _COUNTS.fullmatch(piece[0])
    if found is None:
        raise GrammarError(f"the grammar is not understood at {_shown(piece)}")
    least = int(found[1])
    most = int(found[3]) if found[3] else None if found[2] else least
    if max(least, most or 0) > MAX_REPEAT:
        raise GrammarError(f"the grammar repeats more than {MAX_REPEAT} times at {_shown(piece)}")
    if most is not None and least > most:
        raise GrammarError("the grammar asks for more repetitions than it allows")
    return least, most


_MARKS: Final[Mapping[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def _shown(piece: re.Match[str]) -> str:
    return ascii(piece.string[piece.start() : piece.start() + 20])


def check_notation(grammar: str) -> None:
    """Raise GrammarError, in one line, where llama.cpp cannot be trusted with a grammar. What
    passes may still not compile: that it tells by itself."""
    if not grammar.strip():  # which llama.cpp takes for no grammar at all
        raise GrammarError("the grammar is empty")
    if len(grammar) > MAX_CHARACTERS:
        raise GrammarError("the grammar is too large or too deeply nested")
    if "\0" in grammar or _half_a_character(grammar):
        raise GrammarError("the grammar holds what is no text")
    reading = _Reading()
    for piece in pieces(grammar):
        reading.add(piece)
    reading.close_rule()
    items = [item for options in reading.rules.values() for option in options for item in option]
    if sum(item.written_out for item in items) > MAX_ITEMS:
        raise GrammarError("the grammar is too large once its repetitions are written out")
    _check_beginnings(reading.rules)


def _half_a_character(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _check_beginnings(rules: Mapping[str, _Options]) -> None:
    """Refuse left recursion, what takes for ever to be searched for it, and what keeps too
    many readings alive at once."""
    empty = _empty(rules)
    first = {
        name: [item for option in options for item in _beginnings(option, empty)]
        for name, options in rules.items()
    }
    depth: dict[str, int] = {"": 0}  # which stands for a text
    ways: dict[str, int] = {"": 1}
    for name in _from_the_texts_on(first):
        depth[name] = ways[name] = 1
        for item in first.get(name, ()):
            times = (item.most or 1) if item.rule in empty else 1
            depth[name] = max(depth[name], depth[item.rule] + times)
            ways[name] += ways[item.rule] * times
        if depth[name] > MAX_DEPTH or ways[name] > MAX_WAYS:
            raise GrammarError(_TOO_MANY)
    for option in (option for options in rules.values() for option in options):
        alive = 0
        for item in reversed(option):
            alive = ways.get(item.rule, 1) + (alive if _may_be_empty(item, empty) else 0)
            if alive > MAX_WAYS:
                raise GrammarError(_TOO_MANY)


def _from_the_texts_on(first: Mapping[str, Sequence[_Item]]) -> list[str]:
    """Return the rules, each behind those that it may begin with."""
    graph = {name: {item.rule for item in items if item.rule} for name, items in first.items()}
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        named = next((name for name in error.args[1] if name[:1] != "("), "a group")
        raise GrammarError(
            f"the grammar does not compile: left recursion, {named!r} begins with itself"
        ) from None


def _beginnings(option: list[_Item], empty: set[str]) -> Iterator[_Item]:
    """Yield the parts with which an option may begin."""
    for item in option:
        yield item
        if not _may_be_empty(item, empty):
            return


def _may_be_empty(item: _Item, empty: set[str]) -> bool:
    return item.least == 0 or item.rule in empty or (not item.rule and item.size == 0)


def _empty(rules: Mapping[str, _Options]) -> set[str]:
    """Return the rules that admit the empty text."""
    empty: set[str] = set()
    users: dict[str, list[str]] = {}
    for name, options in rules.items():
        for rule in {item.rule for option in options for item in option}:
            users.setdefault(rule, []).append(name)
    waiting = list(rules)
    while waiting:
        name = waiting.pop()
        if name not in empty and any(
            all(_may_be_empty(item, empty) for item in option) for option in rules[name]
        ):
            empty.add(name)
            waiting += users.get(name, ())
    return empty
