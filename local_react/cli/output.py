"""How a run is told to another program: its format, its events as lines, its exit code."""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final, Literal, TypeAlias, get_args

import click

from local_react.cli import INTERRUPTED
from local_react.cli.added import added
from local_react.cli.show import json_text
from local_react.core import Event, Run
from local_react.errors import LocalReactError, OfflineError, UsageError

Format: TypeAlias = Literal["text", "json", "stream-json"]

STOPPED_AT_A_LIMIT: Final = 4


output_options: Final = added(
    click.option(
        "--output-format",
        type=click.Choice(get_args(Format)),
        help="The answer alone, the whole run as JSON, or one JSON line for each event as "
        "it happens.  [default: text]",
    ),
    click.option("--json", "as_json", is_flag=True, help="The same as --output-format json."),
)
"""The options that `output_format` reads."""


def output_format(options: Mapping[str, Any]) -> Format:
    """Return the format that is wanted. Raises UsageError where two are."""
    chosen: Format | None = options["output_format"]
    if options["as_json"] and chosen not in (None, "json"):
        raise UsageError(f"--json and --output-format {chosen} contradict: give one of them")
    return "json" if options["as_json"] else chosen or "text"


def exit_code_of(run: Run, *, refused: bool = False, doubted: bool = False) -> int:
    """Return the exit code that tells how a run ended: `refused` says that something was
    not let out to the network, `doubted` that the answer is not as sure as was wanted."""
    from local_react.cli.agreement import NOT_SURE

    if run.stop_reason == "interrupted":
        return INTERRUPTED
    if doubted:
        return NOT_SURE
    if run.finished:
        return 0
    return STOPPED_AT_A_LIMIT if run.answer or not refused else OfflineError.exit_code


def json_line(value: object) -> str:
    """Return JSON on one line, as `json_text` escapes it."""
    return json_text(value, indent=None)


class Stream:
    """Prints a run as it happens: one line of JSON for each event, on standard output.

    The first has the type "start", the last "run" or, where there is none, "error"; between
    them "text" is a piece of what the model writes and "step" a finished step. A reader that
    has gone is a BrokenPipeError at the next line.
    """

    def start(
        self, question: str, *, model: str, settings: Mapping[str, Any], run: str | None = None
    ) -> None:
        """Print what is asked of which model, and how; `run` names the run in the log."""
        from importlib.metadata import version

        self._print(
            {
                "type": "start",
                "question": question,
                "model": model,
                "version": version("local-react"),
                "settings": settings,
                "run": run,
            }
        )

    def followed(self, events: Generator[Event, None, None]) -> Generator[Event, None, None]:
        """Yield the events of a run, and print all but the Run at its end. Ctrl-C that is
        thrown in makes that come at once, as it does in the run itself."""
        from local_react.as_dict import event_as_dict

        with closing(events):
            try:
                for event in events:
                    if not isinstance(event, Run):
                        self._print(event_as_dict(event))
                    yield event
            except KeyboardInterrupt as pressed:
                yield events.throw(pressed)
            except LocalReactError as error:
                self._print({"type": "error", "error": str(error), "exit_code": error.exit_code})
                raise

    def end(
        self, run: Run, *, answer: str, egress: Sequence[Mapping[str, Any]], exit_code: int
    ) -> None:
        """Print the whole run, with the answer as it is told and what left the machine."""
        from local_react.as_dict import event_as_dict

        told = {**event_as_dict(run), "answer": answer, "egress": list(egress)}
        self._print({**told, "exit_code": exit_code})

    def _print(self, told: Mapping[str, Any]) -> None:
        click.echo(json_line(told))
        sys.stdout.flush()
