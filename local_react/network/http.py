"""One answer over HTTP: no cookies, a size cap, redirects only where they were looked at."""

from __future__ import annotations

import ipaddress
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, Final

from local_react.errors import ToolError
from local_react.network.addresses import public_address
from local_react.network.faults import fault_of, no_answer
from local_react.network.proxies import proxy_url
from local_react.network.retrying import Again, retry_after

if TYPE_CHECKING:
    import httpx2

MAX_BYTES = 1 << 20
"""An answer larger than this is refused, unless more is asked for."""
MAX_REDIRECTS = 5

_PASSING: Final = {408, 429, 500, 502, 503, 504}
"""Statuses that may pass by themselves."""
_KNOWN: Final = frozenset(HTTPStatus)

HEADERS: Final[Mapping[str, str]] = {
    # Uncompressed: the size cap then bounds what is received, not what it grows to.
    "Accept-Encoding": "identity",
    # It tells neither the person nor the program.
    "User-Agent": "Mozilla/5.0 (compatible)",
}


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered, or the cache: `age` is None, or the seconds it was kept."""

    url: str
    """Where it came from at last."""
    content_type: str
    """Such as text/html; what follows the semicolon in the header, too."""
    body: bytes
    age: float | None = None


@dataclass
class Meter:
    """Counts the bytes of one exchange, headers included."""

    sent: int = 0
    received: int = 0
    result: str = ""

    def count_request(self, request: httpx2.Request) -> None:
        """Add what goes out with a GET: the request line and its headers."""
        line = len(f"{request.method} {request.url.raw_path.decode()} HTTP/1.1\r\n\r\n")
        self.sent += line + _size(request.headers)

    def count_response(self, response: httpx2.Response) -> None:
        """Add what came, of a response that has been read as far as it will be."""
        self.result = str(response.status_code)
        self.received += _size(response.headers) + response.num_bytes_downloaded


def _size(headers: httpx2.Headers) -> int:
    return sum(len(name) + len(value) + 4 for name, value in headers.raw)


@contextmanager
def client(timeout: float | httpx2.Timeout, **route: Any) -> Iterator[httpx2.Client]:
    """Open a client that takes no cookies. Proxy variables, unless `route` (of httpx2.Client's
    `proxy` and `mounts`) says otherwise, and SSL_CERT_FILE are honoured. Raises ToolError
    where they can't be."""
    import httpx2

    none = CookieJar(DefaultCookiePolicy(allowed_domains=()))
    try:
        made = httpx2.Client(timeout=timeout, headers=dict(HEADERS), cookies=none, **route)
    except ImportError as error:
        raise ToolError(
            "the proxy setting names a SOCKS proxy, for which socksio must be "
            "installed: pip install 'httpx2[socks]', or set an HTTP proxy"
        ) from error
    except OSError as error:  # ssl.SSLError is one too
        raise no_answer("ca_file", "") from error
    except (ValueError, httpx2.InvalidURL) as error:
        # What the client says of it would show the password.
        raise ToolError(
            "a proxy variable cannot be used: HTTPS_PROXY, HTTP_PROXY or ALL_PROXY is no address "
            "such as http://host:3128 (in a password write %2F for / and %40 for @)"
        ) from error
    with made:
        yield made


def host_of(url: str) -> str:
    """Return the host that an http or https address names, as it is looked up: a name in
    other letters in its ASCII form (xn--…), so that one that looks like another is seen.

    Raises ToolError for any other address, and for one that holds a name and password.
    """
    # Read by the client itself: where two readers differ, the wrong host would be checked.
    import httpx2

    try:
        parts = httpx2.URL(url)
        host, port = parts.raw_host.decode("ascii"), parts.port
    except (httpx2.InvalidURL, UnicodeError):
        parts, host, port = httpx2.URL(""), "", None
    if parts.scheme not in ("http", "https") or not _is_host(host) or not _is_port(port):
        raise ToolError(f"{url[:100]!r} is no address of the web: write https://… in full")
    if parts.userinfo:
        raise ToolError(f"the address of {host} holds a name or password: leave them out")
    return host


def _is_host(text: str) -> bool:
    if re.fullmatch(r"(?=.{1,254}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?", text):
        return True
    try:
        return not ipaddress.IPv6Address(text).scope_id
    except ValueError:
        return False


def _is_port(port: int | None) -> bool:
    return port is None or 0 < port < 65_536


def get_once(
    url: str,
    meter: Meter,
    *,
    timeout: float,
    most: int,
    accept: tuple[str, ...],
    redirects: bool,
    public: bool,
) -> Response | str:
    """Return the answer to one GET, or, where redirects are taken, the address that it
    redirects to. With `public` the host must be one of the internet's.

    Raises Again for a fault that may pass, ToolError for another.
    """
    import httpx2

    host, deadline = host_of(url), time.monotonic() + timeout
    scheme = httpx2.URL(url).scheme
    try:
        meter.result = "blocked here"
        address, route = _way(httpx2.URL(url), host) if public else (None, {})
        meter.result = ""
        with client(timeout, **route) as http:
            request = _request(http, url, address, accept)
            meter.count_request(request)
            response = http.send(request, stream=True)
            try:
                if redirects and response.has_redirect_location:
                    return _target(response, host)
                return _answer(response, url, host, most=most, accept=accept, until=deadline)
            finally:
                meter.count_response(response)
                response.close()
    except httpx2.TimeoutException as error:
        meter.result = "timeout"
        if isinstance(error, httpx2.ConnectTimeout):  # it did not come to sending
            meter.sent = 0
        raise no_answer("timeout", host, seconds=timeout) from error
    except (httpx2.ReadError, httpx2.RemoteProtocolError) as error:
        meter.result = "broke off"
        raise Again(ToolError(f"the answer of {host} broke off: try again later")) from error
    except httpx2.DecodingError as error:
        raise ToolError(f"{host} sent a packed answer that cannot be read") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        fault = fault_of(error, scheme, host)
        meter.result = fault
        if isinstance(error, httpx2.ConnectError):
            meter.sent = 0
        raise no_answer(fault, host) from error


def _way(url: httpx2.URL, host: str) -> tuple[str | None, dict[str, Any]]:
    """Return the address to connect to for one of the internet's hosts, or None where a
    proxy looks the name up, and the client's route there.

    The route is given to the client rather than left to it: it would choose by the
    address, and by rules of its own, and then might look the name up once more.
    """
    proxy = proxy_url(url.scheme, host)
    port = url.port or (443 if url.scheme == "https" else 80)
    address = public_address(host, port, proxy=proxy)
    return address, {"proxy": proxy} if proxy else {"mounts": {"http://": None, "https://": None}}


def _request(
    http: httpx2.Client, url: str, address: str | None, accept: tuple[str, ...]
) -> httpx2.Request:
    headers = {"Accept": ", ".join(accept)} if accept else {}
    request = http.build_request("GET", url, headers=headers)
    if address is None:
        return request
    # The checked address is connected to, whatever the name would mean a moment later;
    # the certificate is still the name's.
    netloc = request.url.netloc.decode("ascii")
    return http.build_request(
        "GET",
        request.url.copy_with(host=address),
        headers={**headers, "Host": netloc},
        extensions={"sni_hostname": request.url.raw_host.decode("ascii").removesuffix(".")},
    )


def _target(response: httpx2.Response, host: str) -> str:
    """Return the address that a redirect names, which may be relative."""
    import httpx2

    asked = response.request.url.copy_with(host=host)  # it may hold the checked address
    try:
        return str(asked.join(response.headers["Location"]))
    except httpx2.InvalidURL as error:
        raise ToolError(f"{host} redirects to what is no address: refused") from error


def _answer(
    response: httpx2.Response,
    url: str,
    host: str,
    *,
    most: int,
    accept: tuple[str, ...],
    until: float,
) -> Response:
    status = response.status_code
    if status != 200:
        # Not the server's own phrase, which may say anything to a model.
        meaning = HTTPStatus(status).phrase if status in _KNOWN else "unknown"
        if status in (404, 410):
            raise ToolError(f"{host} has no such page (HTTP {status} {meaning})")
        fault = ToolError(f"{host} refused the request (HTTP {status} {meaning}): try again later")
        if status in _PASSING:
            raise Again(fault, retry_after(response.headers.get("Retry-After", "")))
        raise fault
    kind = response.headers.get("Content-Type", "")
    if accept and kind and not _accepted(kind, accept):
        name = re.match(r"[\w.+-]{1,30}/[\w.+-]{1,80}", kind, re.ASCII)
        what = name[0] if name else "something"
        raise ToolError(f"{host} sent {what}, which cannot be read here")
    return Response(url, kind, _body(response, host, most, until))


def _accepted(kind: str, accept: tuple[str, ...]) -> bool:
    name = kind.partition(";")[0].strip().casefold()
    return any(
        name.startswith(part[:-1]) if part.endswith("*") else name == part for part in accept
    )


def _body(response: httpx2.Response, host: str, most: int, until: float) -> bytes:
    import httpx2

    declared = response.headers.get("Content-Length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > most:
        raise ToolError(f"{host} would send {declared} bytes, more than {most}: refused")
    body = bytearray()
    for piece in response.iter_bytes():
        body += piece
        if len(body) > most:
            raise ToolError(f"{host} sent more than {most} bytes: refused")
        if time.monotonic() > until:  # the client's timeout is that of one piece
            raise httpx2.ReadTimeout("the time is up", request=response.request)
    return bytes(body)


def follow(url: str, get: Callable[[str], Response | str]) -> Response:
    """Return what an address answers at last. Raises ToolError for too many redirects."""
    for _ in range(MAX_REDIRECTS + 1):
        answer = get(url)
        if isinstance(answer, Response):
            return answer
        url = answer
    raise ToolError(f"{host_of(url)} redirects more than {MAX_REDIRECTS} times: refused")
