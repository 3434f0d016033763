"""`local-react eval`: how well a model answers, with the agent and without."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import click

from local_react.catalog import load_catalogue, resolve
from local_react.cli import INTERRUPTED
from local_react.cli.options import model_option
from local_react.cli.show import Display, complain, printable
from local_react.core import Sampling
from local_react.errors import UsageError

if TYPE_CHECKING:
    from local_react.backends.llama import LlamaModel
    from local_react.evaluation.items import QuestionSet
    from local_react.evaluation.plan import Job, Plan
    from local_react.evaluation.rows import Row, RowFile

_Command = TypeVar("_Command", bound=Callable[..., Any])

_MOST_CONTEXT = 32768
_SHARED_TOKENS = 2048
"""Tokens of context for what all questions share."""

_EPILOG = """\b
Sets, in the folder of --data:
  gsm8k svamp               word problems
  hotpotqa nq_open          questions with a short answer; hotpotqa has documents
  strategyqa fever          yes or no; claims
  bfcl-simple bfcl-multiple bfcl-parallel bfcl-parallel-multiple bfcl-irrelevance
  bfcl-live-simple bfcl-live-irrelevance bfcl-live-relevance
                            calls of functions, in the first reply

\b
Arms:
  bare       the model alone, asked for the answer alone
  cot        the model alone, which reasons step by step (chain of thought)
  retrieval  the same as bare, with five passages of the documents in the prompt
  agent      this program; agent:NAME=VALUE,... changes its settings, such as
             agent:max_steps=4,thought_tokens=200,temperature=0.7
             agent:tools=calculator+current_time, or agent:tools=none

\b
A file of your own has a line for each question:
  {"question": "What is 15% of 80?", "answer": 12}
  {"question": "Is Oslo in Norway?", "answer": "yes"}
  {"question": "Who wrote Emma?", "answer": ["Jane Austen", "Austen"]}

\b
Examples:
  local-react eval mine.jsonl
  local-react eval mine.jsonl --documents ~/notes --arm retrieval --arm agent
  local-react eval gsm8k svamp --n 50 --together 8 --out results.jsonl
  local-react eval bfcl-simple --arm bare --arm agent -m my-model.gguf

Exit codes: 0 measured, 2 a set, file or option that cannot be used, 3 the model is missing
or unusable, 130 interrupted.
"""


def evaluation_options(command: _Command) -> _Command:
    """Add the options that `measured` reads, but for the sets themselves."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option(
        "-a", "--arm", "arms", multiple=True, metavar="ARM[:NAME=VALUE,...]",
        help="A way to answer; may be repeated. The first is what the others are compared "
        "with.  [default: cot and agent; for calls of functions bare and agent]",
    ),
    model_option("The model to ask."),
    click.option("--n", type=click.IntRange(1), help="The first so many of each set; else all."),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
                 help="Another one is another sample, above temperature 0."),
    click.option("--temperature", "--temp", type=click.FloatRange(0, 10), default=0.0,
                 show_default=True, help="0 takes the likeliest token."),
    click.option("--together", type=click.IntRange(1, 64), default=1, show_default=True,
                 help="Questions at once. With 1 the arms take turns, so that their times "
                 "can be compared; with more it is done sooner."),
    click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                 help="Keep the results here, a JSON line each; what is there is not asked again."),
    click.option("--data", type=click.Path(path_type=Path), metavar="FOLDER",
                 help="Where the sets are.  [default: $LOCAL_REACT_DATA]"),
    click.option("--file", type=click.Path(path_type=Path), metavar="FILE",
                 help="Read the set from another file of its format."),
    click.option("--documents", multiple=True, type=click.Path(path_type=Path, exists=True),
                 metavar="PATH", help="A folder, a file, or a JSONL file of paragraphs, {title, "
                 "text}, that the agent may search; may be repeated."),
    click.option("--scorer", type=click.Choice(["number", "text", "yesno", "label"]),
                 help="How the answers of your own file are compared.  [default: by their kind]"),
    click.option("-t", "--threads", type=int, help="CPU threads."),
)  # fmt: skip


@click.command("eval", epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("sets", nargs=-1, metavar="[SET|FILE]...")
@evaluation_options
def evaluate(sets: tuple[str, ...], **options: Any) -> int:
    """Measure how many questions are answered right, by the model alone and by the agent.

    The questions are those of a set, or of a JSONL file of your own. The table tells how
    sure each figure is, and whether a difference is more than chance.
    """
    rows, code = measured(sets, options)
    click.echo(printable(report(rows)))
    return code


def report(rows: Sequence[Row]) -> str:
    """Return the table of the results."""
    from local_react.evaluation.table import table

    return table(rows)


def measured(sets: Sequence[str], options: dict[str, Any]) -> tuple[list[Row], int]:
    """Ask what is missing, and return all results and the exit code: 0, or INTERRUPTED
    where Ctrl-C came. Raises UsageError and ModelError."""
    from local_react.evaluation.rows import RowFile

    plan = _plan(sets, options)
    file = RowFile(options["out"])
    rows, missing = plan.split(file.read())
    if not missing:
        return rows, 0
    if rows:
        _tell(f"{len(rows)} are in {file.path} and not asked again")
    try:
        with _loaded(plan, options) as model:
            for row in _asked(plan, model, missing):
                file.append(row)
                rows.append(row)
    except KeyboardInterrupt:
        # It may have come between a row's being written and its being noted.
        rows = plan.own(file.read() or rows)
        _tell("")
        complain(_interrupted(file, len(rows)), colour="yellow")
        return rows, INTERRUPTED
    return plan.own(rows), 0


def _interrupted(file: RowFile, count: int) -> str:
    if file.path is None:
        return "interrupted: what was answered is not kept without --out FILE"
    return f"interrupted: {count} answers are in {file.path}: the same command goes on from there"


def _plan(sets: Sequence[str], options: dict[str, Any]) -> Plan:
    from local_react.evaluation.arms import fits
    from local_react.evaluation.plan import Plan
    from local_react.evaluation.settings import read_arm

    questions = _sets(sets, options)
    texts = options["arms"] or _usual_arms(questions)
    arms = [read_arm(text) for text in dict.fromkeys(texts)]
    for arm in arms:
        fitting = [one for one in questions if fits(arm, one)]
        if not fitting:
            raise UsageError(f"the arm {arm.label} fits none of the sets: see --help")
        for one in [one for one in questions if one not in fitting]:
            _tell(f"{one.name} is left out of {arm.label}, which it does not fit")
    sampling = Sampling(temperature=options["temperature"], seed=options["seed"])
    name = options["model"] or load_catalogue().default
    return Plan(questions, arms, name, sampling, options["together"])


def _usual_arms(sets: Sequence[QuestionSet]) -> Sequence[str]:
    """Return the model alone, as it is at its best, and the agent."""
    return ("bare" if all(one.calls_functions for one in sets) else "cot", "agent")


def _sets(names: Sequence[str], options: dict[str, Any]) -> list[QuestionSet]:
    """Return the sets asked for, of each the first items."""
    from local_react.evaluation.sets import NAMES, data_folder, read_own, read_set

    if not names:
        raise UsageError(f"name a set or a file of questions: the sets are {', '.join(NAMES)}")
    own = [name for name in dict.fromkeys(names) if name not in NAMES and Path(name).is_file()]
    if options["file"] and (len(set(names)) > 1 or own):
        raise UsageError("--file belongs to one set of the data folder: name that alone")
    if options["scorer"] and not own:
        raise UsageError("--scorer is for a file of your own: a set has its own")
    data, documents = options["data"] or data_folder(), options["documents"]
    found = [
        read_own(Path(name), scorer=options["scorer"], documents=documents)
        if name in own
        else read_set(name, data, file=options["file"], documents=documents)
        for name in dict.fromkeys(names)
    ]
    if twice := [one.name for one in found if [two.name for two in found].count(one.name) > 1]:
        raise UsageError(f"two sets are named {twice[0]}: rename a file")
    return [one.first(options["n"]) for one in found]


def _loaded(plan: Plan, options: dict[str, Any]) -> LlamaModel:
    # Imported here: loading llama.cpp takes a while, and --help should not.
    from local_react.backends.llama import LlamaModel

    with Display().waiting(f"loading {plan.model}"):
        size = _context_size(plan)
        # What would be kept for the next start is the questions' own functions, for BFCL.
        return LlamaModel(
            plan.model, context_size=size, threads=options["threads"], warm_start=False
        )


def _context_size(plan: Plan) -> int | None:
    """Return the tokens of context for so many questions at once, as far as the model and
    the memory go; None leaves it at the default."""
    from local_react.gguf_header import read_header
    from local_react.hardware import available_memory
    from local_react.memory import DEFAULT_CONTEXT, estimate, kv_bytes_per_token

    if plan.together == 1:
        return None
    path = resolve(plan.model)
    header = read_header(path)
    each = max(questions.tokens for questions in plan.sets)
    wanted = max(DEFAULT_CONTEXT, _SHARED_TOKENS + plan.together * each)
    needed = estimate(path, header, 0)
    free = (available_memory() - needed.total) // max(1, kv_bytes_per_token(header))
    return min(wanted, _MOST_CONTEXT, header.context_length, max(DEFAULT_CONTEXT, free))


def _asked(plan: Plan, model: LlamaModel, jobs: Sequence[Job]) -> Generator[Row, None, None]:
    """Yield the rows of what is missing, and tell how far it is."""
    from local_react.evaluation.runner import asked

    count, started = len(jobs), perf_counter()
    with closing(asked(plan, model, jobs)) as rows:
        for number, row in enumerate(rows, 1):
            yield row
            spent = perf_counter() - started
            left = spent / number * (count - number)
            _tell(f"{number}/{count}, {spent:.0f} s, {left:.0f} s to go", stays=number == count)


def _tell(text: str, *, stays: bool = True) -> None:
    """Print a line on standard error; one that does not stay is overwritten by the next,
    and not shown where there is no terminal."""
    if stays or sys.stderr.isatty():
        start = "\r" if sys.stderr.isatty() else ""
        click.echo(f"{start}{printable(text):<40}".rstrip(" "), err=True, nl=stays)
