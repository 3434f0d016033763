"""The ReAct loop: think, act, record, until Finish or a limit."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from math import exp, log
from threading import Event as Flag
from time import perf_counter
from typing import Final, TypeAlias

from local_react import protocol
from local_react.acting import Actor, Approve, answer_of
from local_react.answers import asked_in, kind_of, meaning
from local_react.aside import Deadline
from local_react.budget import Begun, Limits, opened
from local_react.choosing import (
    YES_OR_NO,
    Offered,
    asks_to_write,
    choice,
    first_offer,
    is_reckoning,
    refers_back,
)
from local_react.clipping import clip, joined
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
    Usage,
)
from local_react.examples import BUILTIN
from local_react.guards import (
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
from local_react.outside import cited, shown, supporting, visible, without_strays
from local_react.tools.base import AnyTool
from local_react.writing import Actions, Observed, Writer

Tools: TypeAlias = Sequence[AnyTool]

MARGIN: Final = 1.0
MARGIN_OF_OWN: Final = 1.5
"""A small model says yes too easily: the logarithms of p(yes) / p(no) that part, on the default
model, what a tool is for from what none is for (bench/quality/README.md), and one tool of the
user's own."""
NO_TOOL: Final = "No tool here does this. "
"""How the Thought begins where none fits."""
WRITES: Final = "I can do this without a tool. "
"""The same where a text is asked for, which a small model refused behind the other one."""


@dataclass(frozen=True)
class Loop:
    """Runs one question through a model and tools; `Agent` says what its parts mean."""

    model: Model
    tools: Tools
    limits: Limits
    max_steps: int
    sampling: Sampling
    approve: Approve | None = None
    approve_every: bool = False
    system: str = ""
    earlier: Sequence[Step] = ()
    """Those of the turns before, in the same chat."""

    def stream(
        self,
        question: str,
        cancel: Flag,
        *,
        facts: Sequence[str] = (),
        given: Sequence[str] = (),
        begun: Begun | None = None,
    ) -> Generator[Event, None, None]:
        """Yield the run as it happens: pieces of Text, each finished Step, and at last
        the Run. Where `cancel` is set, or Ctrl-C is pressed, that comes at once, with
        what the unfinished step has written as the last of its steps; after it Ctrl-C
        goes on as KeyboardInterrupt.

        The first replies may be given, and so may a context in which the question stands
        already. Raises ContextFull where the question does not fit.
        """
        started, pressed, question = perf_counter(), False, joined(question)
        deadline = cancel if isinstance(cancel, Deadline) else Deadline(cancel, None)
        writer, steps = self._begin(question.strip(), facts, begun, deadline), list[Step]()
        offered, before = first_offer(self.tools, question), begun[0].usage if begun else Usage()
        replies = [*given] if given or not offered else [protocol.written(*offered)]
        try:
            reason = yield from self._steps(question, replies, writer, steps, deadline)
        except KeyboardInterrupt:
            reason, pressed = "interrupted", True
        if reason == "interrupted" and deadline.is_over and not pressed:
            reason = "timeout"
        if reason in ("interrupted", "timeout") and writer.text.strip():
            steps += writer.finished([Malformed(writer.text, "it was interrupted")], [(None, ())])
        yield Run(
            question=question,
            steps=tuple(steps),
            answer=_told(steps) if steps and reason != "interrupted" else "",
            stop_reason=reason,
            model=self.model.name,
            guards=broken(steps, writer.rounds),
            computed=reason == "finish" and self._is_computed(question, offered, steps),
            usage=writer.context.usage - before + writer.beside,
            seconds=perf_counter() - started,
        )
        if pressed:
            raise KeyboardInterrupt

    @property
    def _actor(self) -> Actor:
        return Actor(self.tools, self.approve, self.approve_every, self.earlier)

    def opened(
        self,
        question: str,
        cancel: Flag,
        *,
        facts: Sequence[str] = (),
        reckons: bool | None = None,
    ) -> Begun:
        """Return the context that a run of the question begins with, and its budget; `reckons`
        is protocol.opening's. Raises ContextFull where the question is too long for it."""
        return opened(
            self.model,
            self.limits,
            self.tools,
            question,
            cancel,
            system=self.system,
            facts=facts,
            reckons=reckons,
        )

    def _begin(
        self, question: str, facts: Sequence[str], begun: Begun | None, deadline: Deadline
    ) -> Writer:
        """Put the question to the model. Raises ContextFull."""
        context, budget = begun or self.opened(question, deadline, facts=facts)
        return Writer(
            self.model, context, budget, self.sampling, deadline, goes_on=begun is not None
        )

    def _steps(
        self,
        question: str,
        given: list[str],
        writer: Writer,
        steps: list[Step],
        cancel: Deadline,
    ) -> Generator[Text | Step, None, StopReason]:
        """Think, act and record until a limit or Finish; return how it ended. The first
        replies are those that are given, as far as they are."""
        while not cancel.is_set():
            limit = self._limit(steps, writer)
            tools = [] if limit else self._useful(steps)
            if given and not limit:
                actions = yield from writer.give(given.pop(0))
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
        if writer.goes_on and self._is_for_a_tool(question, writer):
            # Turns that were answered at once talk a small model into doing so again.
            return (yield from writer.write(self.tools, last=False, must_call=True))
        # The choice sees the question alone.
        obscure = writer.goes_on and refers_back(asked_in(question))
        if not self.tools or searches or obscure or (is_reckoning(question) and not own):
            return (yield from writer.write(self.tools, last=False))
        # Of several the model says less surely that one fits.
        margin = MARGIN_OF_OWN if own and len(self.tools) == 1 else MARGIN
        writes, builtin = asks_to_write(question), all(tool.name in BUILTIN for tool in self.tools)
        if (writes and builtin) or self._sureness(question, writer) < margin:
            beginning = WRITES if writes else NO_TOOL
            return (yield from writer.write([], last=False, beginning=beginning))
        # Of the built-in ones the model also says so where it knows the answer itself.
        return (yield from writer.write(self.tools, last=False, must_call=own))

    def _is_for_a_tool(self, question: str, writer: Writer) -> bool:
        """Return whether a question, by its words and by what the model says to it alone, is
        one for a tool: a number to be reckoned, or what one of them is known to be for."""
        suited = any(tool.suits and tool.suits(question) for tool in self.tools)
        if not self.tools or not (suited or kind_of(question) == "number"):
            return False
        return self._sureness(question, writer) >= MARGIN

    def _sureness(self, question: str, writer: Writer) -> float:
        """Return how sure the model is that one of the tools does what is asked: how much
        likelier "yes" is than "no", as the logarithm of the ratio."""
        asked = choice(self.tools, asked_in(question))
        weighed = self.model.weigh(asked, YES_OR_NO, cancel=writer.deadline)
        writer.beside += weighed.usage
        yes, also_yes, no, also_no = map(exp, weighed.logarithms)
        return log((yes + also_yes + _LEAST) / (no + also_no + _LEAST))

    def _is_computed(self, question: str, offered: Offered | None, steps: Sequence[Step]) -> bool:
        """Return whether the answer is what the call that was offered has computed."""
        tool = self._actor.tool(offered[1]) if offered else None
        if tool is None or tool.may or not steps[0].observation:
            return False
        kind = kind_of(question)
        given = meaning(steps[0].observation, kind)
        return given is not None and given == meaning(_told(steps), kind)

    def _limit(self, steps: Sequence[Step], writer: Writer) -> StopReason | None:
        """Return why the next step must be the last, or None."""
        if writer.deadline.is_near:
            return "timeout"
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
        self, actions: Actions, steps: Sequence[Step], writer: Writer, cancel: Deadline
    ) -> list[Observed]:
        """Return what each Action of a reply gave, as far as there is room to show it, cut
        so that a Finish still fits: a result, or an error that the model can react to, and
        its sources. None where it gave an answer."""
        room = writer.budget.observation(writer.context.room)
        again = repeats_a_thought(protocol.parse(writer.text)[0], steps)
        note = f" {THOUGHT_BEFORE}" if again else ""
        room = max(writer.budget.shown, room - self.model.count(note))
        wanted = actions[: max(1, room // writer.budget.shown)]
        results = self._actor.results(without_twins(wanted), steps, cancel)
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


def _told(steps: Sequence[Step]) -> str:
    """Return the answer of a run as it is told."""
    sources = [source for step in steps for source in step.sources]
    answer = without_strays(answer_of(steps[-1].action) or "", sources)
    if not answer or not sources or cited(answer, sources):
        return answer
    # A small model forgets to name what it read: its words tell where they stand.
    found = supporting(answer, [step.observation or "" for step in steps])
    return f"{answer} [{', '.join(map(str, found))}]" if found else answer


def _sources(steps: Sequence[Step]) -> int:
    """Return how many pieces of outside text the steps have shown."""
    return sum(len(step.sources) for step in steps)


_LEAST = 1e-9
"""A probability below which nothing is told apart."""
_LONGEST_REMINDER = 400
"""Characters of a question that is repeated."""
_AROUND = 16
"""Tokens around what is shown."""
