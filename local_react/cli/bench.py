"""`local-react bench`: how fast a model is here, and which settings make it so."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from local_react.catalog import human_bytes, load_catalogue, resolve
from local_react.cli.show import Display
from local_react.hardware import fingerprint, physical_cores, usable_cpus
from local_react.profiles import Profile, save_profile

if TYPE_CHECKING:
    from local_react.benchmark import Speed, WarmStart


@click.command("bench", context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-m",
    "--model",
    envvar="LOCAL_REACT_MODEL",
    metavar="NAME|FILE",
    help="The model to measure.  [default: the catalogue's]",
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.option("--no-save", is_flag=True, help="Do not remember what was best.")
def bench(model: str | None, as_json: bool, no_save: bool) -> None:
    """Measure a model on this machine, and remember the best settings for it.

    It is loaded with several numbers of threads, and with its weights laid out anew or
    not; what answers a typical question soonest is used from then on. It takes a minute
    or a few; other programs that are busy meanwhile spoil the figures.
    """
    # Imported here: it loads llama.cpp, and --help should not.
    from local_react.benchmark import speed_in_child, warm_start

    name = model or load_catalogue().default
    path = resolve(name)
    display = Display(quiet=as_json)
    speeds: list[Speed] = []
    for threads in _candidates():
        for repack in (False, True):
            with display.waiting(f"{threads} threads, repack {_word(repack)}"):
                speeds.append(speed_in_child(name, threads=threads, repack=repack))
    best = min(speeds, key=lambda speed: speed.question_seconds)
    with display.waiting("a first start, and a warm one"):
        chosen = ["--threads", str(best.threads), "--repack" if best.repack else "--no-repack"]
        start = warm_start(name, chosen)
    if not no_save:
        save_profile(path.name, Profile(best.threads, best.repack))
    if as_json:
        click.echo(json.dumps(_as_dict(name, speeds, best, start), indent=2))
    else:
        _print(name, speeds, best, start)
        if not no_save:
            click.echo("From now on this model is loaded so. `local-react doctor` shows it.")


def _print(name: str, speeds: list[Speed], best: Speed, start: WarmStart) -> None:
    click.echo(f"{name}, {human_bytes(best.file_bytes)}, on {fingerprint()}")
    click.echo("tokens/s, by threads and whether the weights are laid out anew (repack):\n")
    click.echo("threads repack    load   read   write     bare  ratio   memory  a question")
    for speed in speeds:
        click.echo(
            f"{speed.threads:>7} {_word(speed.repack):>6} {speed.load_seconds:>6.2f}s"
            f" {speed.read_rate:>6.1f} {speed.write_rate:>7.1f} {speed.bare_rate:>8.1f}"
            f" {speed.write_rate / speed.bare_rate:>6.3f} {human_bytes(speed.peak_bytes):>8}"
            f" {speed.question_seconds:>10.1f}s{'  best' if speed is best else ''}"
        )
    beyond = best.peak_bytes - best.file_bytes - best.cache_bytes
    click.echo(
        f"\nmemory       {human_bytes(best.file_bytes)} file, {human_bytes(best.cache_bytes)} "
        f"context, {human_bytes(beyond)} beyond"
    )
    click.echo(
        f"first token  {start.cold:.2f} s after a first start, {start.warm:.2f} s after a warm "
        f"one: {start.ratio:.2f}"
    )


def _as_dict(name: str, speeds: list[Speed], best: Speed, start: WarmStart) -> dict[str, Any]:
    return {
        "model": name,
        "machine": fingerprint(),
        "speeds": [
            {**asdict(speed), "question_seconds": speed.question_seconds} for speed in speeds
        ],
        "best": {"threads": best.threads, "repack": best.repack},
        "warm_start": {**asdict(start), "ratio": start.ratio},
    }


def _candidates() -> list[int]:
    """Return the numbers of threads to try: all CPUs, the cores, and half of those."""
    cores = physical_cores()
    return sorted({usable_cpus(), cores, max(1, cores // 2)})


def _word(repack: bool) -> str:
    return "yes" if repack else "no"
