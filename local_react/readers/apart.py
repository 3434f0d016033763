"""Reading in a process of its own, for what comes from anywhere: a web page, an attachment.

A hostile file may make a reader hang, take all memory or crash. The process gets a line of
JSON and the bytes, and answers with one line of JSON.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from local_react.readers.document import Document, Part, Unreadable
from local_react.readers.opening import opened
from local_react.readers.reading import read_bytes, read_file
from local_react.search_path import search_path

SECONDS: Final = 120.0
"""That reading may take, if nothing else is said."""
MEMORY: Final = 3 << 30
"""Bytes of address space that reading may take, where the system can bound it."""

_COMMAND: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from local_react.readers.apart import main; main()"
)
_LOOK: Final = 1.0
"""Seconds between two looks whether anybody still waits."""


def read_file_apart(path: Path, *, seconds: float = SECONDS) -> Document:
    """Return what a file says, as `read_file` does.

    Raises Unreadable, also where it takes longer or breaks the reader down, and OSError where
    the file can't be opened.
    """
    opened(path).close()  # so that it is this process that is told why not
    return _asked({"path": os.fsencode(path.absolute()).hex()}, b"", seconds)


def read_bytes_apart(
    data: bytes, *, content_type: str = "", url: str = "", seconds: float = SECONDS
) -> Document:
    """Return what bytes say, as `read_bytes` does. Raises Unreadable, also where it takes
    longer or breaks the reader down."""
    return _asked({"content_type": content_type, "url": url}, data, seconds)


def _asked(request: dict[str, str], data: bytes, seconds: float) -> Document:
    command = [sys.executable, "-I", "-c", _COMMAND, json.dumps(search_path())]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(request).encode() + b"\n" + data,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired:
        raise Unreadable(f"it takes longer than {seconds:g} s to read") from None
    except OSError as error:
        raise Unreadable(f"the process that reads it cannot be started: {error}") from error
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise Unreadable("the reader of its kind broke down over it") from None
    if "fault" in answer:
        raise Unreadable(answer["fault"])
    return Document(answer["title"], answer["date"], tuple(Part(*one) for one in answer["parts"]))


def main() -> None:
    """Read what standard input says, and answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    bound()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    # Whatever a library prints must not get into the answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    request = json.loads(sys.stdin.buffer.readline())
    with suppress(BrokenPipeError):
        json.dump(_answer(request, sys.stdin.buffer.read()), answers)
        answers.flush()


def _answer(request: dict[str, str], data: bytes) -> dict[str, Any]:
    try:
        if "path" in request:
            found = read_file(Path(os.fsdecode(bytes.fromhex(request["path"]))))
        else:
            found = read_bytes(data, **request)
    except Exception as error:  # noqa: BLE001 - a library's own, over a damaged file
        return {"fault": fault_of(error)}
    parts = [(part.text, part.unit, part.number) for part in found.parts]
    return {"title": found.title, "date": found.date, "parts": parts}


def fault_of(error: Exception) -> str:
    """Return why a file could not be read, in a few words for a person."""
    if isinstance(error, Unreadable):
        return str(error)
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    if isinstance(error, MemoryError):
        return "takes too much memory"
    if isinstance(error, RecursionError):
        return "is nested too deeply"
    return f"cannot be read ({type(error).__name__})"


def bound() -> None:
    """Bound what this process may take, as far as the system can, and have it end once whoever
    started it has gone."""
    with suppress(ImportError, ValueError, OSError):  # not on Windows, or not that much allowed
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # it would hold what was read
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with suppress(RuntimeError):  # too little memory for one more
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process, whatever it is at, once whoever started it has gone."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)
