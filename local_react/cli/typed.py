"""What was typed in chats, for the arrow keys: a file in the data directory, in the form of
prompt_toolkit's FileHistory (for each text a line "# time", then its lines behind a "+").

It is no more than the last of it, and what is deleted elsewhere goes from here, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import Final

from local_react.errors import UsageError
from local_react.places import data_dir
from local_react.private import own_file, write_own

_MOST: Final = 1000
"""Texts that are kept."""
_LARGEST: Final = 1 << 20
"""Bytes of all of them."""
_ENTRY: Final = re.compile(rb"^(?=#)", re.MULTILINE)


def typed_file() -> Path:
    """Return the file, which may not exist."""
    return data_dir() / "chat-history"


def prepare() -> Path:
    """Return the file, made where it is missing, with the last of what was typed. Raises
    OSError."""
    own_file(typed_file())
    _keep(_last)
    return typed_file()


def forget_typed(texts: Iterable[str]) -> None:
    """Remove what was typed that holds one of these texts, which were deleted elsewhere. Raises
    UsageError where that fails."""
    gone = [plain for text in texts if (plain := _plain(text))]
    with _explained():
        _keep(lambda entries: [one for one in entries if not any(t in _text(one) for t in gone)])


def forget_all_typed() -> None:
    """Remove all that was typed. Raises UsageError where that fails."""
    with _explained():
        typed_file().unlink(missing_ok=True)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"what was typed stays in {typed_file()} ({error.strerror or error}): delete that file"
        ) from error


def _keep(chosen: Callable[[Sequence[bytes]], Sequence[bytes]]) -> None:
    """Leave some of the texts alone in the file."""
    with suppress(FileNotFoundError):
        entries = [one for one in _ENTRY.split(typed_file().read_bytes()) if one.strip()]
        if len(kept := chosen(entries)) < len(entries):
            write_own(typed_file(), [b"\n", *kept])


def _last(entries: Sequence[bytes]) -> Sequence[bytes]:
    size = 0

    def fits(entry: bytes) -> bool:
        nonlocal size
        size += len(entry)
        return size <= _LARGEST

    return list(takewhile(fits, reversed(entries[-_MOST:])))[::-1]


def _text(entry: bytes) -> str:
    lines = entry.decode("utf-8", "replace").splitlines()
    return _plain("\n".join(line[1:] for line in lines if line.startswith("+")))


def _plain(text: str) -> str:
    """Return a text by which it is known again, whatever its spaces."""
    return " ".join(text.encode("utf-8", "replace").decode().split())
