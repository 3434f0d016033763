"""Which addresses a model may send us to: public ones, since a page or a search result
can name any, and a router or a service of this machine would answer as it does to us."""

from __future__ import annotations

import ipaddress
import socket
from typing import TypeAlias

from local_react.errors import ToolError
from local_react.network.faults import no_answer

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""IPv6 addresses that stand for IPv4 ones (RFC 6052)."""
_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All IPv6 addresses that IANA has given to the internet: not site-local ones (fec0::/10) and
those that once stood for IPv4 (::/96), which Python calls global."""


def public_address(host: str, port: int, *, proxy: str | None) -> str | None:
    """Return an address of `host` to connect to, so that what was checked is what is
    reached; None where a proxy does the looking up. Beside a socks5h proxy no name is looked
    up here, since who sets one up does not want it told to anybody else.

    Raises ToolError where one of its addresses is not public, or it has none.
    """
    proxied = proxy is not None
    name = host.removesuffix(".")
    looked_up = not (proxy or "").startswith("socks5h:") or name.endswith("localhost")
    flags = 0 if looked_up else socket.AI_NUMERICHOST
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=flags)
    except (OSError, UnicodeError) as error:
        if proxied:
            return None
        raise no_answer("network", host) from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        if not is_public(address):
            raise ToolError(
                f"{host} is an address of this machine or its own network ({address}): pages "
                "there are not read; --private-addresses allows it"
            )
    return None if proxied else addresses[0]


def is_public(text: str) -> bool:
    """Return whether an IP address is one of the internet's, for all that it stands for."""
    address: _Address = ipaddress.ip_address(text.partition("%")[0])
    inner = _inner(address)
    if inner is not None:
        return is_public(str(inner))
    if isinstance(address, ipaddress.IPv6Address) and address not in _UNICAST:
        return False
    return address.is_global and not address.is_multicast


def _inner(address: _Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address carries, if it carries one."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)
