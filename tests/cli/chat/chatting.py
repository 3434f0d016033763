"""A chat without a terminal and without a model's weights, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local_react import ScriptedModel
from local_react.cli import wiring
from local_react.cli.chat import chat as command
from local_react.cli.chat.conversation import Chat
from local_react.cli.chat.opening import Wiring, open_chat
from local_react.cli.chat.running import Runner
from local_react.cli.chat.talking import talk
from local_react.cli.chat.view import View
from local_react.cli.log import Log
from local_react.cli.show import Display
from local_react.core import Model
from local_react.errors import ModelError, ModelNotFound


def finish(answer: str, thought: str = "t") -> str:
    """Return a reply that ends a run."""
    return f'Thought: {thought}\nAction: Finish {{"answer": "{answer}"}}'


def options_of(*arguments: str) -> dict[str, Any]:
    """Return the options of the command as it is given them."""
    return command.make_context("chat", list(arguments)).params


@dataclass
class Script(ScriptedModel):
    """A script that is a file, too, as a transcript wants to know."""

    path: Path = Path(__file__)
    threads: int = 1
    repack: bool = False


class Scripted(Wiring):
    """Its models are scripts."""

    models: Sequence[Script]
    both_fit = True
    loads: list[str]

    def load(self, name: str | Path = "") -> Model:
        """Return the script of that name."""
        self.loads.append(str(name))
        if name == "broken":
            raise ModelError("it cannot be loaded")
        return self._named(name) if name else self.models[0]

    def path(self, name: str) -> Path:
        """Return its file."""
        return self._named(name).path

    def _named(self, name: str | Path) -> Script:
        for model in self.models:
            if name in (model.name, model.path):
                return model
        raise ModelNotFound(f"there is no model {name}")

    def fits_beside(self, name: str) -> bool:
        """Return what the test says."""
        return self.both_fit


def opened(
    replies: Sequence[str], *arguments: str, other: Sequence[str] = (), **settings: Any
) -> Chat:
    """Return a chat whose model gives the replies; a model named "other" gives those."""
    tools = () if {"-T", "--tool"} & {*arguments} else ("--no-tools",)
    options = options_of(*tools, "--votes", "1", *arguments)
    network, log = wiring.network_of(options), Log.opened(options)
    display = Display(quiet=True)
    wires = Scripted(options, network, Runner(), display, log.recorder, nullcontext)
    wires.models = [
        Script(replies, name="first", **settings),
        Script(other, name="other", path=Path(__file__).with_name("chat_terminal.py")),
        Script([], name="broken", path=Path("broken")),
    ]
    wires.loads = []
    return open_chat(log, wires)


class Typed:
    """A reader that gives lines, or raises what stands among them."""

    was_typing = False

    def __init__(self, *lines: str | type[BaseException]) -> None:
        self._lines = iter(lines)

    def read(self) -> str:
        """Return the next line."""
        line = next(self._lines, EOFError)
        if isinstance(line, str):
            return line
        raise line


class Shown(View):
    """Notes what is shown."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.answers: list[str] = []

    def note(self, text: str, *, dim: bool = False) -> None:
        """Note it."""
        self.notes.append(text)

    def answer(self, text: str) -> None:
        """Note it."""
        self.answers.append(text)


def said(chat: Chat, *lines: str | type[BaseException], typed: bool = True) -> Shown:
    """Return what is shown of these lines, typed one after the other."""
    shown = Shown()
    talk(chat, Typed(*lines), shown, typed=typed)
    return shown
