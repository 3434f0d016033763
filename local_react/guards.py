"""What keeps a run from going round: repeated calls, repeated text, no progress."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from local_react.core import Action, Call, Step

REPEATED_CHARACTERS = 60
"""Text whose last characters, this many, stand in it three times is going round; ten
times where they are of a few kinds, as in a rule of dashes or a row of zeros."""
_FEW_KINDS = 8
STUCK_STEPS = 3
"""So many steps in a row that bring nothing new, and the next is the last."""

ERROR = "Error: "
"""How an Observation begins that tells of a failure."""

_KNOWN = "(You had this result already: use it, or try something else.)"


def goes_round(text: str) -> bool:
    """Return whether a reply repeats itself at its end."""
    end = text[-REPEATED_CHARACTERS:]
    times = 3 if len(set(end)) >= _FEW_KINDS else 10
    return len(text) >= times * REPEATED_CHARACTERS and text.count(end) >= times


def known_result(call: Call, steps: Sequence[Step]) -> str | None:
    """Return what the same call gave before, with a note, or None for a new one. What was
    found outside is long: it is named by its numbers."""
    for step in steps:
        if _same(step.action, call):
            numbers = ", ".join(f"[{source.number}]" for source in step.sources)
            known = numbers or (step.observation or "").removesuffix(_KNOWN).rstrip()
            return f"{known} {_KNOWN}"
    return None


def worn_out(steps: Sequence[Step]) -> set[str]:
    """Return the names of the tools that were given the same call twice."""
    actions = [step.action for step in steps]
    return {
        action.tool
        for number, action in enumerate(actions)
        if isinstance(action, Call) and any(_same(earlier, action) for earlier in actions[:number])
    }


def failed_twice(steps: Sequence[Step]) -> set[str]:
    """Return the names of the tools whose calls gave an error twice or more: where it is
    the network that fails, asking a third time only costs the user's time."""
    failed = [
        step.action.tool
        for step in steps
        if isinstance(step.action, Call) and (step.observation or "").startswith(ERROR)
    ]
    return {name for name in failed if failed.count(name) >= 2}


def is_stuck(steps: Sequence[Step]) -> bool:
    """Return whether the last steps brought errors and known results alone."""
    last = steps[-STUCK_STEPS:]
    return len(last) == STUCK_STEPS and all(map(_brought_nothing, last))


def _brought_nothing(step: Step) -> bool:
    text = step.observation or ""
    return text.startswith(ERROR) or text.endswith(_KNOWN)


def _same(one: Action, other: Action) -> bool:
    """Return True for two calls that differ at most in white space that parts no words."""
    if not isinstance(one, Call) or not isinstance(other, Call):
        return False
    return one.tool == other.tool and _bare(one) == _bare(other)


def _bare(call: Call) -> str:
    text = json.dumps(dict(call.arguments), sort_keys=True, default=str)
    return re.sub(r"\s*([^\w\s])\s*", r"\1", " ".join(text.split()))
