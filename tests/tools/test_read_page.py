"""read_page: real pages over real HTTP, in parts, the nearest passages first."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, private_ca
from searching import raw_server

from local_react.core import Findings
from local_react.errors import OfflineError, ToolError
from local_react.network import Answers, Network
from local_react.network.addresses import public_address
from local_react.tools.base import Tool
from local_react.tools.read_page import PART, make_read_page, nearest

HTML = {"Content-Type": "text/html; charset=utf-8"}

RIVERS = ("Rhine", "Danube", "Elbe", "Oder", "Weser", "Main", "Neckar", "Mosel", "Saale", "Spree")


def paragraph(name: str) -> str:
    length = 400 + 7 * len(name)
    told = f"The {name} is {length} kilometres long and flows through many towns. "
    more = f"Along the {name} there are vineyards, and ships carry coal and grain on it. "
    return told + more * 12


def article() -> bytes:
    """Return a page of ten paragraphs, with what surrounds a page."""
    body = "".join(f"<h2>{name}</h2><p>{paragraph(name)}</p>" for name in RIVERS)
    return (
        "<html><head><title>Rivers of Germany</title>"
        '<meta property="article:published_time" content="2024-05-31T10:00:00Z"></head>'
        "<body><nav><a href='/'>Home</a> <a href='/login'>Log in</a></nav>"
        f"<main><article><h1>Rivers of Germany</h1>{body}</article></main>"
        "<footer>Cookie settings and imprint</footer></body></html>"
    ).encode()


def pdf(*pages: str) -> bytes:
    """Return a PDF file with a line of text on each page (PDF 32000-1, 7.5)."""
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b""]
    kids = []
    objects.append(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    for text in pages:
        stream = f"BT /F1 12 Tf 50 700 Td ({text}) Tj ET".encode()
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R>>>>>>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(kids), b" ".join(kids))
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n" % size
    tail = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, len(out))
    return out + head + table + tail


def reader(network: Network | None = None) -> Tool[..., Findings]:
    return make_read_page(network or Network("allow", private_addresses=True))


def texts(found: Findings) -> str:
    return "\n".join(passage.text for passage in found.passages)


def test_the_beginning_of_a_page_and_then_the_next_part() -> None:
    with Loopback(article(), headers=HTML).serve() as server:
        read_page = reader()
        first = read_page(f"{server.url}/rivers")
        second = read_page(f"{server.url}/rivers#elbe", part=2)
    assert len(server.asked) == 1  # to read on sends nothing
    assert "The Rhine is" in texts(first)
    assert "Log in" not in texts(first)
    assert "imprint" not in texts(first)
    assert {p.title for p in first.passages} == {"Rivers of Germany (2024-05-31)"}
    assert {p.source for p in first.passages} == {f"{server.url}/rivers"}
    assert 0 < len(texts(first)) <= PART + 100
    assert first.note.startswith("part 1 of ")
    assert first.note.endswith("; part 2 goes on")
    assert second.note.startswith("part 2 of ")
    assert not {p.text for p in first.passages} & {p.text for p in second.passages}


def test_the_parts_are_the_whole_page_in_its_order() -> None:
    with Loopback(article(), headers=HTML).serve() as server:
        read_page = reader()
        number = int(read_page(server.url).note.split()[3].strip(";"))
        whole = [texts(read_page(server.url, part=part)) for part in range(1, number + 1)]
        assert read_page(server.url, part=number).note == f"part {number} of {number}, the end"
        with pytest.raises(ToolError, match=f"no part {number + 1}: it ends with part {number}"):
            read_page(server.url, part=number + 1)
    places = ["".join(whole).index(f"The {name} is") for name in RIVERS]
    assert places == sorted(places)


@pytest.mark.parametrize("question", ["How long is the Neckar?", "neckar", "length of NECKAR"])
def test_the_passage_nearest_to_the_question_is_first(question: str) -> None:
    with Loopback(article(), headers=HTML).serve() as server:
        found = reader()(server.url, question)
    assert "The Neckar is 442 kilometres long" in found.passages[0].text
    assert found.note.startswith("the passages nearest to the question first; part 1 of ")


def test_a_question_that_the_page_has_no_word_of_gets_the_beginning() -> None:
    with Loopback(article(), headers=HTML).serve() as server:
        found = reader()(server.url, "zebra crossings")
    assert "The Rhine is" in texts(found)
    assert found.note.startswith("no passage holds the question's words")


def test_nearest_weighs_rare_words() -> None:
    common = ["the town on the river"] * 5
    assert nearest([*common, "the town of Ulm", "nothing"], "which town is Ulm")[0] == 5
    assert nearest(["今天天气很好", "北京是中国的首都"], "中国首都") == [1]
    assert nearest(["a"], "") == nearest(["a"], '"; drop table') == nearest([], "a") == []


def test_a_pdf_has_pages() -> None:
    body = pdf("Rain falls mainly on the plain. " * 40, "Snow falls on the mountains.")
    with Loopback(body, headers={"Content-Type": "application/pdf"}).serve() as server:
        found = reader()(f"{server.url}/weather.pdf", "snow")
    assert found.passages[0].text == "Snow falls on the mountains."
    assert found.passages[0].source == f"{server.url}/weather.pdf#page=2"


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("text/plain", b"Just a line.", "Just a line."),
        ("text/csv", b"city,rain\nOslo,7\n", "Oslo"),
        ("application/json", b'{"city": "Oslo"}', "Oslo"),
        ("text/plain; charset=iso-8859-1", "Zürich".encode("latin-1"), "Zürich"),
        ("application/octet-stream", b"Who knows what.", "Who knows what."),
        ("", b"No type at all.", "No type at all."),
    ],
)
def test_other_kinds_of_text(kind: str, body: bytes, text: str) -> None:
    headers = {"Content-Type": kind} if kind else {}
    with Loopback(body, headers=headers).serve() as server:
        found = reader()(server.url)
    assert text in texts(found)
    assert found.note == "this is all of it"


@pytest.mark.parametrize(
    ("headers", "body", "message"),
    [
        ({"Content-Type": "image/png"}, b"\x89PNG", "sent image/png, which cannot be read"),
        ({"Content-Type": "video/mp4"}, b"x", "sent video/mp4"),
        ({"Content-Type": "text/html"}, b"\x89PNG\r\n\x1a\n", "cannot be read: a picture"),
        ({"Content-Type": "application/pdf"}, b"%PDF-1.4 no more", "cannot be read"),
        ({"Content-Type": "text/html"}, b"", "cannot be read: empty"),
    ],
)
def test_what_cannot_be_read_is_named(headers: dict[str, str], body: bytes, message: str) -> None:
    with (
        Loopback(body, headers=headers).serve() as server,
        pytest.raises(ToolError, match=message) as caught,
    ):
        reader()(server.url)
    assert "\n" not in str(caught.value)


def test_a_page_that_is_not_there() -> None:
    with (
        Loopback(b"", status=404).serve() as server,
        pytest.raises(ToolError, match="HTTP 404"),
    ):
        reader()(server.url)


def test_a_huge_page_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local_react.tools.read_page.MAX_BYTES", 10_000)
    with (
        Loopback(b"x" * 20_000, headers=HTML).serve() as server,
        pytest.raises(ToolError, match="more than 10000"),
    ):
        reader()(server.url)


def test_a_page_that_breaks_off() -> None:
    network = Network("allow", private_addresses=True, sleep=lambda _: None)
    reply = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9999\r\n\r\n<p>a"
    with raw_server(reply) as url, pytest.raises(ToolError, match="broke off"):
        reader(network)(url)


def test_a_slow_server_is_given_up() -> None:
    server = Loopback(article(), headers=HTML, hold=threading.Event())
    network = Network("allow", private_addresses=True, timeout=0.3)
    with server.serve(), pytest.raises(ToolError, match="did not answer within"):
        reader(network)(server.url)


def test_a_page_that_takes_too_long_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    # Less than the process that reads it takes to start.
    monkeypatch.setattr("local_react.tools.read_page.READING_SECONDS", 0.001)
    with (
        Loopback(article(), headers=HTML).serve() as server,
        pytest.raises(ToolError, match="takes longer than"),
    ):
        reader()(server.url)


def test_a_private_ca(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ca, context = private_ca(tmp_path)
    with Loopback(article(), headers=HTML).serve(context) as server:
        with pytest.raises(ToolError, match=r"certificate verification failed.*SSL_CERT_FILE"):
            reader()(server.url)
        monkeypatch.setenv("SSL_CERT_FILE", str(ca))
        assert "Rhine" in texts(reader()(server.url.removeprefix("https://")))


def test_this_machine_is_not_read() -> None:
    network = Network("allow")
    with Loopback(article(), headers=HTML).serve() as server:
        for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
            with pytest.raises(ToolError, match="this machine or its own network"):
                reader(network)(url)
    assert server.asked == []


def test_a_redirect_to_this_machine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def address(host: str, *rest: Any, **more: Any) -> str | None:
        return "127.0.0.1" if host == "public.example" else public_address(host, *rest, **more)

    monkeypatch.setattr("local_react.network.http.public_address", address)
    network = Network("allow")
    with Loopback(article(), headers=HTML).serve() as inside:
        redirect = Loopback(b"", status=302, headers={"Location": inside.url})
        with redirect.serve() as outside:
            public = outside.url.replace("127.0.0.1", "public.example")
            with pytest.raises(ToolError, match="this machine or its own network"):
                reader(network)(public)
    assert len(outside.asked) == 1
    assert inside.asked == []


def test_a_redirect_is_followed_and_named() -> None:
    with Loopback(article(), headers=HTML).serve() as there:
        moved = Loopback(b"", status=301, headers={"Location": f"{there.url}/new"})
        with moved.serve() as here:
            found = reader()(f"{here.url}/old")
    assert {passage.source for passage in found.passages} == {f"{there.url}/new"}


def test_what_is_sent_is_on_record() -> None:
    network = Network("allow", private_addresses=True)
    with Loopback(article(), headers=HTML).serve() as server:
        reader(network)(f"{server.url}/rivers", "a question, which stays here")
    (exchange,) = network.exchanges
    assert (exchange.asker, exchange.text) == ("read_page", f"{server.url}/rivers")
    assert "question" not in "".join(server.asked)


def test_a_page_is_kept_and_its_age_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local_react.network.addresses.is_public", lambda address: True)
    network = Network("allow", answers=Answers(tmp_path / "a.sqlite"))
    with Loopback(article(), headers=HTML).serve() as server:
        first = reader(network)(server.url)
        again = reader(network)(server.url)  # as another process would
    assert len(server.asked) == 1
    assert again.passages == first.passages
    age = again.note.removeprefix(first.note)
    assert re.fullmatch(r"; fetched \d+ s ago, from the cache", age)


def test_only_the_last_pages_are_held() -> None:
    with Loopback(article(), headers=HTML).serve() as server:
        read_page = reader()
        for number in (1, 2, 3, 4, 5, 1):
            read_page(f"{server.url}/{number}")
    assert server.asked == ["/1", "/2", "/3", "/4", "/5", "/1"]


@pytest.mark.parametrize("url", ["", "Oslo", "file:///etc/passwd", "https://a:b@example.org/"])
def test_what_is_no_address_sends_nothing(url: str) -> None:
    network = Network("allow")
    with pytest.raises(ToolError):
        reader(network)(url)
    assert network.exchanges == []


def test_offline_sends_nothing() -> None:
    with Loopback(article(), headers=HTML).serve() as server:
        with pytest.raises(OfflineError, match=r"read_page .*127\.0\.0\.1"):
            reader(Network("deny"))(server.url)
        assert server.asked == []


def test_the_arguments_are_few_and_short() -> None:
    tool = reader()
    assert tool.may == {"reads network"}
    assert tool.schema["required"] == ["url"]
    bad: list[dict[str, Any]] = [{"url": "x" * 201}, {"url": "x", "part": 0}, {}]
    for arguments in bad:
        with pytest.raises(ToolError, match="argument"):
            tool.run(arguments)
