"""`local-react models show`: what is known of a model, and what its file says."""

from __future__ import annotations

from typing import Any

import click

from local_react.catalog import LIST, PULL, CatalogModel, all_shards, human_bytes
from local_react.cli.completing import model_names
from local_react.cli.model_subjects import Subject, looked_into, subject_of
from local_react.cli.show import json_text, printable


@click.command("show", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", metavar="NAME|FILE", shell_complete=model_names)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def show(name: str, as_json: bool) -> None:
    """Show what is known of a model: its source, its file, and what the file says."""
    facts = _facts(subject_of(name))
    if as_json:
        click.echo(json_text(facts))
        return
    for label, text in _lines(facts):
        click.echo(printable(f"{label:<13} {' '.join(text.split())}"))


def _facts(subject: Subject) -> dict[str, Any]:
    """Return the facts as JSON's types; None stands for what is not known."""
    return {
        "name": subject.name,
        "in_catalogue": subject.model is not None,
        "added": subject.added,
        "file": str(subject.path),
        "here": subject.here,
        "verified": None,
        **dict.fromkeys(("licence", "repository", "revision", "sha256", "good_for")),
        **(_pinned(subject.model) if subject.model else {}),
        **(_held(subject) if subject.here else {}),
    }


def _pinned(model: CatalogModel) -> dict[str, Any]:
    names = ("licence", "repository", "revision", "sha256", "bytes", "parameters", "good_for")
    return {
        **{name: getattr(model, name) for name in names},
        "quantisation": model.quantisation,
        "context_length": model.context,
        "memory_needed": round(model.memory * 2**30),
        "memory_context": 8192,
    }


def _held(subject: Subject) -> dict[str, Any]:
    """Return what the file itself tells."""
    from local_react.memory import DEFAULT_CONTEXT, estimate

    header, details = looked_into(subject.path)
    context = min(DEFAULT_CONTEXT, header.context_length)
    said = {
        "licence": subject.model.licence if subject.model else details.licence,
        "parameters": subject.model.parameters if subject.model else details.size_label,
        "quantisation": details.quantisation or (subject.model and subject.model.quantisation),
    }
    return {
        **said,
        "bytes": sum(file.stat().st_size for file in all_shards(subject.path)),
        "verified": _verified(subject),
        "title": details.name,
        "architecture": header.architecture,
        "layers": header.block_count,
        "numbers": details.parameters,
        "context_length": header.context_length,
        "chat_template": details.chat_template,
        "files": details.shards,
        "memory_needed": estimate(subject.path, header, context).total,
        "memory_context": context,
    }


def _verified(subject: Subject) -> bool | None:
    """Return whether the file is the catalogue's, None where it has not been hashed."""
    from local_react.download.installed import is_recorded

    if subject.model is None:
        return None
    if subject.path.stat().st_size != subject.model.bytes:
        return False
    return is_recorded(subject.path, subject.model) or None


def _lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what there is to tell a person, each with its label."""
    from local_react.memory import gib

    source = facts["repository"] and f"{facts['repository']} at {facts['revision']}"
    needed = f"{gib(facts['memory_needed'])} with {facts['memory_context']} tokens of context"
    told = {
        "name": facts["name"],
        "good for": facts["good_for"],
        "file": f"{facts['file']}, {_state(facts)}",
        "size": human_bytes(facts["bytes"]),
        "source": source,
        "licence": facts["licence"],
        "SHA-256": facts["sha256"],
        "title": facts.get("title"),
        "architecture": facts.get("architecture"),
        "parameters": facts["parameters"] or _number(facts.get("numbers")),
        "quantisation": facts["quantisation"],
        "layers": _number(facts.get("layers")),
        "context": f"{facts['context_length']:,} tokens",
        "chat template": {True: "yes", False: "none: ChatML is used"}.get(
            facts.get("chat_template", "")
        ),
        "memory": needed,
    }
    return [(label, text) for label, text in told.items() if text]


def _state(facts: dict[str, Any]) -> str:
    name = facts["name"]
    if not facts["here"]:
        return f"which is not here: `{PULL} {name}` fetches it"
    if not facts["in_catalogue"]:
        return "added by you" if facts["added"] else "none of the catalogue's"
    return {
        True: "verified",
        False: f"NOT the catalogue's: `{PULL} --force {name}` fetches that",
        None: f"not verified yet: `{LIST} verify {name}` does it",
    }[facts["verified"]]


def _number(count: int | None) -> str | None:
    return None if count is None else f"{count:,}"
