"""A session as JSON, as JSON lines or as Markdown, and into a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from local_react.as_dict import run_as_dict
from local_react.atomic import write_whole
from local_react.cli.output import json_line
from local_react.cli.sessions_shown import local
from local_react.cli.show import json_text, printable
from local_react.core import Run
from local_react.errors import UsageError
from local_react.history import History, RunInfo, SessionInfo
from local_react.outside import cited

_Runs = Sequence[tuple[RunInfo, Run]]


def exported(history: History, name: str, form: str) -> str:
    """Return a session with its runs in one of FORMS. Raises UsageError where there is none
    of that name."""
    info = history.find_session(name)
    runs = [(run, history.run(run.id)) for run in history.runs(session=info.id)]
    # Half characters, which no file holds, are written as JSON does.
    return FORMS[form](info, runs).encode("utf-8", "backslashreplace").decode()


def write_new(path: Path, text: str, *, force: bool) -> None:
    """Write a file as a whole, which its owner alone can read; one that was there goes on to
    be for whom it was. Raises UsageError where that fails, and where there is one unless
    `force` says to write over it."""
    try:
        if path.exists() and not (force and path.is_file()):
            advice = "--force writes over it" if path.is_file() else "choose another name"
            raise UsageError(f"{path} is there already: {advice}")
        write_whole(path, [text.encode()], keeps_mode=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error


def _as_json(info: SessionInfo, runs: _Runs) -> str:
    kept = {
        name: value for name, value in asdict(info).items() if name not in ("turns", "question")
    }
    return f"{json_text({**kept, 'runs': [_as_dict(*run) for run in runs]})}\n"


def _as_lines(info: SessionInfo, runs: _Runs) -> str:
    return "".join(f"{json_line({'session': info.name, **_as_dict(*run)})}\n" for run in runs)


def _as_dict(kept: RunInfo, run: Run) -> dict[str, Any]:
    return {
        "id": kept.id,
        "time": kept.time,
        "conversed": kept.conversed,
        **run_as_dict(run),
    }


def _as_markdown(info: SessionInfo, runs: _Runs) -> str:
    parts = [f"# {info.name}", *(part for run in runs for part in _paragraphs(*run) if part)]
    return printable("".join(f"{part}\n\n" for part in parts))


def _paragraphs(kept: RunInfo, run: Run) -> list[str]:
    cites = cited(run.answer, run.sources)
    return [
        "\n".join(f"> {line}".rstrip() for line in run.question.splitlines()),
        run.answer or "(no answer)",
        "\n".join(f"- [{source.number}] {source.named}" for source in cites),
        f"*{run.model}, {local(kept.time)}, {run.seconds:.1f} s*",
    ]


FORMS: Final[Mapping[str, Callable[[SessionInfo, _Runs], str]]] = {
    "json": _as_json,
    "jsonl": _as_lines,
    "markdown": _as_markdown,
}
"""Ways to write a session."""
