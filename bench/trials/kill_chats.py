"""Chats that are killed, at a real terminal, with a model of random weights."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import pyte
from tiny_model import write_tiny_model

from local_react.history import History
from trials.forks import Child, Forks
from trials.killing import Place, timed, unsound

ENDS: Final = "gives more"
"""What is said of every answer here, behind it: the model is stopped at its limit."""
_OPTIONS: Final = (
    *("-t", "1", "--votes", "1", "--thought-tokens", "4", "--no-tools", "--max-steps", "1"),
    *("--ctx-size", "700", "--offline"),
)
_PATIENCE: Final = 60.0
_TURNS: Final = ("Who are you?", "/remember I have {} cats", "And who am I?", "Are you sure?")


class _Screen(pyte.Screen):
    """A screen that answers where its cursor is, as terminals do."""

    terminal: int

    def write_process_input(self, data: str) -> None:
        with suppress(OSError):
            os.write(self.terminal, data.encode())


class Terminal:
    """A terminal, at which a process may be."""

    def __init__(self) -> None:
        self._master, self._slave = os.openpty()
        self._screen = _Screen(80, 24)
        self._screen.terminal = self._master
        self._stream = pyte.ByteStream(self._screen)
        self.seen = b""
        """All that was shown."""

    @property
    def name(self) -> str:
        """What it is opened by."""
        return os.ttyname(self._slave)

    @property
    def at_prompt(self) -> bool:
        """Whether the user is asked for the next text."""
        lines = [line.rstrip() for line in self._screen.display if line.strip()]
        return bool(lines) and lines[-1] == ">"

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def until(self, wanted: Callable[[], bool]) -> bool:
        """Show what comes until that is so, and return whether it is."""
        latest = time.monotonic() + _PATIENCE
        while not wanted() and time.monotonic() < latest:
            self.read(0.02)
        return wanted()

    def read(self, seconds: float = 0.0) -> None:
        """Show what comes within so many seconds."""
        while select.select([self._master], [], [], seconds)[0]:
            data = os.read(self._master, 65536)
            self.seen += data
            self._stream.feed(data)
            seconds = 0.0

    def close(self) -> None:
        """Take it away."""
        os.close(self._master)
        os.close(self._slave)


@contextmanager
def terminal() -> Iterator[Terminal]:
    """Give a terminal."""
    made = Terminal()
    try:
        yield made
    finally:
        made.close()


@dataclass(frozen=True, slots=True)
class Chats:
    """`chat`: questions, and things to remember, typed one after the other."""

    model: Path
    seconds: float

    def attempt(self, forks: Forks, place: Place, random: Random, number: int) -> str:
        """Kill it, look whether all that was shown is kept, and go on with the session."""
        pause = random.uniform(0.0, self.seconds)
        with terminal() as there:
            child = self._start(forks, place, there)
            how = signal.SIGTERM if number % 4 == 3 else signal.SIGKILL
            killer = threading.Timer(pause, child.kill, [how], {"group": number % 2 == 0})
            killer.start()
            asked, told = self._conversed(there, killer, number)
            killer.join()
            child.ended()
            there.read()
            shown = there.seen.count(ENDS.encode())
        faults = self._faults(forks, place, max(asked, shown), told, number)
        said = "; ".join(filter(None, faults))
        return f"killed after {pause * 1000:.0f} ms: {said}" if said else ""

    def _start(self, forks: Forks, place: Place, there: Terminal) -> Child:
        return forks.start("chat", *self._options, env=place.env, tty=there.name)

    @property
    def _options(self) -> tuple[str, ...]:
        return ("-m", str(self.model), *_OPTIONS)

    def _conversed(
        self, there: Terminal, killer: threading.Timer | None, number: int
    ) -> tuple[int, int]:
        """Say one thing after the other until it is killed; return how many were answered:
        questions, and things to remember."""
        answered = [0, 0]

        def over() -> bool:
            return killer is not None and not killer.is_alive()

        for line in _TURNS:
            there.until(lambda: there.at_prompt or over())
            if over():
                break
            there.type(line.format(number))
            there.until(lambda: not there.at_prompt or over())
            if over():  # the prompt that is there is the last one's
                break
            there.type("\r")
            there.until(lambda: there.at_prompt or over())
            answered[line.startswith("/")] += there.at_prompt
        return answered[0], answered[1]

    def _faults(
        self, forks: Forks, place: Place, asked: int, told: int, number: int
    ) -> Iterator[str]:
        history = History(place.data / "history.sqlite")
        if (runs := len(history.runs())) < asked:
            yield f"{asked} answers were shown, {runs} are kept"
        if told and f"I have {number} cats" not in [fact.text for fact in history.facts()]:
            yield "what is to be remembered is forgotten"
        goes_on = ("-c",) if runs else ()
        again = forks.run(*goes_on, *self._options, "And now?", env=place.env)
        if again.code not in (0, 4) or again.frightens:
            yield again.frightens or f"exit code {again.code}: {again.err[-200:]}"
        if len(history.runs()) != runs + 1:
            yield f"{len(history.runs())} runs are kept, not {runs + 1}"
        yield unsound(history.path)
        yield place.leftovers()
        yield place.survivors()

    @classmethod
    def measured(cls, forks: Forks, folder: Path) -> Chats:
        """Return the scene, with how long all that takes."""
        place = Place(folder / "unkilled")
        place.root.mkdir()
        scene = cls(write_tiny_model(folder / "tiny.gguf"), 0)
        with terminal() as there:

            def chat() -> Child:
                child = scene._start(forks, place, there)
                if scene._conversed(there, None, 0) != (3, 1):
                    raise RuntimeError(f"the chat does not answer: {there.seen[-500:]!r}")
                there.type("\x04")
                return child

            seconds = timed(lambda: chat().ended())
        return cls(scene.model, seconds)
