"""Notes what a run depends on while it happens: what its tools gave, and what the user allowed.

    recorder = Recorder()
    agent = Agent(model, recorder.tools(tools), approve=recorder.approve(approve))
    text = recorder.finish(agent.run(question), agent)

One recorder serves an agent's runs in turn. Several runs of one question call their tools
side by side: it may be called from any thread.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timedelta, timezone
from importlib.metadata import version
from itertools import groupby
from threading import Lock
from time import perf_counter
from typing import Any, Final, TypeVar

from local_react import protocol
from local_react.acting import Approve
from local_react.agent import Agent
from local_react.as_dict import run_as_dict, step_as_dict
from local_react.core import Call, Findings, Finish, Malformed, Run, Sampling, Step
from local_react.errors import ToolError
from local_react.tools.base import AnyTool, Tool
from local_react.transcript.lines import FORMAT, Told, as_line, ending

SETTINGS: Final = (
    "max_steps",
    "thought_tokens",
    "action_tokens",
    "thinking_tokens",
    "observation_tokens",
    "votes",
    "approve_every",
)
"""What a transcript keeps of an Agent as it is."""

T = TypeVar("T")


class Recorder:
    """Notes the calls of a run, and writes its transcript."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._events = list[dict[str, Any]]()
        self._known = dict[tuple[str, str, str], Any]()
        """What a tool says to a question: its kind, the tool's name, and the question."""

    def tools(self, tools: Sequence[AnyTool]) -> list[AnyTool]:
        """Return tools that do as these do, and whose calls are noted."""
        return [self._noted(tool) for tool in tools]

    def approve(self, approve: Approve | None) -> Approve | None:
        """Return what asks as `approve` does, and notes what was said."""
        if approve is None:
            return None

        def asked(call: Call) -> bool | Call:
            event = self._begun("approval", call.tool, call.arguments)
            said = approve(call)
            event["allowed"] = dict(said.arguments) if isinstance(said, Call) else bool(said)
            return said

        return asked

    def called(self, tool: AnyTool, arguments: Mapping[str, Any]) -> str | Findings:
        """Return what a tool gives, and note it. Raises ToolError as the tool does."""
        event, started = self._begun("call", tool.name, arguments), perf_counter()
        try:
            result = tool.run(arguments)
        except ToolError as error:
            event |= {"seconds": perf_counter() - started, "result": {"error": str(error)}}
            raise
        event |= {"seconds": perf_counter() - started, "result": _as_dict(result)}
        return result

    def finish(
        self,
        run: Run,
        agent: Agent,
        *,
        facts: Sequence[str] = (),
        earlier: Sequence[Run] | None = None,
        session: str = "",
        sampling: Sampling | None = None,
        loading: Told | None = None,
        model_sha256: str | None = None,
        egress: Sequence[Told] = (),
        branch: Told | None = None,
    ) -> str:
        """Return the transcript of the run that has ended, and begin with the next.

        `agent` is the one that ran, `facts` what it was told beside the question, `earlier`
        the turns before it where it was asked in a Session, and `sampling` is given where
        that was not the agent's own. `loading` and `model_sha256` tell how the model was
        loaded and which it is, `egress` what left the machine, and `branch` what it
        branches from.
        """
        began = datetime.now(timezone.utc) - timedelta(seconds=run.seconds)
        head = {
            "type": "run",
            "format": FORMAT,
            "version": version("local-react"),
            "time": began.isoformat(timespec="seconds"),
            "question": run.question,
            "facts": list(facts),
            "system": agent.system,
            "model": run.model,
            "model_sha256": model_sha256,
            "settings": _settings(agent, sampling or agent.sampling, loading or {}),
            "tools": [self._tool(tool, run.question) for tool in agent.tools],
            **fingerprints(agent, run.question, facts),
            "session": session,
            "earlier": None if earlier is None else [run_as_dict(turn) for turn in earlier],
            **({"branch": dict(branch)} if branch else {}),
        }
        steps = [{"type": "step", **told} for told in _steps(run.steps)]
        lines = [head, *self.forget(), *steps, ending(run, egress)]
        return "".join(f"{as_line(one)}\n" for one in lines)

    def _begun(self, kind: str, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Note what begins, so that its place is that of its beginning."""
        event = {"type": kind, "tool": tool, "arguments": dict(arguments)}
        with self._lock:
            self._events.append(event)
        return event

    def forget(self) -> list[dict[str, Any]]:
        """Return what was noted and came to its end, and begin with another run."""
        with self._lock:
            events, self._events, self._known = self._events, [], {}
        return [event for event in events if "result" in event or "allowed" in event]

    def _noted(self, tool: AnyTool) -> AnyTool:
        own = {part.name: getattr(tool, part.name) for part in fields(Tool)}
        own["suits"] = self._knowing("suits", tool.name, tool.suits)
        own["offer"] = self._knowing("offer", tool.name, tool.offer)
        return _Noted(**own, inner=tool, recorder=self)

    def _knowing(
        self, kind: str, name: str, tell: Callable[[str], T] | None
    ) -> Callable[[str], T] | None:
        """Return what tells something of a question once, and then knows it."""
        if tell is None:
            return None

        def told(question: str) -> T:
            key = (kind, name, question)
            if key not in self._known:
                self._known[key] = tell(question)
            known: T = self._known[key]
            return known

        return told

    def _tool(self, tool: AnyTool, question: str) -> dict[str, Any]:
        suits = self._known.get(("suits", tool.name, question))
        offer = self._known.get(("offer", tool.name, question))
        return {
            "name": tool.name,
            "description": tool.description,
            "schema": tool.schema,
            "may": sorted(tool.may),
            "own_words": tool.own_words,
            "suits": suits,
            "offer": None if offer is None else dict(offer),
            "offered": tool.offered,
        }


@dataclass(frozen=True)
class _Noted(Tool[..., Any]):
    """A tool whose calls are noted."""

    inner: AnyTool = field(kw_only=True, repr=False)
    recorder: Recorder = field(kw_only=True, repr=False)

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return self.inner.schema

    def run(self, arguments: Mapping[str, Any]) -> str | Findings:
        """Return what the tool gives. Raises ToolError as it does."""
        return self.recorder.called(self.inner, arguments)


def fingerprints(agent: Agent, question: str, facts: Sequence[str]) -> dict[str, str]:
    """Return the SHA-256 of the grammar of a step, and of the messages that put the question
    where it stands for itself: what changes with the version of local_react, too."""
    offered = agent.offered(question)
    opening = protocol.opening(offered, question, system=agent.system, facts=facts)
    messages = json.dumps([[message.role, message.content] for message in opening])
    return {
        "grammar_sha256": _sha256(protocol.step_grammar(offered)),
        "prompt_sha256": _sha256(messages),
    }


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _settings(agent: Agent, sampling: Sampling, loading: Told) -> dict[str, Any]:
    return {
        **{name: getattr(agent, name) for name in SETTINGS},
        "approve": agent.approve is not None,
        "timeout": agent.timeout,
        "context_size": agent.model.context_size,
        "sampling": asdict(sampling),
        "loading": dict(loading),
    }


def _steps(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Return the steps as JSON's types, the first of each reply with the reply's text."""
    return [
        {**step_as_dict(step), "text": "" if number else _text(reply)}
        for _, group in groupby(steps, key=lambda step: step.reply)
        for reply in [list(group)]
        for number, step in enumerate(reply)
    ]


def _text(reply: Sequence[Step]) -> str:
    """Return the text of a reply: as it was written where that was no whole one, else as it
    would be written again."""
    actions = list[Call | Finish]()
    for step in reply:
        if isinstance(step.action, Malformed):
            return step.action.text
        actions.append(step.action)
    return protocol.written(reply[0].thought, *actions)


def _as_dict(result: str | Findings) -> dict[str, Any]:
    if isinstance(result, str):
        return {"text": result}
    return {"passages": [asdict(passage) for passage in result.passages], "note": result.note}
