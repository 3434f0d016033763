"""`local-react trace replay`: a run made again with what its tools gave, or branched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from local_react.cli.completing import model_names, run_ids
from local_react.cli.show import Display, complain, json_text, printable
from local_react.errors import UsageError

if TYPE_CHECKING:
    from local_react.backends.llama import LlamaModel
    from local_react.cli.trace_found import Found
    from local_react.core import Run
    from local_react.transcript import Difference, Recorder, Replay

DIFFERS: Final = 7
"""The exit code where a replay is not the same run."""
_CHANGES: Final = ("question", "system", "observation", "temperature", "seed")


@click.command("replay", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("run", shell_complete=run_ids)
@click.option(
    "-m",
    "--model",
    metavar="NAME|FILE",
    shell_complete=model_names,
    help="Another model.  [default: the recorded one]",
)
@click.option(
    "--from",
    "start",
    type=click.IntRange(1),
    metavar="STEP",
    help="Branch: what stands before this step is given, and the model goes on from there.",
)
@click.option("--question", metavar="TEXT", help="Branch with another question.")
@click.option("--system", metavar="TEXT", help="Branch with this to keep to; empty: nothing.")
@click.option(
    "--observation", metavar="TEXT", help="Branch with this as what the step before STEP observes."
)
@click.option("--temperature", "--temp", type=float, help="Branch with another temperature.")
@click.option("--seed", type=int, help="Branch with another seed.")
@click.option("--save", is_flag=True, help="Keep the new run among the others.")
@click.option(
    "--transcript",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the new run's transcript to this file.",
)
@click.option("--force", is_flag=True, help="Write over the file where there is one.")
@click.option("--json", "as_json", is_flag=True, help="Print the new run, and where it differs.")
@click.option("-q", "--quiet", is_flag=True, help="Show the outcome alone.")
@click.option("-v", "--verbose", count=True, help="Show tokens and seconds.")
def replay(run: str, **options: Any) -> int:
    """Make a run again, with what its tools gave then, and say where it differs.

    Nothing is sent, read or changed: the tools are made of the transcript alone. What was not
    recorded is computed where the tool is the calculator or the clock, and else an error that
    the model is told. The exit code is 0 where the run is the same, and 7 where it differs.

    With --from, or a change, it branches: the new answer is printed, and where the runs part.
    The exit code is then that of a question.

    \b
    Examples:
      local-react trace replay last
      local-react trace replay 3f2a --from 2 --observation "no results"
    """
    from local_react.cli.trace_found import found
    from local_react.transcript import first_difference
    from local_react.transcript.replay import refuse_redacted

    one = found(run)
    if not one.text:
        raise UsageError(f"no transcript of {one.name} was kept: it cannot be replayed")
    refuse_redacted(one.transcript)
    _refuse_taken(options)
    display = Display(quiet=options["quiet"], verbosity=options["verbose"])
    again = _Again.prepared(one, options, display)
    display.model(again.model)
    if not options["quiet"]:
        for line in again.notes():
            complain(line, colour="yellow")
    now = display.follow(again.replay.stream())
    difference = first_difference(one.transcript.run, now, since=again.replay.start)
    branches = options["start"] or any(options[name] is not None for name in _CHANGES)
    code = _tell(now, difference, branches=bool(branches), as_json=options["as_json"])
    _keep(now, again, options)
    return code


def _refuse_taken(options: Mapping[str, Any]) -> None:
    """Raise UsageError where a file is in the way, before a run is made for nothing."""
    target: Path | None = options["target"]
    if target and target.exists() and not options["force"]:
        raise UsageError(f"{target} is there already: --force writes over it")


@dataclass(frozen=True, slots=True)
class _Again:
    """A run that is made again, and what it is made of."""

    one: Found
    model: LlamaModel
    recorder: Recorder
    replay: Replay

    @classmethod
    def prepared(cls, one: Found, options: Mapping[str, Any], display: Display) -> _Again:
        """Return it, with its model loaded. Raises UsageError and ModelError."""
        from local_react.cli.recording import load_as_recorded
        from local_react.network import Network
        from local_react.tools import builtin_tools
        from local_react.transcript import Changes, Recorder, Replay

        with display.waiting("loading the model"):
            model = load_as_recorded(one.transcript, options["model"])
        recorder = Recorder()
        replay = Replay(
            one.transcript,
            model,
            builtin=builtin_tools(Network("deny"), everything=True),
            changes=Changes(options["start"] or 1, **{name: options[name] for name in _CHANGES}),
            recorder=recorder,
        )
        return cls(one, model, recorder, replay)

    def notes(self) -> Iterator[str]:
        """Yield what is not as it was, so that another run is to be expected."""
        from local_react.transcript.model_hash import model_sha256

        head, model = self.one.transcript.head, self.model
        was, now = head.get("model_sha256"), model_sha256(model.path)
        if was and now and was != now:
            yield f"{model.name} is not the model that was recorded, {head['model']}"
        if self.replay.reads_otherwise:
            yield (
                f"the run was recorded by local-react {head.get('version')}, which put the "
                "question in other words"
            )
        threads = self.one.transcript.loading.get("threads")
        if threads and threads != model.threads:
            yield f"it ran with {threads} threads then, and with {model.threads} now"
        if self.one.transcript.earlier:
            yield "it is a turn of a conversation: what was said before it is put together anew"

    def transcript(self, run: Run) -> str:
        """Return the transcript of what it came to."""
        from local_react.cli.recording import transcript_of

        return transcript_of(
            self.recorder,
            run,
            self.replay.agent,
            self.model,
            self.one.transcript.loading,
            facts=self.replay.facts,
            earlier=self.one.transcript.earlier,
            branch={"run": self.one.name, "step": self.replay.start},
        )


def _keep(run: Run, again: _Again, options: Mapping[str, Any]) -> None:
    """Keep the new run where it is wanted."""
    if not (options["save"] or options["target"]):
        return
    text = again.transcript(run)
    if options["save"]:
        from local_react.history import History

        click.echo(f"kept as {History().add(run, transcript=text)}", err=True)
    if options["target"]:
        from local_react.cli.sessions_export import write_new

        write_new(options["target"], text, force=options["force"])


def _tell(run: Run, difference: Difference | None, *, branches: bool, as_json: bool) -> int:
    """Print what came of it, and return the exit code."""
    from local_react.cli.output import exit_code_of
    from local_react.cli.trace_shown import outcome

    is_whole = run.stop_reason != "interrupted"
    if as_json:
        _print_json(run, difference)
    elif branches:
        if run.answer:
            click.echo(printable(run.answer))
        click.echo(printable(outcome(run, difference)), err=True)
    elif is_whole:
        click.echo(printable(outcome(run, difference)))
    if branches or not is_whole:
        return exit_code_of(run)
    return DIFFERS if difference else 0


def _print_json(run: Run, difference: Difference | None) -> None:
    from local_react.as_dict import run_as_dict

    told = None if difference is None else asdict(difference)
    click.echo(json_text({"identical": not told, "difference": told, "run": run_as_dict(run)}))
