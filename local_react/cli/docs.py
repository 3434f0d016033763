"""`local-react docs`: the user's own documents, added, listed, searched and removed."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from local_react.catalog import human_bytes
from local_react.cli import INTERRUPTED
from local_react.cli.show import complain, printable

if TYPE_CHECKING:
    from local_react.documents import Added, Library, Progress
    from local_react.documents.reports import Watch
    from local_react.zim import ArchiveInfo

_SETTINGS = {"help_option_names": ["-h", "--help"]}
_NOTHING_YET: Final = "nothing was added yet: `local-react docs add PATH`"
_ZIM = re.compile(r"\.zim([a-z]{2})?", re.IGNORECASE)
"""How the name of an archive ends, or of a part of one, which is refused with advice."""
_SHOWN = 20
"""Skipped files that `add` names one by one."""

_json = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")


class _Path(click.Path):
    """A path; an empty one, as of a variable that is not set, would be the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not os.fspath(value):
            self.fail("a path is empty: write . for the folder you are in", param, ctx)
        return super().convert(value, param, ctx)


_path = _Path(path_type=Path)


@click.group("docs", context_settings=_SETTINGS, invoke_without_command=True)
@click.pass_context
def docs(context: click.Context) -> None:
    """Your own documents, which the agent searches without a network.

    What is added is read into an index on this machine; the files stay as they are.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@docs.command("add", context_settings=_SETTINGS)
@click.argument("paths", nargs=-1, required=True, type=_path, metavar="PATH...")
@_json
def add(paths: tuple[Path, ...], as_json: bool) -> int:
    """Add files and folders, or bring them up to date.

    Text, Markdown, HTML, PDF, Word, EPUB, mail, CSV and source code are read. Added again,
    a folder costs only what has changed in it since; what is gone is taken out. Hidden
    files and links are left out. Interrupted, it goes on where it stopped.

    A ZIM archive of Wikipedia, say, is checked and read where it is.
    """
    from local_react.documents import Added, Library

    library = Library()
    archives = [path for path in paths if _ZIM.fullmatch(path.suffix) and path.is_file()]
    others = [path for path in paths if path not in archives]
    try:
        with _progress() as watch:
            done = library.add(others, watch) if others else Added()
        added = [_add_archive(library, path) for path in archives]
    except KeyboardInterrupt:
        complain("interrupted: add it again, and it goes on where it stopped")
        return INTERRUPTED
    if as_json:
        values = {**asdict(done), "skipped": _skipped_as_dicts(done.skipped)}
        _dump({**values, "archives": [asdict(archive) for archive in added]})
        return 0
    if others:
        _tell_added(done)
    for archive in added:
        click.echo(f"added the archive {_line(archive.title)}: {archive.articles:,} articles")
    return 0


@docs.command("list", context_settings=_SETTINGS)
@click.option("--files", is_flag=True, help="List each file, with its number.")
@_json
def list_(files: bool, as_json: bool) -> None:
    """List the folders and files that were added."""
    from local_react.documents import Library

    library = Library()
    if files:
        found = library.files()
        if as_json:
            _dump([{**asdict(file), "path": _named(file.path)} for file in found])
        for file in () if as_json else found:
            what = f"not read: {file.fault}" if file.fault else _count(file.passages, "passage")
            click.echo(f"{file.document:>6}  {_line(file.path)}  {what}")
        return
    _list_roots(library.roots(), library.archives(), as_json=as_json)


@docs.command("remove", context_settings=_SETTINGS)
@click.argument("path", type=_path)
@_json
def remove(path: Path, as_json: bool) -> None:
    """Take a folder or file out of the index. The files themselves stay."""
    from local_react.documents import Library

    library = Library()
    removed = 1 if library.remove_archive(path) else library.remove(path, _Lines())
    if as_json:
        _dump({"removed": removed})
    else:
        click.echo(f"removed {_count(removed, 'file')} from the index")


@docs.command("search", context_settings=_SETTINGS)
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "limit", default=5, show_default=True, type=click.IntRange(1, 100))
@_json
def search(query: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Show the passages that are nearest to a question, as the agent would find them."""
    from local_react.documents import Library

    library = Library()
    hits = library.search(" ".join(query), limit)
    if as_json:
        _dump([{**asdict(hit), "path": _named(hit.path)} for hit in hits])
        return
    for number, hit in enumerate(hits, start=1):
        head = f"[{number}] {_line(hit.name)}, {hit.place} (document {hit.document})"
        click.secho(head, bold=True)
        click.echo(f"{printable(hit.text)}\n")
    if not hits and library.is_empty:
        click.echo(_NOTHING_YET)
    elif not hits:
        click.echo("nothing found: try other words, or see `local-react docs list`")


@docs.command("status", context_settings=_SETTINGS)
@_json
def status(as_json: bool) -> None:
    """Tell what the index holds, what could not be read, and where it is."""
    from local_react.documents import Library

    found = Library().status()
    if as_json:
        values = {**asdict(found), "skipped": _skipped_as_dicts(found.skipped)}
        _dump({**values, "other": dict(found.other)})
        return
    click.echo(_line(found.path))
    click.echo(
        f"{_count(found.files, 'file')} in {_count(found.roots, 'place')}, "
        f"{_count(found.passages, 'passage')}, {human_bytes(found.bytes)} of text; "
        f"the index takes {human_bytes(found.size)}"
    )
    if found.changed:
        click.echo(f"{_count(found.changed, 'file')} changed or gone since: add the folder again")
    for why, count in found.other:
        click.echo(f"{_count(count, 'file')} left out: {_line(why)}")
    _tell_skipped(found.skipped, len(found.skipped))


def _add_archive(library: Library, path: Path) -> ArchiveInfo:
    from local_react.zim import check

    archive = check(path)
    library.add_archive(path, archive.title)
    return archive


def _list_roots(
    roots: Sequence[Any], archives: Sequence[tuple[Path, str]], *, as_json: bool
) -> None:
    if as_json:
        rows = [{**asdict(root), "path": _named(root.path)} for root in roots]
        _dump(rows + [{"path": _named(str(path)), "title": title} for path, title in archives])
        return
    for root in roots:
        when = f"{datetime.fromtimestamp(root.indexed).astimezone():%Y-%m-%d %H:%M}"
        click.echo(
            f"{_line(root.path)}  {_count(root.files, 'file')}, {human_bytes(root.bytes)} of text"
            f"  {when if root.indexed else 'not finished: add it again'}"
        )
    for path, title in archives:
        click.echo(f"{_line(str(path))}  archive: {_line(title)}")
    if not roots and not archives:
        click.echo(_NOTHING_YET)


def _tell_added(done: Added) -> None:
    figures = {
        "added": done.added,
        "changed": done.changed,
        "unchanged": done.unchanged,
        "removed": done.removed,
    }
    told = ", ".join(f"{count} {what}" for what, count in figures.items() if count)
    click.echo(
        f"{told or 'nothing'}: {_count(done.passages, 'new passage')} from "
        f"{human_bytes(done.bytes)} of text in {done.seconds:.1f} s"
    )
    if done.other:
        click.echo(f"{_count(done.other, 'file')} of kinds that are not read, such as pictures")
    _tell_skipped(done.skipped, _SHOWN)


def _tell_skipped(skipped: Sequence[tuple[str, str]], most: int) -> None:
    for path, why in skipped[:most]:
        click.echo(f"not read: {_line(path)}: {_line(why)}")
    if len(skipped) > most:
        click.echo(f"and {len(skipped) - most} more: `local-react docs status` names them")


def _skipped_as_dicts(skipped: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"path": _named(path), "reason": why} for path, why in skipped]


@contextmanager
def _progress() -> Iterator[Watch]:
    """Yield what draws the progress: a bar on a terminal, a line at the start elsewhere."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("looking", total=None)

        def draw(at: Progress) -> None:
            name = "waiting for another process" if at.waiting else _line(Path(at.path).name)[-40:]
            bars.update(task, description=name or "reading", completed=at.done, total=at.total)

        yield draw


class _Lines:
    """Tells how much there is to read, and whom it waits for: for logs and pipes."""

    def __call__(self, at: Progress) -> None:
        if at.waiting:
            click.echo("docs: waiting for another process that adds or removes", err=True)
        elif not at.done and at.total:
            click.echo(
                f"docs: reading {_count(at.total, 'file')}, {human_bytes(at.total_bytes)}", err=True
            )


def _named(path: str) -> str:
    """Return a path as text that JSON and a terminal take."""
    from local_react.documents.titles import readable

    return readable(path)


def _line(text: str) -> str:
    return " ".join(printable(_named(text)).split())


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _dump(value: object) -> None:
    click.echo(json.dumps(value, indent=2))
