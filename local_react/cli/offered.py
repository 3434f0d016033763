"""Which tools a run is offered: what there is, what was asked for, what may be sent."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from local_react.cli.options import search_settings
from local_react.errors import UsageError

if TYPE_CHECKING:
    from local_react.network import Network
    from local_react.tools.base import AnyTool


@dataclass(frozen=True, slots=True)
class Offered:
    """The tools that are offered, and what is wrong with those of the user's that are not,
    one line each."""

    tools: list[AnyTool]
    faults: tuple[str, ...] = ()


def offered_tools(network: Network, options: Mapping[str, Any], *, private: bool) -> Offered:
    """Return the tools to offer, the user's first. With a private text, those that send
    something out are left out unless they are named.

    Raises UsageError for a name that no tool has, or a file of tools that is none, and
    OfflineError for a tool that needs the network where nothing may be sent.
    """
    if options["no_tools"] and options["wanted"]:
        raise UsageError("--no-tools and --tool contradict each other: give one of them")
    if options.get("remember") and options["private"]:
        raise UsageError("--remember writes and --private does not: give one of them")
    if options["no_tools"]:
        return Offered([])
    from local_react.plugins import load_tools
    from local_react.tools import builtin_tools

    search = search_settings(options)
    every = builtin_tools(network, everything=True, search=search)
    keeping = _keeping() if options.get("remember") else []
    loaded = load_tools(options.get("functions", ()), builtin=[tool.name for tool in every])
    if options["wanted"]:
        wanted = _wanted(options["wanted"], [*loaded.tools, *every], network)
        return Offered([*keeping, *wanted], loaded.faults)
    # Behind a shut door a tool that can do without the network is one that does.
    door = _shut(network) if private else network
    own = [tool for tool in loaded.tools if not tool.network or door.admits(tool.name)]
    return Offered([*own, *keeping, *builtin_tools(door, search=search)], loaded.faults)


def _keeping() -> list[AnyTool]:
    from local_react.history import History
    from local_react.tools.remember import make_remember

    return [make_remember(History().remember)]


def _shut(network: Network) -> Network:
    return type(network)("deny")


def named_tool(name: str, tools: Iterable[AnyTool]) -> AnyTool:
    """Return the tool of that name. Raises UsageError, with the nearest, where there is none."""
    known = {tool.name: tool for tool in tools}
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the tools are {', '.join(known)}"
        raise UsageError(f"there is no tool {name!r}: {hint}")
    return known[name]


def _wanted(wanted: Sequence[str], tools: Sequence[AnyTool], network: Network) -> list[AnyTool]:
    """Return the tools of these names. Raises UsageError and OfflineError."""
    for tool in (named_tool(name, tools) for name in wanted):
        if tool.network:
            network.check(tool.name, "asked for by --tool")
    return [tool for tool in tools if tool.name in wanted]
