"""`local-react tools`: what the model may call, shown and tried out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from local_react.cli.door import account, network_for, network_options
from local_react.cli.offered import named_tool
from local_react.cli.options import functions_option, search_options, search_settings
from local_react.cli.show import complain, json_text, printable
from local_react.errors import OfflineError, ToolError, UsageError

if TYPE_CHECKING:
    from local_react.core import Findings
    from local_react.network import Network
    from local_react.tools.base import AnyTool

REFUSED: Final = 1
_CONTEXT: Final = {"help_option_names": ["-h", "--help"]}
_BUILT_IN: Final = "built-in"
_WIDEST: Final = 40
"""Characters of a column, beyond which a longer cell moves what follows it."""
_EPILOG: Final = """\b
Exit codes:
  0  it gave something
  1  it refused what it was given, or failed
  2  no such tool, or arguments that do not fit
  5  it needs the network, which is off or was refused
"""


@dataclass(frozen=True, slots=True)
class _Known:
    """A tool, and where it comes from."""

    tool: AnyTool
    origin: str

    @property
    def may(self) -> str:
        """What it may do beside computing."""
        return ", ".join(sorted(self.tool.may)) or "only computes"

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON's types, without its arguments."""
        return {
            "name": self.tool.name,
            "origin": self.origin,
            "may": sorted(self.tool.may),
            "network": self.tool.network,
            "effects": self.tool.has_effect,
            "description": self.tool.description,
        }


_json = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")


@click.group("tools", context_settings=_CONTEXT, invoke_without_command=True)
@click.pass_context
def tools(context: click.Context) -> None:
    """What the model may call: the built-in tools, and your own.

    Your own are typed functions with a docstring: in a file that --functions names, in the
    files of the folder tools in your configuration, and in packages that bring some.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@tools.command("list", context_settings=_CONTEXT)
@functions_option
@_json
def list_(functions: tuple[Path, ...], as_json: bool) -> None:
    """List the tools: where each comes from, and what it may do beside computing."""
    known = _every(_shut(), functions).values()
    if as_json:
        click.echo(json_text([one.as_dict() for one in known]))
        return
    rows = [(one.tool.name, one.origin, one.may) for one in known]
    shown = [tuple(map(_line, row)) for row in rows]
    widths = [min(max(len(row[n]) for row in shown), _WIDEST) for n in range(3)]
    for one, row in zip(known, shown, strict=True):
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join([*cells, _line(one.tool.description.split(". ")[0])]))


@tools.command("show", context_settings=_CONTEXT)
@click.argument("name")
@functions_option
@_json
def show(name: str, functions: tuple[Path, ...], as_json: bool) -> None:
    """Show a tool: its description, the JSON schema of its arguments, and the grammar under
    which a model calls it."""
    from local_react.protocol import action_grammar

    one = _named(name, _every(_shut(), functions))
    schema, grammar = one.tool.schema, action_grammar([one.tool])
    if as_json:
        click.echo(json_text({**one.as_dict(), "schema": schema, "grammar": grammar}))
        return
    click.echo(f"{_line(one.tool.name)}: {_line(one.tool.description)}")
    click.echo(f"from: {_line(one.origin)}\nmay: {one.may}\n")
    click.echo(f"arguments, as a JSON schema:\n{json_text(schema)}\n")
    click.echo(f"grammar of what follows Action:\n{printable(grammar)}", nl=False)


def _settings_of_a_call(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that a tool's call depends on, as they are for a question."""
    no_cache = click.option(
        "--no-cache", is_flag=True, help="Neither use nor keep the network's answers."
    )
    return functions_option(network_options(search_options(no_cache(command))))


@tools.command("test", context_settings=_CONTEXT, epilog=_EPILOG)
@click.argument("name")
@click.argument("arguments", default="{}", metavar="['{\"NAME\": VALUE, ...}']")
@_settings_of_a_call
def test(name: str, arguments: str, functions: tuple[Path, ...], **options: Any) -> int:
    """Call a tool, as a model would: with arguments in JSON, which are validated.

    What it gives goes to standard output. What it needs from the network leaves as it does
    for a question: you are asked first.
    """
    network = network_for(options)
    tool = _named(name, _every(network, functions, search_settings(options))).tool
    values = _object(arguments, tool)
    try:
        click.echo(_told(tool.run(values)))
        return 0
    except ToolError as error:
        complain(str(error))
        if not _fit(values, tool):
            return UsageError.exit_code
        return OfflineError.exit_code if network.refused else REFUSED
    finally:
        if network.exchanges or network.refused:
            click.echo(printable(account(network)), err=True)


def _shut() -> Network:
    from local_react.network import Network

    return Network("deny")


def _every(
    network: Network, functions: Sequence[Path], search: Mapping[str, Any] | None = None
) -> dict[str, _Known]:
    """Return all tools by their names, and complain of what is at fault in the user's own."""
    # Imported here: it takes long, and the user's own code runs.
    from local_react.plugins import load_tools
    from local_react.tools import builtin_tools

    builtin = builtin_tools(network, everything=True, search=search)
    loaded = load_tools(functions, builtin=[tool.name for tool in builtin])
    for fault in loaded.faults:
        complain(fault, colour="yellow")
    known = [_Known(tool, _BUILT_IN) for tool in builtin]
    known += [_Known(tool, loaded.origins[tool.name]) for tool in loaded.tools]
    return {one.tool.name: one for one in known}


def _named(name: str, known: Mapping[str, _Known]) -> _Known:
    return known[named_tool(name, [one.tool for one in known.values()]).name]


def _object(text: str, tool: AnyTool) -> dict[str, Any]:
    """Return the arguments. Raises UsageError where the text is no JSON object."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        values = None
    if isinstance(values, dict):
        return values
    names = ", ".join(f'"{name}": ...' for name in tool.schema.get("properties", {}))
    raise UsageError(f"the arguments of {tool.name} are a JSON object: '{{{names}}}'")


def _fit(values: Mapping[str, Any], tool: AnyTool) -> bool:
    from pydantic import ValidationError

    try:
        tool.arguments.model_validate(values)
    except ValidationError:
        return False
    return True


def _told(result: str | Findings) -> str:
    """Return what a tool gave as a person reads it: each passage with its source."""
    if isinstance(result, str):
        return printable(result)
    blocks = [result.note] if result.note else []
    for number, passage in enumerate(result.passages, start=1):
        head = ": ".join(part for part in (passage.title, passage.source) if part)
        blocks.append(f"[{number}] {_line(head)}\n{passage.text}")
    return printable("\n\n".join(blocks))


def _line(text: str) -> str:
    return " ".join(printable(text).split())
