"""Facts: remembered once, recalled by what a question is about, forgotten by request."""

from __future__ import annotations

from pathlib import Path

import pytest

from local_react.errors import UsageError
from local_react.history import History

FACTS = (
    "I live in Bern",
    "My name is Ana",
    "I was born in 1990.",
    "I have a dog named Rex",
    "I like apples",
    "My sister Eva is allergic to nuts",
    "The project uses Python 3.12",
    "Ich wohne in Zürich",
    "我住在东京",
    "We meet on Tuesdays",
    "My brother works in IT",
)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history.sqlite")


@pytest.fixture
def full(history: History) -> History:
    for fact in FACTS:
        history.remember(fact)
    return history


def texts(history: History, question: str, most: int = 5) -> list[str]:
    return [fact.text for fact in history.recall(question, most)]


def test_nothing_yet(history: History) -> None:
    assert history.facts() == history.recall("Where do I live?") == []
    assert not history.path.exists()
    with pytest.raises(UsageError, match="nothing that is remembered fits 'Bern'"):
        history.forget("Bern")


def test_a_fact_is_remembered_once(history: History) -> None:
    first = history.remember("  I live\n in Bern ")
    assert (first.number, first.text) == (1, "I live in Bern")
    assert history.remember("i live in  BERN.") == first
    assert history.remember("I live in Basel").number == 2
    assert [fact.text for fact in history.facts()] == ["I live in Bern", "I live in Basel"]


@pytest.mark.parametrize("fact", ["", " \n", "x" * 1001])
def test_what_can_be_no_fact(history: History, fact: str) -> None:
    with pytest.raises(UsageError, match="1 to 1,000 characters"):
        history.remember(fact)


@pytest.mark.parametrize("fact", ["\ud800", "\x00", 'a "quoted" OR NOT (fact) *', "x" * 1000])
def test_odd_facts_are_remembered_and_forgotten(history: History, fact: str) -> None:
    kept = history.remember(fact)
    assert history.facts() == [kept]
    history.recall(fact)
    assert history.forget("1") == [kept]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Where do I live?", "I live in Bern"),
        ("WHERE DO I LIVE", "I live in Bern"),
        ("Tell me where I'm living, please", "I live in Bern"),
        ("What's my name?", "My name is Ana"),
        ("Is Eva's cake with a nut a good idea?", "My sister Eva is allergic to nuts"),
        ("Wo wohne ich? In Zurich?", "Ich wohne in Zürich"),
        ("我住在哪里?", "我住在东京"),
        ("When do we meet?", "We meet on Tuesdays"),
        ("Who works in IT?", "My brother works in IT"),
        ("Which Python does the project use?", "The project uses Python 3.12"),
    ],
)
def test_what_a_question_is_about_is_recalled_first(
    full: History, question: str, first: str
) -> None:
    assert texts(full, question)[0] == first


@pytest.mark.parametrize(
    "question",
    [
        "I have 3 pears and eat one of them. How many pears do I have?",
        "If I have five pears and my aunt takes two how many do I have",
        "What is the capital of France?",
        "How do I install numpy?",
        "How can we measure the height of a tree?",
        "Tell me how to do it",
        "What is 3.12 + 1990?",
        "What is it that you know?",
        "",
        "?",
        '" OR * NOT (',
        "\ud800\x00",
    ],
)
def test_what_a_question_is_not_about_is_not_recalled(full: History, question: str) -> None:
    assert texts(full, question) == []


def test_of_a_word_problem_that_alone_is_recalled_which_it_names(full: History) -> None:
    assert texts(full, "I have 3 apples, and I eat one. How many do I have?") == ["I like apples"]


@pytest.mark.parametrize("question", ["Who am I?", "How old am I?", "What do you know about me?"])
def test_a_question_about_the_user_recalls_the_user(full: History, question: str) -> None:
    assert texts(full, question, 3) == [
        "My brother works in IT",
        "We meet on Tuesdays",
        "My sister Eva is allergic to nuts",
    ]
    assert "The project uses Python 3.12" not in texts(full, question, 100)


def test_the_best_come_first_and_only_so_many(history: History) -> None:
    for number in range(8):
        history.remember(f"Meeting {number} is on a Monday")
    history.remember("The budget meeting with Eva is on a Friday")
    found = texts(history, "When is the budget meeting with Eva?")
    assert len(found) == 5 and found[0].startswith("The budget")
    assert texts(history, "When is the meeting?", 2)[0] == "Meeting 7 is on a Monday"


def test_a_long_question_is_looked_at_by_its_beginning(full: History) -> None:
    words = " ".join(f"word{number}" for number in range(200_000))
    assert texts(full, f"Where do I live? {words}") == ["I live in Bern"]
    assert texts(full, f"{words} Where do I live?") == []


def test_a_fact_is_forgotten_by_its_number(full: History) -> None:
    (gone,) = full.forget("1")
    assert gone.text == "I live in Bern"
    assert [fact.number for fact in full.facts()] == list(range(2, len(FACTS) + 1))
    assert [fact.text for fact in full.forget(" #2 ")] == ["My name is Ana"]
    for number in ("1", "0", "99", "9" * 30):
        with pytest.raises(UsageError, match="fits"):
            full.forget(number)
    # A number is not given again.
    assert full.remember("I live in Bern").number == len(FACTS) + 1


@pytest.mark.parametrize(
    ("which", "count"),
    [("bern", 1), ("my IS", 2), ("zurich", 1), ("东京", 1), ("东", 1), ("in", 4), ("eva nuts", 1)],
)
def test_facts_are_forgotten_by_their_words(full: History, which: str, count: int) -> None:
    gone = full.forget(which)
    assert len(gone) == count
    assert not {fact.text for fact in gone} & {fact.text for fact in full.facts()}
    assert len(full.facts()) == len(FACTS) - count


@pytest.mark.parametrize("which", ["apple", "liv", "Eva Bern", "*", '"', "NOT", ""])
def test_words_are_taken_as_they_are_where_it_cannot_be_undone(full: History, which: str) -> None:
    with pytest.raises(UsageError, match="memory list"):
        full.forget(which)
    assert len(full.facts()) == len(FACTS)


def test_several_are_forgotten_at_once_or_none(full: History) -> None:
    with pytest.raises(UsageError, match="'99'"):
        full.forget("1", "99")
    assert len(full.facts()) == len(FACTS)
    assert [fact.number for fact in full.forget("3", "Bern", "1")] == [3, 1]
