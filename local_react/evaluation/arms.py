"""The ways to answer that are compared: the model alone, and the agent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event as Flag
from typing import Any, Final, TypeAlias

from local_react.agent import Agent
from local_react.aside import LinkedFlag
from local_react.core import Call, Finish, Malformed, Message, Model, Request, Run, Sampling, Step
from local_react.documents import Library
from local_react.evaluation.bfcl import schema_of, tools_of
from local_react.evaluation.corpus import indexed
from local_react.evaluation.items import Function, Item, QuestionSet, Scorer
from local_react.evaluation.settings import ArmSettings, Kind
from local_react.guards import without_twins
from local_react.network import Network
from local_react.tools import builtin_tools
from local_react.tools.base import AnyTool

PASSAGES: Final = 5
"""Given to the arm that is shown them."""
_MOST_ALONE: Final = 64
"""Tokens of an answer alone."""
_MOST_REASONED: Final = 512
_MOST_THOUGHT: Final = 1024
"""Tokens that a model may think before its reply, where it always does: as in the agent."""
_ALONE: Final[Mapping[Scorer, str]] = {"number": "Give the number alone."}
_LAST: Final[Mapping[Scorer, str]] = {
    "text": " in as few words as possible",
    "yesno": ", yes or no",
    "label": ", one of {choices}",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, and how it was come by."""

    answer: str
    replies: int
    ended: str
    tokens: int
    trace: tuple[Mapping[str, str], ...]
    calls: tuple[str, ...] = ()
    malformed: int = 0
    confidence: float | None = None
    votes: tuple[tuple[str, str], ...] = ()
    """The way and the answer of each run, where there were several."""


Arm: TypeAlias = Callable[[Item], Reply]


@dataclass(frozen=True)
class Offered:
    """What a set is answered with."""

    library: Library
    tools: Sequence[AnyTool]


@contextmanager
def offered_to(questions: QuestionSet, arms: Iterable[ArmSettings]) -> Iterator[Offered]:
    """Give what a set is answered with: the tools that a user gets offline, with the
    set's documents as the user's own, where one of the arms looks at these.

    Raises UsageError where they cannot be read.
    """
    looks = any(arm.kind in ("agent", "retrieval") for arm in arms)
    looks = looks and not questions.calls_functions
    with indexed(questions.documents if looks else ()) as library:
        yield Offered(library, builtin_tools(Network("deny"), library=library))


def fits(arm: ArmSettings, questions: QuestionSet) -> bool:
    """Return whether an arm makes sense for a set: passages are where documents are, and
    calls are not reasoned about in words."""
    if questions.calls_functions:
        return arm.kind in ("bare", "agent") and arm.tools is None
    return arm.kind != "retrieval" or bool(questions.documents)


def make_arm(
    settings: ArmSettings,
    questions: QuestionSet,
    offered: Offered,
    model: Model,
    sampling: Sampling,
    cancel: Flag,
) -> Arm:
    """Return the arm as a function of a question. Setting `cancel` ends what it is at.

    Raises UsageError where it cannot be made of these settings.
    """
    sampling = settings.sampling(sampling)
    if settings.kind == "agent":
        return _with_agent(settings, questions, offered, model, sampling, cancel)

    def said(prompt: str, most: int) -> Reply:
        return _said(model, prompt, most, sampling, cancel)

    return _alone(settings.kind, offered.library, said)


def _alone(kind: Kind, library: Library, said: Callable[[str, int], Reply]) -> Arm:
    """Return an arm of the model alone; `said` gives its reply to a prompt."""

    def bare(item: Item) -> Reply:
        if item.functions:
            return said(_calls_prompt(item), _MOST_REASONED)
        return said(f"{item.question} {_ALONE.get(item.scorer, '')}".strip(), _MOST_ALONE)

    def cot(item: Item) -> Reply:
        reply = said(_reasoned_prompt(item), _MOST_REASONED)
        return replace(reply, answer=last_answer(reply.answer))

    def retrieval(item: Item) -> Reply:
        hits = library.search(item.text, PASSAGES)
        passages = "\n\n".join(f"{Path(hit.path).stem}\n{hit.text}" for hit in hits)
        return said(f"{passages}\n\n{item.question}".strip(), _MOST_ALONE)

    return {"bare": bare, "cot": cot, "retrieval": retrieval}[kind]


def _with_agent(
    settings: ArmSettings,
    questions: QuestionSet,
    offered: Offered,
    model: Model,
    sampling: Sampling,
    cancel: Flag,
) -> Arm:
    """Return an arm of the agent. Raises UsageError for settings that it cannot have."""

    def agent_with(tools: Sequence[AnyTool]) -> Agent:
        return Agent(model, tools, sampling=sampling, **settings.agent)

    if questions.calls_functions:
        agent_with(())  # so that a wrong setting is told before anything is asked
        return lambda item: _first_reply(agent_with(tools_of(item.functions)), item, cancel)
    agent = agent_with(settings.chosen(offered.tools))
    return lambda item: _answered(agent.run(item.question, cancel))


def _reasoned_prompt(item: Item) -> str:
    last = _LAST.get(item.scorer, "").format(choices=", ".join(item.choices))
    # What the labels mean is a part of the question; how briefly to answer is none here.
    asked = item.question if item.scorer == "label" else item.text
    return (
        f"{asked}\n\nSolve the problem step by step. "
        f'End with a line "Answer: " and the answer{last}.'
    )


def _calls_prompt(item: Item) -> str:
    """Return the prompt for calls. Of four wordings that were tried with a 0.5B this one did
    it most justice: it neither writes [] nor calls the same twice whatever is asked."""
    listed = "\n".join(json.dumps(_told(function)) for function in item.functions)
    return (
        f"You can call these functions:\n{listed}\n\n{item.text}\n\n"
        'Reply with the calls alone, as a JSON list: [{"name": "<function>", "arguments": '
        '{"<argument>": <value>}}], one entry for each call that is needed. '
        "Only if none of the functions can be used, reply []."
    )


def _told(function: Function) -> dict[str, Any]:
    return {**function, "parameters": schema_of(function["parameters"])}


_ANSWER: Final = re.compile(r"\banswer(?:\s+is)?\s*\**\s*:\s*\**", re.IGNORECASE)


def last_answer(text: str) -> str:
    """Return what stands behind the last "Answer:", or the whole text where there is none."""
    *_, last = [None, *_ANSWER.finditer(text)]
    lines = text[last.end() :].strip().split("\n") if last else []
    return next((line.strip() for line in lines if any(map(str.isalnum, line))), text)


def _said(model: Model, prompt: str, most: int, sampling: Sampling, cancel: Flag) -> Reply:
    """Return what the model says to a prompt, without our loop, grammar or tools."""
    context = model.start([Message("user", prompt)], cancel=cancel)
    for _ in context.think(_MOST_THOUGHT, sampling.seed):
        pass
    pieces = model.generate_many([Request(context, None, sampling, most)])
    text = "".join(piece for _, piece in pieces).strip()
    trace = ({"prompt": prompt, "reply": text},)
    return Reply(text, 1, "reply", context.usage.generated, trace)


def _answered(run: Run) -> Reply:
    """Return what a run came to."""
    return Reply(
        answer=run.answer,
        ended=run.stop_reason,
        tokens=run.usage.generated,
        confidence=run.confidence,
        votes=tuple((vote.way, vote.answer) for vote in run.votes),
        **_steps(run.steps),
    )


def _first_reply(agent: Agent, item: Item, cancel: Flag) -> Reply:
    """Return the calls of the first reply: there the run is stopped."""
    stop = LinkedFlag(cancel)
    for event in agent.stream(item.question, stop):
        if isinstance(event, Step):  # its fellows of the same reply still come
            stop.set()
    assert isinstance(event, Run)
    calls = [step.action for step in event.steps if isinstance(step.action, Call)]
    # One that stands there twice runs once.
    told = [
        {"name": call.tool, "arguments": dict(call.arguments)}
        for call in without_twins(calls)
        if isinstance(call, Call)
    ]
    return Reply(
        answer=json.dumps(told, ensure_ascii=False),
        ended="calls" if calls else "finish" if event.finished else "broken off",
        tokens=event.usage.generated,
        **_steps(event.steps),
    )


def _steps(steps: Sequence[Step]) -> dict[str, Any]:
    """Return what a Reply tells of the steps, of which several may be of one reply."""
    return {
        "replies": len({step.reply for step in steps}),
        "calls": tuple(step.action.tool for step in steps if isinstance(step.action, Call)),
        "malformed": len({step.reply for step in steps if isinstance(step.action, Malformed)}),
        "trace": tuple(_traced(step) for step in steps),
    }


def _traced(step: Step) -> dict[str, str]:
    action = step.action
    if isinstance(action, Call):
        told = f"{action.tool} {json.dumps(dict(action.arguments), ensure_ascii=False)}"
    else:
        told = f"Finish {action.answer}" if isinstance(action, Finish) else f"? {action.text}"
    return {"thought": step.thought, "action": told, "observation": step.observation or ""}
