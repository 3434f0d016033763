"""A text is cut by tokens, at a good place, with a note that is true."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from local_react import LlamaModel, ScriptedModel
from local_react.clipping import (
    MOST_CHARACTERS_A_TOKEN,
    clip,
    good_end,
    joined,
    longest_note,
    whole_characters,
)

words = ScriptedModel([]).count
"""Eight letters are a token, with the space before them."""


def bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def merged(text: str) -> int:
    """Count as a tokeniser does: less for some texts than for their parts."""
    return bytes_of(text) - 2 * text.count("the")


COUNTS = [words, len, bytes_of, merged]
FAMILY, SKIN, SCOTLAND = "👩\u200d👩\u200d👧", "👍🏽", "🏴\U000e0067\U000e0062\U000e007f"
WRITTEN = ["word", "a", " ", "\n", "\n\n", ". ", "! ", "。", "the", "مرحبا ", "中文", "x" * 40, ""]
JOINED = [
    "e\u0301",
    "\u0301" * 3,
    SKIN,
    FAMILY,
    "🇵🇪",
    SCOTLAND,
    "\u1112\u1161\u11ab",
    "\ud83d\ude00",
]
PIECES = st.sampled_from([*WRITTEN, *JOINED, "\r\n"])
TEXTS = st.lists(PIECES, max_size=300).map("".join)
NOTE = re.compile(r"(?:^|[ \n])… \(cut: the first ([\d,]+) of ([\d,]+) (tokens|characters)\)\Z")


@settings(deadline=None)
@given(TEXTS, st.integers(1, 400), st.sampled_from(range(len(COUNTS))))
@example("a" * 500, 1, 1)
@example("", 1, 0)
def test_what_fits_is_left_alone_and_what_does_not_is_cut_to_fit(
    text: str, most: int, counting: int
) -> None:
    count = COUNTS[counting]
    clipped = clip(text, most, count)
    if count(text) <= most and len(text) <= MOST_CHARACTERS_A_TOKEN * most:
        assert clipped == text
        return
    note = NOTE.search(clipped)
    assert note is not None
    head = clipped[: note.start()]
    assert text.startswith(head)
    told, total = (int(number.replace(",", "")) for number in note.groups()[:2])
    assert (told, total, note[3]) == (count(head), count(text), "tokens")
    assert count(clipped) <= max(most, count(note[0].strip()))
    assert count(note[0].strip()) <= count(longest_note(len(text)))


@settings(deadline=None)
@given(TEXTS, st.integers(0, 2000))
def test_no_character_is_cut_through(text: str, size: int) -> None:
    end = good_end(text, size)
    assert end <= max(size, 0)
    if not 0 < end < len(text):
        return
    before, after = text[end - 1], text[end]
    assert not unicodedata.category(after).startswith("M")
    assert "\u200d" not in (before, after)
    assert not ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
    flags = re.compile("(?:[\U0001f1e6-\U0001f1ff]{2})*[^\U0001f1e6-\U0001f1ff]?")
    letters = re.search("[\U0001f1e6-\U0001f1ff]*$", text[:end])
    assert letters is not None
    if "\U0001f1e6" <= after <= "\U0001f1ff":
        assert flags.fullmatch(letters[0])


@pytest.mark.parametrize(
    ("whole", "within"),
    [
        ("e\u0301", 1),
        ("\ud83d\ude00", 1),
        (SKIN, 1),
        (FAMILY, 1),
        (FAMILY, 2),
        (FAMILY, 4),
        ("❤\ufe0f", 1),
        ("🇵🇪", 1),
        (SCOTLAND, 2),
        ("\u1112\u1161\u11ab", 2),
        ("\r\n", 1),
        ("कि", 1),
    ],
)
@pytest.mark.parametrize("before", ["", "a", "🇵🇪", "中"])
def test_a_character_of_several_code_points_stays_whole(
    whole: str, within: int, before: str
) -> None:
    text = before + whole + "z"
    assert whole_characters(text, len(before) + within) == len(before)
    assert whole_characters(text, len(before + whole)) == len(before + whole)


def test_flags_are_parted_between_flags() -> None:
    text = "🇵🇪" * 5
    assert [whole_characters(text, end) for end in (3, 4, 5, 9)] == [2, 4, 4, 8]


@pytest.mark.parametrize(
    ("text", "size", "kept"),
    [
        # a line's end before a sentence's, that before a word's
        ("First line.\nSecond one. And more words", 15, "First line."),
        ("First line.\n\nSecond one. And more", 16, "First line.\n"),
        ("Is it so now? Yes\nand then some", 17, "Is it so now? Yes"),
        ("One sentence here. Another one", 22, "One sentence here."),
        ('He said "go." Then he went away', 16, 'He said "go."'),
        ("It is 3.14159 and some more words", 19, "It is 3.14159 and"),
        ("these are only words here", 14, "these are only"),
        ("these are only words here", 17, "these are only"),
        ("第一句话在这里。第二句话在这里。", 10, "第一句话在这里。"),
        ("没有标点的一段文字没有标点", 10, "没有标点的一段文字没"),
        ("unbroken" * 5, 10, "unbrokenun"),
        # a good place that is too far back is none
        ("One. Two three four five six", 20, "One. Two three four"),
        ("a\n" + "b" * 30, 20, "a\n" + "b" * 18),
        ("short", 20, "short"),
    ],
)
def test_the_cut_is_made_at_a_good_place(text: str, size: int, kept: str) -> None:
    assert text[: good_end(text, size)] == kept


def test_after_a_whole_line_the_note_has_a_line_of_its_own() -> None:
    lines = "".join(f"line {number} of it\n" for number in range(100))
    assert re.search(
        r"line \d+ of it\n… \(cut: the first \d+ of 401 tokens\)$", clip(lines, 90, words)
    )
    running = "word " * 100
    assert re.search(r"word … \(cut: the first \d+ of 101 tokens\)$", clip(running, 90, words))


def test_a_part_that_counts_more_than_the_whole_is_cut_again() -> None:
    def count(text: str) -> int:
        return len(text) - 100 * ("§" in text)

    text = "ab " * 90 + "x§" + "y" * 330
    assert count(clip(text, 300, count)) <= 300


def test_much_of_what_fits_is_kept() -> None:
    clipped = clip("word " * 5000, 1500, words)
    assert 1500 * 0.97 <= words(clipped) <= 1500


@pytest.mark.parametrize("piece", ["word ", "word", " ", "\n", "\u0301", "中", "🇵🇪", "a. "])
@pytest.mark.parametrize("count", [words, bytes_of])
def test_a_megabyte_costs_what_is_kept_of_it(piece: str, count: object) -> None:
    read = 0

    def counted(text: str) -> int:
        nonlocal read
        read += len(text)
        return count(text)  # type: ignore[no-any-return, operator]

    text = piece * (2**20 // len(piece))
    clipped = clip(text, 1500, counted)
    note = NOTE.search(clipped)
    assert note is not None
    assert (note[1], note[2]) == (f"{note.start():,}", f"{len(text):,}")
    assert note[3] == "characters"
    assert count(clipped) <= 1500  # type: ignore[operator]
    assert read < len(text) // 2


@pytest.mark.parametrize("most", [40, 90, 400])
@pytest.mark.parametrize("text", ["Ein Satz. " * 300, "日本語。" * 300, "\ud800" * 900, "x" * 900])
def test_by_a_real_tokeniser(tiny: LlamaModel, text: str, most: int) -> None:
    clipped = clip(text, most, tiny.count)
    assert NOTE.search(clipped)
    note = longest_note(len(text))
    assert tiny.count(clipped) <= max(most, tiny.count(note))


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("\ud83d\ude00", "😀"),
        ("\ude00\ud83d", "\ude00\ud83d"),
        ("a\ud83d", "a\ud83d"),
        ("\ufeffé", "\ufeffé"),
    ],
)
def test_halves_that_belong_together_are_joined(text: str, whole: str) -> None:
    assert joined(text) == whole
