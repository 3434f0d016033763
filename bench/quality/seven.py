#!/usr/bin/env python3
"""Are the seven questions of issue 6 answered right, with the network served on loopback?

    python bench/quality/seven.py [--model NAME] [--only NUMBER] [--threads N] [--check]

Each is asked as `local-react --network allow` asks it, at temperature 0 with the automatic
votes, with the built-in tools; the one about the dogs with a tool of the user's too. The
network is that of seven_pages.py. A question is right where the run came to an end by
itself and nothing is missing that stands with it below. With --check the exit code is 1
where one is wrong.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Final, TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import run, verdict

from local_react import Agent, Call, LlamaModel, Run, tool
from local_react.catalog import load_catalogue, models_dir
from local_react.cli.agreement import agreement
from local_react.core import Action, Finish
from local_react.errors import ToolError
from local_react.network import Network
from local_react.outside import cited
from local_react.tools import builtin_tools
from local_react.tools.base import AnyTool
from quality.seven_pages import PER_DOLLAR
from quality.seven_web import network

Check: TypeAlias = Callable[[Run], str]
"""Returns what is missing, nothing where the answer is right."""

PRICE: Final = 428.75
"""What the results give as that of a share now."""
WEIGHTS: Final = {"border collie": 37, "scottish terrier": 20, "toy poodle": 7}
_WIDTH: Final = 200
"""Characters of a Thought, a call or an Observation that are shown."""


@tool
def average_dog_weight(breed: str) -> str:
    """Return the average weight of a dog breed in lbs."""
    weight = WEIGHTS.get(breed.strip().lower().removesuffix("s"))
    if weight is None:
        raise ToolError(f"no weight is known of {breed!r}; known are {', '.join(WEIGHTS)}")
    return f"a {breed} weighs {weight} lbs on average"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and what makes its answer right."""

    text: str
    check: Check
    tools: tuple[AnyTool, ...] = ()
    """The user's own, before the built-in ones."""


def holds(value: float, decimals: int = 0) -> Check:
    """Return the check for a number in the answer: exact, or rounded to no fewer decimals."""
    right = [round(value, places) for places in range(decimals, 7)]

    def check(done: Run) -> str:
        near = any(abs(number - one) < 1e-9 for number in numbers(done.answer) for one in right)
        return "" if near else f"it does not hold {value:,.10g}"

    return check


def numbers(text: str) -> Iterator[float]:
    """Yield the numbers of a text, but for those of its sources."""
    bare = re.sub(r"\[[\d, ]+\]", "", text)
    for found in re.findall(r"\d[\d,]*(?:\.\d+)?|\.\d+", bare):
        yield float(found.replace(",", ""))


def is_time_in(hours: int) -> Check:
    """Return the check for the time so many hours ahead of UTC, three minutes more or less."""

    def check(done: Run) -> str:
        now = datetime.now(timezone.utc) + timedelta(hours=hours)
        near = [now + timedelta(minutes=minutes) for minutes in range(-3, 4)]
        told = re.findall(r"\b(\d{1,2}):(\d\d)", done.answer)
        right = any(
            int(hour) in (time.hour, time.hour % 12 or 12) and int(minute) == time.minute
            for hour, minute in told
            for time in near
        )
        return "" if right else f"no time near {now:%H:%M}"

    return check


def explains_react(done: Run) -> str:
    """Return what is missing in one sentence about agents that reason and act, and how the two
    go together, for which no tool is called."""
    answer = done.answer.strip()
    missing = []
    if any(isinstance(step.action, Call) for step in done.steps):
        missing.append("a tool was called")
    if not re.search(r"\b(?:reason|think|thought)", answer, re.I):
        missing.append("nothing about reasoning")
    if not re.search(r"\b(?:act|acts|acting|actions?|tools?)\b", answer, re.I):
        missing.append("nothing about acting")
    if not re.search(_TOGETHER, answer, re.I):
        missing.append("nothing about how they go together")
    if re.search(r"\bReact(?:\.js|JS)\b|JavaScript|user interface|components?\b", answer):
        missing.append("it is about the JavaScript library")
    if len(re.split(r"(?<=[.!?])\s+(?=[A-Z])", answer)) > 1:
        missing.append("more than one sentence")
    return ", ".join(missing)


_TOGETHER: Final = (
    r"tool|environment|observ|step|interleav|alternat|loop|turns|iterat|cycle|combin|external"
)


def names_the_phone(done: Run) -> str:
    """Return what is missing: the latest phone before any other, two of its selling points
    at least, and a source that was found."""
    answer, missing = done.answer, []
    phones = re.findall(r"(?:Mate|Pura|nova|P) ?X?\d+", answer, re.I)
    if not phones or phones[0].casefold() != "mate 80":
        missing.append(f"the latest phone is not the Mate 80 but {phones[0] if phones else 'none'}")
    told = [name for name, words in POINTS.items() if re.search(words, answer, re.I)]
    if len(told) < 2:
        missing.append(f"fewer than two selling points: {', '.join(told) or 'none'}")
    if not cited(answer, done.sources):
        missing.append("no source that was found is cited")
    return ", ".join(missing)


POINTS: Final = {
    "the chip": r"Kirin 9030",
    "the camera": r"aperture|Red Maple|50 ?MP",
    "the battery": r"5,?750|100 ?W",
    "the system": r"HarmonyOS 6",
    "the display": r"LTPO|120 ?Hz|6\.75|Kunlun",
    "satellites": r"satellite",
}

QUESTIONS: Final = (
    Question("What is 15% of 1,299.99, plus 7?", holds(0.15 * 1299.99 + 7, decimals=2)),
    Question(
        "I have 2 dogs, a border collie and a Scottish terrier. What is their combined weight?",
        holds(37 + 20),
        (average_dog_weight,),
    ),
    Question("How much are 1000 US dollars in Chinese yuan?", holds(1000 * PER_DOLLAR["CNY"])),
    Question("What time is it in Beijing now?", is_time_in(8)),
    Question(
        "How much would 100 shares of Tesla cost at the current stock price?",
        holds(100 * PRICE),
    ),
    Question("Explain in one sentence what a ReAct agent is.", explains_react),
    Question(
        "What is Huawei's latest phone, and what are its main selling points? Give your sources.",
        names_the_phone,
    ),
)


def main() -> int:
    """Run the bench; return the exit code."""
    options = _options()
    asked = [(n, q) for n, q in enumerate(QUESTIONS, 1) if n in (options.only or range(1, 99))]
    wrong = list[str]()
    with _own_places(), network() as door, _loaded(options) as model:
        for number, question in asked:
            done = _answered(model, door, question)
            missing = _missing(question, done)
            print(f"{number}. {question.text}")
            _print(done, missing)
            if missing:
                wrong.append(f"{number}. {question.text} {missing}")
    print(f"{len(asked) - len(wrong)} of {len(asked)} right, {options.model}")
    return verdict(wrong, options)


def _options() -> argparse.Namespace:
    found = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    found.add_argument("--model", default=load_catalogue().default)
    found.add_argument("--only", type=int, action="append", help="this number; may be repeated")
    found.add_argument("--threads", type=int, help="CPU threads")
    found.add_argument("--check", action="store_true", help="exit 1 where an answer is wrong")
    return found.parse_args()


def _loaded(options: argparse.Namespace) -> LlamaModel:
    return LlamaModel(options.model, threads=options.threads, warm_start=False)


@contextmanager
def _own_places() -> Iterator[None]:
    """Keep what is written apart from the user's own, and proxies out of the way."""
    models = models_dir()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LOCAL_REACT_MODELS"] = str(models)
        os.environ["LOCAL_REACT_DATA_DIR"] = os.environ["LOCAL_REACT_CACHE"] = folder
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "DDGS_PROXY", "LOCAL_REACT_OFFLINE"):
            os.environ.pop(name, None)
            os.environ.pop(name.lower(), None)
        yield


def _answered(model: LlamaModel, door: Network, question: Question) -> Run:
    tools: Sequence[AnyTool] = [*question.tools, *builtin_tools(door)]
    return Agent(model, tools, votes="auto").run(question.text)


def _missing(question: Question, done: Run) -> str:
    """Return why the answer is wrong, nothing where it is right."""
    ended = "" if done.finished else f"stopped: {done.stop_reason}"
    return ", ".join(filter(None, [ended, question.check(done)]))


def _print(done: Run, missing: str) -> None:
    for step in done.steps:
        if step.thought:
            print(f"     Thought: {_short(step.thought)}")
        print(f"     Action: {_short(_told(step.action))}")
        if step.observation is not None:
            print(f"     Observation: {_short(step.observation)}")
    print(textwrap.fill(done.answer, 100, initial_indent="   = ", subsequent_indent="     "))
    for source in cited(done.answer, done.sources):
        print(f"     [{source.number}] {source.named}")
    sure = f", {agreement(done)}" if done.votes else ""
    guards = f", broken off: {dict(done.guards)}" if done.guards else ""
    print(f"   {f'WRONG: {missing}' if missing else 'right'}, {done.seconds:.0f} s{sure}{guards}\n")


def _told(action: Action) -> str:
    if isinstance(action, Call):
        return f"{action.tool} {dict(action.arguments)}"
    return f"Finish {action.answer}" if isinstance(action, Finish) else f"({action.reason})"


def _short(text: str) -> str:
    return textwrap.shorten(text, _WIDTH, placeholder=" …")


if __name__ == "__main__":
    run(main)
