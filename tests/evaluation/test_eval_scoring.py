"""Whether an answer is right."""

from __future__ import annotations

from typing import Any

import pytest

from local_react.answers import without_references
from local_react.evaluation.items import Item, Scorer
from local_react.evaluation.scoring import (
    Score,
    exact_match,
    f1,
    label,
    last_number,
    score,
    yes_or_no,
)

FEVER = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")


def item(expected: Any, scorer: Scorer, *choices: str) -> Item:
    return Item("1", "q", expected, scorer, choices=choices)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("45", 45),
        ("It is 45.", 45),
        ("so 3 * 15 = 45 miles.", 45),
        ("#### 1,234", 1234),
        ("$1,299.99", 1299.99),
        ("US$ 7", 7),
        ("$1{,}000", 1000),
        ("12 345 and 2\u00a0100", 2100),
        ("20%", 20),
        ("-5", -5),
        ("\u22125 degrees", -5),
        ("-$5", -5),
        ("$-5", -5),
        ("x = -2.5", -2.5),
        ("10-4", 4),
        ("10 - 4", 4),
        ("(2)-4", 4),
        ("- 5 apples", 5),
        ("30 km2", 30),
        ("5 of CO2", 5),
        (".5", 0.5),
        ("1.5e3", 1500),
        ("\\boxed{72}", 72),
        ("1, 2, 3", 3),
        ("3,4", 4),
        ("12,34567", 34567),
        ("**18**", 18),
        ("2024-01-16", 16),
        ("none", None),
        ("", None),
    ],
)
def test_the_last_number(text: str, number: float | None) -> None:
    assert last_number(text) == number


@pytest.mark.parametrize(
    ("answer", "expected", "right"),
    [
        ("5 apples, so 7", 7, True),
        ("7.0", 7, True),
        ("7.000000000000001", 7, True),
        ("7.001", 7, False),
        ("12345678", 12345679, False),
        ("0", 0, True),
        ("7 [1]", 7, True),
        ("[7]", 7, True),
        ("1,200", "1200", True),
        ("seven", 7, False),
    ],
)
def test_a_number(answer: str, expected: float, right: bool) -> None:
    assert score(answer, item(expected, "number")) == Score(right)


def test_words_as_hotpotqa_compares_them() -> None:
    assert exact_match("The Eiffel-Tower!", "eiffeltower") == 1
    assert f1("the big Eiffel Tower", "Eiffel Tower") == pytest.approx(2 * 2 / (3 + 2))
    assert f1("tower tower", "tower bridge") == pytest.approx(0.5)
    assert f1("yes it is", "yes") == 0.0
    assert f1("yes", "Yes.") == 1.0
    assert f1("", "tower") == 0.0


def test_words_against_several_that_are_right() -> None:
    right = item(["Jane Austen", "Austen"], "text")
    assert score("Austen [2]", right) == Score(True, 1.0, 1.0)
    near = score("Ms Austen", right)
    assert (near.right, near.em) == (False, 0.0)
    assert near.f1 == pytest.approx(2 / 3)
    assert score("2013", item(2013, "text")).right


def test_references_are_no_part_of_an_answer() -> None:
    assert without_references("Paris [1], France [2, 3]") == "Paris, France"
    assert without_references("[1]") == "[1]"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Yes, because no fish can.", True),
        ("No", False),
        ("It could not, so: no.", False),
        ("No one thinks so, yet the answer is yes", False),
        ("One says no, but I say yes", True),
        ("true", True),
        ("Nobody knows", None),
        ("", None),
    ],
)
def test_yes_or_no(answer: str, said: bool | None) -> None:
    assert yes_or_no(answer) is said
    assert score(answer, item("yes", "yesno")).right is (said is True)


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("SUPPORTS", "SUPPORTS"),
        ("supported.", "SUPPORTS"),
        ("It REFUTES the claim", "REFUTES"),
        ("Not enough info, though it supports some", "NOT ENOUGH INFO"),
        ("It is not supported, so the evidence refutes it", "REFUTES"),
        ("unsupportable", None),
    ],
)
def test_a_label(answer: str, named: str | None) -> None:
    assert label(answer, FEVER) == named
    assert score(answer, item("REFUTES", "label", *FEVER)).right is (named == "REFUTES")


def test_a_label_inside_a_longer_one_is_not_it() -> None:
    assert label("partly true", ("true", "partly true")) == "partly true"
    assert label("a category", ("cat", "dog")) is None
