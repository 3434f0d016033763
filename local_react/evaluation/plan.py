"""What is to be asked, what of it is done, and the row of each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from local_react.core import Sampling
from local_react.evaluation.arms import Reply, fits
from local_react.evaluation.items import Item, QuestionSet
from local_react.evaluation.rows import Key, Row
from local_react.evaluation.scoring import Score, score
from local_react.evaluation.settings import ArmSettings


@dataclass(frozen=True)
class Job:
    """One question for one arm."""

    questions: QuestionSet
    item: Item
    arm: ArmSettings


@dataclass(frozen=True)
class Plan:
    """The sets, the arms, and how they are asked."""

    sets: Sequence[QuestionSet]
    arms: Sequence[ArmSettings]
    model: str
    sampling: Sampling
    together: int = 1
    """Questions at once."""

    def jobs(self) -> list[Job]:
        """Return all of them in their order, set by set. With one question at a time the
        arms take turns."""
        found = []
        for questions in self.sets:
            arms = [arm for arm in self.arms if fits(arm, questions)]
            if self.together == 1:
                found += [Job(questions, item, arm) for item in questions.items for arm in arms]
            else:
                found += [Job(questions, item, arm) for arm in arms for item in questions.items]
        return found

    def split(self, rows: Collection[Row]) -> tuple[list[Row], list[Job]]:
        """Return those of the rows that belong to the plan, and the jobs without one. A row
        does not count whose question raised an error, or has another answer by now."""
        found = list(self._found([row for row in rows if not row.error]))
        kept = [row for _, row in found if row]
        return kept, [job for job, row in found if row is None]

    def own(self, rows: Collection[Row]) -> list[Row]:
        """Return those of the rows that belong to the plan, in its order."""
        return [row for _, row in self._found(rows) if row]

    def _found(self, rows: Collection[Row]) -> Iterator[tuple[Job, Row | None]]:
        """Yield each job with its latest row."""
        by_key = {row.key: row for row in rows}
        for job in self.jobs():
            row, item = by_key.get(self._key(job)), job.item
            same = row and (row.question, row.expected) == (item.question, item.expected)
            yield job, row if same else None

    def _key(self, job: Job) -> Key:
        sampling = self.sampling
        place = job.questions.name, job.item.id, job.arm.label
        return (*place, self.model, sampling.seed, sampling.temperature)

    def row(self, job: Job, reply: Reply | Exception, seconds: float) -> Row:
        """Return the row of a question that was answered, or that raised: it is wrong then."""
        if isinstance(reply, Exception):
            zero = 0.0 if job.item.scorer == "text" else None
            error = f"{type(reply).__name__}: {reply}"
            scored, reply = Score(False, zero, zero), Reply("", 0, "error", 0, ())
        else:
            scored, error = score(reply.answer, job.item), ""
        words = {"em": scored.em, "f1": scored.f1}
        return Row(
            id=job.item.id,
            set=job.questions.name,
            arm=job.arm.label,
            model=self.model,
            seed=self.sampling.seed,
            temperature=self.sampling.temperature,
            together=self.together,
            question=job.item.question,
            answer=reply.answer,
            expected=job.item.expected,
            right=scored.right,
            scores={name: value for name, value in words.items() if value is not None},
            seconds=seconds,
            replies=reply.replies,
            calls=reply.calls,
            malformed=reply.malformed,
            ended=reply.ended,
            tokens=reply.tokens,
            confidence=reply.confidence,
            trace=reply.trace,
            error=error,
            votes=reply.votes,
        )
