"""The calculator's worker, seen from inside: a loop that reads an expression a line and
writes its answer, and gives up what it does not need."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import IO, Any, cast

from local_react.errors import ToolError
from local_react.tools.calculator.process import TOO_MUCH_MEMORY

_ALONE_LIMIT = 10
"""Seconds after which it ends by itself: nobody is left to end it."""
_HEADROOM = 144 * 2**20
"""Bytes that an expression may add to what the libraries take."""


def main() -> None:
    """Answer until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever asked
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    nowhere = open(os.devnull, "w")  # noqa: PTH123, SIM115 - a device, for as long as we live
    os.dup2(nowhere.fileno(), 1)  # what a library prints is no reply
    # pint would load it where it is installed, with its threads and their memory.
    sys.modules["numpy"] = cast("Any", None)
    from local_react.tools.calculator.evaluation import evaluate_here, load

    load()
    _give_up_rights()
    _send(replies, {"ready": True})
    space = _address_space()
    most = space() + _HEADROOM // 2
    for line in sys.stdin.buffer:
        faulthandler.dump_traceback_later(_ALONE_LIMIT, exit=True, file=nowhere)
        reply = _reply(evaluate_here, json.loads(line)["expression"], replies)
        if space() > most:
            reply["last"] = True  # what sympy remembers has grown: the next one starts afresh
        _send(replies, reply)
        faulthandler.cancel_dump_traceback_later()


def _send(replies: IO[bytes], reply: dict[str, Any]) -> None:
    replies.write(json.dumps(reply).encode() + b"\n")


def _reply(evaluate: Callable[..., str], expression: str, replies: IO[bytes]) -> dict[str, Any]:
    try:
        return {"answer": evaluate(expression, lambda: _send(replies, {"loading": True}))}
    except ToolError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": TOO_MUCH_MEMORY, "last": True}


def _give_up_rights() -> None:
    """Bound the memory, and refuse what no expression needs, should there be a way to
    ask for it after all."""
    sys.dont_write_bytecode = True
    sys.addaudithook(_refuse)
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = _address_space()()
    if used:
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        bound = used + _HEADROOM
        if most == resource.RLIM_INFINITY or bound < most:
            resource.setrlimit(resource.RLIMIT_AS, (bound, most))


def _address_space() -> Callable[[], int]:
    """Return what tells the bytes of addresses of this process, 0 where that is not known."""
    if sys.platform != "linux":
        return lambda: 0
    import psutil

    process = psutil.Process()
    return lambda: int(process.memory_info().vms)


_REFUSED = ("socket.", "subprocess.", "os.", "shutil.", "ctypes.", "urllib.", "ftplib.")
_HARMLESS = {"os.listdir", "os.scandir"}  # an import looks into directories


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    writes = event == "open" and any(
        isinstance(mode, str) and set(mode) & set("wax+") for mode in arguments[1:2]
    )
    if writes or (event.startswith(_REFUSED) and event not in _HARMLESS):
        raise PermissionError(f"{event} is nothing that a calculator does")
