"""Approval: before a tool acts, the user sees what it would do, and says yes, no, or how."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import click

from local_react.cli.added import added
from local_react.cli.door import approval, forget_what_was_typed, typed_line
from local_react.cli.show import printable
from local_react.core import Call

if TYPE_CHECKING:
    from local_react.acting import Approve
    from local_react.network import Network
    from local_react.tools.base import AnyTool


_WHAT_IT_DOES: Final[Mapping[str, str]] = {
    "writes": "may change something",
    "runs": "may run programs",
    "reads files": "reads your files",
    "reads network": "sends something out",
}
_KEYS: Final = {"y": "y", "yes": "y", "n": "n", "no": "n", "": "n", "e": "e", "edit": "e",
                "a": "a", "always": "a"}  # fmt: skip


approval_options: Final = added(
    click.option(
        "--approve",
        is_flag=True,
        help="Ask before each action: yes, no, edit or always.  [default: before those that "
        "change something; without a terminal these do not run]",
    ),
    click.option(
        "-y",
        "--yes",
        is_flag=True,
        help="Let tools act without asking; what is sent out is still asked about.",
    ),
)
"""--approve and --yes, which `approver` is told of."""


def approver(
    tools: Sequence[AnyTool],
    *,
    every: bool,
    network: Network,
    named: Collection[str],
    yes: bool = False,
) -> Approve:
    """Return what decides whether a call may run. The user is asked, where `network` has
    somebody to ask: before each action if `every`, else before one that has an effect; with
    `yes` not at all.

    What is sent out after the user's documents were read is asked about by `approval`, of
    which `named` are those tools that were asked for by name, unless the user has just seen
    the very call and said yes to it.
    """
    known = {tool.name: tool for tool in tools}
    return _Approver(known, every, yes, network, approval(network, named))


@dataclass(frozen=True)
class _Approver:
    """Decides about calls, and remembers what was said."""

    known: Mapping[str, AnyTool]
    every: bool
    yes: bool
    network: Network
    sends: Approve
    always: set[str] = field(default_factory=set)
    ran: set[str] = field(default_factory=set)
    asking: Lock = field(default_factory=Lock)

    def __call__(self, call: Call) -> bool | Call:
        with self.asking:  # one question at a time
            said = self._said(self.known[call.tool], call)
            if said:
                self.ran.add(call.tool)
            return said

    def _said(self, tool: AnyTool, call: Call) -> bool | Call:
        if not (self.every or tool.has_effect):
            return self.sends(call)
        if self.yes or tool.name in self.always:
            return self.sends(call) if self._may_send_documents(tool) else True
        if self.network.ask is None:
            return False
        key, wanted = _asked(tool, call)
        if key == "a":
            self.always.add(tool.name)
        return key != "n" and wanted

    def _may_send_documents(self, tool: AnyTool) -> bool:
        # Where every call comes by here it is known whether documents were read.
        read = not self.every or any("reads files" in self.known[name].may for name in self.ran)
        return read and tool.network and tool.brings_outside_text


def _asked(tool: AnyTool, call: Call) -> tuple[str, Call]:
    """Show the call and return the user's answer, "y", "n" or "a", and the call as the user
    wants it. The end of the input is a no."""
    forget_what_was_typed()
    while True:
        _show(tool, call)
        key = _key(tool)
        if key != "e":
            return key, call
        call = _edited(tool, call)


def _show(tool: AnyTool, call: Call) -> None:
    does = [text for ability, text in _WHAT_IT_DOES.items() if ability in tool.may]
    told = ", ".join(does) or "only computes"
    click.echo(f"\n{tool.name} wants to act; it {told}:\n  {_spelled(call)}", err=True)


def _spelled(call: Call) -> str:
    """Return the arguments as JSON in which what nobody sees is escaped."""
    from local_react.outside import spelled

    text = json.dumps(dict(call.arguments), ensure_ascii=False)
    return "".join(c if c == " " or spelled(c) == c else json.dumps(c)[1:-1] for c in text)


def _key(tool: AnyTool) -> str:
    while True:
        _say(f"Run it? y: yes, n: no, e: edit, a: always {tool.name} [n] ", nl=False)
        line = typed_line()
        if not line:
            click.echo(err=True)
        if key := _KEYS.get(line.strip().casefold()):
            return key


def _edited(tool: AnyTool, call: Call) -> Call:
    """Return the call with the arguments that the user gives it; the end of the input, or an
    empty line, leaves it as it is."""
    text = _spelled(call)
    while True:
        try:
            text = _typed_over(text)
        except EOFError:
            return call
        if not text.strip():
            return call
        try:
            return Call(call.tool, _arguments(tool, text))
        except ValueError as error:
            _say(f"That will not do: {printable(' '.join(str(error).split()))}")


def _typed_over(text: str) -> str:
    """Return a line of which the user is given the beginning. Raises EOFError."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.output import create_output

    session = PromptSession[str](output=create_output(stdout=sys.stderr))
    return session.prompt("arguments: ", default=text)


def _arguments(tool: AnyTool, text: str) -> dict[str, Any]:
    """Return the arguments that a text of JSON gives. Raises ValueError where the tool
    cannot have them."""
    from pydantic import ValidationError

    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is no JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise ValueError("it is no JSON object")
    try:
        tool.arguments.model_validate(arguments)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        where = ".".join(map(str, fault["loc"])) or "arguments"
        raise ValueError(f"{where}: {fault['msg']}") from error
    return arguments


def _say(text: str, *, nl: bool = True) -> None:
    colour = None if "NO_COLOR" not in os.environ else False
    click.secho(text, err=True, bold=True, nl=nl, color=colour)
