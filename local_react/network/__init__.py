"""The only door to the network: whatever leaves the machine goes through a Network.

It knows who asks, asks the user where it must, writes down what leaves before it leaves,
and is shut offline. Knows core, errors and places only. A tool is handed the door; it
does not make one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

# As in local_react itself: the options of a question need the names of the modes, and not
# the client and the database.
_HOMES = {
    "MAX_BYTES": "network.http",
    "MODES": "network.policy",
    "NETWORK_VARIABLE": "network.policy",
    "OFFLINE_VARIABLE": "network.policy",
    "TIMEOUT": "network.faults",
    "Again": "network.retrying",
    "Answers": "network.answers",
    "Aside": "aside",
    "Ask": "network.policy",
    "Entry": "network.ledger",
    "Exchange": "network.permit",
    "Fault": "network.faults",
    "Kept": "network.answers",
    "Ledger": "network.ledger",
    "Mode": "network.policy",
    "Network": "network.door",
    "Outgoing": "network.policy",
    "Permit": "network.permit",
    "Reply": "network.policy",
    "Response": "network.http",
    "is_set": "network.policy",
    "no_answer": "network.faults",
    "patiently": "network.retrying",
    "proxy_for": "network.proxies",
    "retry_after": "network.retrying",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'local_react.network' has no attribute {name!r}")
    return getattr(import_module(f"local_react.{_HOMES[name]}"), name)
