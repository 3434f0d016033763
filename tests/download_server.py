"""A hub on loopback that answers as it's told: a real HTTP server for the download tests."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType


@dataclass(frozen=True)
class Reply:
    """How to answer one request. The default serves the file and honours Range."""

    status: int | None = None
    """A status to answer with instead of the file."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    data: bytes | None = None
    """Other bytes than the file's."""
    ranges: bool = True
    """False ignores Range: 200 and the whole file."""
    shift: int = 0
    """Start the range so many bytes later than asked."""
    cut: int | None = None
    """Close the connection after so many bytes of the body."""
    length: bool = True
    """False leaves Content-Length out and ends the body by closing."""
    hold: threading.Event | None = None
    """Where the body was cut, wait for this before closing."""


@dataclass(frozen=True)
class Request:
    """What a client asked for."""

    path: str
    headers: Mapping[str, str]

    @property
    def range(self) -> str | None:
        return self.headers.get("range")


class HubServer:
    """Serves one file at every path; each request takes the next reply, then the default."""

    def __init__(self, data: bytes, *replies: Reply) -> None:
        self.data = data
        self.replies = list(replies)
        self.requests: list[Request] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def ranges(self) -> list[str | None]:
        """The Range header of each request, None where it had none."""
        return [request.range for request in self.requests]

    def __enter__(self) -> HubServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.requests.append(Request(handler.path, headers))
        reply = self.replies.pop(0) if self.replies else Reply()
        if reply.status is not None:
            _send(
                handler, reply.status, {"Content-Length": str(len(reply.body))}, reply.body, reply
            )
            return
        data = self.data if reply.data is None else reply.data
        asked = headers.get("range", "")
        if asked and reply.ranges:
            start = int(asked.removeprefix("bytes=").removesuffix("-")) + reply.shift
            span = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"}
            _send(handler, 206, _length(data[start:], reply) | span, data[start:], reply)
        else:
            _send(handler, 200, _length(data, reply), data, reply)


def _length(body: bytes, reply: Reply) -> dict[str, str]:
    return {"Content-Length": str(len(body))} if reply.length else {}


def _send(
    handler: BaseHTTPRequestHandler,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    reply: Reply,
) -> None:
    handler.close_connection = True
    handler.send_response(status)
    for name, value in {**headers, **reply.headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body[: reply.cut])
    if reply.hold:
        handler.wfile.flush()
        reply.hold.wait(60)
