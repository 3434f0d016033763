"""Tools: what the model may call. This module only gathers the built-in ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from local_react.network import Network
    from local_react.tools.base import Tool


def builtin_tools(network: Network) -> list[Tool[..., Any]]:
    """Return the built-in tools, the most specific first and search last.

    Where the door is shut the tools that need it are left out: one that always fails
    draws a small model into trying it again and again.
    """
    # Imported here, so that a name like calculator stays the module's.
    from local_react.tools.calculator import calculator
    from local_react.tools.current_time import current_time
    from local_react.tools.exchange_rate import make_exchange_rate
    from local_react.tools.search import make_search

    tools: list[Tool[..., Any]] = [
        calculator,
        current_time,
        make_exchange_rate(network),
        make_search(network),
    ]
    return [tool for tool in tools if not (tool.network and network.offline)]
