"""A real HTTP(S) server on loopback for the tests of what goes through the network."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@dataclass
class Loopback:
    """Answers every request alike, and keeps what was asked."""

    body: bytes = b"{}"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    hold: threading.Event | None = None
    """The answer waits for this."""
    asked: list[str] = field(default_factory=list)
    """The path of each request, and for a POST its body."""
    url: str = ""

    @contextmanager
    def serve(self, context: ssl.SSLContext | None = None) -> Iterator[Loopback]:
        """Serve until the block ends; `url` is set meanwhile."""
        with ThreadingHTTPServer(("127.0.0.1", 0), self._handler()) as server:
            if context:
                server.socket = context.wrap_socket(server.socket, server_side=True)
            self.url = f"http{'s' if context else ''}://127.0.0.1:{server.server_port}"
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            try:
                yield self
            finally:
                if self.hold:
                    self.hold.set()
                server.shutdown()
                thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                loopback.asked.append(self.path + self.rfile.read(length).decode())
                if loopback.hold:
                    loopback.hold.wait()
                self.send_response(loopback.status)
                for name, value in loopback.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(loopback.body)))
                self.end_headers()
                self.wfile.write(loopback.body)

            do_POST = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def closed_port() -> int:
    """Return a port of loopback that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def private_ca(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """Return the PEM file of a CA made for this test, and a server's context signed by it."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("SKIPPED: needs the openssl command to make a test CA")

    def make(*arguments: str) -> None:
        subprocess.run([openssl, *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "rsa:2048", "-nodes")
    make("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test CA")
    make("req", *key, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", "/CN=127.0.0.1")
    (folder / "ext").write_text("subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "ext")
    make("x509", "-req", "-in", "leaf.csr", *signed, "-out", "leaf.pem", "-days", "2")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "leaf.pem", folder / "leaf.key")
    return folder / "ca.pem", context
