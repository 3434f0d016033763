"""What is kept of the runs of a command: in a session of the history, and in a file."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from local_react.errors import LocalReactError, UsageError

if TYPE_CHECKING:
    from local_react.agent import Agent
    from local_react.backends.llama import LlamaModel
    from local_react.core import Event, Run, Sampling
    from local_react.history import History
    from local_react.network import Network
    from local_react.transcript import Recorder


@dataclass
class Log:
    """Where the runs of a command belong."""

    options: Mapping[str, Any]
    history: History
    recorder: Recorder
    session: str = ""
    """The id of the session; nothing where none is kept or gone on with."""
    turns: list[Run] = field(default_factory=list)
    """What was said in it before."""
    begins: bool = False
    """Whether nothing was ever kept before."""
    unusable: bool = False
    """Whether the history cannot be used."""

    @classmethod
    def opened(cls, options: Mapping[str, Any]) -> Log:
        """Return the log that the options ask for: of the session to go on with, or a new
        one. Raises UsageError where there is no such session, or the history cannot be used."""
        from local_react.history import History
        from local_react.transcript import Recorder

        if file := options.get("transcript"):
            _check_target(file)
        log, name = cls(options, History(), Recorder()), options["session"]
        log.begins = log.keeps and not log.history.path.exists()
        if options["continues"] and name is not None:
            raise UsageError("--continue and --session contradict each other: give one of them")
        if options["continues"]:
            info = log.history.latest_session()
            if info is None:
                raise UsageError("there is no session to go on with yet: ask without --continue")
        elif name is not None:
            info = log.history.named_session(name)
            if info is None and not log.keeps:
                info = log.history.find_session(name)  # which says what there is
            if info is None:  # it is made with its first run
                log.session = name
                return log
        else:
            log._begin()
            return log
        log.session, log.turns = info.id, list(log.history.turns(info.id))
        return log

    @property
    def keeps(self) -> bool:
        """Whether runs are kept in the history."""
        return not (self.options["no_log"] or self.options["private"] or self.unusable)

    def _begin(self) -> None:
        """Begin a session. Where the history cannot be used it is complained of: who goes on
        with nothing kept can be answered without it."""
        from local_react.cli.show import complain

        try:
            self.session = self.history.open_session().id if self.keeps else ""
        except LocalReactError as error:
            self.unusable = True
            complain(f"nothing is kept: {error}", colour="yellow")

    def recalled(self, question: str) -> list[str]:
        """Return what the user wanted remembered that matters for a question. Where that
        cannot be read it is complained of: the question can be answered without."""
        if self.unusable:  # which was told
            return []
        try:
            return [fact.text for fact in self.history.recall(question)]
        except LocalReactError as error:
            from local_react.cli.show import complain

            complain(f"what is remembered is left out: {error}", colour="yellow")
            return []

    def asked(
        self, agent: Agent, question: str, facts: Sequence[str]
    ) -> Generator[Event, None, None]:
        """Return the run of a question, which knows what was said in the session before."""
        if not self.turns:
            return agent.stream(question, facts=facts)
        from local_react.session import Session

        return Session(agent, self.turns).ask(question, facts=facts)

    def keep(
        self,
        run: Run,
        agent: Agent,
        network: Network,
        *,
        facts: Sequence[str] = (),
        earlier: Sequence[Run] | None = None,
        sampling: Sampling | None = None,
    ) -> str:
        """Keep a run that has ended, and return its id, "" where it is not kept; what belongs
        to it is as in Recorder.finish. What is answered already is not lost where that
        fails: it is complained of."""
        file = self.options.get("transcript")
        if not (self.keeps or file):
            return ""
        from local_react.cli.door import exchanges_as_dicts
        from local_react.cli.recording import transcript_of
        from local_react.cli.sessions_export import write_new
        from local_react.cli.show import complain

        transcript, id_ = "", ""
        try:
            transcript = transcript_of(
                self.recorder,
                run,
                agent,
                cast("LlamaModel", agent.model),
                self.options,
                facts=facts,
                earlier=earlier,
                session=self.session,
                sampling=sampling,
                egress=exchanges_as_dicts(network),
            )
            if self.keeps:
                id_ = self.history.add(run, transcript=transcript, session=self.session)
        except LocalReactError as error:
            complain(f"the run is not kept: {error}", colour="yellow")
        try:
            if file and transcript:
                write_new(file, transcript, force=True)
        except LocalReactError as error:
            complain(f"the transcript is not written: {error}", colour="yellow")
        return id_


def _check_target(file: Path) -> None:
    """Raise UsageError where a transcript cannot be written, or would replace what is none."""
    try:
        if file.is_dir() or not file.absolute().parent.is_dir():
            raise UsageError(f"--transcript {file}: there is no folder for it, or it is one")
        if not file.is_file():
            return
        with file.open("rb") as there:
            head = there.read(len(_BEGINNING))
    except OSError as error:
        raise UsageError(f"--transcript {file}: {error.strerror or error}") from error
    if head not in (b"", _BEGINNING):
        raise UsageError(f"{file} is there and no transcript: name another one with --transcript")


_BEGINNING: Final = b'{"type": "run", '
"""Of every transcript."""
