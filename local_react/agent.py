"""The ReAct loop: think, act, record, until Finish or a limit."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeAlias

from local_react import protocol
from local_react.core import (
    Action,
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
from local_react.errors import ToolError, UsageError
from local_react.guards import ERROR, failed_twice, goes_round, is_stuck, known_result, worn_out
from local_react.tools.base import FINISH, AnyTool, Tool

Tools: TypeAlias = Sequence[AnyTool]

_STEP_ROOM = 512
"""Tokens that a step may need; with less room than that the next step is the last."""
_CLOSING_ROOM = 16
_OBSERVATION_CHARACTERS = 6000


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
        if stray := [tool for tool in self.tools if not isinstance(tool, Tool)]:
            raise UsageError(f"{stray[0]!r} is no tool: put @tool before the function")
        names = [tool.name for tool in self.tools]
        if twice := {name for name in names if names.count(name) > 1}:
            raise UsageError(f"two tools are named {sorted(twice)[0]}: rename one")
        protocol.check(self.model, self.tools)

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
        while True:
            limit = self._limit(steps, context)
            step = yield from self._step(context, steps, last=limit is not None)
            steps.append(step)
            yield step
            if limit or step.observation is None:
                break
            context.append(protocol.observation(step.observation))
        answer, reason = _outcome(step.action, limit)
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
        self, context: Context, steps: Sequence[Step], *, last: bool
    ) -> Generator[Text, None, Step]:
        """Think and act once, and return the Step. The last one can only Finish."""
        started, before = perf_counter(), context.usage
        tools = [] if last else self._useful(steps)
        thought, action = protocol.parse((yield from self._reply(context, tools)))
        seen = _act(action, self.tools, steps)
        return Step(
            thought=thought,
            action=action,
            observation=None if seen is None else self._clipped(seen, context.room),
            usage=context.usage - before,
            seconds=perf_counter() - started,
        )

    def _useful(self, steps: Sequence[Step]) -> Tools:
        """Return the tools without those that only lead round in circles by now."""
        worn, failed = worn_out(steps), failed_twice(steps)
        return [
            tool
            for tool in self.tools
            if tool.name not in worn and not (tool.network and tool.name in failed)
        ]

    def _reply(self, context: Context, tools: Tools) -> Generator[Text, None, str]:
        """Have the model write one step. A Thought that spends its tokens or goes round
        in circles is closed, and the Action follows."""
        budget = min(self.thought_tokens, context.room // 2)

        def enough(text: str, spent: int) -> bool:
            spendable = budget + self.action_tokens * protocol.in_action(text)
            return spent >= spendable or goes_round(text)

        text, ended = yield from self._write(context, protocol.step_grammar(tools), enough)
        if ended or protocol.in_action(text) or context.room < _CLOSING_ROOM:
            return text
        close = protocol.closing(text)
        context.force(close)
        yield Text(close)
        grammar = protocol.action_grammar(tools)
        action, _ = yield from self._write(
            context, grammar, lambda text, spent: spent >= self.action_tokens or goes_round(text)
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
        if is_stuck(steps):
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
    if isinstance(action, Finish) and action.answer.startswith(ERROR):
        return f"{ERROR}that is a tool's message and no answer. {_INSTEAD}"
    if isinstance(action, Finish) or _unfinished_answer(action):
        return None
    if isinstance(action, Malformed):
        return f"{ERROR}the step was not understood: {action.reason}. Write a shorter one."
    tool = next((tool for tool in tools if tool.name == action.tool), None)
    if tool is None:
        names = ", ".join([tool.name for tool in tools] + [FINISH])
        return f"{ERROR}there is no tool {action.tool}. The tools are: {names}."
    if (known := known_result(action, steps)) is not None:
        return known
    try:
        return tool.run(action.arguments)
    except ToolError as error:
        return f"{ERROR}{error}"


_INSTEAD = "Answer from what you know, or say what could not be found out."


def _outcome(action: Action, limit: StopReason | None) -> tuple[str, StopReason]:
    """Return the answer and how the run ended, from its last Action."""
    if isinstance(action, Finish):
        return "" if action.answer.startswith(ERROR) else action.answer, limit or "finish"
    return _unfinished_answer(action) or "", limit or "cut_off"


def _unfinished_answer(action: Action) -> str | None:
    return protocol.partial_answer(action.text) if isinstance(action, Malformed) else None
