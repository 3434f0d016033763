"""The history as the rest of the program sees it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from local_react.core import Run
from local_react.history import facts, runs, sessions
from local_react.history.infos import FactInfo, RunInfo, SessionInfo
from local_react.history.store import NAME, new_id, now, reading, writing
from local_react.places import data_dir


class History:
    """Sessions, runs and facts in a file, which several processes may use at once. Without
    `path` it is history.sqlite in the data directory.

    Every method raises UsageError, one line, where the file cannot be used. What is deleted
    is gone from the file, too.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or data_dir() / NAME

    # Sessions

    def sessions(self, last: int | None = None) -> Sequence[SessionInfo]:
        """Return the sessions, the one that was used last first; at most `last` of them."""
        with reading(self.path) as db:
            return sessions.listed(db, last)

    def find_session(self, name: str) -> SessionInfo:
        """Return the session of that name or id, or whose id begins so (four digits or more).

        Raises UsageError where there is none, or more than one.
        """
        with reading(self.path) as db:
            return sessions.found(db, name)

    def latest_session(self) -> SessionInfo | None:
        """Return the session in which something was asked last."""
        return next((info for info in self.sessions() if info.question), None)

    def named_session(self, name: str) -> SessionInfo | None:
        """Return the session of that name or whole id, if there is one. Raises UsageError
        where that can be no name."""
        with reading(self.path) as db:
            return sessions.named(db, name)

    def open_session(self, name: str | None = None) -> SessionInfo:
        """Return the session of that name or whole id, made where there is none.

        Without a name return a new one, of which nothing is kept, not even its name, before
        the first run is added to it. Raises UsageError where that can be no name.
        """
        if name is None:
            with reading(self.path) as db:
                return SessionInfo(new_id(db), "", now(), now(), 0, "")
        with writing(self.path) as db:
            return sessions.opened(db, name)

    def rename_session(self, name: str, new: str) -> SessionInfo:
        """Name a session anew, and return it. Raises UsageError where there is none, or the
        new name is taken or can be none."""
        with writing(self.path) as db:
            return sessions.rename(db, sessions.found(db, name), new)

    def delete_session(self, *names: str) -> Sequence[SessionInfo]:
        """Delete sessions with their runs, all or none, and return them. Raises UsageError
        where there is none of a name."""
        with writing(self.path) as db:
            infos = list(dict.fromkeys(sessions.found(db, name) for name in names))
            db.executemany("DELETE FROM sessions WHERE id = ?", [(info.id,) for info in infos])
        return infos

    def clear(self) -> int:
        """Delete all sessions and all runs, and return how many runs they were."""
        with writing(self.path) as db:
            count = db.execute("DELETE FROM runs").rowcount
            db.execute("DELETE FROM sessions")
        return count

    # Runs

    def add(
        self,
        run: Run,
        *,
        transcript: str = "",
        session: str | None = None,
        conversed: bool = True,
    ) -> str:
        """Keep a run, and return its id, once it is safely on disk.

        `session` is the id or name of the one that it belongs to, which is made where it is
        missing; `conversed` says whether the conversation goes on from this run.
        """
        with writing(self.path) as db:
            number = None if session is None else sessions.joined(db, session, run.question)
            return runs.put(db, run, transcript, number, conversed=conversed)

    def remove(self, run_id: str) -> None:
        """Delete a run. Raises UsageError where there is none of that id."""
        with writing(self.path) as db:
            session = runs.drop(db, runs.found(db, run_id))
            if session is not None:
                sessions.settle(db, session)

    def runs(
        self, *, session: str | None = None, last: int | None = None, containing: str | None = None
    ) -> Sequence[RunInfo]:
        """Return the runs, of a session or all, the newest last; of many the `last` ones.

        `containing` is looked for in the question and the answer, in capitals or not. A
        session that has only been opened has no runs; raises UsageError where there is none.
        """
        with reading(self.path) as db:
            number = None if session is None else sessions.number(db, session)
            return runs.listed(db, number, last, containing)

    def find_run(self, name: str) -> RunInfo:
        """Return the run of that id, or whose id begins so (four digits or more), or the
        "last" one. Raises UsageError where there is none, or more than one."""
        with reading(self.path) as db:
            return runs.found(db, name)

    def run(self, run_id: str) -> Run:
        """Return a run as it was. Raises UsageError where there is none, or it cannot be
        read."""
        with reading(self.path) as db:
            return runs.whole(db, runs.found(db, run_id))

    def transcript(self, run_id: str) -> str:
        """Return the transcript of a run, as it was added. Raises UsageError where there is
        no such run."""
        with reading(self.path) as db:
            return runs.transcript(db, runs.found(db, run_id))

    def turns(self, session: str) -> Sequence[Run]:
        """Return the runs that a session's conversation goes on from, the newest last."""
        with reading(self.path) as db:
            infos = runs.listed(db, sessions.number(db, session), None, None)
            return [runs.whole(db, info) for info in infos if info.conversed]

    # Facts

    def facts(self) -> Sequence[FactInfo]:
        """Return what is remembered, the oldest first."""
        with reading(self.path) as db:
            return facts.listed(db)

    def remember(self, fact: str) -> FactInfo:
        """Keep a fact, and return it; the same fact twice is one. Raises UsageError where it
        is empty or long."""
        with writing(self.path) as db:
            return facts.put(db, fact)

    def recall(self, question: str, most: int = 5) -> Sequence[FactInfo]:
        """Return the facts that matter for a question, the best first: those that share a
        word with it which says what it is about, else those about the user where the
        question asks about the user."""
        return facts.recalled(self.facts(), question, most)

    def facts_that_fit(self, which: str) -> Sequence[FactInfo]:
        """Return the fact of that number, or all that hold all these words. Raises UsageError
        where there is none."""
        return facts.matching(self.facts(), which)

    def forget(self, *which: str) -> Sequence[FactInfo]:
        """Delete the facts of these numbers, or those that hold all words of one of these
        texts, and return them. Raises UsageError, with nothing forgotten, where one of them
        fits none."""
        with writing(self.path) as db:
            known = facts.listed(db)
            fitting = dict.fromkeys(fact for one in which for fact in facts.matching(known, one))
            facts.drop(db, list(fitting))
        return list(fitting)
