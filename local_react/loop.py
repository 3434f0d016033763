"""The ReAct loop: think, act, record, until Finish or a limit."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, log
from threading import Event as Flag
from time import perf_counter
from typing import Final, TypeAlias

from local_react import protocol
from local_react.answers import asked_in, kind_of, meaning
from local_react.aside import Aside
from local_react.budget import Limits, opened
from local_react.choosing import Offered, first_offer, is_reckoning
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
    Step,
    StopReason,
    Text,
)
from local_react.errors import ToolError
from local_react.examples import BUILTIN
from local_react.guards import (
    ERROR,
    THOUGHT_BEFORE,
    broken,
    failed_twice,
    is_known,
    is_stuck,
    known_result,
    repeats_a_thought,
    slip,
    without_twins,
    worn_out,
)
from local_react.outside import cited, clean, shown, supporting, visible, without_strays
from local_react.tools.base import FINISH, AnyTool
from local_react.writing import Actions, Observed, Writer

Tools: TypeAlias = Sequence[AnyTool]
Approve: TypeAlias = Callable[[Call], bool]
"""Puts a call to the user, and returns whether it may run."""


MARGIN: Final = 1.0
MARGIN_OF_OWN: Final = 1.5
"""A small model says yes too easily: the logarithms of p(yes) / p(no) that part, on the default
model, what a tool is for from what none is for (bench/quality/README.md), and one tool of the
user's own."""
NO_TOOL: Final = "No tool here does this. "
"""How the Thought begins where none fits."""


@dataclass(frozen=True)
class Loop:
    """Runs one question through a model and tools; `Agent` says what its parts mean."""

    model: Model
    tools: Tools
    limits: Limits
    max_steps: int
    sampling: Sampling
    approve: Approve | None = None

    def stream(self, question: str, cancel: Flag) -> Generator[Event, None, None]:
        """Yield the run as it happens: pieces of Text, each finished Step, and at last
        the Run. Where `cancel` is set, or Ctrl-C is pressed, that comes at once, with
        what the unfinished step has written as the last of its steps; after it Ctrl-C
        goes on as KeyboardInterrupt.

        Raises ContextFull where the question does not fit.
        """
        started, pressed = perf_counter(), False
        writer, steps = self._begin(question.strip(), cancel), list[Step]()
        offered = first_offer(self.tools, question)
        try:
            reason = yield from self._steps(question, offered, writer, steps, cancel)
        except KeyboardInterrupt:
            reason, pressed = "interrupted", True
        if reason == "interrupted" and writer.text.strip():
            steps += writer.finished([Malformed(writer.text, "it was interrupted")], [(None, ())])
        yield Run(
            question=question,
            steps=tuple(steps),
            answer="" if reason == "interrupted" else _told(steps),
            stop_reason=reason,
            model=self.model.name,
            guards=broken(steps, writer.rounds),
            computed=reason == "finish" and self._is_computed(question, offered, steps),
            usage=writer.context.usage,
            seconds=perf_counter() - started,
        )
        if pressed:
            raise KeyboardInterrupt

    def _begin(self, question: str, cancel: Flag) -> Writer:
        """Put the question to the model. Raises ContextFull."""
        context, budget = opened(self.model, self.limits, self.tools, question, cancel)
        return Writer(self.model, context, budget, self.sampling)

    def _steps(
        self,
        question: str,
        offered: Offered | None,
        writer: Writer,
        steps: list[Step],
        cancel: Flag,
    ) -> Generator[Text | Step, None, StopReason]:
        """Think, act and record until a limit or Finish; return how it ended. The first
        step is the call that is offered, if there is one."""
        while not cancel.is_set():
            limit = self._limit(steps, writer)
            tools = [] if limit else self._useful(steps)
            if offered and not limit:
                actions, offered = (yield from writer.give(*offered)), None
            elif steps or limit:
                actions = yield from writer.write(tools, last=limit is not None)
            else:
                actions = yield from self._first_reply(question, writer)
            if cancel.is_set() and not isinstance(actions[0], Finish):
                break
            fault = None if limit else self._fault(actions, steps, writer)
            seen = [(fault, ())] if fault else self._observed(actions, steps, writer, cancel)
            new = writer.finished(actions, seen)
            steps += new
            yield from new
            if steps[-1].observation is None:
                return self._end(steps[-1].action, limit, writer)
            if limit or not writer.budget.allows_a_turn(writer.context.room):
                return limit or "context"
            shown = [step.observation or "" for step in new]
            again = self._reminder(question, new, writer)
            writer.context.append(protocol.observation(*shown, again=again))
        return "interrupted"

    def _reminder(self, question: str, new: Sequence[Step], writer: Writer) -> str:
        """Return the question where a long text is shown, behind which a small model answers
        another one, and there is room for it."""
        asked = asked_in(question).strip()
        if len(asked) > _LONGEST_REMINDER or not any(step.sources for step in new):
            return ""
        told = [asked, *(step.observation or "" for step in new)]
        room = writer.budget.observation(writer.context.room)
        return asked if sum(map(self.model.count, told)) + _AROUND <= room else ""

    def _first_reply(self, question: str, writer: Writer) -> Generator[Text, None, Actions]:
        """Have the first reply written. Whether it is to act or to answer is chosen before a
        Thought can talk the model into either, unless a tool could bring anything."""
        searches = any(tool.brings_outside_text for tool in self.tools)
        own = not any(tool.name in BUILTIN for tool in self.tools)
        if not self.tools or searches or (is_reckoning(question) and not own):
            return (yield from writer.write(self.tools, last=False))
        # Of several the model says less surely that one fits.
        margin = MARGIN_OF_OWN if own and len(self.tools) == 1 else MARGIN
        if self._sureness(question) < margin:
            return (yield from writer.write([], last=False, beginning=NO_TOOL))
        # Of the built-in ones the model also says so where it knows the answer itself.
        return (yield from writer.write(self.tools, last=False, must_call=own))

    def _sureness(self, question: str) -> float:
        """Return how sure the model is that one of the tools does what is asked: how much
        likelier "yes" is than "no", as the logarithm of the ratio."""
        asked = protocol.choice(self.tools, asked_in(question))
        yes, also_yes, no, also_no = map(exp, self.model.weigh(asked, protocol.YES_OR_NO))
        return log((yes + also_yes + _LEAST) / (no + also_no + _LEAST))

    def _is_computed(self, question: str, offered: Offered | None, steps: Sequence[Step]) -> bool:
        """Return whether the answer is what the call that was offered has computed."""
        tool = self._tool(offered[1]) if offered else None
        if tool is None or tool.may or not steps[0].observation:
            return False
        kind = kind_of(question)
        given = meaning(steps[0].observation, kind)
        return given is not None and given == meaning(_told(steps), kind)

    def _limit(self, steps: Sequence[Step], writer: Writer) -> StopReason | None:
        """Return why the next step must be the last, or None."""
        if not writer.budget.allows_a_step(writer.context.room):
            return "context"
        if is_stuck(steps) or (self.tools and not self._useful(steps)):
            return "no_progress"
        return "max_steps" if writer.replies + 1 >= self.max_steps else None

    def _end(self, action: Action, limit: StopReason | None, writer: Writer) -> StopReason:
        """Return how a run ended whose last Action gave an answer."""
        # Without tools a limit takes nothing from the model: it ends by itself.
        if isinstance(action, Finish) and not writer.cut and not (limit and self.tools):
            return "finish"
        return limit or ("cut_off" if writer.context.room > 0 else "context")

    def _fault(self, actions: Actions, steps: Sequence[Step], writer: Writer) -> str | None:
        """Return why an answer is not taken, where there is room for another."""
        if not writer.budget.allows_a_turn(writer.context.room):
            return None
        return slip(actions, protocol.parse(writer.text)[0], steps)

    def _useful(self, steps: Sequence[Step]) -> Tools:
        """Return the tools without those that only lead round in circles by now."""
        worn, failed = worn_out(steps), failed_twice(steps)
        return [
            tool
            for tool in self.tools
            if tool.name not in worn and not (tool.network and tool.name in failed)
        ]

    def _observed(
        self, actions: Actions, steps: Sequence[Step], writer: Writer, cancel: Flag
    ) -> list[Observed]:
        """Return what each Action of a reply gave, as far as there is room to show it, cut
        so that a Finish still fits: a result, or an error that the model can react to, and
        its sources. None where it gave an answer."""
        room = writer.budget.observation(writer.context.room)
        again = repeats_a_thought(protocol.parse(writer.text)[0], steps)
        note = f" {THOUGHT_BEFORE}" if again else ""
        room = max(writer.budget.shown, room - self.model.count(note))
        wanted = actions[: max(1, room // writer.budget.shown)]
        results = self._results(without_twins(wanted), steps, cancel)
        new, found = list[Step](), _sources(steps)
        for left, action in zip(range(len(wanted), 0, -1), wanted, strict=True):
            twin = known_result(action, new) if isinstance(action, Call) else None
            result = twin or next(results, None)
            if result is None:  # an answer, which stands alone, or the run was cancelled
                break
            most = room // left
            if not (isinstance(result, str) and is_known(result)):  # it was cut when it was new
                most = min(self.limits.observation, most)
            if isinstance(result, Findings):
                text, sources = shown(result, 1 + found, most, self.model.count)
            else:
                text, sources = clip(visible(result), most, self.model.count), ()
            new.append(Step("", action, text if left > 1 else text + note, sources))
            found, room = found + len(sources), room - self.model.count(text)
        return [(step.observation, step.sources) for step in new] or [(None, ())]

    def _results(
        self, actions: Actions, steps: Sequence[Step], cancel: Flag
    ) -> Iterator[str | Findings | None]:
        """Yield what the Actions give, None for an answer: those that wait for the network,
        where all do, run together, else one runs after the other until it is cancelled."""
        if len(actions) > 1 and all(self._waits(action, steps) for action in actions):
            asides = [Aside(partial(self._result, action, steps), "action") for action in actions]
            yield from (aside.awaited() for aside in asides)
            return
        for number, action in enumerate(actions):
            if number and cancel.is_set():
                return
            yield self._result(action, steps)

    def _waits(self, action: Action, steps: Sequence[Step]) -> bool:
        """Return whether the Action is a call that waits for the network and for no yes."""
        tool = self._tool(action)
        return tool is not None and tool.network and not self._needs_a_yes(tool, steps)

    def _tool(self, action: Action) -> AnyTool | None:
        """Return the tool that the Action calls, if there is one of that name."""
        name = action.tool if isinstance(action, Call) else None
        return next((tool for tool in self.tools if tool.name == name), None)

    def _result(self, action: Action, steps: Sequence[Step]) -> str | Findings | None:
        """Return what an Action gives: a result or an error; None where it is an answer."""
        if _answer(action) is not None:
            return None
        if isinstance(action, Finish):
            return f"{ERROR}that is a tool's message and no answer. {_INSTEAD}"
        if isinstance(action, Malformed):
            return f"{ERROR}the step was not understood: {action.reason}. Write a shorter one."
        if (known := known_result(action, steps)) is not None:
            return known
        tool = self._tool(action)
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
    answer = without_strays(_answer(steps[-1].action) or "", sources)
    if not answer or not sources or cited(answer, sources):
        return answer
    # A small model forgets to name what it read: its words tell where they stand.
    found = supporting(answer, [step.observation or "" for step in steps])
    return f"{answer} [{', '.join(map(str, found))}]" if found else answer


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


_LEAST = 1e-9
"""A probability below which nothing is told apart."""
_LONGEST_REMINDER = 400
"""Characters of a question that is repeated."""
_AROUND = 16
"""Tokens around what is shown."""
_LONGEST_ERROR = 1000
"""Characters of a tool's error that are shown."""
_INSTEAD = "Answer from what you know, or say what could not be found out."
