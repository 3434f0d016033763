"""Several runs of one question, and the answer that most of them give.

Self-consistency (Wang et al., 2022) joined with ReAct as its paper does (Yao et al., 2022,
section 3.2), in two ways that fail differently: with the tools, and by reasoning alone. Where
both say the same at once, that is the answer; where they do not, more runs are asked, with
some chance in what they write, until most of them agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, get_args

from local_react.answers import Kind, meaning, most_common
from local_react.core import Run, Sampling, Usage, Vote
from local_react.sums import wrong_sum

Way: TypeAlias = Literal["tools", "reasoning"]
WAYS: Final[tuple[Way, ...]] = get_args(Way)

ROUNDS: Final = (2, 5)
"""How many runs of a word problem there are in all after each round of the automatic mode."""
BACKED: Final = (1, 4)
"""The same of any other question: only a run that came to no end is backed by reasoning."""
MOST_VOTES: Final = 32
ENOUGH: Final = 0.6
"""The share of the votes with which the automatic mode asks no further."""
_TURNS: Final[Sequence[Way]] = (
    "tools",
    "reasoning",
    "reasoning",
    "reasoning",
    "reasoning",
)
"""Programs vary more, and worse, than chains of thought do."""
_TEMPERATURE, _TOP_K, _TOP_P = 0.7, 20, 0.8
"""Of the runs after the first of each way: the temperature of Wang et al., and the bounds that
Qwen's models come with. Without bounds nine runs of a 1.5B gave eight answers."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """A run that is wanted."""

    number: int
    way: Way
    varied: bool
    """Whether it is to differ from the first run of its way."""


def ballots(first: int, last: int, *, tools: bool) -> list[Ballot]:
    """Return the runs from the one numbered `first` to the one before `last`: where there
    are tools, one run in five has them."""
    ways = [_TURNS[number % len(_TURNS)] if tools else "reasoning" for number in range(last)]
    return [
        Ballot(number, ways[number], ways[number] in ways[:number]) for number in range(first, last)
    ]


def varied(sampling: Sampling, seed: int) -> Sampling:
    """Return a sampling with some chance in it, which another seed makes another one."""
    return replace(
        sampling,
        temperature=max(_TEMPERATURE, sampling.temperature),
        top_k=sampling.top_k or _TOP_K,
        top_p=min(_TOP_P, sampling.top_p),
        seed=sampling.seed + seed,
    )


def rounds(votes: int | Literal["auto"], *, reckons: bool) -> Sequence[int]:
    """Return how many runs there are in all after each round."""
    if votes != "auto":
        return (votes,)
    return ROUNDS if reckons else BACKED


def is_settled(runs: Sequence[Run], kind: Kind) -> bool:
    """Return whether so many of the runs agree that more need not be asked, or one alone,
    which is none in doubt, came to its end."""
    if len(runs) == 1:
        return runs[0].finished
    _, count = most_common([_meant(run, kind) for run in runs])
    return count >= 2 and count / len(runs) >= ENOUGH


def joined(runs: Sequence[Run], kind: Kind, *, tools: bool, least: int = 1) -> Run:
    """Return the first run that gives the answer most give, with the votes of all, and
    what all took. An answer that both ways come to counts as if one run more gave it. Of
    answers that count as much, that one is taken, else the one that was reasoned first;
    where none is given by so many as at least are wanted the first run. The runs are in
    the order of their ballots, one at least."""
    meanings = [_meant(run, kind) for run in runs]
    cast = ballots(0, len(runs), tools=tools)
    best, count = _most_trusted(meanings, cast)
    best = best if count >= least else None
    chosen = runs[meanings.index(best)] if best is not None else runs[0]
    votes = tuple(
        Vote(
            answer=run.answer,
            way=ballot.way,
            counts=best is not None and meant == best,
            stop_reason=run.stop_reason,
            usage=run.usage,
            seconds=run.seconds,
        )
        for ballot, run, meant in zip(cast, runs, meanings, strict=True)
    )
    usage = sum((run.usage for run in runs), Usage())
    return replace(chosen, votes=votes if len(votes) > 1 else (), usage=usage)


def _most_trusted(meanings: Sequence[str | None], cast: Sequence[Ballot]) -> tuple[str | None, int]:
    """Return the meaning to go by, and how many runs have it. Runs of one way err alike: of
    public word problems what both ways came to at once was right 89 times of 94, what four of
    five runs did 15 times of 20."""
    cast_for = list(zip(meanings, cast, strict=True))
    by_way = [{meant for meant, one in cast_for if meant and one.way == way} for way in WAYS]
    both = sorted(set.intersection(*by_way))
    best, _ = most_common([*both, *meanings[1:2], *meanings[:1], *meanings[2:]])
    return best, meanings.count(best) if best is not None else 0


def _meant(run: Run, kind: Kind) -> str | None:
    """Return what a run says; nothing where it did not come to an end by itself, or what it
    says stands on a wrong sum."""
    slipped = bool(run.steps) and wrong_sum(run.steps[-1].thought) is not None
    return meaning(run.answer, kind) if run.finished and not slipped else None
