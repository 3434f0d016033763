"""Worked examples for the prompt, one per situation, chosen by the tools present.

A small model learns from them when no tool is needed, which tool fits, and when to
stop; without them it was seen to search for what it knows and to call tools at
random. They are short, because every token of them is read before the first answer.
"""

from __future__ import annotations

from collections.abc import Collection

from local_react.examples.example import Example
from local_react.examples.problems import PROBLEMS
from local_react.examples.situations import (
    DOCUMENTS,
    KNOWN,
    OUTSIDE,
    WITH_A_TOOL_OF_THE_USERS,
    WITH_THE_USERS_TOOLS,
    WITH_TOOLS,
)
from local_react.outside import HEAD

BUILTIN = {
    "calculator",
    "current_time",
    "exchange_rate",
    "lookup",
    "read_document",
    "read_page",
    "search",
    "search_documents",
    "wikipedia",
}


def examples_for(tools: Collection[str], *, outside: bool, reckons: bool = False) -> list[Example]:
    """Return the examples for the tools of these names, and one of how text from
    `outside` is taken where a tool brings it. For a question that `reckons`, with what
    computes alone or with nothing, they are problems of that kind."""
    if reckons and not tools:
        return [problem.reasoned for problem in PROBLEMS]
    if reckons and set(tools) == {"calculator"}:
        return [problem.computed for problem in PROBLEMS]
    candidates = (*DOCUMENTS, KNOWN, *WITH_TOOLS)
    shown = [example for example in candidates if example.fits(tools)]
    if outside and not any(step.observation.startswith(HEAD) for e in shown for step in e.steps):
        shown.append(OUTSIDE)
    if "calculator" in tools and not BUILTIN.issuperset(tools):
        shown.append(WITH_A_TOOL_OF_THE_USERS)
    elif tools and not outside and BUILTIN.isdisjoint(tools):
        shown.append(WITH_THE_USERS_TOOLS)
    return shown
