"""Addresses, as models and people write them."""

from __future__ import annotations

import pytest

from local_react.errors import ToolError
from local_react.tools.web_address import web_address

PAGE = "https://example.org/a?b=1"


@pytest.mark.parametrize(
    "written",
    [
        PAGE,
        f"  {PAGE}\n",
        f"<{PAGE}>",
        f'"{PAGE}"',
        f"'{PAGE}'.",
        f"`{PAGE}`",
        f"**{PAGE}**",
        f"{PAGE}#part",
        f"({PAGE}).",
        f"{PAGE}, and more",
        f"[a title]({PAGE})",
        f'see [a [title]({PAGE} "shown") there',
        f"[a](<{PAGE}>)",
        f"please read {PAGE}!",
        "example.org/a?b=1",
        "//example.org/a?b=1",
        "HTTPS://example.org/a?b=1",
        "https:example.org/a?b=1",
        "https:/example.org/a?b=1",
        "https:///example.org/a?b=1",
        "https://exa\u200bmple.org/a?b=1",
    ],
)
def test_what_is_meant(written: str) -> None:
    assert web_address(written) == PAGE


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("http://example.org", "http://example.org"),
        ("www.example.org", "https://www.example.org"),
        ("example.org:8080/x", "https://example.org:8080/x"),
        ("https://en.wikipedia.org/wiki/A_(b)", "https://en.wikipedia.org/wiki/A_(b)"),
        ("(https://en.wikipedia.org/wiki/A_(b))", "https://en.wikipedia.org/wiki/A_(b)"),
        ("https://de.wikipedia.org/wiki/Zürich", "https://de.wikipedia.org/wiki/Zürich"),
        ("https://web.example/save/http://a.b/", "https://web.example/save/http://a.b/"),
        ("http://intranet/page", "http://intranet/page"),
        ("http://[::1]:80/x", "http://[::1]:80/x"),
        ("127.0.0.1", "https://127.0.0.1"),
    ],
)
def test_other_addresses(written: str, address: str) -> None:
    assert web_address(written) == address


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "write the address"),
        (" <> ", "write the address"),
        ("[2]", "not the number"),
        ("3", "not the number"),
        ("Oslo", "'Oslo' is no address of a page: search"),
        ("the page of Oslo", "search for it"),
        ("file:///etc/passwd", "^file: addresses are not read"),
        ("ftp://example.org/x", "^ftp:"),
        ("javascript:alert(1)", "^javascript:"),
        ("data:text/html,x", "^data:"),
        ("view-source:https://example.org", "^view-source:"),
        ("https://user:secret@example.org/", "name or password: leave"),
        ("https://user@example.org/", "name or password: leave"),
        ("user:1@example.org/", "name or password: leave"),
        ("https://", "no address"),
        ("https://example.org:99999/", "no address"),
        ("https://[::1", "no address"),
        ("https:// example.org/", "no address"),
    ],
)
def test_what_is_no_address(written: str, message: str) -> None:
    with pytest.raises(ToolError, match=message) as caught:
        web_address(written)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
