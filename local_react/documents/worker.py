"""The process that reads files: it runs apart, because a hostile file may make a reader
hang, take all memory or crash.

It gets a line of JSON for each file and answers with a frame: the lengths of a header
(JSON) and of the texts, as two big-endian unsigned integers of 32 bits, then both. The
texts are, for each passage, the compressed text and the text as it is indexed.
"""

from __future__ import annotations

import faulthandler
import hashlib
import json
import os
import signal
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from local_react.documents.passages import Piece, pieces
from local_react.documents.store import packed
from local_react.readers import Document, Unreadable, read_file
from local_react.readers.document import MOST_PACKED
from local_react.words import indexed

LENGTHS: Final = struct.Struct(">II")
GREETING: Final = LENGTHS.pack(0, 0)
"""An empty frame: the process is ready."""
MEMORY: Final = 3 << 30
"""Bytes of address space that reading may take, where the system can bound it."""
_GRACE: Final = 10.0
"""Seconds after the time limit when the process ends itself: whoever should have ended
it has gone."""


def main() -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    _limit_memory()
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints must not get among the replies.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    with suppress(BrokenPipeError):
        replies.write(GREETING)
        replies.flush()
        for line in sys.stdin.buffer:
            _answer(json.loads(line), replies)


def _answer(request: dict[str, Any], replies: BinaryIO) -> None:
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        faulthandler.dump_traceback_later(request["seconds"] + _GRACE, exit=True, file=nowhere)
        header, texts = reply(os.fsdecode(bytes.fromhex(request["path"])), request["hash"])
        faulthandler.cancel_dump_traceback_later()
    head = json.dumps(header).encode()
    replies.write(LENGTHS.pack(len(head), len(texts)))
    replies.write(head)
    replies.write(texts)
    replies.flush()


def reply(path: str, known: str) -> tuple[dict[str, Any], bytes]:
    """Return the header and texts for a file: what it holds, that it is still the one
    with the known hash, or why it cannot be read."""
    digest = ""
    try:
        digest = _hash(path)
        if digest and digest == known:
            return {"hash": digest, "same": True}, b""
        return _told(read_file(Path(path)), digest)
    except Unreadable as error:
        return {"hash": digest, "fault": str(error), "again": False}, b""
    except OSError as error:
        # The system says no now; nothing need change in the file until it says yes.
        return {"hash": digest, "fault": (error.strerror or str(error)).lower(), "again": True}, b""
    except MemoryError:
        return {"hash": digest, "fault": "takes too much memory", "again": False}, b""
    except RecursionError:
        return {"hash": digest, "fault": "is nested too deeply", "again": False}, b""
    except Exception as error:  # noqa: BLE001 - a library's own, over a damaged file
        fault = f"cannot be read ({type(error).__name__})"
        return {"hash": digest, "fault": fault, "again": False}, b""


def _told(document: Document, digest: str) -> tuple[dict[str, Any], bytes]:
    found = pieces(document.parts)
    texts: list[bytes] = []
    for piece in found:
        texts += [packed(piece.text), indexed(piece.text).encode("utf-8", "replace")]
    header = {
        "hash": digest,
        "title": document.title,
        "date": document.date,
        "bytes": sum(len(piece.text.encode("utf-8", "replace")) for piece in found),
        "places": _places(found),
        "lengths": [len(text) for text in texts],
    }
    return header, b"".join(texts)


def _places(found: Sequence[Piece]) -> list[tuple[str, int, int, int]]:
    return [(piece.unit, piece.first, piece.last, piece.part) for piece in found]


def _hash(path: str) -> str:
    """Return the hash of a file; nothing for one that is empty or too large to be read."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:  # noqa: PTH123 - a name may be no text
        if not 0 < os.fstat(file.fileno()).st_size <= MOST_PACKED:
            return ""
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):  # not on Windows, or not that much allowed
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
