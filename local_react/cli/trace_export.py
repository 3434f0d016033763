"""A run as JSON lines, as one object, as Markdown or as a page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from local_react.cli.show import json_text, printable
from local_react.cli.trace_shown import figures
from local_react.core import Call, Finish, Step
from local_react.outside import cited
from local_react.transcript import Transcript


def _as_lines(transcript: Transcript) -> str:
    return transcript.text


def _as_json(transcript: Transcript) -> str:
    head = {name: value for name, value in transcript.head.items() if name != "type"}
    end = {name: value for name, value in transcript.end.items() if name != "type"}
    parts = {
        "steps": list(transcript.steps),
        "calls": list(transcript.calls),
        "approvals": list(transcript.approvals),
    }
    return f"{json_text({**head, **end, **parts})}\n"


def _as_markdown(transcript: Transcript) -> str:
    run = transcript.run
    sources = cited(run.answer, run.sources) or run.sources
    parts = [
        _quoted(run.question),
        run.answer or "(no answer)",
        "\n".join(f"[{source.number}] {source.named}  " for source in sources),
        f"*{run.model}, {transcript.head['time']}, {run.stop_reason}, {figures(run)}*",
        "## Steps",
        *(part for number, step in enumerate(run.steps, 1) for part in _step(number, step)),
    ]
    return printable("".join(f"{part}\n\n" for part in parts if part).rstrip() + "\n")


def _as_page(transcript: Transcript) -> str:
    from local_react.transcript.page import page

    return page(transcript)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _step(number: int, step: Step) -> Iterator[str]:
    yield f"### Step {number}"
    yield _quoted(step.thought) if step.thought else ""
    if isinstance(step.action, Call):
        arguments = json.dumps(dict(step.action.arguments), ensure_ascii=False)
        yield _fenced(f"{step.action.tool} {arguments}")
    elif isinstance(step.action, Finish):
        yield _fenced(step.action.answer)
    else:
        yield f"No action, since {step.action.reason}:"
        yield _fenced(step.action.text)
    if step.observation is not None:
        yield "Observation:"
        yield _fenced(step.observation)
    yield f"*{figures(step)}*"


def _fenced(text: str) -> str:
    """Return a block that nothing in the text closes."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


FORMS: Final[Mapping[str, Callable[[Transcript], str]]] = {
    "jsonl": _as_lines,
    "html": _as_page,
    "json": _as_json,
    "markdown": _as_markdown,
}
"""Ways to write a run."""
