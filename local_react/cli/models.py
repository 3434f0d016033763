"""`local-react models`: what there is, what is here, and what fits this machine."""

from __future__ import annotations

import difflib
import os
import sys
from pathlib import Path
from typing import Any

import click

from local_react.catalog import (
    LIST,
    CatalogModel,
    Catalogue,
    add_model,
    added_models,
    all_shards,
    expanded,
    forget_name,
    human_bytes,
    kind_of,
    load_catalogue,
    models_dir,
)
from local_react.cli.completing import model_names
from local_react.cli.model_subjects import Subject, looked_into, subject_of
from local_react.cli.models_recommend import recommend
from local_react.cli.models_show import show
from local_react.cli.models_verify import verify
from local_react.cli.pull import pull
from local_react.cli.show import complain, json_text, printable
from local_react.errors import ModelError, ModelNotFound, UsageError

_SETTINGS = {"help_option_names": ["-h", "--help"]}

_json = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")


class _Models(click.Group):
    """A group that names the nearest of its commands where there is none of a name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command's name, the command and its arguments. Raises UsageError where
        there is none."""
        word = args[0]
        if self.get_command(ctx, word) is None and not ctx.resilient_parsing:
            near = difflib.get_close_matches(word, self.commands, n=1)
            hint = f"did you mean {near[0]}?" if near else f"but {', '.join(self.commands)}"
            raise UsageError(f"there is no `{LIST} {word}`: {hint} (a question goes in quotes)")
        return super().resolve_command(ctx, args)


@click.group("models", cls=_Models, context_settings=_SETTINGS, invoke_without_command=True)
@click.pass_context
def models(context: click.Context) -> None:
    """The models: list, fetch, check, add and remove them, and what fits this machine.

    Without a command: the list. A model is named as in the list, or by its file.
    """
    if context.invoked_subcommand is None:
        print_list(None)


models.add_command(pull)
models.add_command(verify)
models.add_command(show)
models.add_command(recommend)


@models.command("list", context_settings=_SETTINGS)
@_json
def list_models(as_json: bool) -> None:
    """List the models of the catalogue and those that you added, and which are here."""
    if not as_json:
        print_list(None)
        return
    catalogue, here = load_catalogue(), models_dir()
    roles = _roles(catalogue)
    told = [
        {**_entry(model, here), "role": roles.get(model.name), "added": False}
        for model in catalogue.models
    ]
    told += [
        {"name": name, "file": str(path), "here": kind_of(path) == "file", "added": True}
        for name, path in added_models().items()
    ]
    click.echo(json_text(told))


def print_list(directory: Path | None) -> None:
    """Print the models, one a line, with what is in the directory marked."""
    here, catalogue = directory or models_dir(), load_catalogue()
    roles = _roles(catalogue)
    for model in catalogue.models:
        role = f" [{_ROLES[roles[model.name]]}]" if model.name in roles else ""
        click.echo(
            f"{_mark(here / model.file)} {model.name:<24} {model.size:>7}  "
            f"{model.memory:>4.1f} GiB memory  {model.licence:<10}  {model.good_for}{role}"
        )
    try:
        for name, path in added_models().items():
            size = human_bytes(path.stat().st_size) if kind_of(path) == "file" else "gone"
            click.echo(printable(f"{_mark(path)} {name:<24} {size:>7}  added: {path}"))
    except ModelError as error:
        complain(str(error), colour="yellow")
    click.echo(printable(f"* is here; the catalogue's go into {here}"), err=True)


_ROLES = {"recommended": "recommended where memory allows", "default": "default"}


def _roles(catalogue: Catalogue) -> dict[str, str]:
    return {catalogue.recommended: "recommended", catalogue.default: "default"}


def _mark(path: Path) -> str:
    return "*" if kind_of(path) == "file" else " "


def _entry(model: CatalogModel, directory: Path) -> dict[str, Any]:
    path = directory / model.file
    return {
        "name": model.name,
        "file": str(path),
        "here": kind_of(path) == "file",
        "bytes": model.bytes,
        "memory_gib": model.memory,
        "licence": model.licence,
        "good_for": model.good_for,
    }


@models.command("path", context_settings=_SETTINGS)
def path() -> None:
    """Print the directory of the models."""
    click.echo(printable(str(models_dir())))


@models.command("add", context_settings=_SETTINGS)
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--name", help="What to call it.  [default: as the file]")
def add(path: Path, name: str | None) -> None:
    """Make a GGUF file of your own known by a name, for -m NAME. It stays where it is.

    Of a split model give the first file. A name that stands for a file which is gone can
    be given again.
    """
    file = expanded(str(path))
    looked_into(file)
    click.echo(f"{add_model(file, name)}: known from now on")


@models.command("rm", context_settings=_SETTINGS)
@click.argument("name", metavar="NAME|FILE", shell_complete=model_names)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def rm(name: str, yes: bool) -> None:
    """Remove a model's file, with what an interrupted download left beside it.

    Of a model that you added the name is forgotten, and the file stays.
    """
    if name.strip().casefold() in added_models():
        _forget(name.strip().casefold(), yes=yes)
        return
    # Imported here: it brings the network with it, and --help should not.
    from local_react.download.installed import remove, traces

    subject = _removable(name)
    files = all_shards(subject.path)
    sizes = [one.lstat().st_size for file in files for one in traces(file)]
    if not sizes:
        raise ModelNotFound(f"{subject.name} is not in {subject.path.parent}: nothing to remove")
    held = human_bytes(sum(sizes))
    if _agreed(f"Remove {subject.name} ({held}) from {subject.path.parent}?", yes=yes):
        freed = sum(map(remove, files))
        click.echo(printable(f"{subject.name}: removed, {freed:,} bytes freed"))


def _forget(name: str, *, yes: bool) -> None:
    file = added_models()[name]
    if _agreed(f"Forget the name {name}? {file} stays.", yes=yes):
        forget_name(name)
        click.echo(printable(f"{name}: forgotten; {file} stays"))


def _removable(name: str) -> Subject:
    """Return the model of a name or path. Raises UsageError where its file is none of the
    models directory: what is elsewhere is not ours."""
    subject, directory = subject_of(name), models_dir()
    inside = os.path.realpath(subject.path.parent) == os.path.realpath(directory)
    if not inside or subject.path.suffix.casefold() != ".gguf":
        raise UsageError(
            f"{subject.path} is no model in the models directory, {directory}, so it stays"
        )
    return subject


def _agreed(question: str, *, yes: bool) -> bool:
    """Return whether the user agrees. Raises UsageError where there is nobody to ask."""
    if yes:
        return True
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
        raise UsageError("nothing was removed, as there is nobody to ask: --yes does it unasked")
    if click.confirm(printable(question), err=True):
        return True
    complain("nothing was removed", colour="yellow")
    return False
