"""The permission to send one thing, and the record of each request that it leads to."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from local_react.network.http import Meter
from local_react.network.policy import Outgoing

if TYPE_CHECKING:
    from local_react.network.door import Network


T = TypeVar("T")

NOTED: Final = 1000
"""Of what leaves in a run, and of what is said to it, so much is known at a time."""


def note(known: list[T], new: T) -> None:
    """Add to what is known of a run, of which the latest stays: in a process that goes on for
    ever nobody may begin another run."""
    known.append(new)
    del known[:-NOTED]


@dataclass(kw_only=True)
class Exchange(Meter):
    """One request and its answer. Whoever makes it counts the bytes and says how it ended."""

    asker: str
    host: str
    text: str


@dataclass(frozen=True)
class Permit:
    """The permission to send one thing."""

    network: Network
    outgoing: Outgoing

    @contextmanager
    def exchange(self, host: str, text: str | None = None) -> Iterator[Exchange]:
        """Write down that the request leaves for `host`, before it does, and at the end
        how it ended. `text` is what leaves, where it is not what the user was told of: the
        same host may redirect to another of its addresses.

        Raises UsageError, before anything leaves, where it cannot be written down, and
        ValueError for a host that the user was not told of.
        """
        if host not in self.outgoing.hosts:
            raise ValueError(f"nothing was said of {host}")
        exchange = Exchange(asker=self.outgoing.asker, host=host, text=text or self.outgoing.text)
        number = self.network.ledger.begin(self.network.run, exchange.asker, host, exchange.text)
        note(self.network.exchanges, exchange)
        started = time.perf_counter()
        try:
            yield exchange
        except BaseException as error:
            exchange.result = exchange.result or type(error).__name__
            raise
        finally:
            if number is not None:
                self.network.ledger.end(
                    number,
                    exchange.sent,
                    exchange.received,
                    exchange.result or "done",
                    time.perf_counter() - started,
                )
