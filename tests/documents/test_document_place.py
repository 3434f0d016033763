"""Places in a document: told, and understood."""

from __future__ import annotations

import pytest

from local_react.documents.places import Place, Wanted, understood


@pytest.mark.parametrize(
    ("place", "told"),
    [
        (Place("line", 12, 30), "lines 12-30"),
        (Place("page", 3, 3), "page 3"),
        (Place("page", 3, 3, 2), "page 3, part 2"),
        (Place("chapter", 2, 2), "chapter 2"),
    ],
)
def test_what_is_told_is_understood(place: Place, told: str) -> None:
    assert str(place) == told
    wanted = understood(told)
    assert wanted == Wanted(place)
    assert understood(f"notes/plan 7.md, {told}") == wanted


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("Page 3", Wanted(Place("page", 3, 3))),
        ("p. 3", Wanted(Place("page", 3, 3))),
        ("pp. 3–5", Wanted(Place("page", 3, 5))),
        ("lines 40 to 80", Wanted(Place("line", 40, 80))),
        ("40-80", Wanted(Place("", 40, 80))),
        ("12", Wanted(Place("", 12, 12))),
        ("next after lines 12-30", Wanted(Place("line", 12, 30), after=True)),
        ("after 30", Wanted(Place("", 30, 30), after=True)),
        ("from line 40", Wanted(Place("line", 40, 40), open=True)),
        ("lines 40-", Wanted(Place("line", 40, 40), open=True)),
        ("from lines 40-80", Wanted(Place("line", 40, 80), open=True)),
        ("from page 3, part 2", Wanted(Place("page", 3, 3, 2), open=True)),
        ("from page 3 to 5", Wanted(Place("page", 3, 5))),
        ("from 7", Wanted(Place("", 7, 7), open=True)),
        ("line 9-3", Wanted(Place("line", 9, 9))),
        ("the budget", None),
        ("", None),
    ],
)
def test_is_understood(where: str, wanted: Wanted | None) -> None:
    assert understood(where) == wanted


def test_endless_numbers_are_no_fault() -> None:
    assert understood("page " + "9" * 5000) is not None
