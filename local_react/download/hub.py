"""The Hugging Face hub as a source: the pinned file over HTTP, resumed by Range.

huggingface_hub gives the address and the token (HF_TOKEN, or the stored login); the bytes
come through the door.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from time import sleep
from typing import TYPE_CHECKING

from local_react.catalog import GGUF_MAGIC, CatalogModel
from local_react.download.part import Part
from local_react.download.progress import Progress, Report, SourceError
from local_react.errors import ToolError
from local_react.network import retry_after

if TYPE_CHECKING:
    import httpx2

    from local_react.network import Network

RETRIES = 4
"""How often in a row it is tried again after a fault that may pass."""
LONGEST_WAIT = 120.0
"""Seconds: a server that asks for more is left alone."""
_ENOUGH = 1 << 20
"""Bytes that an attempt must bring for the retries to start anew."""
_CONNECT_SECONDS = 5.0
_SILENCE_SECONDS = 30.0


class _Again(Exception):
    """A fault that may pass: worth another attempt, after some seconds."""

    def __init__(self, cause: str, seconds: float | None = None) -> None:
        super().__init__(cause)
        self.seconds = seconds


class _Unreachable(_Again):
    """No connection, or silence: another attempt only where one has worked before."""


def fetch(part: Part, report: Report, network: Network) -> None:
    """Append the rest of the file, in several attempts where the connection breaks.

    Raises SourceError where the hub can't be reached, refuses, or has another file.
    """
    start = part.size
    failures = 0
    while not part.complete:
        before = part.size
        try:
            _attempt(network, part, report)
        except _Again as fault:
            if isinstance(fault, _Unreachable) and part.size <= start:
                raise SourceError(str(fault)) from fault
            failures = 0 if part.size - before >= _ENOUGH else failures + 1
            if failures > RETRIES:
                raise SourceError(f"{fault}; what came is kept: try again later") from fault
            _pause(fault, failures, part, report)


def _headers() -> dict[str, str]:
    # Not huggingface_hub's build_hf_headers: to name the program that runs us in the
    # User-Agent, it first asks the hub for a list of such programs.
    from huggingface_hub import constants, get_token

    token = None if constants.HF_HUB_DISABLE_IMPLICIT_TOKEN else get_token()
    return {"Authorization": f"Bearer {token}"} if token else {}


def _endpoint() -> str | None:
    # Read here, not by huggingface_hub, which reads it once, at its import.
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or None


def _address(model: CatalogModel) -> str:
    from huggingface_hub import hf_hub_url

    return hf_hub_url(model.repository, model.file, revision=model.revision, endpoint=_endpoint())


def _page(model: CatalogModel) -> str:
    """Return the address of the page on which a person asks for access."""
    from huggingface_hub import constants

    return f"{_endpoint() or constants.ENDPOINT}/{model.repository}"


def _attempt(network: Network, part: Part, report: Report) -> None:
    """Ask once for what is missing and append what comes."""
    import httpx2

    headers = _headers() | ({"Range": f"bytes={part.size}-"} if part.size else {})
    timeout = httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
    address = _address(part.model)
    try:
        with network.stream(address, asker="pull", headers=headers, timeout=timeout) as response:
            _check_status(response, part)
            _check_body(response, part)
            part.append(
                _with_magic_whole(response.iter_raw()),
                lambda done: report(Progress("hub", done, part.model.bytes)),
            )
    except (ToolError, UnicodeError) as error:
        raise SourceError(
            f"cannot set up a connection ({error}): check HF_ENDPOINT, HF_TOKEN, SSL_CERT_FILE"
            " and the proxy variables"
        ) from error
    except (
        httpx2.ConnectError,
        httpx2.ProxyError,
        httpx2.TimeoutException,
        httpx2.UnsupportedProtocol,
    ) as error:
        raise _Unreachable(f"cannot reach {_host(error)}: {_reason(error)}") from error
    except (httpx2.NetworkError, httpx2.ProtocolError) as error:
        raise _Again(f"the connection to {_host(error)} broke ({_reason(error)})") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise SourceError(f"the hub gave no usable answer: {_reason(error)}") from error
    if not part.complete:
        raise _Again("the answer stopped early")


def _host(error: httpx2.RequestError) -> str:
    """Return the host that failed: the hub's, or the one that it redirected to."""
    return error.request.url.host or str(error.request.url)


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    if "CERTIFICATE" in text:
        text += "; if a proxy re-signs the traffic, set SSL_CERT_FILE to its certificate"
    return text


def _check_status(response: httpx2.Response, part: Part) -> None:
    """Return where there is a body to read; raise _Again or SourceError for all else."""
    status, model = response.status_code, part.model
    if status in (200, 206):
        return
    answer = f"{response.url.host} answered {status}"
    if status in (401, 403):
        raise SourceError(_access(model, status))
    if status == 404:
        address = _address(model)
        raise SourceError(f"no such file (404): {address}; the repository may have moved")
    if status == 416 and part.size:
        _check_total(_total_of_range(response), model)
        part.discard()
        raise _Again(f"{answer}, so it starts over", 0)
    if status in (408, 429) or status >= 500:
        raise _Again(f"{answer}{_meaning(status)}", _retry_after(response, answer))
    raise SourceError(f"{answer} for {_address(model)}")


def _access(model: CatalogModel, status: int) -> str:
    page = _page(model)
    if "Authorization" in _headers():
        return (
            f"the hub refuses your token ({status}): ask for access at {page}, or set HF_TOKEN"
            " to a token that may read it"
        )
    return (
        f"{model.repository} needs a token ({status}): ask for access at {page}, then set"
        " HF_TOKEN and run it again"
    )


def _meaning(status: int) -> str:
    return " (too many requests)" if status == 429 else ""


def _check_body(response: httpx2.Response, part: Part) -> None:
    """Raise where the body isn't the file, or not its continuation; else be ready for it."""
    kind = response.headers.get("Content-Type", "").casefold()
    if kind.startswith(("text/html", "application/xhtml")):
        raise SourceError(
            f"{response.url.host} sent a web page, not a GGUF file: a login page or a captive"
            " portal? open the address in a browser, or change the proxy settings"
        )
    if response.status_code == 206:
        _check_total(_total_of_range(response), part.model)
        if _start_of_range(response) != part.size:
            part.discard()
            raise _Again(f"{response.url.host} sent another range than was asked for", 0)
        return
    length = response.headers.get("Content-Length", "")
    encoded = response.headers.get("Content-Encoding", "identity") != "identity"
    _check_total(int(length) if length.isdecimal() and not encoded else None, part.model)
    part.discard()  # all of the file comes, whether or not a range was asked for


def _check_total(total: int | None, model: CatalogModel) -> None:
    if total is not None and total != model.bytes:
        raise SourceError(
            f"the server's file has {total} bytes, {model.file} has {model.bytes}: it is another"
            " file than the pinned one"
        )


def _start_of_range(response: httpx2.Response) -> int | None:
    found = re.match(r"bytes (\d{1,18})-", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def _total_of_range(response: httpx2.Response) -> int | None:
    found = re.search(r"/(\d{1,18})$", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else None


def _with_magic_whole(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the chunks, the first ones joined until the file's magic can be told."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= len(GGUF_MAGIC):
            yield head
            head = b""
    if head:
        yield head


def _retry_after(response: httpx2.Response, answer: str) -> float | None:
    """Return the seconds that the server asks to wait (RFC 9110, 10.2.3), None where it doesn't.

    Raises SourceError where that is too long to sit through.
    """
    seconds = retry_after(response.headers.get("Retry-After", ""))
    if seconds is not None and seconds > LONGEST_WAIT:
        raise SourceError(f"{answer} and asks to wait {seconds:.0f} s: try again then")
    return seconds


def _pause(fault: _Again, failures: int, part: Part, report: Report) -> None:
    seconds = 2.0 ** (failures - 1) if fault.seconds is None else fault.seconds
    stage = f"hub: {fault}; trying again in {seconds:.0f} s"
    report(Progress(stage, part.size, part.model.bytes))
    sleep(seconds)
