"""`local-react cache`: show or clear what is kept for a quicker start."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import click

from local_react.catalog import human_bytes
from local_react.errors import UsageError
from local_react.prefix_cache import LIMIT, Entry, PrefixCache, cache_dir


@click.command("cache", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("action", type=click.Choice(["show", "clear"]), default="show")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def cache(action: str, as_json: bool) -> None:
    """Show or clear what is kept for a quicker start.

    It is what a model made of the instructions and tools with which every run begins.
    No question, answer or document is ever in it. LOCAL_REACT_CACHE names another
    directory, or turns it off with the word off.
    """
    directory = cache_dir()
    if directory is None:
        raise UsageError("the cache is off: LOCAL_REACT_CACHE says so")
    kept = PrefixCache(directory)
    if action == "clear":
        files, removed = kept.clear()
        told = f"removed {files} files, {human_bytes(removed)}"
        click.echo(json.dumps({"removed": files, "bytes": removed}) if as_json else told)
        return
    entries = kept.entries()
    if as_json:
        click.echo(json.dumps([_as_dict(entry) for entry in entries], indent=2))
        return
    click.echo(f"{directory}")
    for entry in entries:
        used = datetime.fromtimestamp(entry.used).astimezone()
        click.echo(
            f"  {entry.model:<44} {entry.tokens:>6} tokens  {human_bytes(entry.bytes):>9}"
            f"  used {used:%Y-%m-%d %H:%M}"
        )
    size = human_bytes(sum(entry.bytes for entry in entries))
    click.echo(f"{size} of at most {human_bytes(LIMIT)}; it holds no question of yours")


def _as_dict(entry: Entry) -> dict[str, Any]:
    return {
        "file": str(entry.path),
        "model": entry.model,
        "tokens": entry.tokens,
        "bytes": entry.bytes,
        "used": datetime.fromtimestamp(entry.used).astimezone().isoformat(timespec="seconds"),
    }
