"""How the tokens of a context window are shared out, so that a run can always Finish.

A window holds the opening, then steps. Each step but the last is followed by a turn
that shows its Observation, and leaves room for that and for the last step, a Finish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event as Flag
from typing import TypeAlias

from local_react import protocol
from local_react.clipping import longest_note
from local_react.core import Context, Message, Model
from local_react.errors import ContextFull, or_larger
from local_react.tools.base import AnyTool

_SHARE, _FEWEST, _MOST = 16, 32, 256
"""The words of the last answer have one part in so many of the window, within bounds."""
_SHORT = "?"
"""A question to measure by what there is besides."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most tokens that each part of a step may take, however much room there is."""

    thinking: int
    thought: int
    action: int
    observation: int


@dataclass(frozen=True, slots=True)
class Budget:
    """What is set aside, in tokens."""

    limits: Limits
    step: int
    """The fewest with which a step is begun that may call a tool."""
    turn: int
    """What a turn costs beside the text of its Observation."""
    shown: int
    """The fewest that an Observation gets: the note that it was cut, and some words."""
    finish: int
    """The fewest with which a last step is begun."""
    ending: int
    """What a Finish takes that says nothing: with fewer a step is of no use."""

    @classmethod
    def measured(
        cls, model: Model, limits: Limits, opening: Sequence[Message], room: int
    ) -> Budget:
        """Return the budget of a context that begins with these messages and has so much
        room left."""
        words = max(_FEWEST, min(_MOST, model.context_size // _SHARE))
        ending = model.count(protocol.SHORTEST)
        return cls(
            limits=limits,
            step=ending + words // 2,
            turn=_turn(model, opening, room),
            shown=model.count(longest_note(10**6)) + words // 4,
            finish=ending + words,
            ending=ending,
        )

    def reserve(self, *, last: bool) -> int:
        """Return the room that a step must leave."""
        return 0 if last else self.turn + self.shown + self.finish

    def allows_a_step(self, room: int) -> bool:
        """Return whether the next step need not be the last."""
        return room >= self.step + self.reserve(last=False)

    def allows_a_turn(self, room: int) -> bool:
        """Return whether an Observation can be shown, and a Finish still follow."""
        return room >= self.turn + self.shown + self.ending

    def thinking(self, room: int, *, last: bool) -> int:
        """Return the most that may be thought before the reply."""
        return min(self.limits.thinking, self._part(room, last=last))

    def share(self, room: int, *, last: bool) -> Share:
        """Return how far a reply may go that begins with so much room."""
        thought = room - min(self.limits.thought, self._part(room, last=last))
        finish = thought - self.limits.action
        return Share(thought, max(finish, self.reserve(last=last)), finish)

    def observation(self, room: int) -> int:
        """Return the most that an Observation may take: what leaves another step, or
        else what leaves a Finish."""
        return max(self.shown, room - self.turn - self.step - self.reserve(last=False))

    def _part(self, room: int, *, last: bool) -> int:
        """Return what goes at most into thoughts: in the last step the answer has more."""
        return max(0, room - self.reserve(last=last)) // (3 if last else 2)


@dataclass(frozen=True, slots=True)
class Share:
    """The room that a reply must leave, by what it is about by now."""

    thought: int
    action: int
    finish: int
    """A Finish ends the run: it may take what was kept for one."""

    def floor(self, text: str) -> int:
        """Return the room that must be left after this much of a reply."""
        if not protocol.in_action(text):
            return self.thought
        return self.finish if protocol.in_finish(text) else self.action


Begun: TypeAlias = tuple[Context, Budget]
"""A context in which a question stands, and its budget."""


def opened(
    model: Model,
    limits: Limits,
    tools: Sequence[AnyTool],
    question: str,
    cancel: Flag,
    *,
    system: str = "",
    facts: Sequence[str] = (),
    reckons: bool | None = None,
) -> Begun:
    """Put the question to the model, and return the context and its budget. `reckons` is
    protocol.opening's.

    Raises ContextFull, with the figures, where it leaves no room for an answer.
    """
    opening = protocol.opening(tools, question, system=system, facts=facts, reckons=reckons)
    try:
        context = model.start(opening, fixed=True, cancel=cancel)
    except ContextFull:
        raise _too_long(model, limits, tools, question) from None
    budget = Budget.measured(model, limits, opening, context.room)
    if context.room < budget.finish:
        raise _too_long(model, limits, tools, question)
    return context, budget


def _too_long(model: Model, limits: Limits, tools: Sequence[AnyTool], question: str) -> ContextFull:
    """Return the complaint, with the question's tokens and those that there is room for."""
    size, opening = model.context_size, protocol.opening(tools, _SHORT)
    larger = or_larger(size, model.longest_context)
    try:
        room = model.start(opening, fixed=True).room + model.count(_SHORT)
    except ContextFull:
        room = 0
    most = room - Budget.measured(model, limits, opening, room).finish
    if most < 1:
        instead = "take fewer tools" if tools else "take another model"
        return ContextFull(
            f"a context of {size} tokens has no room for a question beside the instructions: "
            f"{instead}{larger}"
        )
    return ContextFull(
        f"the question is {model.count(question)} tokens, and beside the instructions and an "
        f"answer a context of {size} has room for {most}: shorten it{larger}"
    )


def _turn(model: Model, opening: Sequence[Message], room: int) -> int:
    """Return what a turn costs beside its text. The chat template's share is not known;
    what a message of the opening costs on average is, and a turn is two: the end of a
    reply, a message, and the head of a reply, perhaps with an empty block of thoughts."""
    texts = sum(model.count(message.content) for message in opening)
    template = max(0, model.context_size - room - texts)
    label = model.count(protocol.observation("").content)
    return 2 * -(-template // len(opening)) + 8 + label
