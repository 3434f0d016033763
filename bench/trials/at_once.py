"""Eight threads, or eight tasks of asyncio, at one agent, model, session, history, library and
network: every answer is that of its own question.

Each asks in turn what can be told apart from what the others ask, and is compared with the
same asked alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from local_react import Agent, LlamaModel, Network, Sampling, Session, calculator, tool
from local_react.aside import Aside
from local_react.backends.llama import LlamaContext
from local_react.catalog import resolve
from local_react.core import Call, Event, Message, Run
from local_react.documents import Library
from local_react.errors import OfflineError, UsageError
from local_react.history import History
from local_react.protocol import written
from trials.own_places import own_places
from trials.trial import Report

MODEL: Final = "smollm2-135m"
TOGETHER: Final = 8
HANGS: Final = 300.0
"""Seconds after which whoever has not come back hangs."""
_NEAR: Final = 0.2
"""By which logits may differ that are summed in another order: those of other tokens differ
by tens."""
_OPTIONS: Final = ("The", "A", "It", "No", "1")
_WRITTEN: Final = 10
_PUT: Final = re.compile(r"Question: (What belongs to \d+\?)")
"""A question as the model is told it."""

Logits: TypeAlias = NDArray[Any]


@dataclass
class Shared:
    """One of each, for all."""

    model: LlamaModel
    agent: Agent
    session: Session
    history: History = field(default_factory=History)
    library: Library = field(default_factory=Library)
    network: Network = field(default_factory=lambda: Network("deny"))


Job: TypeAlias = Callable[[Shared, int], str]
"""Does something with what is shared, for the asker of that number, who has it alone; returns
what is wrong, or nothing."""


def ask(shared: Shared, number: int) -> str:
    """Ask the agent for a product."""
    return _of_its_own(shared.agent.stream(_question(number), given=_given(number)), number)


def converse(shared: Shared, number: int) -> str:
    """Ask the session, which may be busy."""
    try:
        run = shared.session.ask(_question(number), given=_given(number))
    except UsageError as error:
        return "" if "at another question" in str(error) else f"refused with {error}"
    return _of_its_own(run, number)


def weigh(shared: Shared, number: int) -> str:
    """Have the model weigh how its reply begins."""
    messages = [Message("system", "Be brief."), Message("user", f"Tell me of {number}.")]
    found = shared.model.weigh(messages, _OPTIONS).logarithms
    expected = alone(shared.model, partial(_weighed, messages, _OPTIONS))
    return "" if np.allclose(found, expected, atol=_NEAR) else f"{found}, and alone {expected}"


def write(shared: Shared, number: int) -> str:
    """Have some words written, and see that each is the likeliest where it stands."""
    context = shared.model.start([Message("user", f"Count from {number} on.")])
    before = len(context.tokens)
    for count, _ in enumerate(context.generate(None, Sampling()), 1):
        if count == _WRITTEN:
            break
    return alone(shared.model, partial(_unlikely, context.tokens, before))


def keep(shared: Shared, number: int) -> str:
    """Keep a run, and read it again."""
    run = Run(_question(number), (), str(number), "finish", "none")
    id_ = shared.history.add(run, session=f"s{number % 3}")
    return "" if shared.history.run(id_) == run else "another run came back"


def look(shared: Shared, number: int) -> str:
    """Look something up in the documents."""
    name = f"harbour{number % TOGETHER}"
    hits = shared.library.search(f"Who built {name}?", 1)
    return "" if hits and name in hits[0].text else f"{name} was not found: {hits}"[:200]


def send(shared: Shared, number: int) -> str:
    """Be refused by the network."""
    try:
        shared.network.permit(f"asker{number}", ["example.org"], str(number))
    except OfflineError as error:
        return "" if f"asker{number} " in str(error) else f"told of another: {error}"
    return "it was let out"


JOBS: Final[Sequence[Job]] = (ask, converse, weigh, write, keep, look, ask, send)


def at_once(attempts: int, dice: Random) -> Report:
    """Have each do one thing, all of them at the same time, as often as is wanted."""
    failures, tried = list[str](), 0
    with own_places() as root, _shared(root) as shared:
        while tried < attempts:
            jobs = dice.sample(JOBS, TOGETHER)
            work = [partial(job, shared, 100 + tried + seat) for seat, job in enumerate(jobs)]
            how = _in_threads if tried // TOGETHER % 2 == 0 else _in_tasks
            failures += how(work)
            failures += _confused(shared)
            tried += TOGETHER
    return Report(tried, failures, f"{len(shared.session.turns)} in one session")


def _in_threads(work: Sequence[Callable[[], str]]) -> Iterator[str]:
    asides = [Aside(one, "asker") for one in work]
    for job, aside in zip(work, asides, strict=True):
        if not aside.is_done(HANGS):
            yield f"{_named(job)}: it hangs"
            continue
        try:
            fault = aside.result()
        except Exception as error:  # noqa: BLE001 - told, and the next is looked at
            fault = f"{type(error).__name__}: {error}"
        if fault:
            yield f"{_named(job)}: {fault}"


def _in_tasks(work: Sequence[Callable[[], str]]) -> Iterator[str]:
    async def all_of_them() -> list[str | BaseException]:
        tasks = [asyncio.to_thread(one) for one in work]
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), HANGS)

    for job, fault in zip(work, asyncio.run(all_of_them()), strict=True):
        if fault:
            yield f"{_named(job)}, a task: {fault!r}"


def _named(job: Callable[[], str]) -> str:
    assert isinstance(job, partial)
    return f"{job.func.__name__} {job.args[1]}"


@contextmanager
def _shared(root: Path) -> Iterator[Shared]:
    folder = root / "documents"
    folder.mkdir()
    for number in range(TOGETHER):
        text = f"The harbour{number} was built by engineer{number}.\n"
        (folder / f"{number}.txt").write_text(text * 5)
    with LlamaModel(resolve(MODEL), context_size=4096) as model:
        agent = Agent(model, [multiply], max_steps=2, thought_tokens=12, action_tokens=24)
        shared = Shared(model, agent, Session(agent))
        shared.library.add([folder], workers=1)
        yield shared


def _question(number: int) -> str:
    return f"What belongs to {number}?"  # no sum, which a session asks by itself


@tool
def multiply(one: int, other: int) -> str:
    """Multiply numbers."""
    return calculator(f"{one} * {other}")


def _given(number: int) -> list[str]:
    call = Call("multiply", {"one": number, "other": number + 1})
    return [written("I multiply.", call)]


def _of_its_own(events: Iterator[Event], number: int) -> str:
    """Return what is wrong with the run of a product."""
    *_, run = events
    assert isinstance(run, Run)
    wanted = str(number * (number + 1))
    if run.question != _question(number) or run.steps[0].observation != wanted:
        return (
            f"{wanted} belongs to it, and it came to {run.steps[0].observation} for {run.question}"
        )
    said = set(re.findall(r"\d{5,}", run.answer.replace(",", "")))
    strange = said & {str(n * (n + 1)) for n in range(100, 2000)} - {wanted}
    return f"the answer is another's: {run.answer}"[:200] if strange else ""


T = TypeVar("T")


def alone(model: LlamaModel, work: Callable[[LlamaModel], T]) -> T:
    """Return what is read with nothing else in the batch."""
    with model.desk.visit(model):
        return work(model)


def _logits(model: LlamaModel, context: LlamaContext) -> Logits:
    while not (ready := model.engine.read([context])):
        pass
    return ready[0][1].astype(np.float64)


def _weighed(messages: Sequence[Message], options: Sequence[str], model: LlamaModel) -> list[float]:
    logits = _logits(model, model.start(messages))
    logits -= logits.max() + np.log(np.exp(logits - logits.max()).sum())
    return [float(logits[model.vocabulary.tokenize(option)[0]]) for option in options]


def _unlikely(tokens: Sequence[int], before: int, model: LlamaModel) -> str:
    """Return which of the tokens behind those of the prompt is not the likeliest."""
    context = LlamaContext(model, list(tokens[:before]), fixed=0, cancel=None)
    for token in tokens[before:]:
        logits = _logits(model, context)
        likeliest = next(t for t in (-logits).argsort() if model.vocabulary.kind(int(t)) == "text")
        if logits[token] < logits[likeliest] - _NEAR:
            return f"it wrote {model.vocabulary.text_of(tokens[before:])!r}, and not so alone"
        context.has_written(token)
    return ""


def _confused(shared: Shared) -> Iterator[str]:
    """Yield where the session's chat with the model does not hold the turns that it is known
    by, each once, in their order."""
    chat = shared.session._chats[-1]
    if chat is None:
        return
    context, wanted = chat.begun[0], shared.session.turns[chat.first : chat.end]
    assert isinstance(context, LlamaContext)
    text = shared.model.vocabulary.text_of(context.tokens)
    found, asked = _PUT.findall(text), [turn.question for turn in wanted]
    if found != asked:
        yield f"the chat of the session holds {found}, and its turns are {asked}"
