"""The arms as a person writes them: `cot`, or `agent:votes=5,tools=calculator`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, TypeAlias, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError

from local_react.agent import Agent
from local_react.core import Sampling
from local_react.errors import UsageError
from local_react.tools.base import AnyTool

Kind: TypeAlias = Literal["bare", "cot", "retrieval", "agent"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
_GIVEN_OTHERWISE: Final = frozenset({"model", "tools", "sampling", "approve"})


@dataclass(frozen=True)
class ArmSettings:
    """One arm: what it is called, what it is, and what is changed in it."""

    label: str
    kind: Kind
    agent: Mapping[str, Any] = field(default_factory=dict)
    """Fields of Agent."""
    sampled: Mapping[str, Any] = field(default_factory=dict)
    """Fields of Sampling."""
    tools: tuple[str, ...] | None = None
    """The names of the only tools to offer; None leaves it at those of the set."""

    def sampling(self, usual: Sampling) -> Sampling:
        """Return how this arm samples. Raises UsageError for a figure out of its range."""
        try:
            return replace(usual, **self.sampled)
        except ValueError as error:
            raise UsageError(f"{self.label}: {error}") from error

    def chosen(self, tools: Iterable[AnyTool]) -> list[AnyTool]:
        """Return those of the tools that this arm is offered.

        Raises UsageError for a name that none of them has.
        """
        known = {tool.name: tool for tool in tools}
        if self.tools is None:
            return list(known.values())
        for name in self.tools:
            if name not in known:
                raise UsageError(f"{self.label}: there is no tool {name!r}: {_near(name, known)}")
        return [tool for name, tool in known.items() if name in self.tools]


def read_arm(text: str) -> ArmSettings:
    """Return the arm that a text names, such as "agent:votes=5,thought_tokens=200". Several
    tools stand with a plus between them; `none` is no tool.

    Raises UsageError for an arm, a setting or a value that there is not.
    """
    kind, _, rest = text.strip().partition(":")
    if kind not in KINDS:
        raise UsageError(f"there is no arm {kind!r}: {_near(kind, KINDS)}")
    arm = ArmSettings(text.strip(), kind)
    if rest and kind != "agent":
        raise UsageError(f"the arm {kind} has no settings: leave out {rest!r}")
    for pair in rest.split(",") if rest else ():
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            raise UsageError(f"{arm.label}: {pair!r} should be NAME=VALUE")
        arm = _with(arm, name.replace("-", "_"), value)
    return arm


def _with(arm: ArmSettings, name: str, value: str) -> ArmSettings:
    if name == "tools":
        return replace(arm, tools=() if value == "none" else tuple(value.split("+")))
    own = {one.name for one in fields(Agent)} - _GIVEN_OTHERWISE
    sampled = {one.name for one in fields(Sampling)}
    if name in own:
        return replace(arm, agent={**arm.agent, name: _typed(Agent, name, value)})
    if name in sampled:
        return replace(arm, sampled={**arm.sampled, name: _typed(Sampling, name, value)})
    near = _near(name, [*own, *sampled, "tools"])
    raise UsageError(f"{arm.label}: the agent has no setting {name!r}: {near}")


def _typed(kind: type, name: str, value: str) -> Any:
    """Return a value as its field has it."""
    hint = get_type_hints(kind)[name]
    try:
        adapter = TypeAdapter[Any](hint)
        if value == "none":
            return adapter.validate_python(None)
        return adapter.validate_python(value)
    except PydanticSchemaGenerationError as error:
        raise UsageError(f"{name} cannot be set in an arm") from error
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]["msg"]
        raise UsageError(f"{name}={value}: {fault}") from error


def _near(name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(names) or 'none'}"
