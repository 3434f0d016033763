"""The tool by which the model keeps what the user tells it, where that is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from local_react.tools.base import AnyTool, tool


def make_remember(keep: Callable[[str], object]) -> AnyTool:
    """Return a tool that hands a fact to `keep`. It writes: the user is asked before."""

    @tool(may=["writes"])
    def remember(
        fact: Annotated[
            str, Field(description='a whole sentence, such as "The user lives in Oslo."')
        ],
    ) -> str:
        """Keep a fact for later conversations, where the user asks for that."""
        keep(fact)
        return "It is remembered."

    return remember
