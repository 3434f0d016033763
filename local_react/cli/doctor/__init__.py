"""`local-react doctor`: what is here, what fits, and what to do about the rest.

    line          a line of the report: ok, warning or problem
    machine       programs, CPU, memory, GPU
    model         the model's file, and whether it fits
    surroundings  disks, directories, settings, network, terminal

A module is imported by the first probe that needs it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from local_react.cli.options import model_option

if TYPE_CHECKING:
    from local_react.cli.doctor.line import Line

_COLOURS = {"ok": "green", "warning": "yellow", "problem": "red"}


@click.command("doctor", context_settings={"help_option_names": ["-h", "--help"]})
@model_option("The model to look at.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def doctor(model: str | None, as_json: bool) -> int:
    """Tell what this machine has, whether the model fits, and what to do if not.

    Each line begins with ok, warning or problem. Nothing is sent. The exit code is 0, or 3
    where the model cannot be used.
    """
    from local_react.errors import ModelError

    lines = list(_lines(model))
    if as_json:
        from local_react.cli.show import json_text

        click.echo(json_text(_as_dict(lines)))
    else:
        _print(lines)
    return ModelError.exit_code if any(line.problems for line in lines) else 0


def _lines(chosen: str | None) -> Iterator[Line]:
    engine = _found("llama.cpp", "machine", "llama_cpp")
    gpu_build, build = engine.data.get("gpu_build"), engine.data.get("build")
    gpu = _found("GPU", "machine", "gpu", gpu_build)
    model = _found("model", "model", "model", chosen)
    name, file = str(model.data.get("model") or chosen or ""), model.data.get("file")
    yield _found("local-react", "machine", "program")
    yield _found("Python", "machine", "python")
    yield _found("platform", "machine", "system")
    yield engine
    yield _found("CPU", "machine", "cpu", file or name, build)
    yield _found("memory", "machine", "memory")
    yield gpu
    yield model
    if file:
        on_gpu = bool(gpu_build and gpu.data.get("gpus"))
        yield _found("needs", "model", "needs", name, Path(file), on_gpu)
    yield _found("disk", "surroundings", "disk")
    yield _found("directories", "surroundings", "directories")
    yield _found("config", "surroundings", "settings")
    yield _found("network", "surroundings", "network")
    yield _found("terminal", "surroundings", "terminal")
    yield _found("optional", "surroundings", "optional")


def _found(label: str, module: str, probe: str, *arguments: object) -> Line:
    """Return the line of a probe, and where that fails a warning with the reason: what
    keeps one thing from being known must not keep the rest from being told."""
    from local_react.cli.doctor.line import Line

    try:
        line = getattr(import_module(f"{__name__}.{module}"), probe)(*arguments)
    except Exception as error:  # noqa: BLE001 - the machine may be broken in any way
        reason = str(error) or type(error).__name__
        return Line(label, "could not be found out", advice=(f"put this right: {reason}",))
    assert isinstance(line, Line)
    return line


def _as_dict(lines: Sequence[Line]) -> dict[str, Any]:
    facts = {key: value for line in lines for key, value in line.data.items()}
    problems = [one for line in lines for one in line.problems]
    return {
        **facts,
        "lines": [
            {"status": line.status, "label": line.label, "text": line.text} for line in lines
        ],
        "advice": [one for line in lines for one in line.advice],
        "problems": problems,
        "ok": not problems,
    }


def _print(lines: Sequence[Line]) -> None:
    from local_react.cli.show import printable

    colour = None if "NO_COLOR" not in os.environ else False
    for line in lines:
        click.secho(f"{line.status:<7}", fg=_COLOURS[line.status], color=colour, nl=False)
        click.echo(printable(f"  {line}"))
    click.echo(_sum(lines))


def _sum(lines: Sequence[Line]) -> str:
    """Return the last line."""
    counts = Counter(line.status for line in lines)
    told = [
        f"{counts[status]} {status}{'s' if counts[status] > 1 else ''}"
        for status in ("problem", "warning")
        if counts[status]
    ]
    if not told:
        return "all is well"
    count = " and ".join(told)
    if counts["problem"]:
        return f"{count}: the model cannot be used yet"
    return f"{count}, and nothing that keeps the model from being used"
