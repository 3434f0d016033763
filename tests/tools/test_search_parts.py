"""The parts of search that need no network: instant answers, repeats, refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from searching import instant

from local_react.core import Passage
from local_react.tools.age import in_words
from local_react.tools.search.distinct import distinct, is_advert, real_address
from local_react.tools.search.instant_answer import best_answer
from local_react.tools.search.refusals import FIRST_PAUSE, LONGEST_PAUSE, Refusals

PAGE = "https://duckduckgo.com/?q=two+words"


def best(**fields: Any) -> Passage | None:
    return best_answer(json.loads(instant(**fields)), "two words")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("42 km", "42 km"),
        (42, "42"),
        ("Your address is <a href='/'>1.2.3.4</a> &amp; more", "Your address is 1.2.3.4 & more"),
        ({"id": "calculator", "result": "7"}, "7"),
    ],
)
def test_an_answer(answer: object, text: str) -> None:
    fields = {"AbstractText": "less", "Definition": "less", "AnswerType": "calc"}
    assert best(Answer=answer, **fields) == Passage(text, PAGE, "two words (DuckDuckGo)")


@pytest.mark.parametrize("answer", ["", " ", {"result": ""}, {"id": "x"}, None, [], True])
def test_no_answer(answer: object) -> None:
    assert best(Answer=answer) is None


def test_an_abstract_with_its_facts() -> None:
    born = {"data_type": "string", "label": "Born", "value": "14 March 1879"}
    number = {"data_type": "imdb_id", "label": "IMDb", "value": "nm0251868"}
    odd = {"data_type": "string", "label": "Odd", "value": {"a": 1}}
    told = best(
        Heading="Albert Einstein",
        AbstractText="A  physicist.",
        AbstractURL="https://en.wikipedia.org/wiki/Albert_Einstein",
        AbstractSource="Wikipedia",
        Infobox={"content": [born, number, odd, "text"], "meta": []},
        Definition="less",
    )
    assert told == Passage(
        "A physicist.\nBorn: 14 March 1879",
        "https://en.wikipedia.org/wiki/Albert_Einstein",
        "Albert Einstein (Wikipedia)",
    )


def test_a_definition() -> None:
    told = best(Definition="a word", DefinitionURL="https://d.example/", DefinitionSource="Dict")
    assert told == Passage("a word", "https://d.example/", "two words (Dict)")


def test_what_it_may_mean() -> None:
    topics = [
        {"Text": "one"},
        {"Name": "group", "Topics": [{"Text": "two"}, {}]},
        {"Text": "three"},
    ]
    told = best(RelatedTopics=[*topics, {"Text": "four"}, "odd"])
    assert told == Passage("one\ntwo\nthree", PAGE, "what two words may mean")


def test_a_long_answer_ends_at_a_word() -> None:
    told = best(AbstractText="words " * 1000)
    assert told
    assert len(told.text) <= 1202
    assert told.text.endswith("words …")


@pytest.mark.parametrize("data", [None, [], "text", 3, {}, {"Answer": None, "Infobox": [1]}])
def test_odd_answers_are_none(data: object) -> None:
    assert best_answer(data, "x") is None


@pytest.mark.parametrize(
    "same",
    [
        "http://example.org/a?b=1",
        "https://www.example.org/a/?b=1#part",
        "https://EXAMPLE.org:443/a?b=1&utm_source=x&fbclid=y",
        "https://example.org/%61?b=1",
        "//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fa%3Fb%3D1&rut=7",
    ],
)
def test_one_page_has_many_addresses(same: str) -> None:
    items = [("https://example.org/a?b=1", "x"), (same, "y")]
    assert distinct(items, lambda item: item) == items[:1]


@pytest.mark.parametrize(
    "other",
    [
        "https://example.org/b?b=1",
        "https://example.org/a?b=2",
        "https://example.org/a",
        "https://example.com/a?b=1",
        "https://example.org:8080/a?b=1",
        "https://example.org:odd/a?b=1",
        "",
    ],
)
def test_other_pages_stay(other: str) -> None:
    items = [("https://example.org/a?b=1", "x"), (other, "y")]
    assert distinct(items, lambda item: item) == items


def test_the_same_text_is_one_and_no_text_is_none() -> None:
    items = [("a", "Rain, in Oslo."), ("b", "rain in oslo"), ("c", ""), ("d", "…"), ("", "")]
    assert distinct(items, lambda item: item) == [items[0], items[2], items[3], items[4]]


@pytest.mark.parametrize(
    ("address", "real"),
    [
        ("https://example.org/l/?uddg=x", "https://example.org/l/?uddg=x"),
        ("https://duckduckgo.com/l/?kh=-1&uddg=https%3A%2F%2Fa.example%2F", "https://a.example/"),
        ("//duckduckgo.com/l/?uddg=https://a.example/?x=1&y=2&rut=f", "https://a.example/?x=1&y=2"),
    ],
)
def test_a_redirector_is_looked_through(address: str, real: str) -> None:
    assert real_address(address) == real


def test_adverts() -> None:
    assert is_advert("//duckduckgo.com/y.js?ad_provider=x")
    assert is_advert("https://duckduckgo.com/y.js?ad_provider=x")
    assert not is_advert("https://example.org/duckduckgo.com/y.js")


def test_refusals_are_remembered_for_longer_each_time() -> None:
    clock = [0.0]
    refusals = Refusals(now=lambda: clock[0])
    assert refusals.left("a") == 0
    assert refusals.add("a", None) == FIRST_PAUSE
    assert refusals.left("b") == 0
    clock[0] = FIRST_PAUSE - 1
    assert refusals.left("a") == 1
    clock[0] = FIRST_PAUSE
    assert refusals.left("a") == 0
    assert refusals.add("a", 5) == 2 * FIRST_PAUSE
    assert refusals.add("a", 1e9) == LONGEST_PAUSE
    refusals.forget("a")
    assert refusals.left("a") == 0
    assert refusals.add("a", None) == FIRST_PAUSE


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "1 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (3 * 3600, "3 h"),
        (86_400, "1 day"),
        (2e5, "2 days"),
    ],
)
def test_times_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
