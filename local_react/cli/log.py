"""What is kept of the runs of a command: in a session of the history, and in a file."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from local_react.errors import LocalReactError, UsageError

if TYPE_CHECKING:
    from local_react.agent import Agent
    from local_react.core import Event, Run
    from local_react.history import History


@dataclass
class Log:
    """Where the runs of a command belong."""

    history: History
    session: str
    """The id of the session."""
    turns: list[Run] = field(default_factory=list)
    """What was said in it before."""
    keeps: bool = True

    @classmethod
    def opened(cls, options: Mapping[str, Any]) -> Log:
        """Return the log that the options ask for: of the session to go on with, or a new
        one. Raises UsageError where there is no such session, or the history cannot be used."""
        from local_react.history import History

        history, name = History(), options["session"]
        keeps = not (options["no_log"] or options["private"])
        if options["continues"] and name:
            raise UsageError("--continue and --session contradict each other: give one of them")
        if options["continues"]:
            info = history.latest_session()
            if info is None:
                raise UsageError("there is no session to go on with yet: ask without --continue")
        elif name:
            info = history.open_session(name) if keeps else history.find_session(name)
        else:
            # A damaged history is no matter to who neither reads nor writes it.
            return cls(history, history.open_session().id if keeps else "", [], keeps)
        return cls(history, info.id, list(history.turns(info.id)), keeps)

    def recalled(self, question: str) -> list[str]:
        """Return what the user wanted remembered that matters for a question."""
        return [fact.text for fact in self.history.recall(question)]

    def asked(
        self, agent: Agent, question: str, facts: Sequence[str]
    ) -> Generator[Event, None, None]:
        """Return the run of a question, which knows what was said in the session before."""
        if not self.turns:
            return agent.stream(question, facts=facts)
        from local_react.session import Session

        return Session(agent, self.turns).ask(question, facts=facts)

    def keep(self, run: Run, transcript: str = "") -> str | None:
        """Keep a run and return its id, None where nothing is kept. What is answered already
        is not lost where that fails: it is complained of."""
        if not self.keeps:
            return None
        try:
            return self.history.add(run, transcript=transcript, session=self.session)
        except LocalReactError as error:
            from local_react.cli.show import complain

            complain(f"the run is not kept: {error}", colour="yellow")
            return None
