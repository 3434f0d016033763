"""`local-react models recommend`: what fits this machine, and which model to take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from local_react.catalog import PULL, CatalogModel, kind_of, load_catalogue, models_dir
from local_react.cli.show import complain, json_text
from local_react.errors import ModelError
from local_react.memory import gib

if TYPE_CHECKING:
    from local_react.recommending import Candidate, Recommendation


@click.command("recommend", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def recommend(as_json: bool) -> int:
    """Tell which models fit the memory that is available now, and which one to take.

    The best come first. How fast one writes is what `local-react bench` has measured; of
    others it is estimated by their size. The exit code is 0, or 3 where none fits.
    """
    from local_react import hardware, recommending

    catalogue = load_catalogue()
    rates = recommending.measured_rates(catalogue.models)
    found = recommending.recommend(catalogue, hardware.available_memory(), rates)
    if as_json:
        click.echo(json_text(_as_dict(found)))
    else:
        _print_recommendation(found)
    return 0 if found.take else ModelError.exit_code


def _as_dict(found: Recommendation) -> dict[str, Any]:
    return {
        "memory_available": found.available,
        "models": [_candidate(candidate) for candidate in found.fitting],
        "take": found.take and found.take.model.name,
        "command": found.take and _next_step(found.take),
        "short_by": found.short_by,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    rate = candidate.rate
    return {
        "name": candidate.model.name,
        "memory_needed": candidate.needed,
        "here": _is_here(candidate.model),
        "tokens_per_second": rate and rate.tokens_per_second,
        "estimated_from": rate and rate.estimated_from,
    }


def _print_recommendation(found: Recommendation) -> None:
    available = gib(found.available)
    if found.take is None:
        small = found.smallest
        complain(
            f"no model fits: {available} of memory are available, and the smallest, "
            f"{small.model.name}, needs {gib(small.needed)}: "
            f"close other programs to free {gib(found.short_by)}"
        )
        return
    click.echo(f"{available} of memory are available. What fits, the best first:")
    for candidate in found.fitting:
        mark = "*" if _is_here(candidate.model) else " "
        line = f"{mark} {candidate.model.name:<24} {gib(candidate.needed):>8}  {_speed(candidate)}"
        click.echo(line.rstrip())
    click.echo(f"Take {found.take.model.name}: {found.take.model.good_for}.")
    click.echo(_next_step(found.take))
    if not any(candidate.rate for candidate in found.fitting):
        click.echo("how fast they are is not known: `local-react bench` measures one", err=True)


def _speed(candidate: Candidate) -> str:
    rate = candidate.rate
    if rate is None:
        return ""
    if rate.estimated_from is None:
        return f"{rate.tokens_per_second:.1f} tokens/s, measured"
    return f"about {_rough(rate.tokens_per_second)} tokens/s, estimated from {rate.estimated_from}"


def _rough(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 10 else f"{rate:.1f}"


def _next_step(candidate: Candidate) -> str:
    name = candidate.model.name
    return f'local-react -m {name} "..."' if _is_here(candidate.model) else f"{PULL} {name}"


def _is_here(model: CatalogModel) -> bool:
    return kind_of(models_dir() / model.file) == "file"
