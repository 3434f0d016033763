"""Asking the engines in turn, patiently and within one time."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from local_react.core import Passage
from local_react.errors import ToolError
from local_react.network import patiently
from local_react.tools.search.distinct import real_address
from local_react.tools.search.engines import ask, form_fields, host_of
from local_react.tools.search.refusals import Refusals
from local_react.tools.search.settings import Settings
from local_react.tools.search.verdict import (
    EngineTrouble,
    NoResults,
    Refused,
    on_error,
    on_nothing,
)
from local_react.tools.search.wire import Wire

if TYPE_CHECKING:
    from local_react.network import Network, Permit


@dataclass
class Asking:
    """Asks the engines that are allowed, the next one where one has trouble."""

    network: Network
    settings: Settings
    seconds: float
    """For all of it."""
    refusals: Refusals = field(default_factory=Refusals)

    def results(self, permit: Permit, words: str) -> tuple[tuple[Passage, ...], str]:
        """Return what is found, as its engine orders it, and the engine's name.

        Raises ToolError, one line, for the trouble of the first engine where none answers.
        """
        deadline = time.monotonic() + self.seconds
        first: EngineTrouble | None = None
        engines = self.settings.engines
        for position, engine in enumerate(engines):
            share = (deadline - time.monotonic()) / (len(engines) - position)
            try:
                found = self._patiently(permit, engine, words, share)
            except EngineTrouble as trouble:
                first = first or trouble
            else:
                return tuple(map(_passage, found[: self.settings.max_results])), engine
        raise first or ToolError("no search engine is allowed")

    def _patiently(
        self, permit: Permit, engine: str, words: str, seconds: float
    ) -> list[dict[str, Any]]:
        if left := self.refusals.left(engine):
            raise Refused(engine, left, "it did a moment ago")
        once = partial(self._once, permit, engine, words, time.monotonic() + seconds)
        try:
            found = patiently(once, seconds=seconds, sleep=self.network.sleep)
        except Refused as refused:
            pause = self.refusals.add(engine, refused.after)
            raise Refused(engine, pause, refused.reason) from refused
        except NoResults:  # an answer, too
            self.refusals.forget(engine)
            raise
        self.refusals.forget(engine)
        return found

    def _once(
        self, permit: Permit, engine: str, words: str, deadline: float
    ) -> list[dict[str, Any]]:
        """Return the results of one attempt. Raises Again or ToolError."""
        host = host_of(engine, self.settings.region)
        wire = Wire(form_fields(engine, self.settings))
        asked = partial(ask, engine, words, self.settings, wire)
        left = max(0.1, deadline - time.monotonic())
        with permit.exchange(host) as exchange:
            try:
                found = self.network.within(left, asked, host=host)
            except ToolError as late:
                wire.result = "timeout"
                raise EngineTrouble(str(late)) from late
            except Exception as error:  # ddgs and its client raise types of their own
                raise on_error(engine, host, wire, error, words) from error
            finally:
                exchange.sent, exchange.received = wire.sent, wire.received
                exchange.result = wire.result
        if not found:
            raise on_nothing(engine, wire, words)
        return found


def _passage(result: Mapping[str, Any]) -> Passage:
    title, body, href = (str(result.get(name) or "") for name in ("title", "body", "href"))
    return Passage(body or title, real_address(href), title)
