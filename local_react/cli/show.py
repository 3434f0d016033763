"""What a person sees of a run: the steps on standard error, or the run as JSON."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import click

from local_react.cli import STARTED
from local_react.core import Action, Call, Event, Finish, Run, Source, Step, Text

if TYPE_CHECKING:
    from pathlib import Path

    from local_react.backends.llama import LlamaModel
    from local_react.cli.looking import Opening


class Display:
    """Prints a run as it happens, on standard error. Silent where `quiet`."""

    def __init__(self, *, quiet: bool = False, verbosity: int = 0, streams: bool = False) -> None:
        self._quiet = quiet or streams
        self._verbosity = 0 if self._quiet else verbosity
        self._model: LlamaModel | None = None
        self._reply = _Reply()

    def waiting(self, what: object) -> AbstractContextManager[object]:
        """Return a context that shows a spinner, and what is waited for, on a terminal
        while the block runs."""
        from local_react.cli.root import colour

        plain = not sys.stderr.isatty() or colour() is False
        if self._quiet or self._verbosity >= 2 or plain:
            return nullcontext()
        return _spinner(what)

    def model(self, model: LlamaModel) -> None:
        """Show which model answers, and warn where it brings no chat template."""
        if not self._quiet and not model.has_template:
            self._line(f"{model.name} has no chat template: ChatML is used, which may not suit it")
        self._model = model
        if self._verbosity:
            self._line(
                f"{model.name}: {model.context_size} tokens of context, threads: {model.threads}"
            )

    @property
    def looks_inside(self) -> bool:
        """Whether what the model reads is to be seen, as at -vv."""
        return self._verbosity >= 2

    def opening(self, opening: Opening) -> None:
        """Show what the model reads, and the grammar."""
        self._line(opening.text)

    def faults(self, faults: Sequence[str]) -> None:
        """Show what is wrong with tools of the user's that are not offered."""
        for fault in faults:
            complain(fault, colour="yellow")

    def facts(self, facts: Sequence[str]) -> None:
        """Show what the model is told of what the user wanted remembered."""
        if facts and not self._quiet:
            self._write(f"remembered: {'; '.join(facts)}\n", dim=True)

    def follow(self, events: Generator[Event, None, None]) -> Run:
        """Print the events as they come and return the Run at their end, which Ctrl-C
        makes come at once."""
        try:
            return self._followed(self._after_waiting(events))
        except KeyboardInterrupt as pressed:
            # While something was printed: the run is told, and gives what there is.
            return self._followed(iter([events.throw(pressed)]))

    def _followed(self, events: Iterator[Event]) -> Run:
        for event in events:
            if isinstance(event, Run):
                if event.stop_reason == "interrupted" and not self._quiet:
                    self._line("")
                if self._verbosity:
                    self._line(f"in all {figures(event)}")
                return event
            if self._quiet:
                continue
            if isinstance(event, Text):
                self._reply.text += event.text
                self._write(event.text, dim=True)
            else:
                self._step(event)
        raise AssertionError("a run ends with its Run")

    def _after_waiting(self, events: Iterator[Event]) -> Iterator[Event]:
        with self.waiting(Reading(self._model)):
            first = next(events)
        if self._verbosity and self._model is not None and isinstance(first, Text):
            self._line(_first_token(self._model))
        event = first
        while not isinstance(event, Run):
            yield event
            # Where more runs of the question follow, nobody sees them.
            ended = isinstance(event, Step) and event.observation is None
            with self.waiting("asking again") if ended else nullcontext():
                event = next(events)
        yield event

    def votes(self, run: Run) -> None:
        """Show how many runs agree, and what the one thought whose answer was taken, where
        that was not the one that was seen."""
        from local_react.cli.agreement import agreement, is_from_another

        if self._quiet or not (told := agreement(run)):
            return
        if is_from_another(run):
            for step in run.steps:
                if step.thought:
                    self._write(f"Thought: {step.thought}\n", dim=True)
        self._write(f"{told}\n", dim=True)

    def sources(self, sources: Sequence[Source]) -> None:
        """Show where the things that the answer cites were found."""
        if not self._quiet:
            for source in sources:
                self._line(f"[{source.number}] {source.named}")

    def kept(self, path: Path) -> None:
        """Show, the first time, where runs are kept."""
        if not self._quiet:
            told = f"what you ask is kept in {path}, for you alone to read; --no-log keeps nothing"
            self._write(f"{told}\n", dim=True)

    def egress(self, account: str) -> None:
        """Show what left this machine."""
        if not self._quiet:
            self._write(f"{account}\n", dim=True)

    def stats(self, run: Run) -> None:
        """Show the tokens and seconds of each step, whatever else is shown."""
        for step in run.steps:
            self._line(f"{step.reply:>3}  {_name_of(step.action):<16.16}  {_row(step)}")
        self._line(f"     {'in all':<16}  {_row(run)}")

    def _step(self, step: Step) -> None:
        first = self._reply.goes_on_to(step)
        if first:
            self._write("\n")
        if step.observation is not None:
            number = f" {self._reply.shown}" if self._reply.several else ""
            self._line(f"Observation{number}: {step.observation}")
        if self._verbosity and first:  # those of the whole reply
            self._line(figures(step))

    def _line(self, text: str) -> None:
        self._write(f"{text}\n")

    def _write(self, text: str, *, dim: bool = False) -> None:
        with suppress(OSError):  # a full disk behind standard error must not cost the answer
            click.secho(printable(text), err=True, dim=dim, nl=False)
            sys.stderr.flush()


@dataclass
class _Reply:
    """The reply that is shown, which may have several steps."""

    text: str = ""
    """As it is written, up to its first step."""
    number: int = 0
    several: bool = False
    """Whether it has several Actions."""
    shown: int = 0
    """How many of its steps."""

    def goes_on_to(self, step: Step) -> bool:
        """Take note of the next step; return whether it is the first of its reply."""
        from local_react.protocol import ACTION

        first = step.reply != self.number
        if first:
            # What a model thinks before its reply may hold anything: the reply comes last.
            reply = f"\n{self.text}".rpartition("\nThought:")[2]
            several = reply.count(f"\n{ACTION}") > 1
            self.text, self.number, self.several, self.shown = "", step.reply, several, 0
        self.shown += 1
        return first


@contextmanager
def _spinner(what: object) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text as Prose

    class Line:
        """Made anew whenever it is shown, because what it tells may change."""

        spinner = Spinner("dots")

        def __rich__(self) -> Spinner:
            self.spinner.update(text=Prose(printable(f"{what} …")))
            return self.spinner

    with Live(Line(), console=Console(stderr=True), refresh_per_second=10, transient=True):
        yield


class Reading:
    """Tells how far a long text is read."""

    def __init__(self, model: LlamaModel | None) -> None:
        self._model = model

    def __str__(self) -> str:
        read, of = self._model.engine.reading if self._model is not None else (0, 0)
        return f"reading, {read:,} of {of:,} tokens" if of > _LONG else "reading"


_LONG = 512
"""Tokens from which on it is told how far they are read: a batch."""


def complain(message: str, colour: str = "red") -> None:
    """Print one line to a person, if there is anybody to print it to."""
    line = " ".join(message.split())
    with suppress(OSError):
        click.secho(f"local-react: {printable(line)}", err=True, fg=colour)


def printable(text: str) -> str:
    """Return the text without the characters that steer a terminal or turn the order of
    a line round: what a model or a web page writes must not."""
    return _STEERING.sub("", text)


def json_text(value: object, indent: int | None = 2) -> str:
    """Return JSON, on one line where there is no indent, in which the characters that
    `printable` leaves out are escaped, since it may be printed on a terminal too. So are those
    that standard output cannot have: half characters, and all but ASCII where it is not UTF-8,
    as other programs read JSON."""
    utf8 = (getattr(sys.stdout, "encoding", None) or "utf-8").casefold().startswith("utf")
    text = json.dumps(value, ensure_ascii=not utf8, indent=indent)
    return _UNFIT.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_STEERS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufff9-\ufffb"
_STEERING = re.compile(f"[{_STEERS}]")
_UNFIT = re.compile(f"[{_STEERS}\ud800-\udfff]")


def _first_token(model: LlamaModel) -> str:
    """Return how long it took from the first line of ours to the first token."""
    total = perf_counter() - STARTED
    prefix = model.engine.prefix
    how = "from the cache" if prefix.kept else "read"
    rest = total - model.load_seconds - prefix.seconds
    return (
        f"[first token after {total:.2f} s: model {model.load_seconds:.2f}, "
        f"instructions {prefix.seconds:.2f} ({how}), the rest {rest:.2f}]"
    )


def _name_of(action: Action) -> str:
    from local_react.tools.base import FINISH

    if isinstance(action, Call):
        return action.tool
    return FINISH if isinstance(action, Finish) else "(no action)"


def _row(part: Step | Run) -> str:
    """Return the figures of a step or run in columns."""
    usage, rate = part.usage, part.usage.generated / part.seconds if part.seconds else 0.0
    return (
        f"{usage.evaluated:>6} read  {usage.generated:>5} written  {part.seconds:>7.2f} s  "
        f"{rate:>5.1f} written/s"
    )


def figures(part: Step | Run) -> str:
    usage = part.usage
    return f"[{usage.evaluated} tokens read, {usage.generated} written, {part.seconds:.1f} s]"
