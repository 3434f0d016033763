#!/usr/bin/env python3
"""Record what local-react looks like: docs/ask.svg and docs/chat.svg.

    .venv/bin/python scripts/record.py [ask] [chat]

It runs in a real pseudo-terminal, with the default model, and with directories of its own,
so that nothing of the user's is shown or changed; what is on the screen at the end becomes
a picture. Unlike the other scripts this one needs the development dependencies, which
scripts/test.py installs, and does not run on Windows.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

import pexpect
import pyte
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, ROWS = 86, 70
"""More rows than are needed: nothing leaves the screen, and what is empty is cut off."""
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""What would be loaded from elsewhere: the font of the reader's machine will do."""
PATIENCE = 600.0
"""Seconds until a screen must hold what it is waited for."""
ASKED = (
    "What is 15% of 1,299.99, plus 7?",
    "Tom has 3 bags of 12 apples and gives 8 away. How many are left?",
)
SAID = (
    "What is 15% of 1,299.99, plus 7?",
    "And 20% of it?",
    "/steps",
    "/stats",
    "/exit",
)


def main() -> None:
    """Record the scenes that are named, or all of them."""
    for name in sys.argv[1:] or SCENES:
        screen = SCENES[name]()
        target = ROOT / "docs" / f"{name}.svg"
        target.write_text(picture(screen, name), encoding="utf-8")
        print(target.relative_to(ROOT))
        print("\n".join(line.rstrip() for line in screen.display).rstrip())


def ask() -> pyte.Screen:
    """Return the screen after some questions, each asked in a process of its own."""
    terminal = Terminal()
    for question in ASKED:
        terminal.run(question)
        terminal.until(lambda: not terminal.child.isalive())
        terminal.show("\r\n")
    return terminal.screen


def chat() -> pyte.Screen:
    """Return the screen after a chat."""
    terminal = Terminal()
    terminal.run()
    for line in SAID:
        terminal.say(line)
    terminal.until(lambda: not terminal.child.isalive())
    return terminal.screen


SCENES: dict[str, Callable[[], pyte.Screen]] = {"ask": ask, "chat": chat}


class Screen(pyte.Screen):
    """A screen that answers when it is asked where its cursor is, and knows faint text."""

    answer: Callable[[str], object] | None = None

    def write_process_input(self, data: str) -> None:
        """Send an answer to the program."""
        if self.answer:
            self.answer(data)

    def select_graphic_rendition(self, *attrs: int, **kwargs: Any) -> None:
        """Show faint text in grey: pyte has no other way to note it."""
        grey, usual = 90, (22, 39)
        told: list[int] = []
        for attr in attrs:
            told.extend([grey] if attr == 2 else usual if attr == 22 else [attr])
        super().select_graphic_rendition(*told, **kwargs)


class Terminal:
    """A terminal in which local-react is run, time after time."""

    child: pexpect.spawn[bytes]

    def __init__(self) -> None:
        self.screen = Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.screen)
        self._places = tempfile.TemporaryDirectory()
        self._used_before()

    @property
    def last(self) -> str:
        """The last line that holds something."""
        return next((line.strip() for line in reversed(self.screen.display) if line.strip()), "")

    def is_at_prompt(self) -> bool:
        """Return whether the chat waits for the next line."""
        return self.last == ">"

    def show(self, text: str) -> None:
        """Put text on the screen."""
        self._stream.feed(text.encode())

    def run(self, *arguments: str) -> None:
        """Begin to run local-react, with its command line on the screen."""
        self.show(" ".join(["$ local-react", *(f'"{one}"' for one in arguments)]) + "\r\n")
        self.child = pexpect.spawn(
            sys.executable,
            ["-m", "local_react", *arguments],
            dimensions=(ROWS, COLUMNS),
            cwd=str(ROOT),
            env=self._environment(),
        )
        self.screen.answer = self.child.send

    def say(self, line: str) -> None:
        """Type a line at the prompt of the chat."""
        self.until(self.is_at_prompt)
        self.child.send(line)
        self.until(lambda: line in self.last)
        self.child.send("\r")
        self.until(lambda: line not in self.last or not self.child.isalive())

    def until(self, wanted: Callable[[], bool]) -> None:
        """Read what is written until there is no more of it and this is so. Leaves where it
        cannot become so."""
        latest = monotonic() + PATIENCE
        while (more := self._read()) or not wanted():
            if monotonic() > latest or not (more or self.child.isalive()):
                sys.exit("\n".join(["it is not as expected:", *self.screen.display]).rstrip())

    def _read(self) -> bool:
        try:
            self._stream.feed(self.child.read_nonblocking(65536, timeout=0.3))
        except pexpect.TIMEOUT:
            return False
        except pexpect.EOF:
            self.child.wait()
            return False
        return True

    def _used_before(self) -> None:
        """Let it not be the first time, when the path of what is kept is told."""
        for said in (["add", "-"], ["clear", "--yes"]):
            subprocess.run(
                [sys.executable, "-m", "local_react", "memory", *said],
                cwd=ROOT,
                env=self._environment(),
                capture_output=True,
                check=True,
            )

    def _environment(self) -> dict[str, str]:
        ours = ("LOCAL_REACT_", "COLUMNS", "LINES", "NO_COLOR")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        if models := os.environ.get("LOCAL_REACT_MODELS"):
            kept["LOCAL_REACT_MODELS"] = models
        for name in ("DATA_DIR", "CACHE", "CONFIG"):
            kept[f"LOCAL_REACT_{name}"] = str(Path(self._places.name, name.casefold()))
        return {**kept, "TERM": "xterm-256color"}


def picture(screen: pyte.Screen, name: str) -> str:
    """Return what is on a screen as SVG, which loads nothing from anywhere."""
    lines = [line(screen, row) for row in range(ROWS)]
    while not lines[-1].plain.strip():
        lines.pop()
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), legacy_windows=False)
    for one in lines:
        console.print(one, soft_wrap=True)
    svg = console.export_svg(title="local-react", unique_id=name)
    return _FONTS.sub("", svg)


def line(screen: pyte.Screen, row: int) -> Text:
    """Return a row of a screen in its colours."""
    cells = [screen.buffer[row][column] for column in range(COLUMNS)]
    segments: Sequence[Segment] = [Segment(cell.data, style(cell)) for cell in cells]
    text = Text.assemble(*((one.text, one.style or "") for one in Segment.simplify(segments)))
    text.rstrip()
    return text


def style(cell: pyte.screens.Char) -> Style:
    """Return how a cell is shown."""
    return Style(
        color=colour(cell.fg), bgcolor=colour(cell.bg), bold=cell.bold, italic=cell.italics
    )


def colour(name: str) -> str | None:
    """Return rich's name of a colour of pyte's, None for the usual one."""
    if name == "default":
        return None
    if len(name) == 6 and all(letter in "0123456789abcdef" for letter in name):
        return f"#{name}"
    return {"brown": "yellow"}.get(name, name.replace("bright", "bright_"))


if __name__ == "__main__":
    main()
