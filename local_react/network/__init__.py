"""The only door to the network: whatever leaves the machine goes through a Network.

It knows who asks, asks the user where it must, writes down what leaves before it leaves,
and is shut offline. Knows core, errors and places only. A tool is handed the door; it
does not make one.
"""

from __future__ import annotations

from local_react.aside import Aside
from local_react.network.answers import Answers, Kept
from local_react.network.door import Network
from local_react.network.faults import TIMEOUT, Fault, no_answer
from local_react.network.http import MAX_BYTES, Response
from local_react.network.ledger import Entry, Ledger
from local_react.network.permit import Exchange, Permit
from local_react.network.policy import (
    MODES,
    NETWORK_VARIABLE,
    OFFLINE_VARIABLE,
    Ask,
    Mode,
    Outgoing,
    Reply,
    is_set,
)
from local_react.network.proxies import proxy_for
from local_react.network.retrying import Again, patiently, retry_after

__all__ = [
    "MAX_BYTES",
    "MODES",
    "NETWORK_VARIABLE",
    "OFFLINE_VARIABLE",
    "TIMEOUT",
    "Again",
    "Answers",
    "Aside",
    "Ask",
    "Entry",
    "Exchange",
    "Fault",
    "Kept",
    "Ledger",
    "Mode",
    "Network",
    "Outgoing",
    "Permit",
    "Reply",
    "Response",
    "is_set",
    "no_answer",
    "patiently",
    "proxy_for",
    "retry_after",
]
