"""`local-react bench`: how fast a model is here, and which settings make it so."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from local_react.catalog import human_bytes, load_catalogue, resolve
from local_react.cli.options import model_option
from local_react.cli.show import Display, printable

if TYPE_CHECKING:
    from local_react.benchmark import Speed, WarmStart


@click.command("bench", context_settings={"help_option_names": ["-h", "--help"]})
@model_option("The model to measure.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.option("--no-save", is_flag=True, help="Change nothing: do not remember the best.")
@click.option("--forget", is_flag=True, help="Measure nothing, and forget what was the best.")
def bench(model: str | None, as_json: bool, no_save: bool, forget: bool) -> None:
    """Measure a model on this machine, and remember the best settings for it.

    It is loaded with several numbers of threads, with its weights as they are in the file
    and laid out anew (repack). What answers a typical question soonest is used from then
    on, unless --threads or --repack say otherwise. It takes a minute or a few, and
    programs that are busy meanwhile spoil the figures.
    """
    # Imported here: it loads llama.cpp, and --help should not.
    from local_react.benchmark import warm_start
    from local_react.profiles import Profile, save_profile

    name = model or load_catalogue().default
    path = resolve(name)
    if forget:
        save_profile(path.name, Profile())
        click.echo(f"{printable(name)} is loaded with the default settings from now on.")
        return
    speeds = _measured(name)
    best = _best(speeds)
    with Display().waiting("first starts, and warm ones"):
        chosen = ["--threads", str(best.threads), "--repack" if best.repack else "--no-repack"]
        start = warm_start(name, chosen)
    if as_json:
        click.echo(json.dumps(_as_dict(name, speeds, best, start), indent=2))
    else:
        _print(name, speeds, best, start)
    if not no_save:  # last, so that the figures are not lost where it fails
        save_profile(path.name, Profile(best.threads, best.repack, best.write_rate))
        if not as_json:
            click.echo("The best is used from now on; `local-react doctor` shows it.")


def _measured(name: str) -> list[Speed]:
    """Return how fast the model is, loaded in each of the ways to try."""
    from local_react.benchmark import speed_in_child

    ways = [(threads, repack) for threads in _candidates() for repack in (False, True)]
    speeds = []
    for number, (threads, repack) in enumerate(ways, 1):
        what = f"{number} of {len(ways)}: {threads} threads, repack {_word(repack)}"
        with Display().waiting(what):
            speeds.append(speed_in_child(name, threads=threads, repack=repack))
    return speeds


_HEADS = "threads  repack     load    read   write    bare share    memory  question"
_NOTES = """\

read, write   tokens/s of a prompt, and of a reply in the form of a step
bare, share   tokens/s of llama.cpp alone with that reply, and ours of it
repack        whether the weights are laid out anew when they are loaded
memory        the most that the process took
question      to load the model, read 100 tokens and write 100
"""


def _print(name: str, speeds: list[Speed], best: Speed, start: WarmStart) -> None:
    from local_react.hardware import fingerprint

    click.echo(printable(f"{name}, {human_bytes(best.file_bytes)}, on {fingerprint()}\n"))
    click.echo(_HEADS)
    for speed in speeds:
        click.echo(
            f"{speed.threads:>7}  {_word(speed.repack):>6} {speed.load_seconds:>6.2f} s"
            f" {speed.read_rate:>7.1f} {speed.write_rate:>7.1f} {speed.bare_rate:>7.1f}"
            f" {speed.write_rate / speed.bare_rate:>5.0%}  {human_bytes(speed.peak_bytes):>8}"
            f" {speed.question_seconds:>7.1f} s{'  best' if speed is best else ''}"
        )
    click.echo(_NOTES)
    beyond = max(0, best.peak_bytes - best.file_bytes - best.cache_bytes)
    click.echo(
        f"Memory of the best: {human_bytes(best.file_bytes)} file, "
        f"{human_bytes(best.cache_bytes)} context, {human_bytes(beyond)} the rest."
    )
    click.echo(
        f"Its first token: {start.cold:.2f} s after a first start, {start.warm:.2f} s "
        f"({start.ratio:.0%}) after a later one."
    )


def _as_dict(name: str, speeds: list[Speed], best: Speed, start: WarmStart) -> dict[str, Any]:
    from local_react.hardware import fingerprint

    return {
        "model": name,
        "machine": fingerprint(),
        "speeds": [
            {**asdict(speed), "question_seconds": speed.question_seconds} for speed in speeds
        ],
        "best": {"threads": best.threads, "repack": best.repack},
        "warm_start": {**asdict(start), "ratio": start.ratio},
    }


def _best(speeds: list[Speed]) -> Speed:
    """Return the quickest; with the weights laid out anew only where that gains clearly,
    because loading takes longer then, and other processes share none of the memory."""
    plain = min((s for s in speeds if not s.repack), key=lambda speed: speed.question_seconds)
    quickest = min(speeds, key=lambda speed: speed.question_seconds)
    return quickest if quickest.question_seconds < 0.95 * plain.question_seconds else plain


def _candidates() -> list[int]:
    """Return the numbers of threads to try: all CPUs, the cores, and half of those."""
    from local_react.hardware import default_threads, usable_cpus

    cores = default_threads()
    return sorted({usable_cpus(), cores, max(1, cores // 2)})


def _word(repack: bool) -> str:
    return "yes" if repack else "no"
