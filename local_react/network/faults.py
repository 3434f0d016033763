"""Why a request got no answer, told apart for a person."""

from __future__ import annotations

from typing import Literal, TypeAlias

from local_react.errors import ToolError
from local_react.network.proxies import proxy_for, proxy_url

Fault: TypeAlias = Literal["network", "proxy", "timeout", "certificate", "ca_file"]
"""Why a request got no answer."""

TIMEOUT = 10.0
"""Seconds a request may take in all: looking up the name, connecting, and reading."""


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


def fault_of(error: Exception, scheme: str, host: str) -> Fault:
    """Return what an error of the HTTP client means."""
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return "timeout"
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return "certificate"
    # A proxy that is not there looks like a host that is not there.
    if isinstance(error, httpx2.ProxyError) or proxy_url(scheme, host):
        return "proxy"
    return "network"
