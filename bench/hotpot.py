"""HotpotQA (Yang et al., 2018): its questions, its paragraphs as documents, its scores."""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

SUFFIX: Final = ".txt"
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")
_UNMARKED: Final = str.maketrans("", "", string.punctuation)
_ALL_OR_NOTHING: Final = frozenset({"yes", "no", "noanswer"})


@dataclass(frozen=True)
class Question:
    """A question, its answer, and the files of the paragraphs that it rests on."""

    id: str
    text: str
    answer: str
    gold: frozenset[str]

    def is_supported_by(self, names: Sequence[str]) -> bool:
        """Return whether one of the files is gold."""
        return not self.gold.isdisjoint(names)


def read_questions(path: Path) -> list[Question]:
    """Return the questions of a JSONL file."""
    return [
        Question(
            id=row["id"],
            text=row["question"],
            answer=row["answer"],
            gold=frozenset(
                file_name(part["title"]) for part in row["context"] if part["supporting"]
            ),
        )
        for row in _rows(path)
    ]


def write_documents(corpus: Path, folder: Path) -> int:
    """Write each paragraph of the corpus into a file that is named by its title; return
    how many that are."""
    texts = {file_name(row["title"]): row["text"] for row in _rows(corpus)}
    for name, text in texts.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
    return len(texts)


def file_name(title: str) -> str:
    """Return the name of a title's file: without a slash, and not hidden."""
    return f"{title.replace('/', '-').lstrip('.').strip()}{SUFFIX}"


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return (json.loads(line) for line in lines if line.strip())


def normal(answer: str) -> str:
    """Return an answer as it is compared, by the rules of HotpotQA's own evaluation: in
    small letters, without ASCII punctuation, without articles, single spaces."""
    bare = answer.lower().translate(_UNMARKED)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def exact_match(given: str, right: str) -> float:
    """Return 1 where the two are the same once normal, else 0."""
    return float(normal(given) == normal(right))


def f1(given: str, right: str) -> float:
    """Return the harmonic mean of precision and recall of the words, each as often as it
    stands there. A yes or no is right or wrong as a whole."""
    one, other = normal(given), normal(right)
    if one != other and not _ALL_OR_NOTHING.isdisjoint((one, other)):
        return 0.0
    words, wanted = one.split(), other.split()
    common = sum((Counter(words) & Counter(wanted)).values())
    return 2 * common / (len(words) + len(wanted)) if common else 0.0
