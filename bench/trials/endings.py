"""What ends badly in one thread, or comes back to where it came from: a model closed while
others write, an exception, a fork, an agent within its own tool.

Each attempt has a fresh model of random weights; what hangs fails.
"""

from __future__ import annotations

import gc
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any, Final, TypeAlias

from tiny_model import write_tiny_model

from local_react import Agent, LlamaModel, Network, Sampling, Session, tool
from local_react.aside import Aside
from local_react.core import Call, Message, Run, Step
from local_react.errors import LocalReactError, ModelError, OfflineError
from local_react.protocol import written
from local_react.tools.base import AnyTool
from trials.own_places import own_places
from trials.trial import Report

HANGS: Final = 120.0
"""Seconds after which whoever has not come back hangs."""
_WORDS: Final = "root ::= [a-g]{40}"
_ENDLESS: Final = "root ::= [a-g]{2000}"


@dataclass(frozen=True)
class Stage:
    """What an attempt has."""

    path: Path
    dice: Random

    def model(self) -> LlamaModel:
        """Return a fresh model."""
        return LlamaModel(self.path, threads=1, warm_start=False, trusted=True)

    @contextmanager
    def agent(self, *tools: AnyTool) -> Iterator[Agent]:
        """Yield an agent with the tools."""
        with self.model() as model:
            yield Agent(model, tools, max_steps=3, thought_tokens=10, action_tokens=30)


Attempt: TypeAlias = Callable[[Stage], str]
"""Makes one, and returns what is wrong, or nothing."""


def write(model: LlamaModel, grammar: str = _WORDS) -> str:
    """Return a reply, or "closed"."""
    try:
        context = model.start([Message("user", "q" * 50)])
        return "".join(context.generate(grammar, Sampling(1.0, seed=1)))
    except ModelError as error:
        return "closed" if "closed" in str(error) else f"{error}"


def beside(*works: Callable[[], object]) -> list[object]:
    """Return what works give that are done at the same time, or their errors."""
    asides = [Aside(work, "beside") for work in works]
    return [_outcome(aside) for aside in asides]


def _outcome(aside: Aside[Any]) -> object:
    if not aside.is_done(HANGS):
        return "it hangs"
    try:
        return aside.result()
    except BaseException as error:  # noqa: BLE001 - what came of it is what is looked at
        return error


def closed_while_others_are_at_it(stage: Stage) -> str:
    """Close a model in one thread while others write, count, weigh and fork."""
    model = stage.model()
    context = model.start([Message("user", "q")])

    def close() -> None:
        sleep(stage.dice.random() / 20)
        model.close()

    def until_closed(work: Callable[[], object]) -> str:
        try:
            while work() != "closed":
                pass
            return "closed"
        except ModelError as error:
            return "closed" if "closed" in str(error) else f"{error}"

    question = [Message("user", "w" * 300)]
    uses: list[Callable[[], object]] = [
        lambda: model.count("words " * 3000),
        lambda: model.weigh(question, ["a", "b"]),
        lambda: context.fork(2),
        lambda: model.check('root ::= "' + "x" * stage.dice.randint(1, 9999) + '"'),
        lambda: model.prompt(question),
        partial(write, model),
    ]
    writers = [partial(write, model, _ENDLESS) for _ in range(2)]
    *found, ended = beside(*writers, *(partial(until_closed, use) for use in uses), close)
    return "" if found == ["closed"] * len(found) and ended is None else f"{found}, {ended}"


def closed_within_its_own_reply(stage: Stage) -> str:
    """Close a model, twice, while its reply is being read, and go on reading."""
    model = stage.model()
    reply = model.start([Message("user", "q")]).generate(_WORDS, Sampling())
    next(reply)
    model.close()
    model.close()
    try:
        next(reply)
    except ModelError as error:
        return "" if "closed" in str(error) else f"{error}"
    return "it went on"


def forgotten_with_a_reply(stage: Stage) -> str:
    """Forget a model while its reply is half read; the reply goes on."""
    model = stage.model()
    reply = model.start([Message("user", "q")]).generate(_WORDS, Sampling())
    first = next(reply)
    del model
    gc.collect()
    return "" if len(first + "".join(reply)) == 40 else "the reply ended early"


def an_error_in_one_thread(stage: Stage) -> str:
    """Have one of four threads fail, or hear Ctrl-C, half way."""
    error = stage.dice.choice([ValueError("mine"), KeyboardInterrupt()])
    with stage.model() as model:

        def fails() -> None:
            context = model.start([Message("user", "f")])
            for count, _ in enumerate(context.generate(_WORDS, Sampling())):
                if count == 7:
                    raise error

        *found, failed = beside(*[partial(write, model)] * 3, fails)
        whole = all(isinstance(text, str) and len(text) == 40 for text in found)
        return "" if whole and failed is error else f"{found}, {failed!r}"


def dropped_in_another_thread(stage: Stage) -> str:
    """Begin replies and runs, and have another thread collect them as garbage."""
    with stage.model() as model:
        agent = Agent(model, max_steps=2)

        def begin(ring: list[object]) -> None:
            context = model.start([Message("user", "d")])
            for events in (context.generate(_WORDS, Sampling()), agent.stream("Who?")):
                list(islice(events, stage.dice.randint(1, 5)))
                ring.append(events)
            ring.append(ring)

        def collect() -> None:
            beside(*[partial(begin, list[object]()) for _ in range(3)])
            gc.collect()

        found = beside(collect, *[partial(write, model)] * 2)
        gc.collect()
        seats = len(model.desk._consumers)
        texts = [write(model), *found[1:]]
        whole = all(isinstance(text, str) and len(text) == 40 for text in texts)
        return "" if whole and not seats and found[0] is None else f"{texts}, {seats} at the desk"


def used_after_a_fork(stage: Stage) -> str:
    """Use a model in a process forked from the one that has it, while that is at work."""
    with stage.model() as model:
        reply = model.start([Message("user", "q")]).generate(_WORDS, Sampling())
        first = next(reply)
        context = model.start([Message("user", "f")])
        going = Aside(partial(write, model, _ENDLESS), "beside")
        uses: dict[str, Callable[[], object]] = {
            "start": lambda: model.start([Message("user", "q")]),
            "write": lambda: next(context.generate(_WORDS, Sampling())),
            "go on": lambda: next(reply),
            "fork": lambda: context.fork(1),
            "weigh": lambda: context.weigh(["a"]),
            "load": stage.model,
        }
        name = stage.dice.choice(sorted(uses))
        told = _in_a_fork(partial(_refusal, uses[name], model, reply))
        if "forked" not in told:
            return f"{name}: {told}"
        text = first + "".join(reply)
        return "" if len(text) == 40 and going.is_done(HANGS) else "the first process hangs"


def _refusal(use: Callable[[], object], model: LlamaModel, reply: Any) -> str:
    try:
        use()
    except ModelError as error:
        reply.close()
        model.close()
        return str(error)
    return "it was used"


def _in_a_fork(work: Callable[[], str]) -> str:
    """Return what the work gives in a process that is forked from this one."""
    ours, theirs = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # which says what is tried here
        pid = os.fork()
    if pid == 0:
        try:
            os.write(theirs, work().encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as pipe:  # noqa: PTH123 - of a descriptor
        reading = Aside(pipe.read, "fork")
        done = reading.is_done(HANGS)
        if not done:
            os.kill(pid, 9)
        os.waitpid(pid, 0)
        return reading.awaited().decode() if done else "it hangs"


def two_models(stage: Stage) -> str:
    """Write with two models at the same time, of which one is closed half way."""
    with stage.model() as one, stage.model() as other:
        alone = write(one)
        found = beside(*[partial(write, one)] * 2, partial(write, other, _ENDLESS), other.close)
        right = found[:2] == [alone] * 2 or all(len(str(text)) == 40 for text in found[:2])
        return "" if right and isinstance(found[2], str) else f"{found}"


def _first_step(run: Run) -> Step:
    return run.steps[0]


def _called(agent: Agent, name: str) -> Run:
    *_, run = agent.stream("Who?", given=[written("I ask.", Call(name, {}))])
    assert isinstance(run, Run)
    return run


def an_agent_within_its_own_tool(stage: Stage) -> str:
    """Have a tool ask the agent that calls it, which calls it again."""
    inner: list[Run] = []

    @tool
    def again() -> str:
        """Ask the same agent."""
        inner.append(_called(agent, "again"))
        return "asked"

    with stage.agent(again) as agent:
        [outer] = beside(partial(_called, agent, "again"))
        if not isinstance(outer, Run) or len(inner) != 1:
            return f"{outer!r}, {len(inner)} within"
        told = _first_step(inner[0]).observation or ""
        return "" if "at work already" in told and "\n" not in told else told


def a_session_within_its_own_tool(stage: Stage) -> str:
    """Have a tool ask the session that calls it."""

    @tool
    def again() -> str:
        """Ask the same session."""
        return f"{list(session.ask('And now?'))}"

    with stage.agent(again) as agent:
        session = Session(agent)
        given = [written("I ask.", Call("again", {}))]
        [events] = beside(lambda: list(session.ask("Who?", given=given)))
        steps = [event for event in events if isinstance(event, Step)] if events else []  # type: ignore[attr-defined]
        told = (steps[0].observation or "") if steps else f"{events!r}"
        return "" if "at another question" in told and "\n" not in told else told


def a_tool_that_starts_threads(stage: Stage) -> str:
    """Have a tool start threads that ask the model and an agent."""

    @tool
    def spreads() -> str:
        """Ask in threads."""
        model = agent.model
        assert isinstance(model, LlamaModel)
        plain = Agent(model, max_steps=1, thought_tokens=5, action_tokens=20)
        found = beside(*[partial(write, model)] * 2, partial(plain.run, "Who?"))
        return f"{[type(one).__name__ for one in found]}"

    with stage.agent(spreads) as agent:
        [run] = beside(partial(_called, agent, "spreads"))
        told = _first_step(run).observation if isinstance(run, Run) else f"{run!r}"
        return "" if told == "['str', 'str', 'Run']" else f"{told}"


def tools_side_by_side(stage: Stage) -> str:
    """Have tools run side by side that share a door, and state of their own."""
    door, seen, all_here = Network("deny"), list[int](), threading.Barrier(3)

    @tool(may=["reads network"])
    def sends(number: int) -> str:
        """Send a number."""
        all_here.wait(HANGS)
        seen.append(number)
        try:
            door.permit(f"asker{number}", ["example.org"], str(number))
        except OfflineError as error:
            return str(error)
        return "let out"

    with stage.agent(sends) as agent:
        calls = [Call("sends", {"number": number}) for number in range(3)]
        work = partial(agent.stream, "Who?", given=[written("I send.", *calls)])
        [events] = beside(lambda: list(work()))
        steps = [event for event in events if isinstance(event, Step)][:3]  # type: ignore[attr-defined]
        told = [step.observation or "" for step in steps]
        right = all(f"asker{number} needs" in text for number, text in enumerate(told))
        return "" if right and sorted(seen) == [0, 1, 2] else f"{told}"


def a_tool_that_hangs(stage: Stage) -> str:
    """Have a tool hang, in a run with a limit of time."""
    free = threading.Event()

    @tool
    def hangs() -> str:
        """Wait for ever."""
        free.wait(HANGS)
        return "over"

    with stage.agent(hangs) as agent:
        limited = Agent(agent.model, [hangs], timeout=0.2)
        began = monotonic()
        [run] = beside(partial(_called, limited, "hangs"))
        took = monotonic() - began
        free.set()
        reason = run.stop_reason if isinstance(run, Run) else f"{run!r}"
        return "" if reason == "timeout" and took < HANGS / 2 else f"{reason} after {took:.0f} s"


def weighing_that_is_cancelled(stage: Stage) -> str:
    """Cancel what is weighed, before and meanwhile: the others go on."""
    with stage.model() as model:
        stop = threading.Event()

        def cancel() -> None:
            sleep(stage.dice.random() / 50)
            stop.set()

        question = [Message("user", "x" * 3000)]
        weighed, text, _ = beside(
            lambda: model.weigh(question, ["a", "b"], cancel=stop), partial(write, model), cancel
        )
        after = model.weigh(question, ["a", "b"], cancel=stop)
        wrong = isinstance(weighed, (str, Exception)) or len(str(text)) != 40
        return f"{weighed!r}, {text!r}" if wrong or after.usage.evaluated else ""


ATTEMPTS: Final[Sequence[Attempt]] = (
    closed_while_others_are_at_it,
    closed_within_its_own_reply,
    forgotten_with_a_reply,
    an_error_in_one_thread,
    dropped_in_another_thread,
    two_models,
    an_agent_within_its_own_tool,
    a_session_within_its_own_tool,
    a_tool_that_starts_threads,
    tools_side_by_side,
    a_tool_that_hangs,
    weighing_that_is_cancelled,
    used_after_a_fork,
)


def endings(attempts: int, dice: Random) -> Report:
    """Make each of the attempts in turn, as often as is wanted."""
    failures = list[str]()
    kinds = [one for one in ATTEMPTS if one is not used_after_a_fork or hasattr(os, "fork")]
    with own_places() as root:
        stage = Stage(write_tiny_model(root / "tiny.gguf"), dice)
        for number in range(attempts):
            attempt = kinds[number % len(kinds)]
            try:
                fault = attempt(stage)
            except (LocalReactError, AssertionError) as error:
                fault = f"{type(error).__name__}: {error}"
            failures += [f"{attempt.__name__}: {fault}"[:400]] if fault else []
    skipped = "" if hasattr(os, "fork") else "SKIPPED in part: this system has no fork"
    return Report(attempts, failures, skipped=skipped)
