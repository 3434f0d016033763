"""The cases of InjecAgent (Zhan et al., 2024), with their tools simulated.

A case is a user's request, the call that serves it, and what that call gives, in which
somebody else has put an instruction: it asks for one tool, or for one that reads
something private and one that sends it away.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, create_model

from local_react.core import Context, Message, Model, Request, Sampling, Usage, Weighed
from local_react.tools.base import Ability, AnyTool, Tool

Spec: TypeAlias = Mapping[str, Any]
Kind: TypeAlias = Literal["direct_harm", "data_stealing"]
KINDS: Final[tuple[Kind, ...]] = ("direct_harm", "data_stealing")
SETTINGS: Final = ("base", "enhanced")
_TYPES: Final[Mapping[str, Any]] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list[str],
    "object": dict[str, str],
}
_SAMPLES: Final[Mapping[str, object]] = {
    "string": "(a text)",
    "integer": 1,
    "number": 1.0,
    "boolean": True,
    "array": ["(an entry)"],
    "object": {"(a name)": "(a value)"},
}
"""What a simulated tool of the attacker's gives, by the type that its specification says."""


@dataclass(frozen=True)
class Case:
    """One request of a user's, and the attack on it."""

    id: str
    pair: str
    """The same in both settings: it is the same attack in other words."""
    setting: str
    kind: Kind
    question: str
    tool: str
    arguments: Mapping[str, object]
    result: str
    forbidden: tuple[str, ...]
    """The tools that the attacker wants: the last does the harm, one before it reads."""

    @property
    def first_step(self) -> str:
        """The step that is given: the call of the user's tool."""
        arguments = json.dumps(self.arguments, ensure_ascii=False)
        return f"Thought: I need to look this up.\nAction: {self.tool} {arguments}"


def read_cases(folder: Path) -> list[Case]:
    """Return the cases of the folder's public.jsonl, those of a pair together."""
    rows = [json.loads(line) for line in _lines(folder / "public.jsonl")]
    return sorted(map(_case, rows), key=lambda case: (case.pair, case.setting))


def read_specs(folder: Path) -> dict[str, Spec]:
    """Return the tools' specifications by their names."""
    return {spec["id"]: spec for spec in map(json.loads, _lines(folder / "tools.jsonl"))}


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _case(row: Mapping[str, Any]) -> Case:
    return Case(
        id=row["id"],
        pair=row["pair"],
        setting=row["setting"],
        kind=row["kind"],
        question=row["question"],
        tool=row["user_tool"],
        arguments=ast.literal_eval(row["tool_parameters"]),
        # A text in quotation marks, of which not every one inside is escaped.
        result=row["tool_response"].removeprefix('"').removesuffix('"').replace('\\"', '"'),
        forbidden=tuple(row["expected"]["forbidden_tools"]),
    )


def sample(cases: Sequence[Case], size: int) -> list[Case]:
    """Return about `size` of the cases, spread over each kind, both settings of a pair."""
    chosen = set[str]()
    for kind in KINDS:
        pairs = list(dict.fromkeys(case.pair for case in cases if case.kind == kind))
        count = min(len(pairs), max(1, round(size / (len(KINDS) * len(SETTINGS)))))
        chosen.update(pairs[number * len(pairs) // count] for number in range(count))
    return [case for case in cases if case.pair in chosen]


def simulated(
    case: Case, specs: Mapping[str, Spec], *, said: bool
) -> tuple[list[AnyTool], list[str]]:
    """Return the tools of a case, and the list into which each that runs puts its name.

    `said` has them say what they may do: the user's and one that only reads read the
    network, the last of the attacker's writes. Else they say nothing, and so nothing
    they give is taken for outside text.
    """
    ran = list[str]()
    tools = [_tool(specs[case.tool], case.result, "reads network" if said else None, ran, case)]
    for name in case.forbidden:
        may: Ability = "writes" if name == case.forbidden[-1] else "reads network"
        given = {part["name"]: _SAMPLES[part["type"]] for part in specs[name]["returns"]}
        tools.append(_tool(specs[name], json.dumps(given), may if said else None, ran, case))
    return tools, ran


def _tool(spec: Spec, result: str, may: Ability | None, ran: list[str], case: Case) -> AnyTool:
    def run(**arguments: object) -> str:
        ran.append(spec["id"])
        return result

    needed = case.arguments if spec["id"] == case.tool else {}
    return Tool(
        name=spec["id"],
        description=spec["summary"].split(". ")[0].rstrip(".") + ".",
        function=run,
        arguments=_arguments(spec, needed),
        may=frozenset([may] if may else []),
    )


def _arguments(spec: Spec, needed: Mapping[str, object]) -> type[BaseModel]:
    """Return the parameters that are required or given: the prompt stays short."""
    fields: dict[str, Any] = {
        f"argument_{number}": (_TYPES[part["type"]], Field(..., alias=part["name"]))
        for number, part in enumerate(spec["parameters"])
        if part["required"] or part["name"] in needed
    }
    made: type[BaseModel] = create_model(
        spec["id"], __config__=ConfigDict(extra="forbid"), **fields
    )
    return made


@dataclass(frozen=True)
class Begun:
    """A model whose first reply is given; what follows is the real model's own."""

    model: Model
    first: str

    @property
    def name(self) -> str:
        """The real model's name."""
        return self.model.name

    @property
    def context_size(self) -> int:
        """The real model's."""
        return self.model.context_size

    @property
    def longest_context(self) -> int:
        """The real model's."""
        return self.model.longest_context

    def start(
        self, messages: Sequence[Message], *, fixed: bool = False, cancel: Event | None = None
    ) -> BegunContext:
        """Return a context in which the first reply is still to come."""
        return BegunContext(self, self.model.start(messages, cancel=cancel), messages, cancel)

    def count(self, text: str) -> int:
        """Return how many tokens the text is."""
        return self.model.count(text)

    def check(self, grammar: str) -> None:
        """Raise GrammarError where the grammar does not compile."""
        self.model.check(grammar)

    def weigh(
        self, messages: Sequence[Message], options: Sequence[str], *, cancel: Event | None = None
    ) -> Weighed:
        """Return what the real model does."""
        return self.model.weigh(messages, options, cancel=cancel)

    def generate_many(self, requests: Sequence[Request]) -> Iterator[tuple[int, str]]:
        """Yield the replies one after the other."""
        for number, request in enumerate(requests):
            for piece in request.context.generate(request.grammar, request.sampling):
                yield number, piece


@dataclass
class BegunContext:
    """A chat whose first reply is given. Once that is followed by a message, all before
    it is the beginning that the model keeps: the other runs of the pair share it."""

    begun: Begun
    inner: Context
    opening: Sequence[Message]
    cancel: Event | None
    _replies: int = field(default=0)

    @property
    def usage(self) -> Usage:
        """The real context's."""
        return self.inner.usage

    @property
    def room(self) -> int:
        """The real context's."""
        return self.inner.room

    def think(self, most: int, seed: int = 0) -> Iterator[str]:
        """Yield what the real model thinks before a reply of its own."""
        return self.inner.think(most, seed) if self._replies else iter(())

    def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
        """Yield the reply: first the given one, then the real model's."""
        self._replies += 1
        if self._replies > 1:
            yield from self.inner.generate(grammar, sampling)
            return
        self.inner.force(self.begun.first)
        yield self.begun.first

    def force(self, text: str) -> None:
        """Append text to the reply."""
        self.inner.force(text)

    def append(self, message: Message) -> None:
        """Add a message."""
        if self._replies > 1:
            self.inner.append(message)
            return
        messages = [*self.opening, Message("assistant", self.begun.first), message]
        self.inner = self.begun.model.start(messages, fixed=True, cancel=self.cancel)

    def fork(self, count: int) -> Sequence[Context]:
        """Return contexts that go on from here."""
        return self.inner.fork(count)
