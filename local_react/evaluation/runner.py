"""Asks the questions, several at once, and yields what each came to."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import groupby
from threading import Event as Flag
from time import perf_counter
from typing import TypeAlias

from local_react.aside import side_by_side
from local_react.core import Model
from local_react.evaluation.arms import Arm, Reply, make_arm, offered_to
from local_react.evaluation.plan import Job, Plan
from local_react.evaluation.rows import Row

_Done: TypeAlias = tuple[Reply | Exception, float]


def asked(plan: Plan, model: Model, jobs: Sequence[Job]) -> Generator[Row, None, None]:
    """Yield the rows of the jobs, each as soon as it is there. An exception in one question
    is a row that tells it. Closing the iterator ends what is under way.

    Raises UsageError where an arm cannot be made.
    """
    for _, group in groupby(jobs, key=lambda job: job.questions.name):
        own = list(group)
        settings = {job.arm.label: job.arm for job in own}
        questions, cancel = own[0].questions, Flag()
        with offered_to(questions, settings.values()) as offered:
            arms = {
                label: make_arm(arm, questions, offered, model, plan.sampling, cancel)
                for label, arm in settings.items()
            }
            if plan.together == 1:
                yield from _one_by_one(plan, own, arms, cancel)
                continue
            # One arm after the other, so that each has a time of its own.
            for label in arms:
                part = [job for job in own if job.arm.label == label]
                yield from _at_once(plan, part, arms, cancel)


def _one_by_one(
    plan: Plan, jobs: Sequence[Job], arms: Mapping[str, Arm], cancel: Flag
) -> Iterator[Row]:
    for job, (reply, seconds) in _in_threads(jobs, arms, 1, cancel):
        yield plan.row(job, reply, seconds)


def _at_once(
    plan: Plan, jobs: Sequence[Job], arms: Mapping[str, Arm], cancel: Flag
) -> Iterator[Row]:
    """Yield the rows; each has the seconds since the one before, so that they add up."""
    last = perf_counter()
    for job, (reply, _) in _in_threads(jobs, arms, plan.together, cancel):
        now = perf_counter()
        yield plan.row(job, reply, now - last)
        last = now


def _in_threads(
    jobs: Sequence[Job], arms: Mapping[str, Arm], together: int, cancel: Flag
) -> Iterator[tuple[Job, _Done]]:
    """Yield what each question came to as they end."""

    def work(job: Job) -> _Done:
        return _timed(arms[job.arm.label], job)

    yield from side_by_side(work, jobs, together, cancel)


def _timed(arm: Arm, job: Job) -> _Done:
    started = perf_counter()
    try:
        reply: Reply | Exception = arm(job.item)
    except Exception as error:  # noqa: BLE001 - told in the row; the others go on
        reply = error
    return reply, perf_counter() - started
