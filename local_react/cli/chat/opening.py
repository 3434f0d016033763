"""From the options of the command to a chat: its model, tools, agent, session and history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from local_react.agent import Agent
from local_react.cli import wiring
from local_react.cli.chat.conversation import Chat, known_turns
from local_react.cli.chat.running import Runner
from local_react.cli.log import Log
from local_react.cli.offered import offered_tools
from local_react.cli.show import Display, Reading
from local_react.core import Model
from local_react.errors import UsageError
from local_react.network import Network
from local_react.network.policy import chosen_mode
from local_react.session import Session

if TYPE_CHECKING:
    from local_react.backends.llama import LlamaModel
    from local_react.transcript import Recorder

P = TypeVar("P")
T = TypeVar("T")


@dataclass
class Wiring:
    """What the options of the command ask for. The user is asked in `runner`'s thread, and
    within `asking`."""

    options: Mapping[str, Any]
    network: Network
    runner: Runner
    display: Display
    recorder: Recorder
    asking: Callable[[], AbstractContextManager[None]]

    def __post_init__(self) -> None:
        if self.network.ask is not None:
            self.network.ask = self._asks(self.network.ask, "no")

    def load(self, name: str | Path = "") -> Model:
        """Return a model, loaded; without a name the one of the options. Raises ModelError
        and UsageError as LlamaModel does."""
        with self.display.waiting(f"loading {name or wiring.model_name(self.options)}"):
            verbose = self.options["verbose"] >= 2
            model = wiring.load_model(self.options, name=str(name), verbose=verbose)
        self.display.model(model)
        return model

    def path(self, name: str) -> Path:
        """Return the file of a model. Raises ModelError where there is none."""
        from local_react.catalog import resolve

        return resolve(name)

    def fits_beside(self, name: str) -> bool:
        """Return whether a model has room in memory beside the one that is there, or may
        have on a GPU. Raises ModelError where there is no such model."""
        from local_react.backends.llama import supports_gpu
        from local_react.gguf_header import read_header
        from local_react.hardware import available_memory
        from local_react.memory import DEFAULT_CONTEXT, estimate

        path, options = self.path(name), self.options
        header = read_header(path)
        size = options["ctx_size"] or min(DEFAULT_CONTEXT, header.context_length)
        needed = estimate(path, header, size, options["cache_type_k"], options["cache_type_v"])
        return supports_gpu() or needed.total <= available_memory()

    def agent(self, model: Model) -> Agent:
        """Return who answers with a model, and the tools that the network allows. Raises
        UsageError and OfflineError where an option asks for what there is not."""
        offered = offered_tools(self.network, self.options, private=False)
        self.display.faults(offered.faults)
        agent = wiring.make_agent(
            self.options,
            model,
            self.network,
            offered.tools,
            votes=self.options["votes"],
            recorder=self.recorder,
        )
        approve = agent.approve
        return replace(agent, approve=self._asks(approve, False)) if approve else agent

    def switch_network(self, *, on: bool) -> None:
        """Have nothing be sent any more, or again what the options and the environment
        allow. Raises UsageError where they allow nothing."""
        given = self.options["network_mode"] or ("deny" if self.options["private"] else None)
        mode = chosen_mode(given, offline=False) if on else "deny"
        if on and mode == "deny":
            raise UsageError(
                "the network stays off, as --network, --private or the environment says: "
                "begin another chat without that"
            )
        self.network.mode = mode

    def reading(self, model: Model) -> str:
        """Return how far a model is with what it reads."""
        known = cast("LlamaModel", model) if hasattr(model, "engine") else None
        return str(Reading(known))

    def _asks(self, ask: Callable[[P], T], refusal: T) -> Callable[[P], T]:
        def asked(what: P) -> T:
            with self.asking():
                return ask(what)

        return self.runner.asks(asked, refusal)


def open_chat(log: Log, wires: Wiring) -> Chat:
    """Return the chat that the options ask for. Raises LocalReactError where something that
    they ask for is missing."""
    infos = known_turns(log)  # before the model: it takes longer
    session = Session(wires.agent(wires.load()), log.turns)
    verbose = bool(wires.options["verbose"])
    last = session.turns[-1] if session.turns else None
    return Chat(session, log, wires, infos, last, stats=verbose)
