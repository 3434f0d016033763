"""Sessions for a person to read: one line each, or one with its questions and answers."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

import click
from rich.cells import cell_len, set_cell_size

from local_react.cli.show import printable
from local_react.core import Call, Finish, Step
from local_react.history import History, RunInfo, SessionInfo
from local_react.outside import clean

_LEAST: Final = 12
"""Cells below which the beginning of a question tells nothing."""


def table(infos: Sequence[SessionInfo]) -> list[str]:
    """Return a line for each session: name, turns, time, and as much of the first question
    as the terminal has room for; where there is no terminal, all that is known of it."""
    names, counts = [clean(info.name) for info in infos], [turns(info) for info in infos]
    wide, long = max(map(cell_len, names), default=0), max(map(len, counts), default=0)
    return [
        _cut(f"{set_cell_size(name, wide)}  {count:>{long}}  {local(info.updated)}", info.question)
        for info, name, count in zip(infos, names, counts, strict=True)
    ]


def tell(history: History, name: str, *, steps: bool) -> None:
    """Print the questions and answers of a session, and the steps between them where they
    are wanted. Raises UsageError where there is none of that name."""
    info = history.find_session(name)
    say(f"{info.name}: {turns(info)}, the last {local(info.updated)}", bold=True)
    for run in history.runs(session=info.id):
        click.echo()
        say("\n".join(f"> {line}" for line in run.question.splitlines()), bold=True)
        for text in step_texts(history.run(run.id).steps) if steps else ():
            say(text, dim=True)
        say(run.answer or "(no answer)")
        if note := _note(run):
            say(note, dim=True)


def step_texts(steps: Sequence[Step]) -> Iterator[str]:
    """Yield what each step holds: Thought, Action and Observation, on a line each. A Finish
    has its answer elsewhere."""
    for step in steps:
        if step.thought:
            yield f"Thought: {step.thought}"
        if isinstance(step.action, Call):
            arguments = json.dumps(dict(step.action.arguments), ensure_ascii=False)
            yield f"Action: {step.action.tool} {arguments}"
        elif not isinstance(step.action, Finish):
            yield f"Action: none, since {step.action.reason}: {step.action.text}"
        if step.observation is not None:
            yield f"Observation: {step.observation}"


def turns(info: SessionInfo) -> str:
    """Return how many turns a session has."""
    return "1 turn" if info.turns == 1 else f"{info.turns} turns"


def local(time: str) -> str:
    """Return a time of the history in the user's time zone, to the minute."""
    return f"{datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}"


def _note(run: RunInfo) -> str:
    """Return what else is to be known of a run."""
    stopped = "" if run.stop_reason == "finish" else f"stopped: {run.stop_reason}"
    aside = "" if run.conversed else "the conversation does not go on from it"
    notes = ", ".join(filter(None, (stopped, aside)))
    return f"[{notes}]" if notes else ""


def _cut(line: str, question: str) -> str:
    question = clean(question)
    if not sys.stdout.isatty():
        return f"{line}  {question}".rstrip()
    room = shutil.get_terminal_size().columns - cell_len(line) - 2
    if room < _LEAST:
        return line
    if cell_len(question) > room:
        question = f"{set_cell_size(question, room - 1).rstrip()}…"
    return f"{line}  {question}".rstrip()


def say(text: str, *, bold: bool = False, dim: bool = False) -> None:
    """Print text of a model's or the user's, which must not steer the terminal."""
    colour = None if "NO_COLOR" not in os.environ else False
    told = printable(text).encode("utf-8", "backslashreplace").decode()
    click.secho(told, bold=bold or None, dim=dim or None, color=colour)
