#!/usr/bin/env python3
"""How much better are answers with the user's own documents, and no network?

    python bench/offline_qa.py [--n 100] [--arms bare,top5,react] [--resume FILE] [--check]

The questions of hotpotqa/public.jsonl over hotpotqa_corpus/corpus_public.jsonl, both in
the data folder ($LOCAL_REACT_DATA, else ../shared/data), each paragraph a file of its own
that is indexed as a user's document. Each arm is asked for the answer alone, in as few
words as possible, at temperature 0:

    bare   the model alone, without our loop
    top5   the same with the five passages in the prompt that the index gives for the question
    react  our agent, with the tools search_documents and read_document

EM and F1 are HotpotQA's own, with 95 % intervals (Wilson's for EM, else a bootstrap).
`gold` is the share of runs that were shown a paragraph that the answer rests on. With
--resume results are kept in a file, one JSON line each, and what is there is not run again.
With --check the exit code is 1 where the index finds such a paragraph among its first
five for less than 97 % of all questions.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from common import run, verdict

from local_react import Agent, LlamaModel
from local_react.answers import without_references
from local_react.core import Message, Model, Request
from local_react.documents import Hit, Library
from local_react.errors import UsageError
from local_react.evaluation.corpus import SUFFIX, file_name, write_documents
from local_react.evaluation.scoring import exact_match, f1
from local_react.evaluation.sets import data_folder
from local_react.evaluation.statistics import bootstrap, wilson
from local_react.tools.documents import make_documents

ARMS: Final = ("bare", "top5", "react")
FOUND_BAR = 0.97
TOP = 5
MOST = 64
"""Tokens of an answer that is written without our loop."""
ASKED = "{} Give the answer alone, in as few words as possible."


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
    lines = path.read_text(encoding="utf-8").split("\n")
    return [
        Question(
            id=row["id"],
            text=row["question"],
            answer=row["answer"],
            gold=frozenset(
                file_name(part["title"]) for part in row["context"] if part["supporting"]
            ),
        )
        for row in (json.loads(line) for line in lines if line.strip())
    ]


@dataclass(frozen=True)
class Result:
    """What one question came to in one arm."""

    id: str
    arm: str
    model: str
    answer: str
    em: float
    f1: float
    gold: bool
    seconds: float
    steps: int
    ended: str


@dataclass(frozen=True)
class Reply:
    """An answer, the files that were shown for it, and how it was come by."""

    answer: str
    shown: Sequence[str]
    steps: int
    ended: str


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    everything = read_questions(_there(options.data / "hotpotqa" / "public.jsonl"))
    questions = everything[: options.n]
    with TemporaryDirectory() as folder:
        library = _library(options, Path(folder))
        missed = list(_search_alone(library, everything))
        results = _results(options, questions, library)
    _print_table(results, options)
    _print_differences(results, options.arms)
    return verdict(missed, options)


def _options() -> argparse.Namespace:
    found = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found.add_argument("--data", type=Path, default=data_folder(), help="the folder with hotpotqa/")
    found.add_argument("--n", type=int, help="the first so many questions; else all")
    found.add_argument("--arms", type=_arms, default=ARMS, help="of bare,top5,react")
    found.add_argument("--model", default="qwen2.5-coder-1.5b")
    found.add_argument("--resume", type=Path, help="a JSONL file to keep results in")
    found.add_argument("--check", action="store_true", help="exit 1 where a bar is missed")
    return found.parse_args()


def _arms(text: str) -> Sequence[str]:
    arms = text.split(",")
    if strange := set(arms) - set(ARMS):
        raise argparse.ArgumentTypeError(f"no arm {', '.join(sorted(strange))}")
    return arms


def _there(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"{path} is not here: set LOCAL_REACT_DATA or give --data")
    return path


def _library(options: argparse.Namespace, folder: Path) -> Library:
    """Return the index of the corpus."""
    documents = folder / "documents"
    documents.mkdir()
    corpus = _there(options.data / "hotpotqa_corpus" / "corpus_public.jsonl")
    count = write_documents(corpus, documents)
    started = perf_counter()
    library = Library(folder)
    library.add([documents])
    print(f"{count} documents indexed in {perf_counter() - started:.1f} s")
    return library


def _search_alone(library: Library, questions: Sequence[Question]) -> Iterator[str]:
    """Print how often the question itself finds a gold paragraph; yield what is missed."""
    started = perf_counter()
    found = [q.is_supported_by(_files(library.search(q.text, TOP))) for q in questions]
    spent = (perf_counter() - started) / len(questions)
    low, high = wilson(sum(found), len(found))
    print(
        f"the question as the query: gold in the top {TOP} for {fmean(found):.0%}"
        f" ({low:.0%} to {high:.0%}) of {len(found)}, {spent * 1e3:.1f} ms each\n",
        flush=True,
    )
    if fmean(found) < FOUND_BAR:
        yield f"gold in the top {TOP} for {fmean(found):.0%}, should be {FOUND_BAR:.0%}"


def _files(hits: Sequence[Hit]) -> list[str]:
    return [Path(hit.path).name for hit in hits]


def _results(
    options: argparse.Namespace, questions: Sequence[Question], library: Library
) -> list[Result]:
    """Return the results of all arms: those kept, and those still missing."""
    wanted = [(question, arm) for question in questions for arm in options.arms]
    kept = {(r.id, r.arm): r for r in _kept(options.resume) if r.model == options.model}
    missing = [(question, arm) for question, arm in wanted if (question.id, arm) not in kept]
    for result in _run(options, missing, library) if missing else ():
        kept[result.id, result.arm] = result
    return [kept[question.id, arm] for question, arm in wanted]


def _kept(path: Path | None) -> list[Result]:
    if path is None or not path.is_file():
        return []
    # The last line is torn where the run was broken off in it.
    lines = [line for line in path.read_text(encoding="utf-8").split("\n")[:-1] if line]
    return [Result(**json.loads(line)) for line in lines]


def _run(
    options: argparse.Namespace, missing: Sequence[tuple[Question, str]], library: Library
) -> Iterator[Result]:
    started = perf_counter()
    with LlamaModel(options.model, context_size=8192, warm_start=False) as model:
        arms = _answerers(model, library)
        for number, (question, arm) in enumerate(missing, 1):
            result = _result(question, arm, options.model, arms[arm])
            _keep(options.resume, result)
            yield result
            spent = perf_counter() - started
            print(
                f"\r{number}/{len(missing)}, {spent:.0f} s,"
                f" {spent / number * (len(missing) - number):.0f} s to go   ",
                end="\n" if number == len(missing) else "",
                file=sys.stderr,
                flush=True,
            )


def _file(where: str) -> str:
    """Return the name of the file in a place such as "document 7: Fuel.txt, line 1"."""
    name = re.sub(r"^document \d+: ", "", where).partition(SUFFIX)[0]
    return name.rsplit("/", 1)[-1] + SUFFIX


def _result(question: Question, arm: str, model: str, answer: Callable[[str], Reply]) -> Result:
    started = perf_counter()
    reply = answer(question.text)
    words = without_references(reply.answer)
    return Result(
        id=question.id,
        arm=arm,
        model=model,
        answer=reply.answer,
        em=exact_match(words, question.answer),
        f1=f1(words, question.answer),
        gold=question.is_supported_by(reply.shown),
        seconds=perf_counter() - started,
        steps=reply.steps,
        ended=reply.ended,
    )


def _keep(path: Path | None, result: Result) -> None:
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")


def _answerers(model: Model, library: Library) -> Mapping[str, Callable[[str], Reply]]:
    """Return how each arm answers."""
    agent = Agent(model, make_documents(library))

    def bare(question: str) -> Reply:
        return _said(model, ASKED.format(question), ())

    def top5(question: str) -> Reply:
        hits = library.search(question, TOP)
        passages = "\n\n".join(f"{Path(hit.path).stem}\n{hit.text}" for hit in hits)
        return _said(model, f"{passages}\n\n{ASKED.format(question)}", _files(hits))

    def react(question: str) -> Reply:
        done = agent.run(ASKED.format(question))
        shown = [_file(source.where) for source in done.sources]
        return Reply(done.answer, shown, len(done.steps), done.stop_reason)

    return {"bare": bare, "top5": top5, "react": react}


def _said(model: Model, prompt: str, shown: Sequence[str]) -> Reply:
    """Return what the model says to a prompt, without a loop or a grammar."""
    request = Request(model.start([Message("user", prompt)]), most=MOST)
    text = "".join(piece for _, piece in model.generate_many([request]))
    return Reply(text.strip(), shown, 1, "reply")


def _print_table(results: Sequence[Result], options: argparse.Namespace) -> None:
    print(f"{options.model}, {len({r.id for r in results})} questions")
    heads = f"{'EM':>5} {'95 %':>11} {'F1':>5} {'95 %':>11} {'gold':>5} {'steps':>5} {'s':>6}"
    print(f"{'arm':<6} {heads}  ended")
    for arm in options.arms:
        rows = [r for r in results if r.arm == arm]
        print(f"{arm:<6} {_scores(rows)} {_rest(rows)}")


def _scores(rows: Sequence[Result]) -> str:
    em, words = [r.em for r in rows], [r.f1 for r in rows]
    return (
        f"{fmean(em):>5.0%} {_span(wilson(sum(em), len(em))):>11}"
        f" {fmean(words):>5.0%} {_span(bootstrap(words)):>11}"
    )


def _rest(rows: Sequence[Result]) -> str:
    ended = ", ".join(f"{name} {count}" for name, count in Counter(r.ended for r in rows).items())
    return (
        f"{fmean(r.gold for r in rows):>5.0%} {fmean(r.steps for r in rows):>5.1f}"
        f" {fmean(r.seconds for r in rows):>6.1f}  {ended}"
    )


def _span(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.0%} to {interval[1]:.0%}"


def _print_differences(results: Sequence[Result], arms: Sequence[str]) -> None:
    """Print what the last arm gains on each of the others, question by question."""
    by_key = {(r.arm, r.id): r for r in results}
    last = [r for r in results if r.arm == arms[-1]]
    for arm in arms[:-1]:
        pairs = [(r, by_key[arm, r.id]) for r in last]
        em = [one.em - other.em for one, other in pairs]
        words = [one.f1 - other.f1 for one, other in pairs]
        print(
            f"{arms[-1]} over {arm}, paired: EM {fmean(em):+.0%} ({_signed(bootstrap(em))}),"
            f" F1 {fmean(words):+.0%} ({_signed(bootstrap(words))})"
        )


def _signed(interval: tuple[float, float]) -> str:
    return f"{interval[0]:+.0%} to {interval[1]:+.0%}"


if __name__ == "__main__":
    run(main)
