"""A run as a page of HTML: one file, which asks nobody for anything and runs nothing.

What stands in it was written by a model, a web page or a user: the template escapes every
value (jinja2's autoescape), and what nobody sees or what turns the order of a line round is
spelled out. Its policy (CSP) lets it load nothing, and no style but its own.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from typing import Any, Final

from local_react.core import Call, Finish, Run, Step, Usage
from local_react.transcript.lines import Told, Transcript

_UNSEEN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    r"\ufff9-\uffff\ud800-\udfff]"
)


def page(transcript: Transcript) -> str:
    """Return the page of a run, which is UTF-8 throughout."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    folder = resources.files("local_react.transcript")
    style = folder.joinpath("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    environment = Environment(autoescape=True, undefined=StrictUndefined, finalize=_seen)
    template = environment.from_string(folder.joinpath("page.html").read_text(encoding="utf-8"))
    run = transcript.run
    return template.render(
        run=run,
        head=transcript.head,
        replies=list(_replies(run)),
        settings=list(_settings(transcript)),
        egress=transcript.end["egress"],
        # Our own, and its digest is of what stands there: not escaped.
        style=Markup(style),
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'",
    )


@dataclass(frozen=True, slots=True)
class _Shown:
    """A step as it is shown."""

    number: int
    title: str
    action: str
    observation: str | None


@dataclass(frozen=True, slots=True)
class _Reply:
    """A reply, with its bar: where it begins and how long it is, in hundredths of the run."""

    thought: str
    steps: Sequence[_Shown]
    usage: Usage
    seconds: float
    begins: float
    length: float


def _replies(run: Run) -> Iterator[_Reply]:
    whole = max(sum(step.seconds for step in run.steps), 1e-9)
    before, number = 0.0, 0
    for _, group in groupby(run.steps, key=lambda step: step.reply):
        steps = list(group)
        first, taken = steps[0], sum(step.seconds for step in steps)
        shown = [_shown(step, number + n) for n, step in enumerate(steps, 1)]
        begins, length = 100 * before / whole, 100 * taken / whole
        yield _Reply(first.thought, shown, first.usage, taken, begins, length)
        before, number = before + taken, number + len(steps)


def _shown(step: Step, number: int) -> _Shown:
    action = step.action
    if isinstance(action, Call):
        told = json.dumps(dict(action.arguments), ensure_ascii=False, indent=2)
        return _Shown(number, action.tool, told, step.observation)
    if isinstance(action, Finish):
        return _Shown(number, "Finish", action.answer, step.observation)
    return _Shown(number, f"no action: {action.reason}", action.text, step.observation)


def _settings(transcript: Transcript) -> Iterator[tuple[str, str]]:
    """Yield what the run depends on, by name."""
    head = transcript.head
    for name in ("time", "version", "model", "model_sha256", "session", "branch"):
        if head.get(name):
            yield name, _told(head[name])
    yield from ((name, _told(value)) for name, value in _flat(head.get("settings", {})))
    if tools := head.get("tools"):
        yield "tools", ", ".join(tool["name"] for tool in tools)


def _flat(settings: Told) -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        else:
            yield name, value


def _told(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _seen(value: Any) -> Any:
    """Return a text with what nobody sees spelled out, as \\u202e, and anything else as it
    is."""
    if not isinstance(value, str) or hasattr(value, "__html__"):  # what is escaped already
        return value
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], value.replace("\r\n", "\n"))
