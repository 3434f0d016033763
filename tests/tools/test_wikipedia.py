"""wikipedia and lookup: from archives without a network, and over real HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from loopback import closed_port
from zim_files import plain_page, write_zim

from local_react.core import Findings
from local_react.errors import OfflineError, ToolError, UsageError
from local_react.network import Answers, Network
from local_react.tools.wikipedia import make_wikipedia
from local_react.tools.wikipedia.matching import find, nearest
from local_react.tools.wikipedia.shelf import cleaned
from local_react.zim import Section

LIFE = """\
Ada Lovelace was an English mathematician. She was born in London in 1815. Her father was Lord \
Byron. She met Charles Babbage on 5 June 1833. He showed her his engine. \
She wrote the first program.
==Education
She was taught by Mary Somerville. Her tutor was Augustus De Morgan. They corresponded for years.
==Death
She died of cancer in 1852."""

EXTRACT = """Ada Lovelace was an English mathematician. She was born in London in 1815.


== Education ==
She was taught by Mary Somerville.


=== Tutors ===
Her energy was
  
    
      
        E
      
    
    {\\displaystyle E}
  , she said.


== References ==
"""


class MediaWiki:
    """Answers as MediaWiki's API does, of the pages that it is given."""

    def __init__(self) -> None:
        self.pages: dict[str, dict[str, Any]] = {}
        self.redirects: dict[str, str] = {}
        self.near: list[str] = []
        self.found: dict[str, str] = {}
        self.raw: bytes | None = None
        self.asked: list[dict[str, str]] = []
        self.url = ""

    @property
    def titles(self) -> list[str]:
        return [asked.get("titles", "") for asked in self.asked]

    def answer(self, asked: dict[str, str]) -> bytes:
        self.asked.append(asked)
        if self.raw is not None:
            return self.raw
        query: dict[str, Any] = {}
        if title := asked.get("titles"):
            assert not set("#|<>[]{}") & set(title), "MediaWiki reads these as something else"
            if target := self.redirects.get(title):
                query["redirects"] = [{"from": title, "to": target}]
                title = target
            page = self.pages.get(title, {"missing": True})
            query["pages"] = [{"ns": 0, "title": title, **page}]
        if "list" in asked:
            assert asked["srsearch"] and asked["pssearch"], "MediaWiki refuses an empty search"
            query["prefixsearch"] = [{"ns": 0, "title": near, "pageid": 7} for near in self.near]
            query["search"] = [
                {"ns": 0, "title": title, "pageid": 8, "snippet": snippet}
                for title, snippet in self.found.items()
            ]
        return json.dumps({"batchcomplete": True, "query": query}).encode()

    @contextmanager
    def serve(self) -> Iterator[MediaWiki]:
        wiki = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                assert parts.path == "/w/api.php"
                body = wiki.answer({name: value for name, [value] in parse_qs(parts.query).items()})
                self.send_response(200)
                self.send_header("Content-Type", "application/json; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.url = f"http://127.0.0.1:{server.server_port}"
            thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()


@pytest.fixture
def wiki() -> Iterator[MediaWiki]:
    with MediaWiki().serve() as wiki:
        wiki.pages["Ada Lovelace"] = {"pageid": 1, "extract": EXTRACT}
        yield wiki


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = {
        "Ada Lovelace": plain_page(LIFE),
        "Analytical engine": plain_page("A machine that Babbage designed in 1837."),
        "Ada": '<div id="disambigbox"></div><ul><li>Ada Lovelace</li><li>Ada, Ohio</li></ul>',
        "Stub": "<h1>Stub</h1>",
    }
    path = tmp_path_factory.mktemp("archives") / "wiki.zim"
    return write_zim(path, pages, {"Countess Lovelace": "Ada Lovelace"})


class Tools:
    """The two tools, called as the agent calls them."""

    def __init__(self, network: Network, archives: tuple[Path, ...] = (), **options: Any) -> None:
        self.tools = {tool.name: tool for tool in make_wikipedia(network, archives, **options)}

    def open(self, title: str) -> Findings:
        return self._ran("wikipedia", title=title)

    def lookup(self, article: str, word: str, **more: int) -> Findings:
        return self._ran("lookup", article=article, word=word, **more)

    def _ran(self, name: str, **arguments: Any) -> Findings:
        found = self.tools[name].run(arguments)
        assert isinstance(found, Findings)
        return found


@pytest.fixture
def offline(archive: Path) -> Tools:
    return Tools(Network("deny"), (archive,))


def online(wiki: MediaWiki, **options: Any) -> Tools:
    return Tools(Network("allow", **options), base_url=wiki.url)


def text(findings: Findings) -> str:
    return findings.passages[0].text


def test_an_article_opens_at_its_first_five_sentences(offline: Tools) -> None:
    found = offline.open("ada lovelace")
    assert text(found) == (
        "Ada Lovelace was an English mathematician. She was born in London in 1815. Her father "
        "was Lord Byron. She met Charles Babbage on 5 June 1833. He showed her his engine."
    )
    assert found.passages[0].source == "wiki: Ada Lovelace"
    assert found.note == "the first 5 of 10 sentences; lookup finds a word in all of them"


def test_lookup_goes_from_result_to_result_with_a_sentence_of_context(offline: Tools) -> None:
    first = offline.lookup("Ada Lovelace", "her")
    second = offline.lookup("Ada Lovelace", "her", result=2)
    last = offline.lookup("Countess Lovelace", "HER", result=3)
    assert first.note == "result 1 of 3; result=2 goes on"
    assert text(first) == (
        "She was born in London in 1815. Her father was Lord Byron. "
        "She met Charles Babbage on 5 June 1833."
    )
    assert second.note == "result 2 of 3; result=3 goes on"
    assert last.note == "result 3 of 3"
    assert last.passages[0].title == "Ada Lovelace, Education"
    # The context stays under its heading.
    assert text(offline.lookup("Ada Lovelace", "cancer")) == "She died of cancer in 1852."
    with pytest.raises(ToolError, match=r"^only 3 sentences hold 'her': result is at most 3;"):
        offline.lookup("Ada Lovelace", "her", result=4)


def test_a_word_that_is_not_there_gets_the_sections(offline: Tools) -> None:
    found = offline.lookup("Ada Lovelace", "submarine")
    assert found.note == "no sentence holds 'submarine': try another word, or one of its sections"
    assert text(found) == "Education; Death"
    plain = offline.lookup("Analytical engine", "submarine")
    assert (plain.passages, plain.note.endswith("has no sections")) == ((), True)


def test_how_words_are_found_is_told(offline: Tools) -> None:
    assert offline.lookup("Ada Lovelace", "tutored by").note.startswith("result 1 of ")
    assert "all the words" in offline.lookup("Ada Lovelace", "London born").note
    assert "some of the words" in offline.lookup("Ada Lovelace", "when did she die").note
    assert "within a word" in offline.lookup("Ada Lovelace", "hematic").note


def test_a_title_that_means_several_things_lists_them(offline: Tools) -> None:
    found = offline.open("Ada")
    assert text(found) == "Ada Lovelace\nAda, Ohio"
    assert found.note == "this title may mean each of these: open the one that is meant"


def test_an_article_that_is_not_there_gets_the_nearest(offline: Tools) -> None:
    for found in (offline.open("Ada Lovelas"), offline.lookup("Ada Lovelas", "born")):
        assert found.note.startswith("there is no article 'Ada Lovelas'; open one of the nearest")
        assert found.passages[0].title == "nearest titles"
        assert text(found).splitlines()[0] in ("Ada Lovelace", "Ada")
    passages = offline.open("machine designed in 1837").passages
    assert passages[-1].title == "Analytical engine"
    assert passages[-1].text == "A machine that Babbage designed in 1837."
    with pytest.raises(ToolError, match=r"^there is no article 'Xyzzy', nor one like it: use"):
        offline.open("Xyzzy")
    with pytest.raises(ToolError, match="has no text: open another one"):
        offline.open("Stub")


def test_offline_no_network_is_declared_or_touched(archive: Path) -> None:
    network = Network("deny")
    tools = Tools(network, (archive,))
    tools.open("Ada Lovelace")
    with pytest.raises(ToolError):
        tools.open("Xyzzy")
    assert (network.refused, network.exchanges) == ([], [])
    assert {tool.may for tool in tools.tools.values()} == {frozenset({"reads files"})}


@pytest.mark.parametrize(("with_archive", "may"), [(False, set()), (True, {"reads files"})])
def test_what_the_tools_do_is_declared(archive: Path, with_archive: bool, may: set[str]) -> None:
    tools = make_wikipedia(Network("allow"), [archive] if with_archive else [])
    assert {tool.may for tool in tools} == {frozenset(may | {"reads network"})}
    assert all(len(tool.description) < 220 for tool in tools)
    for tool in tools:
        for schema in tool.schema["properties"].values():
            assert schema["type"] == "integer" or schema["maxLength"] <= 200


def test_an_opened_article_is_kept_at_hand(tmp_path: Path, archive: Path) -> None:
    path = tmp_path / "moved.zim"
    path.write_bytes(archive.read_bytes())
    tools = Tools(Network("deny"), (path,))
    tools.open("Countess Lovelace")
    path.unlink()
    assert tools.lookup("ada lovelace", "cancer").note == "result 1 of 1"
    with pytest.raises(ToolError, match="there is no file"):
        tools.open("Analytical engine")


def test_archives_are_asked_in_their_order(tmp_path: Path, archive: Path) -> None:
    other = write_zim(tmp_path / "other.zim", {"Ada Lovelace": "<p>Another.", "Only": "<p>Here."})
    tools = Tools(Network("deny"), (archive, other))
    assert tools.open("Ada Lovelace").passages[0].source == "wiki: Ada Lovelace"
    assert tools.open("Only").passages[0].source == "other: Only"


def test_a_damaged_archive_does_not_hide_the_others(tmp_path: Path, archive: Path) -> None:
    damaged = tmp_path / "damaged.zim"
    damaged.write_bytes(archive.read_bytes()[:2000])
    tools = Tools(Network("deny"), (damaged, archive))
    assert tools.open("Ada Lovelace").passages
    assert "damaged.zim is damaged" in tools.open("Ada Lovelas").note
    with pytest.raises(ToolError, match=r"^damaged\.zim is damaged"):
        Tools(Network("deny"), (damaged,)).open("Ada Lovelace")


def test_online_an_article_is_one_request(wiki: MediaWiki) -> None:
    tools = online(wiki)
    found = tools.open("Ada Lovelace")
    assert text(found).startswith("Ada Lovelace was an English mathematician. She was born")
    assert found.passages[0].source == f"{wiki.url}/wiki/Ada_Lovelace"
    assert tools.lookup("Ada Lovelace", "somerville").passages[0].title == "Ada Lovelace, Education"
    assert text(tools.lookup("Ada Lovelace", "energy")).endswith(
        "Her energy was E {\\displaystyle E} , she said."
    )
    assert wiki.titles == ["Ada Lovelace"]


def test_online_a_redirect_is_followed(wiki: MediaWiki) -> None:
    wiki.redirects["Countess of Lovelace"] = "Ada Lovelace"
    assert online(wiki).open("Countess of Lovelace").passages[0].title == "Ada Lovelace"


def test_online_another_spelling_is_opened(wiki: MediaWiki) -> None:
    wiki.near = ["Ada Lovelace", "Ada Lovelace Day"]
    assert online(wiki).open("ada_lovelace").passages[0].title == "Ada Lovelace"
    assert wiki.titles == ["ada lovelace", "Ada Lovelace"]


def test_online_a_missing_title_gets_the_nearest(wiki: MediaWiki) -> None:
    wiki.near = ["Ada Lovelace"]
    wiki.found = {"Lady Byron": 'mother of <span class="searchmatch">Ada</span> &amp; others'}
    found = online(wiki).open("Ada Lovelais")
    assert text(found) == "Ada Lovelace\nLady Byron"
    assert found.passages[1].text == "mother of Ada & others"
    assert found.passages[1].source == f"{wiki.url}/wiki/Lady_Byron"


def test_online_a_title_of_several_meanings_lists_them(wiki: MediaWiki) -> None:
    wiki.pages["Mercury"] = {
        "extract": "Mercury may refer to:\nMercury (planet)\nMercury (element)",
        "pageprops": {"disambiguation": ""},
    }
    found = online(wiki).open("Mercury")
    assert text(found).splitlines()[1:] == ["Mercury (planet)", "Mercury (element)"]
    assert "may mean each of these" in found.note


@pytest.mark.parametrize("title", ["C#", "Ada|C", "C[1]"])
def test_online_a_title_that_cannot_be_is_only_searched_for(wiki: MediaWiki, title: str) -> None:
    wiki.pages["C"] = wiki.pages["Ada"] = {"extract": "C is a letter."}
    wiki.near = ["C Sharp (programming language)"]
    assert text(online(wiki).open(title)) == "C Sharp (programming language)"
    assert [asked["srsearch"] for asked in wiki.asked] == [title]


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"<html>log in</html>", "did not answer with JSON"),
        (b"[1]", "answered without an article"),
        (b'{"error": {"code": "ratelimited", "info": "x"}}', "refused: ratelimited; try again"),
        (b'{"error": {"code": "a\\nb <i>"}}', "refused: a b  i ; try again"),
        (b"[" * 100_000, "did not answer with JSON"),
    ],
)
def test_online_what_is_no_answer_is_one_line(wiki: MediaWiki, raw: bytes, told: str) -> None:
    wiki.raw = raw
    with pytest.raises(ToolError, match=told) as raised:
        online(wiki).open("Ada")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b'{"query": 1}',
        b'{"query": {"pages": [1, {"title": 2, "extract": "x"}, {"title": "A", "extract": 3}]}}',
        b'{"query": {"pages": {}, "search": [{"title": null}], "prefixsearch": "x"}}',
    ],
)
def test_online_an_answer_of_another_shape_holds_no_article(wiki: MediaWiki, raw: bytes) -> None:
    wiki.raw = raw
    with pytest.raises(ToolError, match="there is no article 'Ada'"):
        online(wiki).open("Ada")


def test_online_an_answer_that_was_kept_tells_its_age(wiki: MediaWiki, tmp_path: Path) -> None:
    answers = Answers(tmp_path / "answers.sqlite")
    online(wiki, answers=answers).open("Ada Lovelace")
    again = online(wiki, answers=answers).open("Ada Lovelace")
    assert again.note.endswith(" old, from the cache")
    assert wiki.titles == ["Ada Lovelace"]


def test_the_network_is_asked_only_for_what_no_archive_has(wiki: MediaWiki, archive: Path) -> None:
    tools = Tools(Network("allow"), (archive,), base_url=wiki.url)
    assert tools.open("Ada Lovelace").passages[0].source == "wiki: Ada Lovelace"
    assert wiki.asked == []
    wiki.pages["Grace Hopper"] = {"extract": "Grace Hopper was an admiral."}
    assert tools.open("Grace Hopper").passages[0].source.startswith("http")
    wiki.near = ["Ada Lovelace Day"]
    both = tools.open("Ada Lovelas").passages
    assert [one.source for one in both[:2]] == ["wiki", wiki.url.removeprefix("http://")]


def test_a_network_that_fails_leaves_what_the_archives_have(archive: Path) -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    network = Network("allow", timeout=0.5)
    found = Tools(network, (archive,), base_url=url).open("Ada Lovelas")
    assert "no network: 127.0.0.1 cannot be reached" in found.note
    assert found.passages[0].title == "nearest titles"
    with pytest.raises(ToolError, match="no network"):
        Tools(network, base_url=url).open("Ada Lovelace")


def test_what_is_sent_is_the_title_and_a_no_is_heard(archive: Path) -> None:
    shown: list[str] = []

    def no(outgoing: Any) -> Any:
        shown.append(outgoing.text)
        return "no"

    tools = Tools(Network("ask", ask=no), (archive,))
    assert "the user does not let wikipedia send this" in tools.open("Ada Lovelas").note
    assert shown == ["Ada Lovelas"]


def test_without_archives_and_network_it_says_so() -> None:
    [wikipedia, _] = make_wikipedia(Network("deny"))
    assert wikipedia.network
    with pytest.raises(OfflineError, match="wikipedia needs the network"):
        wikipedia("Ada")


def test_a_language_is_checked() -> None:
    make_wikipedia(Network("deny"), language="zh-yue")
    with pytest.raises(UsageError, match=r"'evil\.org/' is no language of Wikipedia"):
        make_wikipedia(Network("deny"), language="evil.org/")


@pytest.mark.parametrize(
    ("written", "title"),
    [
        (" Ada  Lovelace ", "Ada Lovelace"),
        ('"Ada_Lovelace"', "Ada Lovelace"),
        ("https://en.wikipedia.org/wiki/Ada_Lovelace#Life", "Ada Lovelace"),
        ("https://fr.wikipedia.org/wiki/%C3%89mile_Zola", "Émile Zola"),
        ("Ada Lovelace - Wikipedia", "Ada Lovelace"),
        ("AC/DC", "AC/DC"),
        ("C++", "C++"),
    ],
)
def test_a_title_is_understood(written: str, title: str) -> None:
    assert cleaned(written) == title


@pytest.mark.parametrize("written", ["", "  ", '""', "https://en.wikipedia.org/", "?!"])
def test_a_title_of_nothing_is_refused(written: str) -> None:
    with pytest.raises(ToolError, match="the title is empty"):
        cleaned(written)


TEXTS = [
    "Skłodowska was born in Warszawa.",
    "She studied rivers, and a river.",
    "C++ is a language; vitamin C is not.",
    "他出生在北京。",
    "The party was in the U.S. capital.",
    "An artist’s naïve art.",
    "",
]


@pytest.mark.parametrize(
    ("wanted", "places", "way"),
    [
        ("SKLODOWSKA", (0,), "phrase"),
        ("River", (1,), "phrase"),
        ("studying", (1,), "phrase"),
        ("c++", (2,), "phrase"),
        ("北京", (3,), "part"),
        ("u.s.", (4,), "phrase"),
        ("art", (5,), "phrase"),
        ("artist's", (5,), "phrase"),
        ("naive  art", (5,), "phrase"),
        ("arszaw", (0,), "part"),
        ("capital party", (4,), "all"),
        ("languages vitamins unknown", (2,), "some"),
        ("submarine", (), "phrase"),
        ('" OR ', (), "phrase"),
        ("*", (), "phrase"),
        ("  ", (), "phrase"),
    ],
)
def test_texts_are_found_by_words(wanted: str, places: tuple[int, ...], way: str) -> None:
    hits = find(TEXTS, wanted)
    assert (hits.places, hits.way) == (places, way)


def test_the_nearest_text_holds_the_rarest_words() -> None:
    texts = ["the cat and the dog", "the submarine", "the cat", "nothing"]
    assert nearest(texts, "The submarines of the cat?", 2)[0] == 1
    assert nearest(texts, "?!", 3) == []


def test_an_extract_becomes_sections(wiki: MediaWiki) -> None:
    from local_react.tools.wikipedia.online import _sections

    assert [section.heading for section in _sections(EXTRACT)] == ["", "Education", "Tutors"]
    assert list(_sections("\n\n")) == []
    assert list(_sections("== A ==\nOne\n== B")) == [Section("A", ("One", "== B"))]


def test_a_title_that_is_sent_holds_nothing_unseen() -> None:
    assert cleaned("Marie\u200b Curie\u2800\U000e0041\x1b") == "Marie Curie"
