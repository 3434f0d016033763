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
from local_react.readers import Document, opened, read_opened
from local_react.readers.apart import bound, fault_of
from local_react.readers.document import MOST_PACKED
from local_react.words import indexed

LENGTHS: Final = struct.Struct(">II")
GREETING: Final = LENGTHS.pack(0, 0)
"""An empty frame: the process is ready."""
_GRACE: Final = 10.0
"""Seconds after the time limit when the process ends itself: whoever should have ended
it has gone."""


def main() -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    bound()
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
        # No link is followed: where one is now, there was none when the folder was looked at.
        with opened(Path(path), links=False) as file:
            digest = _hash(file)
            if digest and digest == known:
                return {"hash": digest, "same": True}, b""
            file.seek(0)
            return _told(read_opened(file, Path(path).name), digest)
    except Exception as error:  # noqa: BLE001 - a library's own, over a damaged file
        # Where the system says no, nothing need change in the file until it says yes.
        again = isinstance(error, OSError)
        return {"hash": digest, "fault": fault_of(error), "again": again}, b""


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


def _hash(file: BinaryIO) -> str:
    """Return the hash of a file; nothing for one that is empty or too large to be read."""
    if not 0 < os.fstat(file.fileno()).st_size <= MOST_PACKED:
        return ""
    digest, left = hashlib.sha256(), MOST_PACKED  # no more, should it grow meanwhile
    while left and (block := file.read(min(left, 1 << 20))):
        digest.update(block)
        left -= len(block)
    return digest.hexdigest()
