"""Runs for a person to read: one line each, or one with all its steps."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len, set_cell_size

from local_react.cli.sessions_shown import local, say, step_texts
from local_react.core import Run, Step
from local_react.outside import clean, spelled

if TYPE_CHECKING:
    from local_react.cli.trace_found import Found
    from local_react.history import RunInfo
    from local_react.transcript import Difference

_LEAST: Final = 12
"""Cells below which the beginning of a text tells nothing."""
_LONGEST, _BEFORE = 300, 40
"""Characters of what differs, and of what is the same before it."""


def table(infos: Sequence[RunInfo]) -> list[str]:
    """Return a line for each run: id, time, seconds, and as much of question and answer as
    the terminal has room for; where there is no terminal, all of them."""
    taken = [f"{info.seconds:.1f} s" for info in infos]
    wide = max(map(len, taken), default=0)
    return [
        _fitting(f"{info.id}  {local(info.time)}  {seconds:>{wide}}", info)
        for info, seconds in zip(infos, taken, strict=True)
    ]


def named(info: RunInfo) -> str:
    """Return a run's id and the beginning of its question."""
    return f"{info.id} ({clean(info.question, 40)})"


def tell(found: Found) -> None:
    """Print a run."""
    transcript, run = found.transcript, found.transcript.run
    session = transcript.head.get("session")
    place = f", of the session {session}" if session else ""
    say(f"{found.name}: {run.model}, {local(transcript.head['time'])}{place}", dim=True)
    say("\n".join(f"> {line}" for line in run.question.split("\n")), bold=True)
    for number, step in enumerate(run.steps, 1):
        say("")
        for text in step_texts([step]):
            say(text)
        say(f"[step {number}: {figures(step)}]", dim=True)
    say("")
    say(run.answer or "(no answer)", bold=True)
    for source in run.sources:
        say(f"[{source.number}] {source.named}")
    for line in _notes(run, transcript.end["egress"]):
        say(line, dim=True)


def figures(part: Step | Run) -> str:
    """Return what a step or a run took."""
    usage = part.usage
    return f"{usage.evaluated} tokens read, {usage.generated} written, {part.seconds:.1f} s"


def outcome(run: Run, difference: Difference | None) -> str:
    """Return whether the run is the recorded one, and where it parts from that."""
    if difference is None:
        count = "1 step" if len(run.steps) == 1 else f"{len(run.steps)} steps"
        return f"identical: {count}, answer {clean(run.answer, _LONGEST) or '(none)'}"
    where = f"step {difference.step}, its" if difference.step else "its end: the"
    recorded, now = _around(difference.recorded, difference.now)
    return f"differs at {where} {difference.part}:\n  recorded: {recorded}\n  now:      {now}"


def _around(recorded: str | None, now: str | None) -> Iterator[str]:
    """Yield two texts from a little before they part."""
    pairs = zip(recorded or "", now or "", strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    begins = max(0, same - _BEFORE)
    for text in (recorded, now):
        part = clean((text or "")[begins:], _LONGEST) or "(nothing)"
        yield "(there is none)" if text is None else f"{'…' * bool(begins)}{part}"


def _notes(run: Run, egress: Sequence[dict[str, object]]) -> list[str]:
    """Return how a run ended, what it took, and what left the machine."""
    from local_react.cli.agreement import agreement

    stopped = "" if run.finished else f"stopped: {run.stop_reason}; "
    sent = [f"{one['tool']} to {one['host']}: {spelled(str(one['text']))}" for one in egress]
    return [
        f"[{stopped}in all {figures(run)}]",
        *([agreement(run)] if run.votes else []),
        f"left this machine: {'; '.join(sent)}" if sent else "nothing left this machine",
    ]


def _fitting(line: str, info: RunInfo) -> str:
    question, answer = clean(info.question), clean(info.answer) or f"({info.stop_reason})"
    if not sys.stdout.isatty():
        return f"{line}  {question}  {answer}"
    room = shutil.get_terminal_size().columns - cell_len(line) - 2
    if room < _LEAST:
        return line
    # What an answer leaves the question has, which gets half at least.
    asked = max(room - cell_len(answer) - 2, room // 2)
    question = _cut(question, asked)
    left = room - cell_len(question) - 2
    return f"{line}  {question}" + (f"  {_cut(answer, left)}" if left > _LEAST // 2 else "")


def _cut(text: str, room: int) -> str:
    """Return as much of a text as so many cells have room for."""
    if cell_len(text) <= room:
        return text
    return f"{set_cell_size(text, max(0, room - 1)).rstrip()}…"
