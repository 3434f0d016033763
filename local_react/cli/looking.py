"""Looking inside: what the model would read, under which grammar, and in how many tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from local_react.agent import Agent
    from local_react.backends.llama import LlamaModel
    from local_react.core import Run


@dataclass(frozen=True, slots=True)
class Opening:
    """What a run begins with."""

    prompt: str
    """The text that the model reads, with its control tokens."""
    grammar: str
    """GBNF, of the first step."""
    tokens: Mapping[str, int]
    """How many the parts take, and how many are left of the context."""

    @property
    def text(self) -> str:
        """All of it, for a person."""
        counts = ", ".join(f"{name} {count}" for name, count in self.tokens.items())
        return (
            f"--- prompt\n{self.prompt}\n--- grammar\n{self.grammar}--- tokens\n{counts}\n--- run"
        )


def opening(
    model: LlamaModel, agent: Agent, question: str, facts: Sequence[str], turns: Sequence[Run]
) -> Opening:
    """Return what the run of a question begins with, after the turns of its session. Raises
    ContextFull where the question is too long."""
    from local_react.backends.llama.context import LlamaContext
    from local_react.protocol import step_grammar
    from local_react.session import Session

    asker = Session(agent, turns) if turns else agent
    context, _ = asker.opened(question, facts)
    assert isinstance(context, LlamaContext)
    counts = {
        "instructions": context.fixed,
        "question": len(context.tokens) - context.fixed,
        "left": context.room,
        "context": model.context_size,
    }
    grammar = step_grammar(agent.offered(question))
    return Opening(model.vocabulary.text_of(context.tokens), grammar, counts)


def settings_of(agent: Agent) -> dict[str, Any]:
    """Return how an agent is set, as JSON's types."""
    return {
        "tools": [tool.name for tool in agent.tools],
        "max_steps": agent.max_steps,
        **{f"{name}_tokens": most for name, most in asdict(agent.limits).items()},
        "sampling": asdict(agent.sampling),
        "votes": agent.votes,
        "system": agent.system,
        "timeout": agent.timeout,
        "approve_every": agent.approve_every,
    }
