"""Sums that a text works out itself: the wrong ones are found, and nothing else is."""

from __future__ import annotations

import pytest

from local_react.sums import WrongSum, wrong_sum


@pytest.mark.parametrize(
    ("text", "written", "told", "right"),
    [
        ("So 120 + 15 + 160 = 395 miles.", "120 + 15 + 160", "395", "295"),
        ("It is $165 * 12 = $2,040.", "$165 * 12", "2,040", "1980"),
        ("(2 + 3) × 4 = 24\nand more", "(2 + 3) × 4", "24", "20"),
        ("1,250 - 300 = 850.", "1,250 - 300", "850", "950"),
        ("10 ÷ 4 = 3.5", "10 ÷ 4", "3.5", "2.5"),
        ("20 - 15 - 12 = 3", "20 - 15 - 12", "3", "-7"),
        ("2 + 2 = 4, then 2 + 3 = 6.", "2 + 3", "6", "5"),
        ("7 / 3 = 4", "7 / 3", "4", "2.33333"),
    ],
)
def test_a_wrong_sum_is_found(text: str, written: str, told: str, right: str) -> None:
    assert wrong_sum(text) == WrongSum(written, told, right)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3 * 4 = 12",
        "31.50 * 24 = 756",
        "7 / 3 = 2",
        "7 / 3 = 2.3",
        "7 / 3 = 2.34",
        "2 / 3 = 0.67",
        "100 / 8 = 12.5%",  # of something else
        "20 / 80 = 25%",
        "x = 10 - 8 = 3",  # it may be an equation
        "3x + 4 * 2 = 20",
        "x + 4 * 2 = 20",
        "x times 4 * 2 = 20",
        "10% of 50 + 3 = 8",
        "10:30 - 2 = 8:30",
        "10 - 2 = 8:30",
        "2 + 10 = 2 * (x + 4)",
        "60 * (400 + 2000) = 60 * 2400 = 144000",
        "1,350 + 6 * 350 = 1,350 + 2100",
        "2 * x + 8 = 20",
        "2 + 7 = 3x",
        "2 + 7 = 3 x",
        "5 / 0 = 3",
        "2 ** 3 = 9",
        "((2 + 3 = 6",
        "2024-01-02 = 5",
        "page 3 = 4",
        "1 + 1 = 10^1",
        "5 + 5 = 1e1",
        "a 2-3 = 4",
    ],
)
def test_what_is_right_or_no_sum_of_numbers_alone_is_left_alone(text: str) -> None:
    assert wrong_sum(text) is None


def test_a_long_text_is_read_in_no_time() -> None:
    for text in ("1+" * 50_000, "(" * 50_000 + "1 = 2", "1 " * 50_000 + "= 3", "9" * 50_000):
        assert wrong_sum(text) is None
