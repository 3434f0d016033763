"""The ReAct loop: think, act, record, until Finish or a limit."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from threading import Event as Flag
from time import perf_counter
from typing import TypeAlias

from local_react import protocol
from local_react.budget import Limits, opened
from local_react.clipping import clip
from local_react.core import (
    Action,
    Call,
    Event,
    Findings,
    Finish,
    Malformed,
    Model,
    Run,
    Sampling,
    Source,
    Step,
    StopReason,
    Text,
)
from local_react.errors import ToolError, UsageError
from local_react.examples import LOOKING_FIRST
from local_react.guards import ERROR, failed_twice, is_stuck, known_result, worn_out
from local_react.outside import clean, shown, visible, without_strays
from local_react.tools.base import FINISH, AnyTool, Tool
from local_react.writing import Writer

Tools: TypeAlias = Sequence[AnyTool]
Approve: TypeAlias = Callable[[Call], bool]
"""Puts a call to the user, and returns whether it may run."""
Observed: TypeAlias = tuple[str | None, tuple[Source, ...]]


@dataclass(frozen=True)
class Agent:
    """Answers questions with a model and tools.

    `max_steps` counts the last step too, in which only Finish is possible, so that a
    run ends with the best answer there is. A Thought is closed after `thought_tokens`
    tokens, and an Action after `action_tokens`; a model that always thinks before it
    replies may do so for `thinking_tokens`, and an Observation is cut, with a note, to
    `observation_tokens`. Each is less where the context window has no room for it.

    Once text from outside has entered a run, a tool that has an effect runs only where
    `approve`, given the call, returns True; without `approve` it does not. The same holds,
    once the user's files have been read, for a tool that sends its arguments out.

    Raises UsageError where two tools share a name or a limit is below 1, and
    GrammarError, naming tool and parameter, where a schema makes no grammar.
    """

    model: Model
    tools: Tools = ()
    max_steps: int = 8
    thought_tokens: int = 400
    action_tokens: int = 800
    thinking_tokens: int = 1024
    observation_tokens: int = 1500
    sampling: Sampling = field(default=Sampling())
    approve: Approve | None = None

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                option = name.replace("_", "-")
                raise UsageError(f"--{option} must be {least} or more, not {getattr(self, name)}")
        if stray := [tool for tool in self.tools if not isinstance(tool, Tool)]:
            raise UsageError(f"{stray[0]!r} is no tool: put @tool before the function")
        names = [tool.name for tool in self.tools]
        if twice := {name for name in names if names.count(name) > 1}:
            raise UsageError(f"two tools are named {sorted(twice)[0]}: rename one")
        protocol.check(self.model, self.tools)

    def run(self, question: str, cancel: Flag | None = None) -> Run:
        """Answer the question and return the whole run. Setting `cancel`, from another
        thread, ends it at once, with what there is.

        Raises UsageError where the question is empty, and ContextFull, which is one,
        where it is too long for the context.
        """
        *_, run = self.stream(question, cancel)
        assert isinstance(run, Run)
        return run

    def stream(self, question: str, cancel: Flag | None = None) -> Generator[Event, None, None]:
        """Yield the run as it happens: pieces of Text, each finished Step, and at last
        the Run. Where `cancel` is set, or Ctrl-C is pressed, that comes at once, with
        what the unfinished step has written as the last of its steps; after it Ctrl-C
        goes on as KeyboardInterrupt.

        Raises UsageError and ContextFull as `run` does.
        """
        if not question.strip():
            raise UsageError("the question is empty: ask something")
        started, cancel, pressed = perf_counter(), cancel or Flag(), False
        writer, steps = self._begin(question.strip(), cancel), list[Step]()
        try:
            reason = yield from self._steps(writer, steps, cancel, self._offered(question))
        except KeyboardInterrupt:
            reason, pressed = "interrupted", True
        if reason == "interrupted" and writer.text.strip():
            steps.append(writer.finished(Malformed(writer.text, "it was interrupted"), None))
        yield Run(
            question=question,
            steps=tuple(steps),
            answer="" if reason == "interrupted" else _told(steps),
            stop_reason=reason,
            model=self.model.name,
            usage=writer.context.usage,
            seconds=perf_counter() - started,
        )
        if pressed:
            raise KeyboardInterrupt

    def _begin(self, question: str, cancel: Flag) -> Writer:
        """Put the question to the model. Raises ContextFull."""
        limits = Limits(
            thinking=self.thinking_tokens,
            thought=self.thought_tokens,
            action=self.action_tokens,
            observation=self.observation_tokens,
        )
        context, budget = opened(self.model, limits, self.tools, question, cancel)
        return Writer(self.model, context, budget, self.sampling)

    def _steps(
        self, writer: Writer, steps: list[Step], cancel: Flag, offered: Call | None
    ) -> Generator[Text | Step, None, StopReason]:
        """Think, act and record until a limit or Finish; return how it ended. The first
        step is the call that is offered, if there is one."""
        while not cancel.is_set():
            limit = self._limit(steps, writer)
            tools = [] if limit else self._useful(steps)
            if offered and not limit:
                action, offered = (yield from writer.give(LOOKING_FIRST, offered)), None
            else:
                action = yield from writer.write(tools, last=limit is not None)
            if cancel.is_set() and not isinstance(action, Finish):
                break
            observation, sources = self._act(action, steps, writer)
            steps.append(writer.finished(action, observation, sources))
            yield steps[-1]
            if observation is None:
                return self._end(action, limit, writer)
            if limit or not writer.budget.allows_a_turn(writer.context.room):
                return limit or "context"
            writer.context.append(protocol.observation(observation))
        return "interrupted"

    def _offered(self, question: str) -> Call | None:
        """Return the call that the first tool offers which has something to say."""
        if len(question) > _LONGEST_OFFERED:
            return None
        for tool in self.tools:
            if tool.offer and (arguments := tool.offer(question)) is not None:
                return Call(tool.name, arguments)
        return None

    def _limit(self, steps: Sequence[Step], writer: Writer) -> StopReason | None:
        """Return why the next step must be the last, or None."""
        if not writer.budget.allows_a_step(writer.context.room):
            return "context"
        if is_stuck(steps):
            return "no_progress"
        return "max_steps" if len(steps) + 1 >= self.max_steps else None

    def _end(self, action: Action, limit: StopReason | None, writer: Writer) -> StopReason:
        """Return how a run ended whose last Action gave an answer."""
        # Without tools a limit takes nothing from the model: it ends by itself.
        if isinstance(action, Finish) and not (limit and self.tools):
            return "finish"
        return limit or ("cut_off" if writer.context.room > 0 else "context")

    def _useful(self, steps: Sequence[Step]) -> Tools:
        """Return the tools without those that only lead round in circles by now."""
        worn, failed = worn_out(steps), failed_twice(steps)
        return [
            tool
            for tool in self.tools
            if tool.name not in worn and not (tool.network and tool.name in failed)
        ]

    def _act(self, action: Action, steps: Sequence[Step], writer: Writer) -> Observed:
        """Return what the Action gave, cut so that a Finish still fits, and its sources:
        a result, or an error that the model can react to. None where it gave an answer."""
        if _answer(action) is not None:
            return None, ()
        room = writer.budget.observation(writer.context.room)
        if isinstance(action, Call) and (known := known_result(action, steps)) is not None:
            return clip(known, room, self.model.count), ()  # it was cut when it was new
        most = min(self.observation_tokens, room)
        result = self._result(action, steps)
        if isinstance(result, Findings):
            return shown(result, 1 + _sources(steps), most, self.model.count)
        return clip(visible(result), most, self.model.count), ()

    def _result(self, action: Action, steps: Sequence[Step]) -> str | Findings:
        """Return what an Action that is no answer gives: a result or an error."""
        if isinstance(action, Finish):
            return f"{ERROR}that is a tool's message and no answer. {_INSTEAD}"
        if isinstance(action, Malformed):
            return f"{ERROR}the step was not understood: {action.reason}. Write a shorter one."
        tool = next((tool for tool in self.tools if tool.name == action.tool), None)
        if tool is None:
            names = ", ".join([tool.name for tool in self.tools] + [FINISH])
            return f"{ERROR}there is no tool {action.tool}. The tools are: {names}."
        if self._needs_a_yes(tool, steps) and not (self.approve and self.approve(action)):
            return f"{ERROR}{tool.name} is not allowed here without the user's yes. {_INSTEAD}"
        try:
            return tool.run(action.arguments)
        except ToolError as error:
            # It may quote what came from outside: one line can be taken for nothing else.
            return f"{ERROR}{clean(str(error), _LONGEST_ERROR)}"

    def _needs_a_yes(self, tool: AnyTool, steps: Sequence[Step]) -> bool:
        """Return whether outside text may be what asks for an effect, or the user's own text
        what is sent out."""
        called = {step.action.tool for step in steps if isinstance(step.action, Call)}
        before = [tool for tool in self.tools if tool.name in called]
        if tool.has_effect:
            return bool(_sources(steps)) or any(one.brings_outside_text for one in before)
        sends = tool.network and tool.brings_outside_text
        return sends and any("reads files" in one.may for one in before)


def _told(steps: Sequence[Step]) -> str:
    """Return the answer of a run as it is told."""
    sources = [source for step in steps for source in step.sources]
    return without_strays(_answer(steps[-1].action) or "", sources)


def _answer(action: Action) -> str | None:
    """Return the answer that the Action gives, as far as it goes, or None. A tool's error
    is no answer."""
    if isinstance(action, Finish):
        answer: str | None = action.answer
    else:
        answer = protocol.partial_answer(action.text) if isinstance(action, Malformed) else None
    return None if answer is None or answer.startswith(ERROR) else answer


def _sources(steps: Sequence[Step]) -> int:
    """Return how many pieces of outside text the steps have shown."""
    return sum(len(step.sources) for step in steps)


_LONGEST_OFFERED = 400
"""Characters of a question for which tools offer a first call: a longer one brings its
text with it."""
_LONGEST_ERROR = 1000
"""Characters of a tool's error that are shown."""
_INSTEAD = "Answer from what you know, or say what could not be found out."
_LEAST = {
    "max_steps": 1,
    "thought_tokens": 1,
    "action_tokens": 1,
    "thinking_tokens": 0,
    "observation_tokens": 1,
}
"""The least that each limit may be."""
