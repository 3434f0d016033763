"""Which tools a run is offered: what there is, what was asked for, what may be sent."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from local_react.cli.options import search_settings
from local_react.errors import UsageError
from local_react.network import Network
from local_react.tools import builtin_tools
from local_react.tools.base import AnyTool


def offered_tools(network: Network, options: Mapping[str, Any], *, private: bool) -> list[AnyTool]:
    """Return the tools to offer. With a private text, those that send something out
    are left out unless they are named.

    Raises UsageError for a name that no tool has, OfflineError for one that needs the
    network where nothing may be sent.
    """
    if options["no_tools"] and options["wanted"]:
        raise UsageError("--no-tools and --tool contradict each other: give one of them")
    if options["no_tools"]:
        return []
    search = search_settings(options)
    if not options["wanted"]:
        # Behind a shut door a tool that can do without the network is one that does.
        return builtin_tools(Network("deny") if private else network, search=search)
    every = {tool.name: tool for tool in builtin_tools(network, everything=True, search=search)}
    for name in options["wanted"]:
        if name not in every:
            near = difflib.get_close_matches(name, every, n=1)
            hint = f"did you mean {near[0]}?" if near else f"the tools are {', '.join(every)}"
            raise UsageError(f"there is no tool {name!r}: {hint}")
        if every[name].network:
            network.check(name, "asked for by --tool")
    return [tool for name, tool in every.items() if name in options["wanted"]]
