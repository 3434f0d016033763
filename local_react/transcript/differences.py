"""Where two runs of one question part."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from local_react.as_dict import action_as_dict
from local_react.core import Run, Step

CUT: Final = ("interrupted", "timeout")
"""How a run ends whose end the clock decided, or the user."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that is not the same in two runs."""

    step: int | None
    """The number of the step, from 1; None for what is no part of a step."""
    part: str
    """Its thought, action or observation, or the run's answer, end or votes."""
    recorded: str | None
    """None where the recorded run has no such step."""
    now: str | None


def first_difference(recorded: Run, now: Run, *, since: int = 1) -> Difference | None:
    """Return the first thing from a step on in which a run differs from the recorded one; None
    where they are the same but for tokens and seconds.

    Of a run that was cut short the last reply and the end are the clock's doing, and are not
    compared.
    """
    if recorded.stop_reason in CUT:
        steps = _without_the_last_reply(recorded.steps)
        return next(_between(steps, now.steps[: len(steps)], since), None)
    in_steps = next(_between(recorded.steps, now.steps, since), None)
    return in_steps or next(_between_ends(recorded, now), None)


def _between(recorded: Sequence[Step], now: Sequence[Step], since: int) -> Iterator[Difference]:
    steps = zip_longest(recorded[since - 1 :], now[since - 1 :])
    for number, (one, other) in enumerate(steps, since):
        if one is None or other is None:
            yield Difference(number, "action", _action(one), _action(other))
            return
        pairs = {
            "thought": (one.thought, other.thought),
            "action": (_action(one), _action(other)),
            "observation": (one.observation, other.observation),
        }
        for part, (before, after) in pairs.items():
            if before != after:
                yield Difference(number, part, before, after)


def _between_ends(recorded: Run, now: Run) -> Iterator[Difference]:
    pairs = {
        "answer": (recorded.answer, now.answer),
        "end": (recorded.stop_reason, now.stop_reason),
        "votes": (_votes(recorded), _votes(now)),
    }
    for part, (before, after) in pairs.items():
        if before != after:
            yield Difference(None, part, before, after)


def _without_the_last_reply(steps: Sequence[Step]) -> Sequence[Step]:
    return [step for step in steps if step.reply < steps[-1].reply]


def _action(step: Step | None) -> str | None:
    if step is None:
        return None
    return json.dumps(action_as_dict(step.action), ensure_ascii=False, sort_keys=True)


def _votes(run: Run) -> str:
    return ", ".join(vote.answer for vote in run.votes)
