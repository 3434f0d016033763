"""The ReAct loop: think, act, record, until Finish or a limit."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeAlias

from local_react import protocol
from local_react.core import (
    Action,
    Call,
    Context,
    Event,
    Finish,
    Malformed,
    Model,
    Run,
    Sampling,
    Step,
    StopReason,
    Text,
)
from local_react.errors import GrammarError, ToolError, UsageError
from local_react.tools.base import FINISH, AnyTool

Tools: TypeAlias = Sequence[AnyTool]

_STEP_ROOM = 512
"""Tokens that a step may need; with less room than that the next step is the last."""
_CLOSING_ROOM = 16
_OBSERVATION_CHARACTERS = 6000
_REPEATED = 60
"""A Thought whose last characters, this many, stand in it three times is going round."""
_STUCK = 3
"""After this many steps in a row that bring nothing new, the next is the last."""


@dataclass(frozen=True)
class Agent:
    """Answers questions with a model and tools.

    `max_steps` counts the last step too, in which only Finish is possible, so that a
    run ends with the best answer there is. A Thought is closed after `thought_tokens`
    tokens, and an Action after `action_tokens`.

    Raises UsageError where two tools share a name or a limit is below 1, and
    GrammarError, naming tool and parameter, where a schema makes no grammar.
    """

    model: Model
    tools: Tools = ()
    max_steps: int = 8
    thought_tokens: int = 400
    action_tokens: int = 800
    sampling: Sampling = field(default=Sampling())

    def __post_init__(self) -> None:
        for name in ("max_steps", "thought_tokens", "action_tokens"):
            if getattr(self, name) < 1:
                option = name.replace("_", "-")
                raise UsageError(f"--{option} must be 1 or more, not {getattr(self, name)}")
        names = [tool.name for tool in self.tools]
        if twice := {name for name in names if names.count(name) > 1}:
            raise UsageError(f"two tools are named {sorted(twice)[0]}: rename one")
        for tool in self.tools:
            _check_grammar(self.model, tool)

    def run(self, question: str) -> Run:
        """Answer the question and return the whole run.

        Raises UsageError where the question is empty or too long for the context.
        """
        *_, run = self.stream(question)
        assert isinstance(run, Run)
        return run

    def stream(self, question: str) -> Iterator[Event]:
        """Yield the run as it happens: pieces of Text, each Step, and at last the Run.

        Raises UsageError as `run` does.
        """
        if not question.strip():
            raise UsageError("the question is empty: ask something")
        started = perf_counter()
        context = self.model.start(protocol.opening(self.tools, question.strip()))
        steps: list[Step] = []
        limit: StopReason | None = None
        while not _ended(steps, limit):
            limit = self._limit(steps, context)
            step = yield from self._step(
                context, () if limit else _useful(self.tools, steps), steps
            )
            steps.append(step)
            yield step
            if step.observation is not None:
                context.append(protocol.observation(step.observation))
        answer, reason = _outcome(steps[-1].action, limit)
        yield Run(
            question=question,
            steps=tuple(steps),
            answer=answer,
            stop_reason=reason,
            model=self.model.name,
            usage=context.usage,
            seconds=perf_counter() - started,
        )

    def _step(
        self, context: Context, tools: Tools, steps: Sequence[Step]
    ) -> Generator[Text, None, Step]:
        """Think and act once, and return the Step."""
        started, before = perf_counter(), context.usage
        thought, action = protocol.parse((yield from self._reply(context, tools)))
        seen = _act(action, self.tools, steps)
        return Step(
            thought=thought,
            action=action,
            observation=None if seen is None else self._clipped(seen, context.room),
            usage=context.usage - before,
            seconds=perf_counter() - started,
        )

    def _reply(self, context: Context, tools: Tools) -> Generator[Text, None, str]:
        """Have the model write one step. A Thought that spends its tokens or goes round
        in circles is closed, and the Action follows."""
        budget = min(self.thought_tokens, context.room // 2)

        def enough(text: str, spent: int) -> bool:
            spendable = budget + self.action_tokens * protocol.in_action(text)
            return spent >= spendable or _goes_round(text)

        text, ended = yield from self._write(context, protocol.step_grammar(tools), enough)
        if ended or protocol.in_action(text) or context.room < _CLOSING_ROOM:
            return text
        close = protocol.closing(text)
        context.force(close)
        yield Text(close)
        grammar = protocol.action_grammar(tools)
        action, _ = yield from self._write(
            context, grammar, lambda text, spent: spent >= self.action_tokens or _goes_round(text)
        )
        return text + close + action

    def _write(
        self, context: Context, grammar: str, enough: Callable[[str, int], bool]
    ) -> Generator[Text, None, tuple[str, bool]]:
        """Return what the model writes under the grammar until that is enough, and
        whether it came to an end by itself."""
        text = ""
        for spent, piece in enumerate(context.generate(grammar, self.sampling), 1):
            text += piece
            yield Text(piece)
            if enough(text, spent):
                return text, False
        return text, True

    def _limit(self, steps: Sequence[Step], context: Context) -> StopReason | None:
        """Return why the next step must be the last, or None."""
        if context.room < _STEP_ROOM and steps:
            return "context"
        if len(steps) >= _STUCK and all(_brought_nothing(step) for step in steps[-_STUCK:]):
            return "no_progress"
        if self.tools and len(steps) + 1 >= self.max_steps:
            return "max_steps"
        return None

    def _clipped(self, text: str, room: int) -> str:
        """Return an Observation that leaves room for the next step, cut with a note."""
        most = max(room - _STEP_ROOM, 64)
        kept = text[:_OBSERVATION_CHARACTERS]
        while self.model.count(kept) > most:
            kept = kept[: len(kept) * 3 // 4]
        return text if kept == text else f"{kept} … (cut: {len(text)} characters in all)"


def _act(action: Action, tools: Tools, steps: Sequence[Step]) -> str | None:
    """Return what the Action gave: a result, or an error that the model can react to."""
    if isinstance(action, Finish) or _unfinished_answer(action):
        return None
    if isinstance(action, Malformed):
        return f"Error: the step was not understood: {action.reason}. Write a shorter one."
    tool = next((tool for tool in tools if tool.name == action.tool), None)
    if tool is None:
        names = ", ".join([tool.name for tool in tools] + [FINISH])
        return f"Error: there is no tool {action.tool}. The tools are: {names}."
    for step in steps:
        if _same_call(step.action, action):
            return f"{step.observation} {_KNOWN}".replace(f" {_KNOWN} {_KNOWN}", f" {_KNOWN}")
    try:
        return tool.run(action.arguments)
    except ToolError as error:
        return f"Error: {error}"


_KNOWN = "(You had this result already: use it, or try something else.)"


def _outcome(action: Action, limit: StopReason | None) -> tuple[str, StopReason]:
    """Return the answer and how the run ended, from its last Action."""
    if isinstance(action, Finish):
        return action.answer, limit or "finish"
    return _unfinished_answer(action) or "", limit or "cut_off"


def _ended(steps: Sequence[Step], limit: StopReason | None) -> bool:
    return bool(steps) and (limit is not None or steps[-1].observation is None)


def _unfinished_answer(action: Action) -> str | None:
    return protocol.partial_answer(action.text) if isinstance(action, Malformed) else None


def _useful(tools: Tools, steps: Sequence[Step]) -> Tools:
    """Return the tools without those that were given the same call twice."""
    actions = [step.action for step in steps]
    worn = {
        action.tool
        for number, action in enumerate(actions)
        if isinstance(action, Call) and any(_same_call(a, action) for a in actions[:number])
    }
    return [tool for tool in tools if tool.name not in worn]


def _brought_nothing(step: Step) -> bool:
    text = step.observation or ""
    return text.startswith("Error:") or text.endswith(_KNOWN)


def _same_call(one: Action, other: Action) -> bool:
    """Return True for two calls that differ in white space at most."""
    if not isinstance(one, Call) or not isinstance(other, Call):
        return False
    return one.tool == other.tool and _bare(one.arguments) == _bare(other.arguments)


def _bare(arguments: object) -> str:
    return "".join(json.dumps(arguments, sort_keys=True, default=str).split())


def _goes_round(text: str) -> bool:
    return len(text) > 2 * _REPEATED and text.count(text[-_REPEATED:]) >= 3


def _check_grammar(model: Model, tool: AnyTool) -> None:
    """Raise GrammarError naming the tool, and the parameter where one is at fault."""
    try:
        model.check(protocol.action_grammar([tool]))
    except GrammarError as error:
        fault = next(_faulty_parameters(model, tool), None)
        where = f"tool {tool.name}" + (f", parameter {fault}" if fault else "")
        raise GrammarError(f"{where}: {error}") from error


def _faulty_parameters(model: Model, tool: AnyTool) -> Iterator[str]:
    for name in tool.arguments.model_fields:
        try:
            model.check(protocol.parameter_grammar(tool, name))
        except GrammarError:
            yield name
