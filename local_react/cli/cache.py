"""`local-react cache`: show or clear what can be made or fetched again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from local_react.catalog import human_bytes
from local_react.cli.show import printable
from local_react.errors import UsageError
from local_react.prefix_cache import LIMIT, Entry, PrefixCache, prefix_dir

if TYPE_CHECKING:
    from local_react.network import Answers


@click.command("cache", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("action", nargs=-1, metavar="[clear]")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def cache(action: tuple[str, ...], as_json: bool) -> None:
    """Show what is kept to be quicker the next time, or clear it.

    It is what a model made of the instructions and tools with which every run begins, in
    which no question, answer or document ever is; and what the network answered in the
    last hours or days, so that it need not be asked again. What is cleared is made or
    fetched again where it is needed.

    LOCAL_REACT_CACHE names another directory; LOCAL_REACT_CACHE=off keeps nothing.
    """
    if action not in ((), ("show",), ("clear",)):
        raise UsageError(
            f"there is no `cache {' '.join(action)}`, but `local-react cache` and "
            "`local-react cache clear`; a question goes in quotes"
        )
    from local_react.network import Answers

    directory = prefix_dir()
    if directory is None:
        raise UsageError("the cache is off, and nothing is kept: LOCAL_REACT_CACHE=off says so")
    _check(directory)
    kept, answers = PrefixCache(directory), Answers.usual()
    assert answers is not None  # it is in the same directory
    if action == ("clear",):
        _clear(kept, answers, as_json=as_json)
    elif as_json:
        count, size = answers.held()
        told = {
            "prefixes": [_as_dict(entry) for entry in kept.entries()],
            "answers": {"file": str(answers.path), "answers": count, "bytes": size},
        }
        click.echo(json.dumps(told, indent=2))
    else:
        _show(directory, kept.entries())
        _show_answers(answers)


def _check(directory: Path) -> None:
    """Raise UsageError where the directory is there and cannot be looked into."""
    try:
        list(directory.iterdir())
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UsageError(f"cannot look into the cache {directory}: {error.strerror}") from error


def _clear(kept: PrefixCache, answers: Answers, *, as_json: bool) -> None:
    files, removed = kept.clear()
    of_answers = answers.clear()
    files, removed = files + bool(of_answers), removed + of_answers
    if left := len(kept.entries()):
        raise UsageError(
            f"{_files(left)} in {kept.directory} could not be removed: check whose they are"
        )
    if as_json:
        click.echo(json.dumps({"removed": files, "bytes": removed}))
    else:
        click.echo(
            f"removed {_files(files)}, {human_bytes(removed)}" if files else "nothing was kept"
        )


def _show(directory: Path, entries: Sequence[Entry]) -> None:
    click.echo(printable(str(directory)))
    names = [printable(entry.model) or "(damaged, or of another version)" for entry in entries]
    width = max(map(len, names), default=0)
    for name, entry in zip(names, entries, strict=True):
        click.echo(
            f"  {name:<{width}}  {entry.tokens:>6} tokens  {human_bytes(entry.bytes):>8}"
            f"  used {_used(entry):%Y-%m-%d %H:%M}"
        )
    size = human_bytes(sum(entry.bytes for entry in entries))
    held = f"{_files(len(entries))}, {size}" if entries else "nothing yet"
    click.echo(f"{held}, of at most {human_bytes(LIMIT)}; no question or document is in it")


def _show_answers(answers: Answers) -> None:
    from local_react.network.answers import LIMIT as MOST

    count, size = answers.held()
    told = "1 answer" if count == 1 else f"{count} answers"
    click.echo(f"{told} of the network, {human_bytes(size)}, of at most {human_bytes(MOST)}")


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _used(entry: Entry) -> datetime:
    return datetime.fromtimestamp(entry.used).astimezone()


def _as_dict(entry: Entry) -> dict[str, Any]:
    return {
        "file": str(entry.path),
        "model": entry.model,
        "tokens": entry.tokens,
        "bytes": entry.bytes,
        "used": _used(entry).isoformat(timespec="seconds"),
    }
