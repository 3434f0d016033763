"""What the tools of a run gave, and tools that give it again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final

from local_react.core import Call, Findings, Passage
from local_react.errors import ToolError
from local_react.tools.base import AnyTool, Tool
from local_react.transcript.lines import Told, Transcript

_NOT_RECORDED: Final = "this call was not recorded, and a replay makes no other"


class Recorded:
    """What the calls of a run gave, and what the user said to them. The same call made again
    gives what it gave then, in turn; after the last time, that again."""

    def __init__(self, transcript: Transcript) -> None:
        self._lock = Lock()
        self._results = _in_turn(transcript.calls, "result")
        self._said = _in_turn(transcript.approvals, "allowed")

    def result(self, tool: str, arguments: Mapping[str, Any]) -> Told | None:
        """Return what the call gave; None where it was not recorded."""
        told: Told | None = self._next(self._results, tool, arguments)
        return told

    def approve(self, call: Call) -> bool | Call:
        """Return what the user said. What was not asked then may run: it has no effect."""
        said = self._next(self._said, call.tool, call.arguments)
        return Call(call.tool, said) if isinstance(said, dict) else said is not False

    def knows(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the call was recorded, as it was asked for."""
        return self._allowed(tool, arguments) in self._results

    def put(self, tool: str, arguments: Mapping[str, Any], text: str) -> None:
        """Have the call give a text."""
        self._results[self._allowed(tool, arguments)] = [{"observed": text}]

    def _allowed(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return the key of the call that the user made of this one."""
        said = self._said.get(_key(tool, arguments), [None])[0]
        return _key(tool, said if isinstance(said, dict) else arguments)

    def _next(self, told: dict[str, list[Any]], tool: str, arguments: Mapping[str, Any]) -> Any:
        with self._lock:
            left = told.get(_key(tool, arguments), [None])
            return left.pop(0) if len(left) > 1 else left[0]


@dataclass(frozen=True)
class ReplayedTool(Tool[..., Any]):
    """A tool that gives what was recorded."""

    told: dict[str, Any] = field(kw_only=True, repr=False)
    recorded: Recorded = field(kw_only=True, repr=False)
    computing: AnyTool | None = field(kw_only=True, repr=False)
    """Our own tool, which only computes, for what was not recorded."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return self.told

    def run(self, arguments: Mapping[str, Any]) -> str | Findings:
        """Return what was recorded, or is computed. Raises ToolError where the tool did, and
        where nothing was recorded."""
        told = self.recorded.result(self.name, arguments)
        if told is not None:
            return _result(told, self)
        if self.computing is not None:
            return self.computing.run(arguments)
        raise ToolError(_NOT_RECORDED)


def _in_turn(events: Sequence[Told], what: str) -> dict[str, list[Any]]:
    found = dict[str, list[Any]]()
    for event in events:
        found.setdefault(_key(event["tool"], event["arguments"]), []).append(event[what])
    return found


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    return json.dumps([tool, dict(arguments)], sort_keys=True)


def _result(told: Told, tool: AnyTool) -> str | Findings:
    """Return the result that a transcript tells of. Raises ToolError where it was that."""
    if "error" in told:
        raise ToolError(told["error"])
    if "text" in told:
        return str(told["text"])
    if "observed" not in told:
        passages = tuple(Passage(**passage) for passage in told["passages"])
        return Findings(passages, told["note"])
    text = str(told["observed"])
    # What stands for text from outside is shown as such.
    return Findings((Passage(text, tool.name),)) if tool.brings_outside_text else text


def no_function(**_: object) -> str:
    """Do nothing: what a ReplayedTool has for its function. Raises ToolError."""
    raise ToolError(_NOT_RECORDED)
