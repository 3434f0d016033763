"""Which proxy the environment sets for a host."""

from __future__ import annotations

import re
from urllib.request import getproxies, proxy_bypass


def proxy_url(scheme: str, host: str) -> str | None:
    """Return the address of the proxy, with its password, for a host that is reached by
    this scheme; None where it is reached directly."""
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or proxy_bypass(host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def proxy_for(host: str) -> str | None:
    """Return the proxy that the environment sets for `host`, without its password."""
    proxy = proxy_url("https", host) or proxy_url("http", host)
    if proxy is None:
        return None
    # A password may hold any sign, also those at which the host would else be taken to end.
    scheme, _, rest = proxy.partition("://")
    return f"{scheme}://{re.split('[/?#]', rest.rpartition('@')[2])[0]}"
