"""What the runs of one question say, told to a person in a line."""

from __future__ import annotations

from typing import Final

from local_react.answers import kind_of, meaning
from local_react.choosing import is_reckoning
from local_react.core import Run, Vote

NOT_SURE: Final = 6
"""The exit code where the answer is not sure enough to be printed."""
CANNOT_BE_TOLD: Final = (
    "how sure it is cannot be told of such a question: ask for a number, for yes or no, or for "
    "the answer alone"
)
_ASKED_ONCE: Final = (
    "how sure it is cannot be told: one run alone was made, as one that looked outside is "
    "not repeated"
)
_RUNS: Final = 5
"""Where sureness is asked for and the automatic mode would ask once."""
_LONGEST: Final = 60
"""Characters of an answer in the line."""


def can_be_compared(question: str) -> bool:
    """Return whether two answers to the question can be told to say the same."""
    return kind_of(question) != "text"


def runs_for_sureness(question: str) -> int | None:
    """Return how many runs tell how sure an answer is where the automatic mode would ask
    once; None where it asks more than once by itself."""
    return None if is_reckoning(question) else _RUNS


def is_sure(run: Run, share: float) -> bool:
    """Return whether at least this share of the runs gives the answer."""
    return run.confidence is not None and run.confidence >= share


def agreement(run: Run) -> str:
    """Return how many runs give the answer, and what the others say; nothing where there
    was one run alone."""
    if not run.votes:
        return ""
    count, number = sum(vote.counts for vote in run.votes), len(run.votes)
    if not count:
        return _none_of(run)
    if count == 1:
        head = f"no two of {number} runs agree: {_said(run.answer, 1)}"
    else:
        head = f"{count} of {number} runs agree"
    if is_from_another(run):
        head += f" on {_short(run.answer)}, which is not what was seen here"
    return ", ".join([head, *_others(run)])


def unsure(run: Run) -> str:
    """Return why the answer is not sure: what the runs said, and how many each."""
    if run.confidence is None:
        return _ASKED_ONCE
    count, number = sum(vote.counts for vote in run.votes), len(run.votes)
    if not count:
        return f"not sure: {_none_of(run)}"
    head = f"{count} of {number} runs {'says' if count == 1 else 'say'} {_short(run.answer)}"
    return f"not sure: {', '.join([head, *_others(run)])}"


def is_from_another(run: Run) -> bool:
    """Return whether the answer is not that of the first run, the one that was seen."""
    return any(vote.counts for vote in run.votes) and not run.votes[0].counts


def _none_of(run: Run) -> str:
    number = len(run.votes)
    if not any(_meant(vote, run) for vote in run.votes):
        return f"none of {number} runs came to an answer that can be compared"
    return ", ".join([f"no two of {number} runs agree", *_others(run)])


def _others(run: Run) -> list[str]:
    """Return what the runs say that do not give the answer, and how many each."""
    said, none = dict[str, list[Vote]](), 0
    for vote in [vote for vote in run.votes if not vote.counts]:
        if (meant := _meant(vote, run)) is None:
            none += 1
        else:
            said.setdefault(meant, []).append(vote)
    groups = sorted(said.values(), key=len, reverse=True)
    told = [_said(votes[0].answer, len(votes)) for votes in groups]
    return told + ([f"{none} came to no answer"] if none else [])


def _meant(vote: Vote, run: Run) -> str | None:
    return meaning(vote.answer, kind_of(run.question)) if vote.stop_reason == "finish" else None


def _said(answer: str, count: int) -> str:
    return f"{count} {'says' if count == 1 else 'say'} {_short(answer)}"


def _short(answer: str) -> str:
    line = " ".join(answer.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
