"""Carries out what a reply asks for: calls its tools, where they may run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias

from local_react import protocol
from local_react.aside import Aside, Deadline
from local_react.core import Action, Call, Findings, Finish, Malformed, Step
from local_react.errors import ToolError
from local_react.guards import ERROR, known_result
from local_react.outside import clean
from local_react.tools.base import FINISH, AnyTool

Approve: TypeAlias = Callable[[Call], "bool | Call"]
"""Puts a call to the user, and returns whether it may run, or the call that may instead."""
Given: TypeAlias = "str | Findings | None"
"""What an Action gave: None where it is an answer."""


@dataclass(frozen=True)
class Actor:
    """Carries out Actions; `Agent` says what its parts mean."""

    tools: Sequence[AnyTool]
    approve: Approve | None = None
    approve_every: bool = False
    earlier: Sequence[Step] = ()

    def results(
        self, actions: Sequence[Action], steps: Sequence[Step], cancel: Deadline
    ) -> Iterator[Given]:
        """Yield what the Actions give after these steps: those that wait for the network,
        where all do, run together, else one runs after the other until it is cancelled."""
        if len(actions) > 1 and all(self._waits(action, steps) for action in actions):
            asides = [
                Aside(partial(self._result, action, steps, cancel), "action") for action in actions
            ]
            yield from (aside.awaited() for aside in asides)
            return
        for number, action in enumerate(actions):
            if number and cancel.is_set():
                return
            yield self._result(action, steps, cancel)

    def tool(self, action: Action) -> AnyTool | None:
        """Return the tool that the Action calls, if there is one of that name."""
        name = action.tool if isinstance(action, Call) else None
        return next((tool for tool in self.tools if tool.name == name), None)

    def _waits(self, action: Action, steps: Sequence[Step]) -> bool:
        """Return whether the Action is a call that waits for the network and for no yes."""
        tool = self.tool(action)
        return tool is not None and tool.network and not self._is_asked(tool, steps)

    def _result(self, action: Action, steps: Sequence[Step], cancel: Deadline) -> Given:
        """Return what an Action gives: a result or an error; None where it is an answer."""
        if answer_of(action) is not None:
            return None
        if isinstance(action, Finish):
            return f"{ERROR}that is a tool's message and no answer. {_INSTEAD}"
        if isinstance(action, Malformed):
            return f"{ERROR}the step was not understood: {action.reason}. Write a shorter one."
        if (known := known_result(action, steps)) is not None:
            return known
        tool = self.tool(action)
        if tool is None:
            names = ", ".join([tool.name for tool in self.tools] + [FINISH])
            return f"{ERROR}there is no tool {action.tool}. The tools are: {names}."
        allowed = self._allowed(tool, action, steps)
        if allowed is None:
            return f"{ERROR}{tool.name} is not allowed here without the user's yes. {_INSTEAD}"
        try:
            result = _ran(tool, allowed.arguments, cancel)
        except ToolError as error:
            # It may quote what came from outside: one line can be taken for nothing else.
            return f"{ERROR}{clean(str(error), _LONGEST_ERROR)}"
        return result if allowed == action else _of_another(allowed, result)

    def _allowed(self, tool: AnyTool, call: Call, steps: Sequence[Step]) -> Call | None:
        """Return the call that may run, which the user may have changed; None for none."""
        if not self._is_asked(tool, steps):
            return call
        said = self.approve(call) if self.approve else False
        if isinstance(said, Call):
            return Call(call.tool, said.arguments)
        return call if said else None

    def _is_asked(self, tool: AnyTool, steps: Sequence[Step]) -> bool:
        """Return whether the user is asked before the tool runs."""
        wanted = self.approve is not None and (self.approve_every or tool.has_effect)
        return wanted or self._needs_a_yes(tool, steps)

    def _needs_a_yes(self, tool: AnyTool, steps: Sequence[Step]) -> bool:
        """Return whether outside text may be what asks for an effect, or the user's own text
        what is sent out."""
        steps = [*self.earlier, *steps]
        called = {step.action.tool for step in steps if isinstance(step.action, Call)}
        before = [tool for tool in self.tools if tool.name in called]
        if tool.has_effect:
            found = any(step.sources for step in steps)
            return found or any(one.brings_outside_text for one in before)
        sends = tool.network and tool.brings_outside_text
        return sends and any("reads files" in one.may for one in before)


def _ran(tool: AnyTool, arguments: Mapping[str, Any], cancel: Deadline) -> str | Findings:
    """Return what the tool gives. Where the question has a time, the tool is not waited for
    beyond that, but left behind in its thread. Raises ToolError."""
    with _at_work(tool):
        if not cancel.is_limited:
            return tool.run(arguments)
        aside = Aside(partial(tool.run, arguments), f"tool {tool.name}")
        while not aside.is_done(_SLICE):
            if cancel.is_set() and not aside.is_done(_GRACE):
                raise ToolError(f"{tool.name} was still busy when the time was over")
        return aside.result()


@contextmanager
def _at_work(tool: AnyTool) -> Iterator[None]:
    """Know within the block, and in what is called there, that the tool is at work. Raises
    ToolError where it is already: one that asks an agent, which calls it, would go on so."""
    tools = _AT_WORK.get()
    if tool.function in tools:
        raise ToolError(f"{tool.name} is at work already, and asks for this: go on without it")
    token = _AT_WORK.set((*tools, tool.function))
    try:
        yield
    finally:
        _AT_WORK.reset(token)


def answer_of(action: Action) -> str | None:
    """Return the answer that the Action gives, as far as it goes, or None. A tool's error
    is no answer."""
    if isinstance(action, Finish):
        answer: str | None = action.answer
    else:
        answer = protocol.partial_answer(action.text) if isinstance(action, Malformed) else None
    return None if answer is None or answer.startswith(ERROR) else answer


def _of_another(call: Call, result: str | Findings) -> str | Findings:
    """Return a result with a note that the user had the tool called in another way."""
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False)
    note = f"(the user had it called with {arguments})"
    if isinstance(result, Findings):
        return replace(result, note=f"{note} {result.note}".rstrip())
    return f"{note} {result}"


_AT_WORK: Final = ContextVar[tuple[Callable[..., Any], ...]]("_AT_WORK", default=())
"""The functions of the tools that are being called, in this thread or for it."""
_SLICE: Final = 0.2
"""Seconds between two looks at the time."""
_GRACE: Final = 1.0
"""Seconds that a tool has to come to its end once nobody wants it any more."""
_LONGEST_ERROR: Final = 1000
"""Characters of a tool's error that are shown."""
_INSTEAD: Final = "Answer from what you know, or say what could not be found out."
