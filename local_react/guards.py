"""What keeps a run from going round, and how often it had to.

- The same call, words to look for in any order: it is not run again, the earlier result
  is shown with a note, and after the second reply that made it the tool is left out.
- Two calls in turns, over four replies: the next reply is the last one.
- The same Thought: a note says so; at the third time the next reply is the last one.
- The same error in three replies, or two errors of a tool that needs the network: the tool
  is left out.
- Text that repeats itself: the reply is broken off there. Its whole calls stand; an answer
  stands, too, but has not finished the run. A reply that repeats a call ends with it.
- Three replies that bring nothing new: the next one is the last.
- An answer whose Thought holds a wrong sum: it is given back once.

A run whose last reply was forced by one of them, be it that no tool was left, has not
finished by itself.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from local_react.core import Action, Call, Finish, Step
from local_react.sums import wrong_sum

REPEATED_CHARACTERS = 60
"""Text whose last characters, this many, stand in it three times is going round; ten
times where they are of a few kinds, as in a rule of dashes or a row of zeros."""
_FEW_KINDS = 8
STUCK_STEPS = 3
"""So many replies in a row that bring nothing new, and the next is the last."""
_SAME_ERROR = 3
_SAME_THOUGHT = 3

ERROR = "Error: "
"""How an Observation begins that tells of a failure."""

_KNOWN = "(You had this result already: use it, or try something else.)"
THOUGHT_BEFORE = "(You have thought this before: go on to what is missing, or finish.)"

_GO_ON = "Correct what follows from it."

_WORDS_OF_A_THOUGHT = 4
"""A shorter Thought, such as "I look it up.", may well come again."""


def goes_round(text: str) -> bool:
    """Return whether a reply repeats itself at its end."""
    end = text[-REPEATED_CHARACTERS:]
    times = 3 if len(set(end)) >= _FEW_KINDS else 10
    return len(text) >= times * REPEATED_CHARACTERS and text.count(end) >= times


def without_repeats(text: str) -> str:
    """Return a reply that goes round up to where it first says what it repeats."""
    end = text[-REPEATED_CHARACTERS:]
    return text[: text.index(end) + len(end)]


def known_result(call: Call, steps: Sequence[Step]) -> str | None:
    """Return what the same call gave before, with a note, or None for a new one. What was
    found outside is long: it is named by its numbers."""
    for step in steps:
        if same(step.action, call):
            numbers = ", ".join(f"[{source.number}]" for source in step.sources)
            known = numbers or _bare_observation(step).rstrip()
            return f"{known} {_KNOWN}"
    return None


def is_known(observation: str) -> bool:
    """Return whether it is the result of a call that was made before."""
    return observation.endswith(_KNOWN)


def repeats_a_thought(thought: str, steps: Sequence[Step]) -> bool:
    """Return whether the Thought is one of those before, word by word."""
    words = _words(thought)
    return len(words) >= _WORDS_OF_A_THOUGHT and any(
        _words(step.thought) == words for step in steps
    )


def slip(actions: Sequence[Action], thought: str, steps: Sequence[Step]) -> str | None:
    """Return what is wrong with an answer that rests on a wrong sum; None where nothing is, or
    one was given back for that before."""
    wrong = wrong_sum(thought) if isinstance(actions[0], Finish) else None
    if wrong is None or any(map(_is_slip, steps)):
        return None
    return f"{ERROR}{wrong.sum} = {wrong.right}, not {wrong.told}. {_GO_ON}"


def worn_out(steps: Sequence[Step]) -> set[str]:
    """Return the names of the tools that only lead round: they were given the same call
    in two replies, or gave the same error in three."""
    repeated = {
        step.action.tool
        for step in steps
        if isinstance(step.action, Call) and _is_repeated(step, _before(step, steps))
    }
    return repeated | {tool for tool, _ in _repeated_errors(steps)}


def failed_twice(steps: Sequence[Step]) -> set[str]:
    """Return the names of the tools whose calls gave an error twice or more: where it is
    the network that fails, asking a third time only costs the user's time."""
    failed = [step.action.tool for step in steps if isinstance(step.action, Call) and _failed(step)]
    return {name for name in failed if failed.count(name) >= 2}


def is_stuck(steps: Sequence[Step]) -> bool:
    """Return whether the next reply has to be the last."""
    thoughts = Counter(tuple(_words(step.thought)) for step in steps)
    return (
        _nothing_new(steps)
        or _alternates(steps)
        or any(
            count >= _SAME_THOUGHT and len(words) >= _WORDS_OF_A_THOUGHT
            for words, count in thoughts.items()
        )
    )


def broken(steps: Sequence[Step], rounds: int) -> Mapping[str, int]:
    """Return how often each kind of going round was met in a run, whose text was broken
    off `rounds` times because it repeated itself; without those that were not met."""
    met = {
        "repeated call": sum(_is_repeated(step, steps[:n]) for n, step in enumerate(steps)),
        "alternating calls": sum(_alternates(steps[:n]) for n in range(len(steps) + 1)),
        "repeated thought": sum(
            repeats_a_thought(step.thought, steps[:n]) for n, step in enumerate(steps)
        ),
        "repeated error": len(_repeated_errors(steps)),
        "repeated text": rounds,
        "wrong sum": sum(map(_is_slip, steps)),
        "nothing new": int(
            any(map(_nothing_new, [*(_before(step, steps) for step in steps), steps]))
        ),
    }
    return {kind: count for kind, count in met.items() if count}


def same(one: Action, other: Action) -> bool:
    """Return True for two calls that differ at most in the order and case of words to look
    for, and in white space that parts no words."""
    if not isinstance(one, Call) or not isinstance(other, Call):
        return False
    return one.tool == other.tool and _bare(one) == _bare(other)


def without_twins(actions: Sequence[Action]) -> list[Action]:
    """Return the Actions of a reply without the calls that it makes again."""
    return [
        action
        for number, action in enumerate(actions)
        if not any(same(earlier, action) for earlier in actions[:number])
    ]


def _is_repeated(step: Step, before: Sequence[Step]) -> bool:
    return any(same(earlier.action, step.action) for earlier in before)


def _before(step: Step, steps: Sequence[Step]) -> list[Step]:
    """Return the steps of the replies before that of a step: what it was written after."""
    return [earlier for earlier in steps if earlier.reply < step.reply]


def _repeated_errors(steps: Sequence[Step]) -> list[tuple[str, str]]:
    """Return the tools and errors that came together in three replies or more."""
    met = {
        (step.reply, step.action.tool, _bare_observation(step))
        for step in steps
        if isinstance(step.action, Call) and _failed(step)
    }
    errors = Counter((tool, error) for _, tool, error in met)
    return [error for error, count in errors.items() if count >= _SAME_ERROR]


def _nothing_new(steps: Sequence[Step]) -> bool:
    """Return whether the last replies brought errors and known results alone."""
    replies = [list(reply) for _, reply in groupby(steps, key=lambda step: step.reply)]
    last = replies[-STUCK_STEPS:]
    return len(last) == STUCK_STEPS and all(all(map(_brought_nothing, r)) for r in last)


def _alternates(steps: Sequence[Step]) -> bool:
    """Return whether the last four calls are two in turns, each in a reply of its own."""
    last = steps[-4:]
    if len({step.reply for step in last}) < 4:
        return False
    first, second, third, fourth = (step.action for step in last)
    return same(first, third) and same(second, fourth) and not same(first, second)


def _is_slip(step: Step) -> bool:
    return isinstance(step.action, Finish) and _bare_observation(step).endswith(_GO_ON)


def _brought_nothing(step: Step) -> bool:
    return _failed(step) or is_known(_without(step.observation or "", THOUGHT_BEFORE))


def _failed(step: Step) -> bool:
    return (step.observation or "").startswith(ERROR)


def _bare_observation(step: Step) -> str:
    """Return what a step's call gave, without our notes."""
    return _without(_without(step.observation or "", THOUGHT_BEFORE), _KNOWN)


def _without(text: str, note: str) -> str:
    return text.removesuffix(note).rstrip()


def _bare(call: Call) -> str:
    """Return a call's arguments as they are compared."""
    plain = {name: _plain(name, value) for name, value in call.arguments.items()}
    return json.dumps(plain, sort_keys=True, default=str)


def _plain(name: str, value: Any) -> Any:
    """Return a text without the white space that parts no words; the words that are looked
    for in order, because theirs tells nothing."""
    if not isinstance(value, str):
        return value
    words = value.split()
    if name == _LOOKED_FOR and len(words) > 1 and all(word.isalpha() for word in words):
        return " ".join(sorted(word.casefold() for word in words))
    return re.sub(r"\s*([^\w\s])\s*", r"\1", " ".join(words))


_LOOKED_FOR: Final = "query"
"""The argument that holds words to look for, in our tools and in most others."""


def _words(thought: str) -> list[str]:
    return re.findall(r"\w+", thought.casefold())
