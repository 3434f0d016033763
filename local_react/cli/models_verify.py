"""`local-react models verify`: whether the files are what they should be."""

from __future__ import annotations

from pathlib import Path

import click

from local_react.catalog import LIST, all_shards, models_dir
from local_react.cli.completing import model_names
from local_react.cli.model_subjects import Subject, all_here, looked_into, subject_of
from local_react.cli.pull import drawn_progress
from local_react.cli.show import complain, printable
from local_react.errors import LocalReactError, ModelError


@click.command("verify", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", required=False, metavar="[NAME|FILE]", shell_complete=model_names)
def verify(name: str | None) -> int:
    """Check a model, or all that are here: its bytes against the catalogue's SHA-256.

    Of a file that is none of the catalogue's, the header is checked and the SHA-256 is
    printed. The exit code is 0, or 3 where one is wrong.
    """
    subjects = [subject_of(name)] if name else all_here()
    if not subjects:
        complain(f"no model is in {models_dir()}: `{LIST} pull` fetches one", colour="yellow")
    return max(map(_checked, subjects), default=0)


def _checked(subject: Subject) -> int:
    """Check a model, say what was found, and return the exit code."""
    try:
        told = _compared(subject) if subject.model else _looked_at(subject)
    except LocalReactError as error:
        complain(str(error))
        return ModelError.exit_code
    for line in told:
        click.echo(printable(line))
    return 0


def _compared(subject: Subject) -> list[str]:
    from local_react.download import verify as compare

    assert subject.model is not None
    with drawn_progress(subject.name, subject.model.bytes) as report:
        compare(subject.path, subject.model, report)
    return [f"{subject.name}: verified, {subject.path}"]


def _looked_at(subject: Subject) -> list[str]:
    """Return that the file is whole, and the SHA-256 of each of its files."""
    header, _ = looked_into(subject.path)
    whole = f"{subject.name}: a sound GGUF file of the architecture {header.architecture}"
    hashes = [f"{_sha256(file)}  {file}" for file in all_shards(subject.path)]
    return [f"{whole}, none of the catalogue's; its SHA-256:", *hashes]


def _sha256(path: Path) -> str:
    from local_react.download import Progress
    from local_react.download.part import sha256_of

    size = path.stat().st_size
    with drawn_progress(printable(path.name), size) as report:
        return sha256_of(path, lambda done: report(Progress("hashing", done, size)))
