"""`local-react "question"`: parse, wire, run, print."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from local_react.cli.approving import approval_options
from local_react.cli.door import network_options
from local_react.cli.front_page import EXIT_CODES
from local_react.cli.options import (
    Asking,
    model_option,
    search_options,
    session_options,
    tool_options,
    vote_options,
)
from local_react.cli.output import (
    Format,
    Stream,
    exit_code_of,
    json_line,
    output_format,
    output_options,
)
from local_react.cli.tuning import decoding_options, limit_options, machine_options
from local_react.errors import UsageError

if TYPE_CHECKING:
    from local_react.cli.looking import Opening
    from local_react.cli.show import Display
    from local_react.core import Run
    from local_react.network import Network

MOST_SOURCES: Final = 5
"""Of an answer that names none, so many are shown of what it was made from."""

_EPILOG = """\b
Examples:
  local-react "What is 15% of 1,299.99, plus 7?"
  local-react -c "And 20% of it?"
  local-react -f contract.pdf -f letter.txt "When does the lease end?"
  git diff | local-react -q "Write a commit message"
  local-react --output-format stream-json "What time is it in Tokyo?"

\b
Exit codes:
""" + "\n".join(f"  {code}  {meaning}" for code, meaning in EXIT_CODES.items())


@click.command(
    "ask", cls=Asking, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.argument("question", nargs=-1)
@model_option("A model of the catalogue, or any GGUF file.")
@vote_options
@tool_options
@approval_options
@network_options
@search_options
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="Attach the text of a file (-: standard input); may be given several times.",
)
@output_options
@click.option("-q", "--quiet", is_flag=True, help="Show the answer alone.")
@click.option(
    "-v",
    "--verbose",
    count=True,
    help="Show tokens and seconds; -vv also the prompt, the grammar and llama.cpp's log.",
)
@click.option("--stats", is_flag=True, help="Show the tokens and seconds of each step.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the prompt, the grammar and how many tokens they are, and ask nothing.",
)
@session_options
@click.option(
    "--transcript",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the run to this file too, as JSON lines that can be replayed.",
)
@limit_options
@decoding_options
@machine_options
@click.version_option(package_name="local-react", prog_name="local-react")
def ask(question: tuple[str, ...], quiet: bool, verbose: int, **options: Any) -> int:
    """Ask a question. A local model answers it, with tools, step by step.

    The steps go to standard error and the answer alone to standard output. Text on
    standard input is attached to the question; it may be private, so the tools that
    send something out are then left out unless --tool names them.

    Before something is sent you are asked, and at the end you are told what was.
    """
    from local_react.cli import agreement, looking, wiring
    from local_react.cli.log import Log
    from local_react.cli.offered import offered_tools
    from local_react.cli.show import Display, complain

    told = _Told(output_format(options), options["only_if_sure"])
    piped = "" if "-" in options["files"] else _piped()
    text = _question(" ".join(question).strip(), piped, options["files"])
    votes = wiring.votes_for(text, options)
    if told.share and not agreement.can_be_compared(text):
        complain(agreement.CANNOT_BE_TOLD, colour="yellow")
        return agreement.NOT_SURE
    wiring.sampling_of(options)  # what is wrong is told before a model is loaded
    network = wiring.network_of(options)
    display = Display(quiet=quiet, verbosity=verbose, streams=told.format == "stream-json")
    try:
        offered = offered_tools(network, options, private=bool(piped or options["files"]))
        log = Log.opened(options)
        display.faults(offered.faults)
        with display.waiting(f"loading {wiring.model_name(options)}"):
            model = wiring.load_model(options, verbose=verbose >= 2 and not quiet)
            agent = wiring.make_agent(
                options, model, network, offered.tools, votes=votes, recorder=log.recorder
            )
        display.model(model)
        facts = log.recalled(text)
        if options["dry_run"] or display.looks_inside:
            opening = looking.opening(model, agent, text, facts, log.turns)
            if options["dry_run"]:
                told.opening(opening)
                return 0
            display.opening(opening)
        display.facts(facts)
        events = log.asked(agent, text, facts)
        if told.format == "stream-json":
            told.stream.start(text, model=model.name, settings=looking.settings_of(agent))
            events = told.stream.followed(events)
        run = display.follow(events)
    except KeyboardInterrupt:  # before the run has begun, or twice
        if told.format == "text":
            raise
        return told.run(_not_begun(text, wiring.model_name(options)), network, display)
    # Before it is told: what somebody has seen is kept, whatever happens next.
    kept = log.keep(run, agent, network, facts=facts, earlier=log.turns or None)
    code = told.run(run, network, display)
    if options["stats"]:
        display.stats(run)
    if kept and log.begins:
        display.kept(log.history.path)
    return code


@dataclass(frozen=True, slots=True)
class _Told:
    """How the run is told."""

    format: Format
    share: float | None
    """The answer is told only where it is as sure as this."""
    stream: Stream = field(default_factory=Stream)

    def opening(self, opening: Opening) -> None:
        """Print what a run begins with."""
        from local_react.cli.show import json_text, printable

        if self.format == "text":
            click.echo(printable(opening.text))
        else:
            as_json = json_line if self.format == "stream-json" else json_text
            click.echo(as_json(asdict(opening)))

    def run(self, run: Run, network: Network, display: Display) -> int:
        """Print the answer, where it is as sure as it is wanted, with all that belongs to
        it, and return the exit code."""
        from local_react.as_dict import run_as_dict
        from local_react.cli.agreement import is_sure, unsure
        from local_react.cli.door import account, exchanges_as_dicts
        from local_react.cli.show import complain, json_text, printable
        from local_react.outside import cited

        doubted = self.share is not None and bool(run.answer) and not is_sure(run, self.share)
        answer = "" if doubted else run.answer
        code = exit_code_of(run, refused=bool(network.refused), doubted=doubted)
        if not doubted:
            display.votes(run)
        egress = exchanges_as_dicts(network)
        if self.format == "stream-json":
            self.stream.end(run, answer=answer, egress=egress, exit_code=code)
        elif self.format == "json":
            click.echo(json_text({**run_as_dict(run), "answer": answer, "egress": egress}))
        elif answer:
            click.echo(printable(answer))
        display.sources(cited(run.answer, run.sources) or run.sources[:MOST_SOURCES])
        display.egress(account(network))
        if doubted:
            complain(unsure(run), colour="yellow")
        elif not run.finished and run.stop_reason != "interrupted":  # by who needs not be told
            complain(reason_of(run), colour="yellow")
        return code


def _not_begun(question: str, model: str) -> Run:
    """Return the run that Ctrl-C ended before it began."""
    from local_react.core import Run

    return Run(question, (), "", "interrupted", model)


def reason_of(run: Run) -> str:
    """Return why a run ended that did not finish."""
    reasons = {
        "max_steps": "the step limit was reached: --max-steps gives more",
        "context": "the context window is full: --ctx-size gives more, where the model can have it",
        "no_progress": "the model made no progress" + _guards(run),
        "cut_off": "the answer was cut off",
        "timeout": "the time was over: --timeout gives more",
        "interrupted": "it was interrupted",
    }
    missing = "" if run.answer else "no answer: "
    return f"{missing}{reasons[run.stop_reason]}"


def _guards(run: Run) -> str:
    """Return what it went round in, in brackets."""
    return f" ({', '.join(run.guards)})" if run.guards else ""


def _question(asked: str, piped: str, files: Sequence[str]) -> str:
    """Return the question with what was piped in, and the files, attached.

    Raises UsageError where there is nothing, or a file cannot be read.
    """
    from local_react.answers import ATTACHED
    from local_react.cli.attached import attached

    texts = [*filter(None, [piped]), *([attached(files)] if files else [])]
    if not asked and not texts:
        raise UsageError('the question is empty: try local-react "What is 15% of 80?"')
    text = "\n\n".join(texts)
    return f"{asked}{ATTACHED}{text}" if asked and text else asked or text


def _piped() -> str:
    """Return the text on standard input, where it is no terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    from local_react.readers import Unreadable, text_of

    try:
        return text_of(sys.stdin.buffer.read()).strip()
    except (OSError, Unreadable) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"standard input cannot be read: {reason}") from error
