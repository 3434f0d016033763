"""Documents cut into passages: where they end, and which place they tell."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_react.documents.passages import MOST, Piece, pieces
from local_react.readers import Part

SENTENCE = "The money went to the harbour and its long wall. "


def lines(text: str) -> list[Piece]:
    return pieces([Part(text, "line", 1)])


def test_a_short_text_is_one_passage_with_its_lines() -> None:
    assert lines("one\ntwo\n\nthree\n") == [Piece("one\ntwo\n\nthree", "line", 1, 4)]


def test_blank_lines_around_it_do_not_count() -> None:
    assert lines("\n\n  \nword\n\n") == [Piece("  \nword", "line", 4, 4)]


def test_nothing_comes_of_nothing() -> None:
    assert pieces([]) == []
    assert lines("\n \n") == []


def test_passages_end_where_paragraphs_do() -> None:
    paragraph = SENTENCE * 12
    found = lines("\n\n".join([paragraph.strip()] * 6))
    assert [(piece.first, piece.last) for piece in found] == [(1, 3), (5, 7), (9, 11)]
    assert all(piece.text.endswith("wall.") for piece in found)


def test_a_heading_stays_with_what_follows() -> None:
    text = f"# One\n\n{SENTENCE * 21}\n\n## Two\n\n{SENTENCE * 21}\n\nThree\n\n{SENTENCE * 5}"
    assert [piece.text.split("\n")[0] for piece in lines(text)] == ["# One", "## Two", "Three"]


def test_a_paragraph_that_is_cut_gives_its_heading_no_passage_of_its_own() -> None:
    text = "Heading\n\n" + "\n".join([SENTENCE.strip()] * 60)
    first, *rest = lines(text)
    assert first.text.startswith("Heading\n\nThe money")
    assert rest and all(piece.text.startswith("The money") for piece in rest)


@pytest.mark.parametrize(
    "line",
    ["x=1;" * 3000, SENTENCE * 200, "word " * 2000, "a" * 9000, "北京大学是中国的大学。" * 400],
)
def test_a_long_line_is_cut_and_its_parts_are_numbered(line: str) -> None:
    found = lines(line)
    assert len(found) > 2
    assert all(len(piece.text) <= MOST for piece in found)
    assert [piece.part for piece in found] == list(range(1, len(found) + 1))
    assert {(piece.first, piece.last) for piece in found} == {(1, 1)}
    assert "".join("".join(piece.text.split()) for piece in found) == "".join(line.split())


def test_what_has_no_spaces_makes_shorter_passages_that_end_with_a_sentence() -> None:
    found = lines("北京大学是中国的大学。" * 400)
    assert all(len(piece.text) <= MOST / 2 for piece in found)
    assert all(piece.text.endswith("。") for piece in found)


def test_no_word_is_cut() -> None:
    words = re.findall(r"\w+", SENTENCE)
    for piece in lines(SENTENCE * 300):
        assert set(re.findall(r"\w+", piece.text)) <= set(words)


def test_chapters_are_kept_apart_and_small_pages_are_not() -> None:
    chapters = pieces([Part("Text of it.", "chapter", number) for number in (1, 2)])
    assert [(piece.first, piece.last) for piece in chapters] == [(1, 1), (2, 2)]
    (pages,) = pieces([Part("Few words.", "page", number) for number in (3, 4, 6)])
    assert (pages.unit, pages.first, pages.last) == ("page", 3, 6)


def test_each_passage_of_a_long_page_has_a_number() -> None:
    found = pieces([Part(SENTENCE * 70, "page", 7), Part("The end.", "page", 8)])
    assert [(piece.first, piece.part) for piece in found[:2]] == [(7, 1), (7, 2)]
    places = [(piece.first, piece.last, piece.part) for piece in found]
    assert len(set(places)) == len(places)


def test_paragraphs_are_counted_one_a_line() -> None:
    found = pieces([Part(SENTENCE * 25, "paragraph", 4), Part("Next.\nLast.", "paragraph", 5)])
    assert [(piece.first, piece.last) for piece in found] == [(4, 4), (5, 6)]


@given(
    st.lists(
        st.tuples(
            st.text(alphabet="ab .\n#北é", max_size=3000),
            st.sampled_from(["line", "page", "chapter", "paragraph"]),
        ),
        max_size=4,
    )
)
def test_nothing_is_lost_and_nothing_is_too_long(parts: list[tuple[str, str]]) -> None:
    made = [Part(text, unit, at * 1000 + 1) for at, (text, unit) in enumerate(parts)]  # type: ignore[arg-type]
    found = pieces(made)
    whole = "".join("".join(text.split()) for text, _ in parts)
    assert "".join("".join(piece.text.split()) for piece in found) == whole
    assert all(len(piece.text) <= MOST + 500 for piece in found)
    places = [(piece.unit, piece.first, piece.last, piece.part) for piece in found]
    assert len(set(places)) == len(places)
