"""The only door to the network: what a tool sends out goes through a Network.

Knows core and errors only. A tool is handed the door; it does not make one.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from local_react.errors import OfflineError, ToolError

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

Fault: TypeAlias = Literal["network", "proxy", "timeout", "certificate", "ca_file"]
"""Why a request got no answer."""

OFFLINE_VARIABLE = "LOCAL_REACT_OFFLINE"
TIMEOUT = 10.0
"""Seconds a request may take in all: looking up the name, connecting, and reading."""
MAX_BYTES = 1 << 20
"""An answer larger than this is refused."""


class Network:
    """The door. Offline it is shut, and nothing opens a socket."""

    def __init__(self, offline: bool = False, *, timeout: float = TIMEOUT) -> None:
        self.offline = offline
        self.timeout = timeout

    @classmethod
    def from_environment(cls, offline: bool = False) -> Network:
        """Return a door that is shut where asked for, or where LOCAL_REACT_OFFLINE is set."""
        return cls(offline or is_set(OFFLINE_VARIABLE))

    def check(self, tool: str, host: str) -> None:
        """Return where `tool` may send something to `host`; else raise OfflineError."""
        if self.offline:
            raise OfflineError(
                f"{tool} needs the network ({host}), which is switched off: "
                f"run it without --offline and with {OFFLINE_VARIABLE} unset"
            )

    def get_json(self, url: str, *, tool: str) -> Any:
        """Return the JSON that `url` answers with; its decimal numbers are Decimal, exact.

        Proxy variables and SSL_CERT_FILE are honoured; redirects are not followed.
        Raises OfflineError where the door is shut, and ToolError, one line that tells
        the causes apart, where no usable answer comes within the timeout.
        """
        host = urlsplit(url).hostname or ""
        self.check(tool, host)
        body = self.within(self.timeout, lambda: self._get(url, host), host=host)
        try:
            return json.loads(body, parse_float=Decimal, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise ToolError(
                f"{host} did not answer with JSON; perhaps a login page or a filter "
                "stands in between: try again later"
            ) from error

    def within(self, seconds: float, work: Callable[[], T], *, host: str) -> T:
        """Return what `work` returns or raises; ToolError where it takes longer.

        It runs in a daemon thread that is left behind when the time is up: a name
        lookup, and a library that joins its own threads, know no timeout of ours.
        """
        result: concurrent.futures.Future[T] = concurrent.futures.Future()

        def run() -> None:
            try:
                result.set_result(work())
            except BaseException as error:  # noqa: BLE001  raised again by result()
                result.set_exception(error)

        threading.Thread(target=run, name=f"network {host}", daemon=True).start()
        deadline = time.monotonic() + seconds
        while not result.done():
            left = deadline - time.monotonic()
            if left <= 0:
                raise no_answer("timeout", host, seconds=seconds)
            # In slices, since Windows hears no Ctrl-C while it waits.
            concurrent.futures.wait([result], timeout=min(left, 0.2))
        return result.result()

    def _get(self, url: str, host: str) -> bytes:
        import httpx2

        try:
            with self._client() as client, client.stream("GET", url) as response:
                return _read(response, host, time.monotonic() + self.timeout)
        except httpx2.TimeoutException as error:
            raise no_answer("timeout", host, seconds=self.timeout) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise no_answer(_fault(error, host), host) from error

    def _client(self) -> httpx2.Client:
        import httpx2

        # Uncompressed: the size cap then bounds what is received, not what it grows to.
        headers = {"Accept-Encoding": "identity"}
        try:
            return httpx2.Client(timeout=self.timeout, headers=headers)
        except ImportError as error:
            raise ToolError(
                "the proxy setting names a SOCKS proxy, for which socksio must be "
                "installed: pip install 'httpx2[socks]', or set an HTTP proxy"
            ) from error
        except OSError as error:  # ssl.SSLError is one too
            raise no_answer("ca_file", "") from error


def is_set(variable: str) -> bool:
    """Return whether an environment variable that shuts the door is set.

    It is unless it's empty, 0, false, no or off: a value that is not understood must
    not let anything out.
    """
    value = os.environ.get(variable, "").strip().casefold()
    return value not in ("", "0", "false", "no", "off")


def no_answer(fault: Fault, host: str, *, seconds: float = TIMEOUT) -> ToolError:
    """Return the error, one line, for a request to `host` that got no answer."""
    return ToolError(
        {
            "network": f"no network: {host} cannot be reached; check the connection, "
            "or go on without it",
            "proxy": f"the proxy {proxy_for(host) or 'in between'} does not let us through to "
            f"{host}: check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, or unset them",
            "timeout": f"{host} did not answer within {seconds:.2g} s: try again later",
            "certificate": f"certificate verification failed for {host}: if your network has "
            "its own CA, set SSL_CERT_FILE to its PEM file",
            "ca_file": "SSL_CERT_FILE does not name a readable PEM file of certificates: "
            "correct it or unset it",
        }[fault]
    )


def proxy_for(host: str) -> str | None:
    """Return the proxy that the environment sets for `host`, without its password."""
    proxies = getproxies()
    proxy = proxies.get("https") or proxies.get("http") or proxies.get("all")
    if not proxy or proxy_bypass(host):
        return None
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _fault(error: Exception, host: str) -> Fault:
    import httpx2

    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return "certificate"
    # A proxy that is not there looks like a host that is not there.
    if isinstance(error, httpx2.ProxyError) or proxy_for(host):
        return "proxy"
    return "network"


def _read(response: httpx2.Response, host: str, deadline: float) -> bytes:
    """Return the body of a 200 answer, within the size cap and the deadline."""
    if response.status_code != 200:
        raise ToolError(
            f"{host} refused the request (HTTP {response.status_code} "
            f"{response.reason_phrase}): try again later"
        )
    body = bytearray()
    for piece in response.iter_bytes():
        body += piece
        if len(body) > MAX_BYTES:
            raise ToolError(f"{host} sent more than {MAX_BYTES} bytes: refused")
        if time.monotonic() > deadline:
            raise no_answer("timeout", host)
    return bytes(body)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
