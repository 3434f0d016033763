"""HTML: all that is visible in a file, the main text of a page from the web."""

from __future__ import annotations

import pytest
from reader_files import xhtml

from local_react.readers import Unreadable, page, read_bytes
from local_react.readers.markup import parse_html, parse_xhtml, visible_text

SENTENCE = "The ferry leaves the harbour at seven and comes back before the tide turns. " * 4
ARTICLE = f"""<!DOCTYPE html><html><head><title>Ferries &amp; tides</title>
<meta property="article:published_time" content="2024-05-06T10:00:00Z"></head>
<body><nav><a href="/">Menu entry</a></nav><article><h1>Ferries &amp; tides</h1><p>{SENTENCE}</p>
<ul><li>one</li><li>two <b>bold</b></li></ul>
<table><tr><th>City</th><th>Boats</th></tr><tr><td>Rome</td><td>3</td></tr></table>
<p>{SENTENCE}</p></article><footer>All rights reserved, cookie notice</footer></body></html>"""


def shown(body: str) -> list[str]:
    root = parse_html(body)
    assert root is not None
    return visible_text(root).split("\n")


def test_a_file_shows_all_but_the_menu() -> None:
    found = read_bytes(ARTICLE.encode(), name="a.html")
    assert (found.title, found.date) == ("Ferries & tides", "2024-05-06")
    (part,) = found.parts
    sentence = SENTENCE.strip()
    assert (part.unit, part.number) == ("paragraph", 1)
    assert part.text.split("\n") == [
        *("Ferries & tides", sentence, "- one", "- two bold", "City | Boats", "Rome | 3"),
        *(sentence, "All rights reserved, cookie notice"),
    ]


def test_a_page_from_the_web_is_its_main_text() -> None:
    found = read_bytes(ARTICLE.encode(), url="https://ferries.test/tides")
    assert (found.title, found.date) == ("Ferries & tides", "2024-05-06")
    (part,) = found.parts
    assert SENTENCE.strip() in part.text and "- two bold" in part.text
    assert "| Rome | 3 |" in part.text
    assert "Menu entry" not in part.text and "rights reserved" not in part.text


def test_where_no_main_text_is_found_all_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"<html><body><form>Temperature now: <b>21</b> degrees</form></body></html>"

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("of a hostile page")

    for nothing in (fail, lambda *_, **__: None):
        monkeypatch.setattr("trafilatura.bare_extraction", nothing)
        found = read_bytes(data, url="https://weather.test/")
        assert found.parts[0].text == "Temperature now: 21 degrees"


@pytest.mark.parametrize(("limit", "most"), [("_MOST_SEARCHED", 700), ("_MOST_TAGS", 20)])
def test_of_a_huge_page_all_is_shown(
    limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, limit, most)
    found = read_bytes(ARTICLE.encode(), url="https://ferries.test/tides")
    assert "cookie notice" in found.parts[0].text


def test_menus_are_shown_where_there_is_nothing_else() -> None:
    assert shown("<nav><ul><li>Home<li>News</ul></nav>") == ["- Home", "- News"]


@pytest.mark.parametrize(
    "data",
    [
        b"<html><body></body></html>",
        b"<html><head><title>x</title></head><script>app()</script></html>",
        b"<html><!-- only a comment --></html>",
        b"<!doctype html>",
    ],
)
@pytest.mark.parametrize("url", ["", "https://empty.test/"])
def test_a_page_without_text_is_unreadable(data: bytes, url: str) -> None:
    with pytest.raises(Unreadable, match="holds no text"):
        read_bytes(data, name="a.html", url=url)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("a<br>b<br/>c", ["a", "b", "c"]),
        ("<p>one\n  two&nbsp;three</p>tail", ["one two three", "tail"]),
        ("x<b>y</b>z <i>w</i>", ["xyz w"]),
        ("<pre>def f():\n    return 1\n</pre>after", ["def f():", "    return 1", "", "after"]),
        ("<dl><dt>term<dd>meaning</dl>", ["term", "meaning"]),
        ("<table><tr><td><p>a</p><td>b<td></table>", ["a | b |"]),
        ("<table><tr><td><p>a</p><p>b</p><td>c</table>", ["a", "b", "c"]),
        ("<td><table><tr><td>1<td>2</table>", ["1 | 2"]),
        ("<script>no()</script>yes<style>p{}</style>", ["yes"]),
        ("<p hidden>no</p><p style='display: none'>no</p>yes", ["yes"]),
        ("<noscript>turn it on</noscript>yes<!-- no -->more", ["yesmore"]),
        ("<ul><li><p>item</p><li>next</ul>", ["- item", "- next"]),
        ("2 < 3 & 4 > 1 &copy; &#233; &bogus;", ["2 < 3 & 4 > 1 © é &bogus;"]),
    ],
)
def test_markup_becomes_lines(body: str, lines: list[str]) -> None:
    assert shown(body) == lines


def test_xhtml_may_close_elements_at_once() -> None:
    root = parse_xhtml(xhtml('<a id="x"/><p>one&nbsp;&mdash; two</p><div/><p>3 &lt; 4</p>'))
    assert root is not None
    assert visible_text(root) == "one — two\n3 < 4"


def test_entities_of_a_document_are_never_expanded() -> None:
    bomb = '<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    file = '<!DOCTYPE html [<!ENTITY b SYSTEM "file:///etc/hostname">]>'
    for doctype in (bomb, file):
        found = read_bytes(xhtml("<p>x &b; y</p>", doctype).encode(), name="a.xhtml")
        assert found.parts[0].text in ("x &b; y", "x y")


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ("<meta charset=shift_jis>", "shift_jis"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=GB2312">', "gb18030"),
        ("<meta charset='iso-8859-1'>", "cp1252"),
        ("", "utf-8"),
        ("<meta charset=iso-8859-1>", "utf-8"),  # a lie, as is common
        ("<meta charset=utf-8>", "utf-16"),
    ],
)
def test_a_page_says_its_encoding(declaration: str, encoding: str) -> None:
    text = "10 € “café”" if encoding in ("cp1252", "utf-8", "utf-16") else "東京一中"
    data = f"<html><head>{declaration}</head><body>{text}</body></html>"
    assert read_bytes(data.encode(encoding), name="a.html").parts[0].text == text


def test_a_server_says_the_encoding_of_a_page() -> None:
    data = "<html><body>Привет</body></html>".encode("koi8-r")
    found = read_bytes(data, content_type="text/html; charset=koi8-r", url="https://r.test/")
    assert found.parts[0].text == "Привет"


@pytest.mark.parametrize(
    "data",
    [
        "<div>" * 50_000 + "deep",
        "<b>" * 50_000 + "deep",
        "<table><tr><td>" * 3_000 + "deep",
        "<p " + "a=1 " * 100_000 + ">text",
        "<" * 100_000,
        "<!--" * 10_000,
        "<![CDATA[" * 1000 + "&" * 1000 + "&#x110000;&#xD800;&#0;",
        "<html><body>" + "<p>\x00\x01\x02 control" * 10,
        "<?xml version='1.0'?><html><p>not closed",
    ],
)
@pytest.mark.parametrize("url", ["", "https://hostile.test/"])
def test_broken_pages_are_read_or_refused(data: str, url: str) -> None:
    try:
        found = read_bytes(data.encode(), content_type="text/html", url=url)
    except Unreadable as error:
        assert "\n" not in str(error)
    else:
        assert found.parts[0].text.strip()


@pytest.mark.parametrize("cut", range(0, len(ARTICLE), 97))
def test_a_page_that_was_cut_off_is_read_as_far_as_it_goes(cut: int) -> None:
    try:
        read_bytes(ARTICLE[:cut].encode(), name="a.html")
    except Unreadable as error:
        assert str(error) in ("empty", "holds no text")
