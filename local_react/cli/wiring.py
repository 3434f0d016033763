"""From the options of a command to what it works with: the model, the tools, the agent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from local_react.cli.options import ONLY_IF_SURE
from local_react.errors import UsageError

if TYPE_CHECKING:
    from local_react.agent import Agent
    from local_react.backends.llama import LlamaModel
    from local_react.core import Model, Sampling
    from local_react.network import Network
    from local_react.tools.base import AnyTool
    from local_react.transcript import Recorder


def model_name(options: Mapping[str, Any]) -> str:
    """Return the name or file of the model that is meant."""
    from local_react.catalog import load_catalogue

    return str(options["model"] or load_catalogue().default)


def load_model(options: Mapping[str, Any], *, name: str = "", verbose: bool = False) -> LlamaModel:
    """Return the model, loaded. Raises ModelError and UsageError as LlamaModel does."""
    # Imported here: loading llama.cpp takes a while, and --help should not.
    from local_react.backends.llama import LlamaModel

    model = LlamaModel(
        name or model_name(options),
        context_size=options["ctx_size"],
        threads=options["threads"],
        gpu_layers=options["gpu_layers"],
        repack=options["repack"],
        flash_attention=options["flash_attention"],
        cache_type_k=options["cache_type_k"],
        cache_type_v=options["cache_type_v"],
        warm_start=not (options["no_cache"] or options.get("private")),
        verbose=verbose,
    )
    wanted = options["threads"] or 0
    if wanted > model.threads and not options.get("quiet"):
        from local_react.cli.show import complain

        complain(
            f"{model.threads} threads are used, not {wanted}: there are no more CPUs", "yellow"
        )
    return model


def network_of(options: Mapping[str, Any]) -> Network:
    """Return the door. In private it is shut unless --network says otherwise. Raises
    UsageError where the environment names no mode."""
    from local_react.cli.door import network_for

    mode = options["network_mode"] or ("deny" if options.get("private") else None)
    return network_for({**options, "network_mode": mode})


def make_agent(
    options: Mapping[str, Any],
    model: Model,
    network: Network,
    tools: list[AnyTool],
    *,
    votes: int | Literal["auto"],
    recorder: Recorder | None = None,
) -> Agent:
    """Return the agent, whose calls are noted by the recorder. Raises UsageError where an
    option is out of its range."""
    from local_react.agent import Agent
    from local_react.cli.approving import approver

    every, yes = _asking(options)
    approve = approver(tools, every=every, network=network, named=options["wanted"], yes=yes)
    return Agent(
        model,
        recorder.tools(tools) if recorder else tools,
        max_steps=options["max_steps"],
        thought_tokens=options["thought_tokens"],
        thinking_tokens=options["thinking_tokens"],
        observation_tokens=options["observation_tokens"],
        sampling=sampling_of(options),
        approve=recorder.approve(approve) if recorder else approve,
        approve_every=every,
        votes=1 if every else votes,  # nobody can be asked about several at once
        system=system_of(options),
        timeout=options["timeout"],
    )


def _asking(options: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return whether the user is asked before every action, and whether all is agreed to.
    Raises UsageError where the command line says both."""
    every, yes = bool(options.get("approve")), bool(options["yes"])
    if every and yes:
        given = [_is_given(name) for name in ("approve", "yes")]
        if all(given):
            raise UsageError("--approve and --yes contradict each other: give one of them")
        every, yes = not given[1], given[1]  # what is said now goes before what is set
    return every, yes


def _is_given(name: str) -> bool:
    """Return whether the command line gives an option."""
    context = click.get_current_context(silent=True)
    return context is not None and (
        context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    )


def sampling_of(options: Mapping[str, Any]) -> Sampling:
    """Return how tokens are chosen. Raises UsageError for a figure out of its range."""
    from local_react.core import Sampling

    names = ("temperature", "seed", "top_k", "top_p", "min_p", "repeat_penalty")
    try:
        return Sampling(**{name: options[name] for name in names})
    except ValueError as error:
        raise UsageError(str(error)) from error


def system_of(options: Mapping[str, Any]) -> str:
    """Return what the model is to keep to. Raises UsageError where the file cannot be read."""
    text, file = options["system"] or "", options["system_file"]
    if file is None:
        return text
    if text:
        raise UsageError("--system and --system-file contradict each other: give one of them")
    return _text_of(file)


def _text_of(file: Path) -> str:
    from local_react.readers import Unreadable, text_of

    try:
        return text_of(file.read_bytes()).strip()
    except (OSError, Unreadable) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{file} cannot be read: {reason}") from error


def votes_for(question: str, options: Mapping[str, Any]) -> int | Literal["auto"]:
    """Return how many runs are wanted. Raises UsageError where one is to tell how sure it
    is."""
    from local_react.cli.agreement import runs_for_sureness

    votes: int | Literal["auto"] = options["votes"]
    if options["only_if_sure"] is None:
        return votes
    if votes == 1:
        if _is_given("votes"):
            raise UsageError(f"{ONLY_IF_SURE} needs several runs: give --votes auto, or 2 or more")
        votes = "auto"  # what is asked for now goes before what is set for good
    return votes if votes != "auto" else runs_for_sureness(question) or "auto"
