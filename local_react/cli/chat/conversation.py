"""The conversation of a chat: its turns, where they are kept, and who answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from local_react.core import Event, Run, Sampling
from local_react.errors import UsageError
from local_react.history import RunInfo
from local_react.history.store import now
from local_react.session import Session
from local_react.voting import varied

if TYPE_CHECKING:
    from local_react.cli.chat.opening import Wiring
    from local_react.cli.log import Log


@dataclass(frozen=True, slots=True)
class Turn:
    """A question that is to be asked."""

    question: str
    facts: Sequence[str]
    """What the model is told beside it."""
    before: Sequence[Run]
    """The turns before it, with the one that its answer is to replace."""
    replaces: bool = False
    sampling: Sampling | None = None
    """Where tokens are not chosen as usual."""


@dataclass
class Chat:
    """A conversation, and how it is shown."""

    session: Session
    log: Log
    wiring: Wiring
    infos: list[RunInfo] = field(default_factory=list)
    """What is known of each turn; of those that are not kept, the id is empty."""
    last: Run | None = None
    """The last answer, whose steps can be shown."""
    unfolded: bool = False
    stats: bool = False
    tries: int = 0
    """How often the last question was asked again."""

    def new(self, question: str) -> Turn:
        """Return the turn of a new question."""
        self.tries = 0
        return Turn(question, self.log.recalled(question), list(self.session.turns))

    def again(self) -> Turn:
        """Return the turn that asks the last question once more, with some chance in the
        answer, instead of its turn. Raises UsageError where there is none."""
        before, question = list(self.session.turns), self.session.undo().question
        self.tries += 1
        sampling = varied(self.session.agent.sampling, self.tries)
        facts = self.log.recalled(question)
        return Turn(question, facts, before, replaces=True, sampling=sampling)

    def ask(self, turn: Turn) -> Iterator[Event]:
        """Yield the run of a turn as it happens, as `Session.ask` does."""
        self.log.recorder.forget()  # what a run noted that was stopped is of no other's
        return self.session.ask(turn.question, facts=turn.facts, sampling=turn.sampling)

    def ended(self, turn: Turn, run: Run | None) -> None:
        """Keep what came of a turn. Without an answer all is as it was. A run that was left
        behind, of which there is none, must not reach the session any more: it is another."""
        if run is None or (turn.replaces and not run.answer):
            self.session = Session(self.session.agent, turn.before)
        if run is None:
            return
        self.last = run
        if run.answer:
            replaced = self.infos.pop() if turn.replaces else None
            self.infos.append(_info(run))
            self.infos[-1] = replace(self.infos[-1], id=self._kept(run, turn))
            if replaced:
                self._dropped(replaced)

    def tell_where(self) -> None:
        """Tell the user, the first time that anything is kept, where that is."""
        if self.log.begins and self.infos and self.infos[-1].id:
            self.log.begins = False
            self.wiring.display.kept(self.log.history.path)

    def failed(self, turn: Turn) -> None:
        """Have all be as it was before a turn that could not be asked."""
        if turn.replaces:
            self.session = Session(self.session.agent, turn.before)

    def undo(self) -> Run:
        """Take the last turn back and return it. Raises UsageError where there is none."""
        run = self.session.undo()
        self._dropped(self.infos.pop())
        self.last = None
        return run

    def clear(self) -> None:
        """Begin another conversation; this one stays kept."""
        new = self.log.history.open_session().id if self.log.keeps else ""
        self.session.clear()
        self.log.session, self.infos, self.last = new, [], None

    def go_on_with(self, name: str) -> None:
        """Go on with the session of that name, or begin it where it can be kept. Raises
        UsageError where there is none, or that can be no name."""
        history = self.log.history
        info = history.open_session(name) if self.log.keeps else history.find_session(name)
        self.log.session, self.log.turns = info.id, list(history.turns(info.id))
        self._take_up(self.log.turns, known_turns(self.log))

    def take_up(self, runs: Sequence[Run]) -> None:
        """Begin another conversation, with turns from elsewhere, which are kept with it."""
        turns = [run for run in runs if run.answer]
        before, self.log.session = self.log.session, ""
        try:
            self.log.session = self.log.history.open_session().id if self.log.keeps else ""
            infos = [replace(_info(run), id=self._added(run)) for run in turns]
        except UsageError:
            self.log.session = before
            raise
        self._take_up(turns, infos)

    def _take_up(self, turns: Sequence[Run], infos: list[RunInfo]) -> None:
        self.session = Session(self.session.agent, turns)
        self.infos = infos
        self.last = turns[-1] if turns else None

    @property
    def name(self) -> str:
        """The name of the session; empty where it has none, or is not kept."""
        if not self.log.session:
            return ""
        try:
            return self.log.history.find_session(self.log.session).name
        except UsageError:  # nothing was added to it yet
            return ""

    def _kept(self, run: Run, turn: Turn) -> str:
        """Keep a run with its transcript, and return its id; empty where it is not kept."""
        return self.log.keep(
            run,
            self.session.agent,
            self.wiring.network,
            facts=turn.facts,
            earlier=turn.before[:-1] if turn.replaces else turn.before,
            sampling=turn.sampling,
        )

    def _added(self, run: Run) -> str:
        """Keep a run that was made elsewhere, and return its id, or nothing."""
        return self.log.history.add(run, session=self.log.session) if self.log.keeps else ""

    def _dropped(self, info: RunInfo) -> None:
        if self.log.keeps and info.id:
            with suppress(UsageError):  # it was deleted elsewhere
                self.log.history.remove(info.id)


def known_turns(log: Log) -> list[RunInfo]:
    """Return what the history knows of the turns of a session that the model is told of."""
    infos = log.history.runs(session=log.session) if log.turns else ()
    return [info for info in infos if info.conversed and info.answer]


def _info(run: Run) -> RunInfo:
    return RunInfo(
        id="",
        time=now(),
        session=None,
        conversed=True,
        question=run.question,
        answer=run.answer,
        stop_reason=run.stop_reason,
        model=run.model,
        seconds=run.seconds,
        usage=run.usage,
    )
