"""Downloads that are killed: over real HTTP, slow enough that each moment may be hit."""

from __future__ import annotations

import hashlib
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread
from typing import Final

from trials.forks import Child, Ended, Forks
from trials.killing import Place, moment, timed

DATA: Final = b"GGUF" + Random(8).randbytes(6_000_000)
_PIECE: Final = 200_000
_PAUSE: Final = 0.004
"""Seconds before each piece."""
_CATALOGUE: Final = f"""
default = "tiny"
recommended = "tiny"
test = "tiny"
[[model]]
name = "tiny"
repository = "someone/Tiny-GGUF"
revision = "{"0123456789" * 4}"
file = "tiny.gguf"
bytes = {len(DATA)}
sha256 = "{hashlib.sha256(DATA).hexdigest()}"
licence = "MIT"
parameters = "1"
quantisation = "F32"
context = 8
memory = 0.1
good_for = "trials"
"""
PINNED: Final = f"import local_react.catalog as c\nc._catalogue_text = lambda: {_CATALOGUE!r}\n"
"""Has a process know the model."""


class _Slow(BaseHTTPRequestHandler):
    """Serves the file slowly, from where it is asked to."""

    def do_GET(self) -> None:
        asked = self.headers.get("Range", "")
        start = int(asked.removeprefix("bytes=").removesuffix("-") or 0)
        time.sleep(_PAUSE)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(DATA) - start))
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{len(DATA) - 1}/{len(DATA)}")
        self.end_headers()
        with suppress(OSError):  # who asked was killed
            for at in range(start, len(DATA), _PIECE):
                time.sleep(_PAUSE)
                self.wfile.write(DATA[at : at + _PIECE])

    def log_message(self, *_: object) -> None:
        pass


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Say nothing: who asked was killed."""


@contextmanager
def slow_hub() -> Iterator[str]:
    """Give the address of a hub that has the file."""
    with _Quiet(("127.0.0.1", 0), _Slow) as server:
        Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def is_right(path: Path) -> bool:
    """Return whether a file is the one that is pinned."""
    return path.read_bytes() == DATA


@dataclass(frozen=True, slots=True)
class Downloads:
    """`pull`, alone or two at once, killed by itself, with all that it started, or by SIGTERM."""

    hub: str
    seconds: float

    def attempt(self, forks: Forks, place: Place, random: Random, number: int) -> str:
        """Kill one, and have what is left be fetched."""
        final = place.root / "models" / "tiny.gguf"
        children = [self._start(forks, place) for _ in range(1 + (number % 4 == 3))]
        pause = moment(random, self.seconds * len(children))
        how = signal.SIGTERM if number % 4 == 2 else signal.SIGKILL
        children[0].kill(how, group=number % 4 == 0)
        others = [child.ended() for child in children][1:]
        faults = [
            f"what lies at the final name is not the model, {final.stat().st_size} bytes"
            if final.exists() and not is_right(final)
            else "",
            *(_wrong(ended, final) for ended in others),
            _wrong(self._start(forks, place).ended(), final),
            place.leftovers(),
            place.survivors(),
        ]
        told = "; ".join(filter(None, faults))
        return f"killed after {pause * 1000:.0f} ms: {told}" if told else ""

    def _start(self, forks: Forks, place: Place) -> Child:
        env: Mapping[str, str] = {**place.env, "HF_ENDPOINT": self.hub}
        return forks.start("pull", "tiny", env=env, before=PINNED)

    @classmethod
    def measured(cls, hub: str, forks: Forks, folder: Path) -> Downloads:
        """Return the scene, with how long a download takes."""
        place = Place(folder / "unkilled")
        place.root.mkdir()
        return cls(hub, timed(lambda: cls(hub, 0)._start(forks, place).ended()))


def _wrong(ended: Ended, final: Path) -> str:
    if ended.code or ended.frightens:
        return ended.frightens or f"exit code {ended.code}: {ended.err[-200:]}"
    return "" if is_right(final) else "it ended well, and the file is not the model"
