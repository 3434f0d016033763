"""`local-react batch`: the questions of a file, and a file of what each came to."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from local_react.cli import INTERRUPTED, wiring
from local_react.cli.door import network_options
from local_react.cli.options import (
    Asking,
    model_option,
    search_options,
    tool_options,
    vote_options,
)
from local_react.cli.output import json_line
from local_react.cli.tuning import decoding_options, limit_options, machine_options
from local_react.errors import UsageError

if TYPE_CHECKING:
    from threading import Event as Flag

    from local_react.batch import Ask, Item, Results, Told
    from local_react.cli.batch_asking import Seat

_OUTCOMES: Final[Mapping[int, str]] = {
    0: "answered",
    4: "stopped at a limit",
    5: "without the network",
    6: "not sure enough",
}
"""What an exit code says of a question; any other, that it ended in an error."""
_INTERRUPTED: Final = "interrupted: what was done is in {}, and the same command goes on from there"
_GRAVEST_FIRST: Final = (1, 3, 2, 5, 4, 6)
_NO_MATTER: Final = frozenset(
    "kind together force network_mode offline system_file threads gpu_layers flash_attention "
    "repack no_cache".split()
)
"""Options that change no answer, but for how sums are rounded, or that stand there as what
they come to."""
_EPILOG = """\b
A line of IN is a JSON object, in UTF-8:
  {"question": "What is 15% of 80?"}
  {"id": "q7", "question": "Is 91 a prime?", "expected": "no"}
"prompt" will do for "question". The id is a text or a whole number. All else is copied to
"input" in the result.

\b
A line of OUT is a JSON object: id, line (its number in IN), question, answer, stop_reason,
confidence, steps, sources, usage, seconds, egress (what left the machine), exit_code (what
`local-react ask` would end with), settings, and input; or error and exit_code, where the
question could not be asked. The lines stand in the order in which they were done.

\b
The same command goes on where it was ended, by whatever, and tries again what ended in an
error. More lines at the end of IN are asked, too.

\b
Examples:
  local-react batch questions.jsonl -o answers.jsonl
  local-react batch questions.txt --format text -o answers.jsonl --together 4

\b
Exit codes:
  0  all are answered
  1  some ended in an internal error
  2  some could not be asked, or an option or file cannot be used
  3  the model is missing or unusable
  4  some stopped at a limit, 5 needed the network, 6 were not sure enough; none is worse
  130  interrupted
"""


@click.command(
    "batch", cls=Asking, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.argument("source", metavar="IN.jsonl", type=click.Path(allow_dash=True))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    metavar="OUT.jsonl",
    help="Where the results go; those that are there are not asked for again.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["jsonl", "text"]),
    default="jsonl",
    show_default=True,
    help="What a line of IN is: a JSON object, or the question itself.",
)
@click.option(
    "--together",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Questions at once: with several, all are done sooner.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Go on with OUT even if it holds other questions, or results by other settings.",
)
@click.option("-y", "--yes", is_flag=True, help="Let tools that change something act.")
@click.option("-q", "--quiet", is_flag=True, help="Do not tell how far it is.")
@model_option("A model of the catalogue, or any GGUF file.")
@vote_options
@tool_options
@network_options
@search_options
@limit_options
@decoding_options
@machine_options
def batch(source: str, output: Path, quiet: bool, **options: Any) -> int:
    """Ask the questions of a file, one a line.

    IN is a file, or - for standard input. Nothing is asked of you while it runs: what needs
    your consent to be sent is left out unless --network allow gives it, and what needs your
    yes to act is refused unless --yes does.
    """
    from local_react.batch import Results, read_items
    from local_react.cli.batch_asking import make_seat
    from local_react.cli.show import complain

    items = read_items(_read(source, output), as_text=options["kind"] == "text")
    if all(item.fault for item in items):
        raise UsageError(_nothing(source, items))
    wiring.votes_for("", options)  # what is wrong is told before a model is loaded
    wiring.sampling_of(options)
    seat, results = make_seat(options), Results(output)
    for fault in seat.faults:
        complain(fault, colour="yellow")
    try:
        with results.alone():
            codes, left = _completed(results, items, options, seat, quiet=quiet)
    except KeyboardInterrupt:
        complain(_INTERRUPTED.format(results.path), colour="yellow")
        return INTERRUPTED
    if not quiet:
        click.echo(_summary(output, codes, left), err=True)
    return next((code for code in _GRAVEST_FIRST if code in codes), 0)


def _completed(
    results: Results, items: Sequence[Item], options: Mapping[str, Any], seat: Seat, *, quiet: bool
) -> tuple[list[int], int]:
    """Add the results that are missing; return the exit codes of all, and how many requests
    have left the machine for those that were added."""
    settings, left = _settings(options, seat), 0
    there = results.go_on(items, settings, force=options["force"])
    codes = {item.name: item.exit_code for item in there}
    missing = [item for item in items if item.name not in codes]
    for item, told in _asked(missing, options, seat, quiet=quiet) if missing else ():
        results.append(json_line(item.result(told, settings)))
        codes[item.name] = told["exit_code"]
        left += sum(exchange["bytes_sent"] > 0 for exchange in told.get("egress", ()))
    return list(codes.values()), left


def _asked(
    items: Sequence[Item], options: Mapping[str, Any], seat: Seat, *, quiet: bool
) -> Iterator[tuple[Item, Told]]:
    """Yield what each question came to, and show how far all are."""
    from local_react.batch import answered
    from local_react.cli.batch_asking import Asker
    from local_react.cli.batch_progress import progress
    from local_react.cli.show import Display

    ask: Ask = _nobody
    if any(not item.fault for item in items):
        with Display(quiet=quiet).waiting(f"loading {wiring.model_name(options)}"):
            ask = Asker(options, seat)
    with (
        closing(answered(items, ask, options["together"])) as found,
        progress(len(items), quiet=quiet) as tick,
    ):
        for one in found:
            yield one
            tick()


def _nobody(question: str, cancel: Flag) -> Told:
    raise AssertionError("only lines that cannot be asked are left")


def _settings(options: Mapping[str, Any], seat: Seat) -> dict[str, Any]:
    """Return the settings that an answer depends on, but for those that are off, as JSON's
    types."""
    found = {name: value for name, value in options.items() if name not in _NO_MATTER}
    found |= {
        "model": wiring.model_name(options),
        "system": wiring.system_of(options),
        "network": seat.network.mode,
    }
    used = {name: value for name, value in found.items() if value}
    return dict(json.loads(json.dumps(used, default=str)))


def _read(source: str, output: Path) -> bytes:
    try:
        if source == "-":
            return sys.stdin.buffer.read() if sys.stdin is not None else b""
        if output.exists() and output.samefile(source):
            raise UsageError(f"{output} is what is read: name another file with -o")
        return Path(source).read_bytes()
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror or error}") from error


def _nothing(source: str, items: Sequence[Item]) -> str:
    where = "standard input" if source == "-" else source
    if not items:
        return f"{where} is empty: it wants a question on each line"
    first = items[0]
    return f"{where} holds no question: line {first.line}: {first.fault}, or give --format text"


def _summary(output: Path, codes: Sequence[int], left: int) -> str:
    """Return how many of the questions ended in which way, and what left this machine."""
    from local_react.cli.door import NOTHING_LEFT
    from local_react.cli.show import printable

    outcomes = [_OUTCOMES.get(code, "in error") for code in codes]
    names = [name for name in (*_OUTCOMES.values(), "in error") if name in outcomes]
    told = ", ".join(f"{outcomes.count(name)} {name}" for name in names)
    sent = f"{left} requests left this machine: `egress` tells" if left else NOTHING_LEFT
    return printable(f"{len(codes)} questions: {told} ({output}); {sent}")
