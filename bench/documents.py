#!/usr/bin/env python3
"""How fast are the user's documents indexed and searched, and is the right one found?

    python bench/documents.py [--megabytes 50] [--files 500] [--data ../shared/data] [--check]

It writes a folder of generated text (a third of it real paragraphs of wiki_corpus, the
rest words of that vocabulary and made-up ones, as frequent as Zipf's law has it), indexes
it, adds it again unchanged, and asks it the questions of hotpotqa and words taken from its
own files. Another process that indexes the same folder is killed half-way: its index must
be whole, go on, and find the same. Then the paragraphs of hotpotqa_corpus, a file each,
are asked its 100 questions. What is not in the data folder ($LOCAL_REACT_DATA, else
../shared/data) is left out, and said.

With --check the exit code is 1 where indexing is below 5 MB of text a second, the median
of a search is over 50 ms, a broken-off index is damaged or finds something else, or fewer
than 97 % of the questions have a gold paragraph among the first 5.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from common import run, verdict

from local_react.documents import Library

ROOT = Path(__file__).resolve().parents[1]
SPEED_BAR = 5.0
SEARCH_BAR = 0.05
GOLD_BAR = 0.97
OWN_QUESTIONS = 100
MADE_UP = 100_000
ADDS = """
import sys
from pathlib import Path
from local_react.documents import Library, indexing
indexing._BATCH = 1 << 20  # so that there is something to be broken off in a small folder too
Library(Path(sys.argv[1])).add([Path(sys.argv[2])])
"""
SYLLABLES = "ka lo mi ter an sor el vin da ru pe qui zo bra ne ti sha gor ul em".split()


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    with TemporaryDirectory(dir=options.scratch) as scratch:
        missed = [*_generated(options, Path(scratch)), *_gold(options.data, Path(scratch))]
    return verdict(missed, options)


def _options() -> argparse.Namespace:
    data = Path(os.environ.get("LOCAL_REACT_DATA", ROOT.parent / "shared" / "data"))
    found = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found.add_argument("--megabytes", type=int, default=50, help="of generated text")
    found.add_argument("--files", type=int, default=500, help="that it is spread over")
    found.add_argument("--data", type=Path, default=data, help="the folder with hotpotqa/")
    found.add_argument("--scratch", type=Path, help="where to put the files for the while")
    found.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    return found.parse_args()


def _generated(options: argparse.Namespace, scratch: Path) -> Iterator[str]:
    folder = scratch / "files"
    text = _write(options, folder)
    questions = [*_questions(options.data), *_own_questions(folder)]
    library = Library(scratch / "whole")
    first = library.add([folder])
    speed = text / first.seconds / 1e6
    again = library.add([folder])
    size = library.status().size
    _row("files, MB of text", f"{first.added}, {text / 1e6:.0f}")
    _row("passages", f"{first.passages}")
    _row("indexing", f"{speed:.1f} MB/s", f"at least {SPEED_BAR:g}")
    _row("adding it again, unchanged", f"{again.seconds:.2f} s")
    _row("the index, of the text's size", f"{size / text:.0%}")
    if first.added != options.files or again.unchanged != options.files:
        yield f"{first.added} of {options.files} files were added, {again.unchanged} stayed"
    if speed < SPEED_BAR:
        yield f"indexing: {speed:.1f} MB/s, should be at least {SPEED_BAR:g}"
    yield from _searches(library, questions)
    yield from _broken_off(folder, library, scratch / "killed", questions)


def _searches(library: Library, questions: Sequence[str]) -> Iterator[str]:
    took = []
    for question in questions:
        start = time.perf_counter()
        library.search(question)
        took.append(time.perf_counter() - start)
    middle, p95 = median(took), quantiles(took, n=20)[18]
    _row(
        f"a search, median of {len(took)}",
        f"{middle * 1e3:.1f} ms",
        f"at most {SEARCH_BAR * 1e3:g}",
    )
    _row("a search, p95", f"{p95 * 1e3:.1f} ms")
    if middle > SEARCH_BAR:
        yield f"a search takes {middle * 1e3:.1f} ms at the median, at most {SEARCH_BAR * 1e3:g}"


def _broken_off(
    folder: Path, whole: Library, directory: Path, questions: Sequence[str]
) -> Iterator[str]:
    """Kill a process that indexes; look at what it leaves, and go on."""
    library = Library(directory)
    _kill_half_way(folder, library, whole.status().passages)
    files = library.status().files
    with sqlite3.connect(library.path) as connection:
        (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
    connection.close()
    rest = library.add([folder])
    same = sum(_found(library, question) == _found(whole, question) for question in questions)
    _row("broken off: files there, added then", f"{files}, {rest.added}", f"the index is {sound}")
    _row("the same is found as without that", f"{same} of {len(questions)}", "all")
    if not 0 < files < whole.status().files:
        yield f"{files} files were there when it was killed: it was not half-way"
    if sound != "ok":
        yield f"the index that was broken off: {sound}"
    if same != len(questions):
        yield f"after going on, {len(questions) - same} questions find something else"


def _kill_half_way(folder: Path, library: Library, passages: int) -> None:
    command = [sys.executable, "-c", ADDS, os.fspath(library.path.parent), os.fspath(folder)]
    child = subprocess.Popen(command, cwd=ROOT)
    while child.poll() is None and library.status().passages < passages / 2:
        time.sleep(0.05)
    child.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    child.wait()


def _found(library: Library, question: str) -> set[tuple[str, str]]:
    return {(hit.name, hit.place) for hit in library.search(question)}


def _gold(data: Path, scratch: Path) -> Iterator[str]:
    rows = _rows(data / "hotpotqa" / "public.jsonl")
    paragraphs = _rows(data / "hotpotqa_corpus" / "corpus_public.jsonl")
    if not rows or not paragraphs:
        yield "gold paragraphs: no question was asked"
        return
    folder = scratch / "paragraphs"
    folder.mkdir()
    for number, row in enumerate(paragraphs):
        path = folder / f"{number}.md"
        path.write_text(f"# {row['title']}\n\n{row['text']}\n", encoding="utf-8")
    library = Library(scratch / "gold")
    library.add([folder])
    ranks = [_rank(library, row) for row in rows]
    share = sum(rank <= 5 for rank in ranks) / len(ranks)
    first = sum(rank == 1 for rank in ranks) / len(ranks)
    _row("HotpotQA, gold among the first 5", f"{share:.0%}", f"at least {GOLD_BAR:.0%}")
    _row("HotpotQA, gold is the first", f"{first:.0%}")
    if share < GOLD_BAR:
        yield f"gold among the first 5: {share:.0%}, should be at least {GOLD_BAR:.0%}"


def _rank(library: Library, row: Mapping[str, Any]) -> int:
    """Return which hit is the first of a gold paragraph; 99 where none is."""
    gold = {item["title"] for item in row["context"] if item["supporting"]}
    titles = [hit.title for hit in library.search(row["question"])]
    return next((at for at, title in enumerate(titles, start=1) if title in gold), 99)


def _questions(data: Path) -> list[str]:
    return [row["question"] for row in _rows(data / "hotpotqa" / "public.jsonl")]


def _own_questions(folder: Path) -> Iterator[str]:
    """Yield two to six words each that stand in a file not far from each other."""
    chance = random.Random(2)
    paths = sorted(folder.rglob("*.txt"))
    for _ in range(OWN_QUESTIONS):
        words = re.findall(r"\w+", chance.choice(paths).read_text("utf-8")[:20_000])
        at = chance.randrange(len(words) - 12)
        yield " ".join(chance.sample(words[at : at + 12], chance.randint(2, 6)))


def _write(options: argparse.Namespace, folder: Path) -> int:
    """Write the files; return the bytes of their text."""
    chance = random.Random(1)
    real = [row["text"] for row in _rows(options.data / "wiki_corpus" / "corpus.jsonl")]
    words, weights = _vocabulary(real, chance)
    size, total = options.megabytes * 1_000_000 // options.files, 0
    for number in range(options.files):
        text = "\n\n".join(_paragraphs(size, words, weights, real, chance))
        path = folder / f"{number // 100:03}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        total += path.write_bytes(text.encode())
    return total


def _paragraphs(
    size: int,
    words: Sequence[str],
    weights: Sequence[float],
    real: Sequence[str],
    chance: random.Random,
) -> Iterator[str]:
    written = 0
    while written < size:
        if real and chance.random() < 0.5:
            text = chance.choice(real)
        else:
            drawn = chance.choices(words, cum_weights=weights, k=chance.randint(60, 200))
            text = " ".join(drawn).capitalize() + "."
        yield text
        written += len(text.encode()) + 2


def _vocabulary(real: Sequence[str], chance: random.Random) -> tuple[list[str], list[float]]:
    """Return words, the most frequent first, and their weights, summed up."""
    counts = Counter(word for text in real for word in re.findall(r"\w+", text))
    made_up = ("".join(chance.choices(SYLLABLES, k=chance.randint(3, 5))) for _ in range(MADE_UP))
    words = list(dict.fromkeys([*(word for word, _ in counts.most_common()), *made_up]))
    return words, list(accumulate(1 / (rank + 3) for rank in range(len(words))))


def _rows(path: Path) -> list[Mapping[str, Any]]:
    if not path.is_file():
        print(f"SKIPPED: {path} is not here; set LOCAL_REACT_DATA or give --data")
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def _row(what: str, figure: str, bar: str = "") -> None:
    print(f"{what:<36} {figure:>14}" + (f"   ({bar})" if bar else ""), flush=True)


if __name__ == "__main__":
    run(main)
