"""The nouns of local_react: frozen values and the two protocols of a backend.

Standard library only, so that every other module may import it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event as Flag
from typing import Any, Literal, Protocol, TypeAlias

Role: TypeAlias = Literal["system", "user", "assistant"]
StopReason: TypeAlias = Literal[
    "finish", "max_steps", "context", "no_progress", "cut_off", "timeout", "interrupted"
]
"""How a run ended: by its own Finish, at one of the limits, or because it was told to."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat. Its content is data: it never becomes control tokens."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen. The default is greedy and so needs no seed.

    Raises ValueError where a figure is out of its range.
    """

    temperature: float = 0.0
    """0 takes the likeliest token; higher is more varied."""
    seed: int = 0
    """The same seed, model and prompt give the same text."""
    top_k: int = 0
    """Keep the k likeliest tokens; 0 keeps all."""
    top_p: float = 1.0
    """Keep the likeliest tokens that together reach this probability."""
    min_p: float = 0.0
    """Drop tokens less likely than this share of the likeliest one."""
    repeat_penalty: float = 1.0
    """Make the tokens that were written lately less likely; 1 leaves them alone. A
    logit is divided by it where it is positive and multiplied where it is negative
    (Keskar et al., 2019, "CTRL", section 4.1), as llama.cpp does."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature <= 10.0:
            raise ValueError(f"temperature must be from 0 to 10, not {self.temperature}")
        if self.top_k < 0:
            raise ValueError(f"top-k must be 0 or more, not {self.top_k}")
        if not 0.0 < self.top_p <= 1.0:
            raise ValueError(f"top-p must be above 0 and at most 1, not {self.top_p}")
        if not 0.0 <= self.min_p < 1.0:
            raise ValueError(f"min-p must be from 0 to below 1, not {self.min_p}")
        if not 1.0 <= self.repeat_penalty <= 2.0:
            raise ValueError(f"repeat-penalty must be from 1 to 2, not {self.repeat_penalty}")
        if self.seed < 0:
            raise ValueError(f"seed must be 0 or more, not {self.seed}")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that went through the model."""

    evaluated: int = 0
    """All tokens that the model has read: the prompt's, and its own once they are fed
    back. Those found in its cache are not read again and do not count."""
    generated: int = 0
    """Tokens that the model has written."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.evaluated + other.evaluated, self.generated + other.generated)

    def __sub__(self, other: Usage) -> Usage:
        return Usage(self.evaluated - other.evaluated, self.generated - other.generated)


@dataclass(frozen=True, slots=True)
class Call:
    """An Action that asks for a tool."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Finish:
    """The Action that ends a run."""

    answer: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """A reply that is not an Action: cut off at a limit, or out of format."""

    text: str
    reason: str


Action: TypeAlias = Call | Finish | Malformed


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text from outside: data, whatever it says."""

    text: str
    source: str
    """Where a person finds it: an address, or a file and its lines or page."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a tool found outside: passages, the best first, and a note in the tool's own
    words, which may stand alone."""

    passages: tuple[Passage, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """Where something was found that a run was shown, by its number in that run."""

    number: int
    title: str
    where: str

    @property
    def named(self) -> str:
        """The title and where it is, or the latter alone."""
        return f"{self.title} ({self.where})" if self.title else self.where


@dataclass(frozen=True, slots=True)
class Step:
    """One Thought, its Action, and what came of it."""

    thought: str
    action: Action
    observation: str | None
    """The tool's result as the model was shown it; None after a Finish."""
    sources: tuple[Source, ...] = ()
    """Where what it holds from outside was found."""
    usage: Usage = field(default=Usage())
    seconds: float = 0.0
    reply: int = 1
    """The number of the reply that it was written in, from 1. Steps of one reply, whose
    Actions were carried out together, have its Thought and figures in the first of them."""


@dataclass(frozen=True, slots=True)
class Vote:
    """What one of several runs of a question answered."""

    answer: str
    way: Literal["tools", "reasoning"]
    """With the tools, or by reasoning alone."""
    counts: bool
    """Whether it says the same as the answer that was taken."""
    stop_reason: StopReason
    usage: Usage = field(default=Usage())
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """One question, its steps, its answer, and how it ended."""

    question: str
    steps: tuple[Step, ...]
    answer: str
    stop_reason: StopReason
    model: str
    guards: Mapping[str, int] = field(default_factory=dict)
    """How often each loop guard had to act, by what it broke (guards.py says which)."""
    votes: tuple[Vote, ...] = ()
    """What each run said where the question was answered by several; the steps are those
    of the first that gave the answer, the usage and seconds those of all."""
    computed: bool = False
    """Whether the answer is what a tool computed of the question as it stands."""
    usage: Usage = field(default=Usage())
    seconds: float = 0.0

    @property
    def finished(self) -> bool:
        """True where the model ended the run by itself, False where a limit did."""
        return self.stop_reason == "finish"

    @property
    def confidence(self) -> float | None:
        """The share of the votes that say the same as the answer: how sure it is, from 0 to
        1, which it is where it was computed. None where there was one run alone, or nothing
        that could be compared."""
        if len(self.votes) < 2:
            return 1.0 if self.computed else None
        return sum(vote.counts for vote in self.votes) / len(self.votes)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where everything from outside was found."""
        return tuple(source for step in self.steps for source in step.sources)


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the reply as it is written: the event for streaming."""

    text: str


@dataclass(frozen=True, slots=True)
class Weighed:
    """How likely a model holds each of some texts."""

    logarithms: Sequence[float]
    """The natural logarithms of their probabilities."""
    usage: Usage = field(default=Usage())
    """What was read for it."""


Event: TypeAlias = Text | Step | Run
"""What a run yields: pieces of text, each finished Step, and at last the Run."""


class Context(Protocol):
    """One growing chat inside a backend. It only ever appends."""

    @property
    def usage(self) -> Usage:
        """Tokens evaluated and generated for this context so far."""
        ...

    @property
    def room(self) -> int:
        """Tokens that still fit into the context window."""
        ...

    def think(self, most: int, seed: int = 0) -> Iterator[str]:
        """Where the model always thinks before it replies, let it do so for at most
        that many tokens and yield what it writes, one string a token; the reply comes
        after. Yield nothing for any other model."""
        ...

    def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
        """Yield the assistant's reply, one string a token, until the grammar or the
        model ends it, the window is full, or the context's `cancel` is set. A string is
        empty while a character's bytes are incomplete, and holds the text of some tokens
        before it where the grammar left no choice of those. Stop early by closing the
        iterator.

        Raises GrammarError, before a token is sampled, where the grammar (GBNF with
        the start rule "root") does not compile.
        """
        ...

    def force(self, text: str) -> None:
        """Append text to the assistant's unfinished reply, as if it had written it.

        Raises ContextFull, with nothing appended, where it does not fit.
        """
        ...

    def append(self, message: Message) -> None:
        """Close the assistant's reply, add a message, and open the next reply.

        Raises ContextFull, with nothing appended, where it does not fit.
        """
        ...

    def fork(self, count: int) -> Sequence[Context]:
        """Return so many contexts that go on from here, each for itself; what was read
        so far they share."""
        ...


class Model(Protocol):
    """A backend: what turns messages and a grammar into text."""

    @property
    def name(self) -> str:
        """The name shown to people and kept in transcripts."""
        ...

    @property
    def context_size(self) -> int:
        """Tokens that a context holds."""
        ...

    @property
    def longest_context(self) -> int:
        """Tokens that a context of the model could hold at most, were it asked for."""
        ...

    def start(
        self, messages: Sequence[Message], *, fixed: bool = False, cancel: Flag | None = None
    ) -> Context:
        """Return a new context that holds the messages and opens a reply.

        `fixed` says that all messages but the last are the same in every run and hold
        nothing private: what the model made of them may then be kept, on disk too, for
        the next run. Setting `cancel`, from any thread, ends what the context is at
        within one token, or within one batch of what it reads.

        Raises ContextFull where they don't fit into the window.
        """
        ...

    def count(self, text: str) -> int:
        """Return how many tokens the text is."""
        ...

    def check(self, grammar: str) -> None:
        """Raise GrammarError where the grammar does not compile."""
        ...

    def weigh(
        self, messages: Sequence[Message], options: Sequence[str], *, cancel: Flag | None = None
    ) -> Weighed:
        """Return how likely the model holds the first token of each text, without a grammar,
        as what its reply begins with: all the same where `cancel` was set. All messages but
        the last are the same in every run, as in `start`.

        Raises ContextFull where they don't fit into the window.
        """
        ...

    def generate_many(self, requests: Sequence[Request]) -> Iterator[tuple[int, str]]:
        """Yield the replies to many requests, written at the same time: pairs of the
        request's number, from 0, and a piece of its reply, as Context.generate yields
        it. The contexts are to be this model's own, each in one request alone."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """A reply that is wanted."""

    context: Context
    grammar: str | None = None
    sampling: Sampling = field(default=Sampling())
    most: int | None = None
    """Tokens after which the reply is broken off."""
