"""Puts the questions of a batch to the model, several at once; nobody is asked anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from local_react.cli import wiring
from local_react.cli.door import exchanges_as_dicts
from local_react.cli.output import exit_code_of

if TYPE_CHECKING:
    from threading import Event as Flag

    from local_react.agent import Agent
    from local_react.batch import Told
    from local_react.core import Run
    from local_react.network import Network
    from local_react.tools.base import AnyTool


@dataclass(frozen=True, slots=True)
class Seat:
    """What one question at a time has to itself, so that what leaves is known of each."""

    network: Network
    tools: list[AnyTool]
    faults: tuple[str, ...]
    """What is wrong with tools of the user's that are not offered."""


def make_seat(options: Mapping[str, Any]) -> Seat:
    """Return a seat, at whose door nobody is asked. Raises UsageError and OfflineError as
    `offered_tools` does."""
    from local_react.cli.offered import offered_tools

    network = wiring.network_of(options)
    network.ask = None
    offered = offered_tools(network, options, private=False)
    return Seat(network, offered.tools, offered.faults)


class Asker:
    """A loaded model, and seats for so many questions at once."""

    def __init__(self, options: Mapping[str, Any], first: Seat) -> None:
        """Load the model. Raises ModelError, and UsageError for options that cannot be used."""
        self._options, self._model = options, wiring.load_model(options)
        self._agent("", first)
        self._seats = SimpleQueue[Seat]()
        for seat in [first, *(make_seat(options) for _ in range(1, options["together"]))]:
            self._seats.put(seat)

    def __call__(self, question: str, cancel: Flag) -> Told:
        """Return what a question came to. Raises ContextFull where it does not fit."""
        from local_react.cli.agreement import CANNOT_BE_TOLD, NOT_SURE, can_be_compared

        if self._options["only_if_sure"] and not can_be_compared(question):
            return {"error": CANNOT_BE_TOLD, "exit_code": NOT_SURE}
        seat = self._seats.get()
        seat.network.begin()
        try:
            run = self._agent(question, seat).run(question, cancel)
            told = exchanges_as_dicts(seat.network)
            return self._told(run, told, refused=bool(seat.network.refused))
        finally:
            self._seats.put(seat)

    def _agent(self, question: str, seat: Seat) -> Agent:
        options = self._options
        votes = wiring.votes_for(question, options)
        return wiring.make_agent(options, self._model, seat.network, seat.tools, votes=votes)

    def _told(self, run: Run, egress: Sequence[Mapping[str, Any]], *, refused: bool) -> Told:
        """Return the run as JSON's types, with its answer where it is as sure as is wanted."""
        from local_react.as_dict import run_as_dict
        from local_react.cli.agreement import is_sure

        share = self._options["only_if_sure"]
        doubted = share is not None and bool(run.answer) and not is_sure(run, share)
        return {
            **run_as_dict(run),
            "answer": "" if doubted else run.answer,
            "egress": egress,
            "exit_code": exit_code_of(run, refused=refused, doubted=doubted),
        }
