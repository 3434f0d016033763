"""A real HTTP(S) server on loopback for the tests of what goes through the network."""

from __future__ import annotations

import contextlib
import ipaddress
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Answer:
    """One answer."""

    body: bytes = b"{}"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    declared: int | None = None
    """The Content-Length, where it is not the body's; -1 leaves it out."""
    drip: bool = False
    """A byte at a time, each after a moment, until the client has had enough."""


@dataclass(frozen=True)
class Heard:
    """One request."""

    path: str
    headers: Mapping[str, str]
    """Their names in small letters."""


@dataclass
class Loopback:
    """Answers every request alike, and keeps what was asked."""

    body: bytes = b"{}"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None
    """The answer waits for this."""
    first: list[Answer] = field(default_factory=list)
    """What the first requests are answered instead, in turn."""
    saw: Callable[[], None] = lambda: None
    """Called while a request waits for its answer."""
    heard: list[Heard] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """The path of each request, and for a POST its body."""
    url: str = ""

    @property
    def port(self) -> int:
        """That of `url`."""
        return int(self.url.rpartition(":")[2])

    @contextmanager
    def serve(self, context: ssl.SSLContext | None = None) -> Iterator[Loopback]:
        """Serve until the block ends; `url` is set meanwhile."""
        self._ended = threading.Event()
        with ThreadingHTTPServer(("127.0.0.1", 0), self._handler()) as server:
            if context:
                server.socket = context.wrap_socket(server.socket, server_side=True)
            self.url = f"http{'s' if context else ''}://127.0.0.1:{server.server_port}"
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            try:
                yield self
            finally:
                self._ended.set()
                if self.hold:
                    self.hold.set()
                server.shutdown()
                thread.join()

    @property
    def usual(self) -> Answer:
        """What every request is answered that nothing else was said of."""
        return Answer(self.body, self.status, self.headers)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                loopback.asked.append(self.path + self.rfile.read(length).decode())
                names = {name.casefold(): value for name, value in self.headers.items()}
                loopback.heard.append(Heard(self.path, names))
                loopback.saw()
                if loopback.hold:
                    loopback.hold.wait()
                self._send(loopback.first.pop(0) if loopback.first else loopback.usual)

            def _send(self, answer: Answer) -> None:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if answer.declared != -1:
                    length = len(answer.body) if answer.declared is None else answer.declared
                    self.send_header("Content-Length", str(length))
                self.end_headers()
                with contextlib.suppress(ConnectionError):  # the client may have had enough
                    if answer.drip:
                        self._drip(answer.body)
                    else:
                        self.wfile.write(answer.body)

            def _drip(self, body: bytes) -> None:
                for byte in body:
                    if loopback._ended.wait(0.02):
                        return
                    self.wfile.write(bytes([byte]))

            do_POST = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def names(
    patch: pytest.MonkeyPatch, addresses: Mapping[str, Sequence[str] | Iterator[Sequence[str]]]
) -> list[str]:
    """Let these names stand for these addresses, or for the next of several lists of them;
    no other name is known, though numbers are. Return the list of what is looked up from now on."""
    usual, asked = socket.getaddrinfo, list[str]()

    def look_up(host: str | bytes, *rest: Any, **more: Any) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else host
        asked.append(name)
        if name not in addresses:
            if _is_number(name):
                return usual(host, *rest, **more)
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        found = addresses[name]
        each = next(found) if isinstance(found, Iterator) else found
        return [entry for address in each for entry in usual(address, *rest, **more)]

    patch.setattr(socket, "getaddrinfo", look_up)
    return asked


def _is_number(name: str) -> bool:
    with contextlib.suppress(OSError):
        return bool(socket.inet_aton(name))  # in all its spellings
    with contextlib.suppress(ValueError):
        return bool(ipaddress.IPv6Address(name))
    return False


def closed_port() -> int:
    """Return a port of loopback that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def private_ca(folder: Path, name: str = "IP:127.0.0.1") -> tuple[Path, ssl.SSLContext]:
    """Return the PEM file of a CA made for this test, and the context, signed by it, of a
    server with that name ("DNS:…" or "IP:…")."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("SKIPPED: needs the openssl command to make a test CA")

    def make(*arguments: str) -> None:
        subprocess.run([openssl, *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "rsa:2048", "-nodes")
    make("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test CA")
    make("req", *key, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=Test server")
    (folder / "ext").write_text(f"subjectAltName={name}\nbasicConstraints=CA:FALSE\n")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "ext")
    make("x509", "-req", "-in", "leaf.csr", *signed, "-out", "leaf.pem", "-days", "2")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "leaf.pem", folder / "leaf.key")
    return folder / "ca.pem", context
