"""The sets of a data folder, and files of questions of a user's own."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Number
from pathlib import Path
from typing import Any, Final, get_args

from local_react.errors import UsageError
from local_react.evaluation.items import Item, QuestionSet, Scorer
from local_react.evaluation.scoring import last_number

BRIEFLY: Final = "Give the answer alone, in as few words as possible."
YES_OR_NO: Final = "Answer yes or no."
_FEVER: Final = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
_VERDICT: Final = (
    "Answer SUPPORTS if the claim is true, REFUTES if it is false, "
    "or NOT ENOUGH INFO if that cannot be told."
)
SCORERS: Final[tuple[Scorer, ...]] = tuple(one for one in get_args(Scorer) if one != "calls")
"""Those that a user's own file may name."""

Line = Mapping[str, Any]


@dataclass(frozen=True)
class _Source:
    """Where a set is in the data folder, and how its lines become items."""

    read: Callable[[Line], Item]
    folder: str
    categories: tuple[str, ...] = ()
    """Of BFCL, those that make up the set; all lines, where there are none."""
    documents: str = ""
    tokens: int = 1200


def _number(line: Line) -> Item:
    return Item(line["id"], line["question"], line["answer"], "number")


def _briefly(line: Line) -> Item:
    return Item(line["id"], line["question"], line["answer"], "text", BRIEFLY)


def _yes_or_no(line: Line) -> Item:
    return Item(line["id"], line["question"], line["answer"], "yesno", YES_OR_NO)


def _claim(line: Line) -> Item:
    claim = f"Claim: {line['question']}"
    return Item(line["id"], claim, line["answer"], "label", _VERDICT, choices=_FEVER)


def _calls(line: Line) -> Item:
    # A system's turn is a part of what is asked: the agent's own is its format.
    text = "\n\n".join(turn["content"] for turn in line["messages"])
    functions = {one["name"]: one for one in line["functions"]}
    return Item(line["id"], text, line["expected"], "calls", functions=(*functions.values(),))


_SETS: Final[Mapping[str, _Source]] = {
    "gsm8k": _Source(_number, "gsm8k"),
    "svamp": _Source(_number, "svamp"),
    "hotpotqa": _Source(_briefly, "hotpotqa", documents="hotpotqa_corpus", tokens=3000),
    "nq_open": _Source(_briefly, "nq_open"),
    "strategyqa": _Source(_yes_or_no, "strategyqa"),
    "fever": _Source(_claim, "fever"),
    "bfcl-simple": _Source(_calls, "bfcl", ("simple_python",)),
    "bfcl-multiple": _Source(_calls, "bfcl", ("multiple",)),
    "bfcl-parallel": _Source(_calls, "bfcl", ("parallel",)),
    "bfcl-parallel-multiple": _Source(_calls, "bfcl", ("parallel_multiple",)),
    "bfcl-irrelevance": _Source(_calls, "bfcl", ("irrelevance",)),
    "bfcl-live-simple": _Source(_calls, "bfcl", ("live_simple",)),
    "bfcl-live-irrelevance": _Source(_calls, "bfcl", ("live_irrelevance",)),
    "bfcl-live-relevance": _Source(_calls, "bfcl", ("live_relevance",)),
}
NAMES: Final = tuple(_SETS)


def read_set(
    name: str, data: Path, *, file: Path | None = None, documents: Sequence[Path] = ()
) -> QuestionSet:
    """Return a set of the data folder, or what another file of its format holds. The
    documents are added to those that it is answered from.

    Raises UsageError where there is no such set or file, or it is of another format.
    """
    if name not in _SETS:
        near = difflib.get_close_matches(name, NAMES, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the sets are {', '.join(NAMES)}"
        raise UsageError(f"there is no set or file {name!r}: {hint}")
    source = _SETS[name]
    path = file or data / source.folder / "public.jsonl"
    lines = _lines(path)
    kinds = source.categories
    try:
        items = [source.read(one) for one in lines if not kinds or one["category"] in kinds]
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not in the format of {name}: {error} is missing") from error
    if not items:
        raise UsageError(f"{path} holds no question of {name}")
    own = sorted((data / source.documents).glob("*.jsonl")) if source.documents else []
    if source.documents and not own:
        raise UsageError(f"{data / source.documents} holds no documents for {name}: give --data")
    return QuestionSet(name, tuple(items), (*own, *documents), source.tokens)


def read_own(
    path: Path, *, scorer: Scorer | None = None, documents: Sequence[Path] = ()
) -> QuestionSet:
    """Return the questions of a user's own JSONL file: {"question", "answer"}, and an "id"
    if there is one. Where no scorer is named, the kind of the answer chooses it: a number,
    yes or no, a text, or a list of the texts that are right.

    Raises UsageError, with the line's number, where one cannot be read.
    """
    items = list(_unique(_own(line, number, path, scorer) for number, line in _numbered(path)))
    if not items:
        raise UsageError(f"{path} holds no question: a line is {_EXAMPLE}")
    if scorer == "label":
        choices = tuple(sorted({str(item.expected) for item in items}))
        asked = f"Answer with one of: {', '.join(choices)}."
        items = [replace(item, choices=choices, asked=asked) for item in items]
    return QuestionSet(path.stem, tuple(items), tuple(documents), 3000 if documents else 1200)


_EXAMPLE: Final = '{"question": "What is 2 + 2?", "answer": 4}'


def _own(line: Any, number: int, path: Path, scorer: Scorer | None) -> Item:
    try:
        text, answer = line["question"], line["answer"]
        known = isinstance(text, str) and text.strip() and _is_answer(answer)
    except (KeyError, TypeError):
        known = False
    if not known:
        raise UsageError(f"{path}, line {number}: it should be like {_EXAMPLE}")
    if isinstance(answer, bool):
        answer = "yes" if answer else "no"
    kind = scorer or _scorer_of(answer)
    if not _suits(answer, kind):
        raise UsageError(f"{path}, line {number}: the scorer {kind} cannot use {answer!r}")
    name = str(line.get("id") or hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12])
    return Item(name, text, answer, kind, _ASKED[kind])


_ASKED: Final[Mapping[Scorer, str]] = {
    "number": "",
    "text": BRIEFLY,
    "yesno": YES_OR_NO,
    "label": "",
}


def _is_answer(answer: Any) -> bool:
    if isinstance(answer, list):
        return bool(answer) and all(isinstance(one, (str, int, float)) for one in answer)
    return isinstance(answer, (str, int, float)) and bool(str(answer).strip())


def _suits(answer: Any, scorer: Scorer) -> bool:
    if scorer == "number":
        return last_number(str(answer)) is not None and not isinstance(answer, list)
    if scorer == "yesno":
        return str(answer).strip().lower() in ("yes", "no", "true", "false")
    return scorer == "text" or not isinstance(answer, list)


def _scorer_of(answer: Any) -> Scorer:
    if str(answer).strip().lower() in ("yes", "no"):
        return "yesno"
    return "number" if isinstance(answer, Number) else "text"


def _unique(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items; one whose name was there before gets a number behind it."""
    seen: dict[str, int] = {}
    for item in items:
        seen[item.id] = count = seen.get(item.id, 0) + 1
        yield item if count == 1 else replace(item, id=f"{item.id}#{count}")


def _lines(path: Path) -> list[Any]:
    return [line for _, line in _numbered(path)]


def _numbered(path: Path) -> list[tuple[int, Any]]:
    """Return the lines of a JSONL file, each with its number."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        hint = "set LOCAL_REACT_DATA, or give --data or the right path"
        raise UsageError(f"{path} cannot be read: {reason}: {hint}") from error
    found = []
    for number, line in enumerate(lines, 1):
        try:
            found += [(number, json.loads(line))] if line.strip() else []
        except ValueError as error:
            raise UsageError(f"{path}, line {number} is no JSON: {error}") from error
    return found


def data_folder() -> Path:
    """Return the folder with the sets: what LOCAL_REACT_DATA says, else the one beside
    the checkout that this package runs from."""
    named = os.environ.get("LOCAL_REACT_DATA")
    return Path(named) if named else Path(__file__).parents[3] / "shared" / "data"
