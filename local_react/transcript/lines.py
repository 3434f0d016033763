"""The format of a transcript: JSON lines, each an object that says what it is by `type`.

    run       the question, and all that the run depends on: the first line
    call      a tool that was called, with which arguments, and what it gave: `text`,
              `passages` and `note`, or `error`
    approval  a call that the user was asked about, and what was said
    step      a step of the run, and with the first of each reply its text
    end       how it ended, its answer and what left the machine: the last line

Calls stand in the order in which they were made, and approvals too. Seconds are seconds, times
ISO 8601 in UTC. A line holds no character that steers a terminal: those are escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from local_react.as_dict import run_as_dict, run_from_dict
from local_react.core import Run
from local_react.errors import UsageError

FORMAT: Final = 1
"""The version of the format, which grows where an older program would misread it."""

Told: TypeAlias = Mapping[str, Any]
"""A line of a transcript."""

_BETWEEN: Final = ("call", "approval", "step")


@dataclass(frozen=True, slots=True)
class Transcript:
    """The lines of a transcript, by what they are."""

    head: Told
    calls: Sequence[Told]
    approvals: Sequence[Told]
    steps: Sequence[Told]
    end: Told

    @property
    def run(self) -> Run:
        """The run itself."""
        whole = {**self.end, "steps": self.steps}
        return run_from_dict({**whole, "question": self.head["question"], "model": self.model})

    @property
    def model(self) -> str:
        """The name of the model."""
        return str(self.head["model"])

    @property
    def earlier(self) -> list[Run] | None:
        """The turns of the conversation before it that the model knew; None where the run
        stood for itself."""
        told = self.head.get("earlier")
        return None if told is None else [run_from_dict(turn) for turn in told]

    @property
    def loading(self) -> dict[str, Any]:
        """How the model was loaded, as far as that is told."""
        return dict(self.head.get("settings", {}).get("loading", {}))

    @property
    def text(self) -> str:
        """All lines."""
        lines = (self.head, *self.calls, *self.approvals, *self.steps, self.end)
        return "".join(f"{as_line(line)}\n" for line in lines)

    @property
    def is_redacted(self) -> bool:
        """Whether what was said was taken out."""
        return bool(self.head.get("redacted"))


def as_line(told: Told) -> str:
    """Return an object as one line of JSON, in which all that is not plainly seen is escaped."""
    text = json.dumps(told, ensure_ascii=False)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def ending(run: Run, egress: Sequence[Told]) -> dict[str, Any]:
    """Return the last line of a run's transcript."""
    told = run_as_dict(run)
    rest = {name: told[name] for name in told if name not in ("question", "model", "steps")}
    return {"type": "end", **rest, "egress": list(egress)}


def bare(run: Run, *, time: str) -> Transcript:
    """Return what a transcript would tell of a run of which none was kept."""
    head = {"type": "run", "format": FORMAT, "time": time, "question": run.question}
    steps = run_as_dict(run)["steps"]
    return Transcript({**head, "model": run.model}, (), (), steps, ending(run, ()))


def parsed(text: str, name: str) -> Transcript:
    """Return the transcript that a text is; `name` says to a person which one it is.

    Raises UsageError, which names the line, where it is none.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    told = [_object(line, f"{name}, line {number}") for number, line in enumerate(lines, 1)]
    _check_order([one["type"] for one in told], name)
    head, *between, end = told
    if head.get("format") != FORMAT:
        raise UsageError(
            f"{name} is a transcript of format {head.get('format')}, and this version of "
            f"local-react reads format {FORMAT}: update local-react"
        )
    kinds = {kind: [one for one in between if one["type"] == kind] for kind in _BETWEEN}
    transcript = Transcript(head, kinds["call"], kinds["approval"], kinds["step"], end)
    _check(transcript, name)
    return transcript


def _check(transcript: Transcript, name: str) -> None:
    # Imported here: it brings pydantic, and to write a transcript needs none of it.
    from local_react.transcript.checking import check

    check(transcript, name)


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict) or not isinstance(told.get("type"), str):
        raise UsageError(f"{where}: this is no line of a transcript: give a run's id, or its file")
    return told


def _check_order(kinds: Sequence[str], name: str) -> None:
    """Raise UsageError where a transcript has not its first and last line, or a strange one."""
    if not kinds or kinds[0] != "run":
        raise UsageError(f"{name} is no transcript: its first line has not the type run")
    if len(kinds) < 2 or kinds[-1] != "end":
        raise UsageError(f"{name} breaks off: its last line has not the type end")
    if strange := [n for n, kind in enumerate(kinds[1:-1], 2) if kind not in _BETWEEN]:
        kind = kinds[strange[0] - 1]
        raise UsageError(f"{name}, line {strange[0]}: a transcript has no line of type {kind}")
