"""`local-react "question"`: parse, wire, run, print."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

import click

from local_react import protocol
from local_react.agent import Agent
from local_react.answers import ATTACHED
from local_react.as_dict import run_as_dict
from local_react.catalog import load_catalogue
from local_react.cli import INTERRUPTED
from local_react.cli.agreement import (
    CANNOT_BE_TOLD,
    NOT_SURE,
    can_be_compared,
    is_sure,
    runs_for_sureness,
    unsure,
)
from local_react.cli.door import account, approval, exchanges_as_dicts, network_for, network_options
from local_react.cli.offered import offered_tools
from local_react.cli.options import (
    ONLY_IF_SURE,
    Asking,
    model_option,
    search_options,
    vote_options,
)
from local_react.cli.show import Display, complain, json_text, printable
from local_react.core import Run, Sampling
from local_react.errors import OfflineError, UsageError
from local_react.memory import CACHE_TYPES
from local_react.network import Network
from local_react.outside import cited
from local_react.readers import Unreadable, text_of

if TYPE_CHECKING:
    from local_react.backends.llama import LlamaModel

STOPPED_AT_A_LIMIT = 4
MOST_SOURCES = 5
"""Of an answer that names none, so many are shown of what it was made from."""

_EPILOG = """\b
Other commands:
  local-react pull [NAME]   fetch a model, and verify it
  local-react models        list the models of the catalogue
  local-react bench         measure this machine, and remember what is best
  local-react eval          measure how many questions a model answers right
  local-react cache [clear] show or clear what makes the next start quicker
  local-react calc          work out an expression exactly, without a model
  local-react docs          index your own documents, and search them
  local-react network       show what may leave this machine, and all that has left it
  local-react doctor        tell what this machine has, and whether a model fits

\b
Exit codes:
  0  answered
  1  an internal error
  2  a question, option or argument that cannot be used
  3  the model is missing or unusable
  4  stopped at a limit; the best answer there is was printed
  5  it needs the network, which is off or was refused, and there is no answer
  6  the answer is not sure enough for --only-if-sure, and was not printed
  130  interrupted
"""


@click.command(
    "ask", cls=Asking, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.argument("question", nargs=-1)
@model_option("A model of the catalogue, or any GGUF file.")
@click.option("--max-steps", default=8, show_default=True, help="Steps before it must answer.")
@vote_options
@network_options
@search_options
@click.option("--no-tools", is_flag=True, help="Answer from the model alone.")
@click.option(
    "-T",
    "--tool",
    "wanted",
    multiple=True,
    metavar="NAME",
    help="Offer this tool only; may be given several times.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the whole run as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show the answer alone.")
@click.option(
    "-v",
    "--verbose",
    count=True,
    help="Show tokens and seconds; -vv also the prompt, the grammar and llama.cpp's log.",
)
@click.option(
    "--temperature", "--temp", default=0.0, show_default=True, help="0 takes the likeliest token."
)
@click.option(
    "--seed",
    default=0,
    show_default=True,
    help="Same seed, same text, with the same threads and repack.",
)
@click.option("--top-k", default=0, show_default=True, help="Keep the k likeliest tokens; 0: all.")
@click.option("--top-p", default=1.0, show_default=True, help="Keep the likeliest tokens up to p.")
@click.option(
    "--min-p", default=0.0, show_default=True, help="Drop tokens below this share of the likeliest."
)
@click.option(
    "--repeat-penalty",
    default=1.0,
    show_default=True,
    help="Above 1, what was written lately becomes less likely.",
)
@click.option(
    "--thought-tokens",
    default=400,
    show_default=True,
    help="Tokens after which a Thought is closed.",
)
@click.option(
    "--thinking-tokens",
    default=1024,
    show_default=True,
    help="Tokens that a model may think before it replies, where it always does.",
)
@click.option(
    "--observation-tokens",
    default=1500,
    show_default=True,
    help="Tokens after which a tool's result is cut.",
)
@click.option("--ctx-size", type=int, help="Tokens of context.  [default: 8192, or the model's]")
@click.option(
    "-t",
    "--threads",
    type=int,
    help="CPU threads, as many as there are at most.  [default: the best measured, or the cores]",
)
@click.option(
    "-ngl",
    "--gpu-layers",
    default=-1,
    show_default=True,
    help="Layers on the GPU, where the build has one; -1: all.",
)
@click.option(
    "-fa",
    "--flash-attn",
    "flash_attention",
    type=click.Choice(["auto", "on", "off"]),
    default="auto",
    show_default=True,
    help="Flash attention.",
)
@click.option(
    "-ctk",
    "--cache-type-k",
    type=click.Choice(CACHE_TYPES),
    default="f16",
    show_default=True,
    help="How the context's keys are kept: q8_0 takes half the memory; the text may suffer below.",
)
@click.option(
    "-ctv",
    "--cache-type-v",
    type=click.Choice(CACHE_TYPES),
    default="f16",
    show_default=True,
    help="How the context's values are kept.",
)
@click.option(
    "--repack/--no-repack",
    default=None,
    help="Lay the weights out anew when loading.  [default: the best measured]",
)
@click.option(
    "--no-cache",
    is_flag=True,
    help="Neither use nor keep what makes the next start quicker, nor the network's answers.",
)
@click.version_option(package_name="local-react", prog_name="local-react")
def ask(question: tuple[str, ...], as_json: bool, quiet: bool, verbose: int, **options: Any) -> int:
    """Ask a question. A local model answers it, with tools, step by step.

    The steps go to standard error and the answer alone to standard output. Text on
    standard input is attached to the question; it may be private, so the tools that
    send something out are then left out unless --tool names them.

    Before something is sent you are asked, and at the end you are told what was.
    """
    piped = _piped()
    text = _question(" ".join(question).strip(), piped)
    share, votes = options["only_if_sure"], _votes(text, options)
    if share and not can_be_compared(text):
        complain(CANNOT_BE_TOLD, colour="yellow")
        return NOT_SURE
    network = network_for(options)
    tools = offered_tools(network, options, private=bool(piped))
    sampling = _sampling(options)
    display = Display(quiet=quiet, verbosity=verbose)
    name = options["model"] or load_catalogue().default
    with display.waiting(f"loading {name}"):
        model = _load(name, options, verbose=verbose >= 2 and not quiet)
        agent = Agent(
            model,
            tools,
            max_steps=options["max_steps"],
            thought_tokens=options["thought_tokens"],
            thinking_tokens=options["thinking_tokens"],
            observation_tokens=options["observation_tokens"],
            sampling=sampling,
            approve=approval(network, options["wanted"]),
            votes=votes,
        )
    display.model(model)
    offered = agent.offered(text)
    display.prompt(model, protocol.opening(offered, text), protocol.step_grammar(offered))
    run = display.follow(agent.stream(text))
    return _tell(run, network, display, share=share, as_json=as_json)


def _tell(
    run: Run, network: Network, display: Display, *, share: float | None, as_json: bool
) -> int:
    """Print the answer, where it is as sure as it is wanted, with all that belongs to it,
    and return the exit code."""
    doubted = share is not None and bool(run.answer) and not is_sure(run, share)
    answer = "" if doubted else run.answer
    if not doubted:
        display.votes(run)
    if as_json:
        told = {**run_as_dict(run), "answer": answer, "egress": exchanges_as_dicts(network)}
        click.echo(json_text(told))
    elif answer:
        click.echo(printable(answer))
    display.sources(cited(run.answer, run.sources) or run.sources[:MOST_SOURCES])
    display.egress(account(network))
    if doubted:
        complain(unsure(run), colour="yellow")
        return NOT_SURE
    return 0 if run.finished else _explain(run, network)


def _votes(question: str, options: dict[str, Any]) -> int | Literal["auto"]:
    """Return how many runs are wanted. Raises UsageError where one is to tell how sure it
    is."""
    votes: int | Literal["auto"] = options["votes"]
    if options["only_if_sure"] is None:
        return votes
    if votes == 1:
        raise UsageError(f"{ONLY_IF_SURE} needs several runs: give --votes auto, or 2 or more")
    return votes if votes != "auto" else runs_for_sureness(question) or "auto"


def _explain(run: Run, network: Network) -> int:
    """Say why the run ended, and return the exit code."""
    if run.stop_reason == "interrupted":  # by who needs not be told
        return INTERRUPTED
    reasons = {
        "max_steps": "the step limit was reached: --max-steps gives more",
        "context": "the context window is full: --ctx-size gives more",
        "no_progress": "the model made no progress" + _guards(run),
        "cut_off": "the answer was cut off",
    }
    missing = "" if run.answer else "no answer: "
    complain(f"{missing}{reasons[run.stop_reason]}", colour="yellow")
    return STOPPED_AT_A_LIMIT if run.answer or not network.refused else OfflineError.exit_code


def _guards(run: Run) -> str:
    """Return what it went round in, in brackets."""
    return f" ({', '.join(run.guards)})" if run.guards else ""


def _question(asked: str, piped: str) -> str:
    """Return the question with what was piped in attached.

    Raises UsageError where there is neither.
    """
    if not asked and not piped:
        raise UsageError('the question is empty: try local-react "What is 15% of 80?"')
    return f"{asked}{ATTACHED}{piped}" if asked and piped else asked or piped


def _piped() -> str:
    """Return the text on standard input, where it is no terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        return ""
    try:
        return text_of(sys.stdin.buffer.read()).strip()
    except (OSError, Unreadable) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"standard input cannot be read: {reason}") from error


def _sampling(options: dict[str, Any]) -> Sampling:
    names = ("temperature", "seed", "top_k", "top_p", "min_p", "repeat_penalty")
    try:
        return Sampling(**{name: options[name] for name in names})
    except ValueError as error:
        raise UsageError(str(error)) from error


def _load(name: str, options: dict[str, Any], *, verbose: bool) -> LlamaModel:
    # Imported here: loading llama.cpp takes a while, and --help should not.
    from local_react.backends.llama import LlamaModel

    return LlamaModel(
        name,
        context_size=options["ctx_size"],
        threads=options["threads"],
        gpu_layers=options["gpu_layers"],
        repack=options["repack"],
        flash_attention=options["flash_attention"],
        cache_type_k=options["cache_type_k"],
        cache_type_v=options["cache_type_v"],
        warm_start=not options["no_cache"],
        verbose=verbose,
    )
