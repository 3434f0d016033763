"""How a step is told: in one line, or as far as it is written."""

from __future__ import annotations

import json
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text as Prose

from local_react import protocol
from local_react.cli.chat.region import Line
from local_react.cli.show import printable
from local_react.core import Call, Finish, Step
from local_react.tools.base import FINISH

BULLET: Final = "  · "
_ARROW: Final = " → "
_ENDLESS: Final = 1000
"""Characters that no line has."""


def folded(step: Step, width: int) -> str:
    """Return a step as one line of so many cells; nothing where it ends the run, whose answer
    stands elsewhere."""
    if step.observation is None:
        return ""
    head = f"{BULLET}{_name(step)}"
    arguments, seen = _one_line(_arguments(step)), f"{_ARROW}{_one_line(step.observation)}"
    # Of both something is to be seen.
    room = max(0, width - cell_len(head) - 1)
    arguments = cut(arguments, max(room // 2, room - cell_len(seen)))
    return cut(f"{head} {arguments}{seen}", width)


def cut(text: str, width: int) -> str:
    """Return a line that is at most so many cells wide."""
    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, max(0, width - 1)).rstrip()}…" if width > 0 else ""


def written(text: str, columns: int, rows: int) -> list[Line]:
    """Return the end of what a reply shows as far as it is written: its Thought, then its
    Actions or the answer, in so many lines at most."""
    reply = f"\n{text}".rpartition("\nThought:")[2]
    thought, *actions = reply.split(f"\n{protocol.ACTION}")
    lines = _wrapped(_without_label(thought.strip()), columns, dim=True)
    if answer := protocol.partial_answer(text):
        lines += _wrapped(answer, columns, dim=False)
    else:
        calls = [_one_line(action) for action in actions]
        told = [f"{BULLET}{call} …" for call in calls if not FINISH.startswith(call.split(" ")[0])]
        lines += [Line(cut(line, columns), dim=True) for line in told]
    return lines[-rows:]


def _without_label(text: str) -> str:
    """Return a text without the label at its end that is about to be written."""
    before, _, last = text.rpartition("\n")
    return (
        before if any(label.startswith(last) for label in ("Thought:", protocol.ACTION)) else text
    )


def waiting(what: str, columns: int, count: int) -> list[Line]:
    """Return a line that says what is waited for, and that something is going on."""
    return [Line(cut(f"{_SPINNER[count % len(_SPINNER)]} {what} …", columns), dim=True)]


_SPINNER: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def _name(step: Step) -> str:
    if isinstance(step.action, Call):
        return _one_line(step.action.tool)
    return "answer" if isinstance(step.action, Finish) else "not understood"


def _arguments(step: Step) -> str:
    if isinstance(step.action, Call):
        return json.dumps(dict(step.action.arguments), ensure_ascii=False)
    return step.action.answer if isinstance(step.action, Finish) else step.action.reason


def _one_line(text: str) -> str:
    return " ".join(printable(text[:_ENDLESS]).split())


def _wrapped(text: str, columns: int, *, dim: bool) -> list[Line]:
    if not text:
        return []
    lines = Prose(printable(text)).wrap(Console(width=columns), columns, overflow="fold")
    return [Line(line.plain.rstrip(), dim) for line in lines]
