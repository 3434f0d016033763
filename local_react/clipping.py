"""A text made to fit into so many tokens, cut where a reader would cut it.

Only the head of a long text is ever given to the tokeniser: a megabyte costs as much
as what is kept of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import TypeAlias

Count: TypeAlias = Callable[[str], int]
"""Tells how many tokens a text is."""

_CHARACTERS_A_TOKEN = 6
"""More than a token of common text has, so that most texts are counted once."""
MOST_CHARACTERS_A_TOKEN = 24
"""A text of fewer tokens than that is mostly blank, and a tokeniser may take seconds over
it: Qwen's takes two for a megabyte of spaces."""
_COUNTED_WHOLE = 32_768
"""Characters up to which a text's tokens are counted to tell how many were left out; of
a longer one the characters are told, which costs nothing."""
_FINE = 50
"""The longest head that fits is found to one part in so many of its length."""

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*(?=\s)|[。！？][」』”）]*")


def clip(text: str, most: int, count: Count) -> str:
    """Return the text if it is at most so many tokens (1 or more), else its head and a
    note of how much was left out, in `most` tokens together; where the note alone is
    more than that, the note. More than 24 characters for each token are never kept."""
    too_long = _too_long(text, most, count)
    if too_long is None:
        return text
    total = count(text) if len(text) <= _COUNTED_WHOLE else None
    size = _longest(text, most - count(longest_note(len(text))), too_long, count)
    while count(clipped := _cut(text, size, total, count)) > most and size:
        # A tokeniser may make more of a part than of the whole.
        size -= size // _FINE + 1
    return clipped


def joined(text: str) -> str:
    """Return the text with the halves of a character (surrogates) that stand side by side
    joined, as any file would have them; a half that is alone stays."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def longest_note(length: int) -> str:
    """Return a note that is no shorter than any that a text of `length` characters gets."""
    number = f"{4 * length:,}"  # a character is at most four bytes, and so four tokens
    return _note(number, f"{number} characters")


def _note(kept: str, total: str) -> str:
    return f"… (cut: the first {kept} of {total})"


def _cut(text: str, size: int, total: int | None, count: Count) -> str:
    """Return the head of at most so many characters, and the note."""
    head = text[: good_end(text, size)].rstrip()
    if total is None:
        note = _note(f"{len(head):,}", f"{len(text):,} characters")
    else:
        note = _note(f"{count(head):,}", f"{total:,} tokens")
    if not head:
        return note
    return f"{head}\n{note}" if text[len(head)] in "\r\n" else f"{head} {note}"


def _too_long(text: str, most: int, count: Count) -> int | None:
    """Return the length of a head that is too long, or None where the whole text is not."""
    size, longest = most * _CHARACTERS_A_TOKEN, most * MOST_CHARACTERS_A_TOKEN
    while size < min(len(text), longest) and count(text[:size]) <= most:
        size *= 2
    size = min(size, longest)
    if len(text) <= size and count(text) <= most:
        return None
    return min(size, len(text))


def _longest(text: str, most: int, too_long: int, count: Count) -> int:
    """Return about the length of the longest head that is at most so many tokens."""
    fits = 0
    while too_long - fits > fits // _FINE + 1:
        middle = (fits + too_long) // 2
        if count(text[:middle]) <= most:
            fits = middle
        else:
            too_long = middle
    return fits


def good_end(text: str, size: int) -> int:
    """Return where to cut so that at most `size` characters stay: in the last third of
    them at the end of a line, else of a sentence, else of a word; else anywhere but
    within what is seen as one character."""
    if size >= len(text):
        return len(text)
    least = size - size // 3
    if (line := text.rfind("\n", least, size + 1)) >= 0:
        return line
    # One character more, because a sentence ends before a space.
    ends = [match.end() for match in _SENTENCE_END.finditer(text[: size + 1], least)]
    if ends := [end for end in ends if end <= size]:
        return whole_characters(text, ends[-1])
    for end in range(size, least - 1, -1):
        if text[end].isspace():
            return end
    return whole_characters(text, size)


def whole_characters(text: str, end: int) -> int:
    """Return the last place up to `end` that is not within a surrogate pair, a letter
    and its marks, a joined emoji, a flag, or a Hangul syllable in parts."""
    while 0 < end < len(text) and _belongs(text[end - 1], text[end]):
        end -= 1
    letters = end
    while letters and _is_flag_letter(text[letters - 1]):
        letters -= 1
    within_flag = end < len(text) and _is_flag_letter(text[end]) and (end - letters) % 2
    return end - 1 if within_flag else end


def _belongs(before: str, after: str) -> bool:
    """Return whether the second code point is seen as a part of the first's character:
    the rules of Unicode's UAX #29 that ask for no table."""
    return (
        unicodedata.category(after).startswith("M")
        or "\u200d" in (before, after)  # the zero-width joiner
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin colours
        or "\U000e0020" <= after <= "\U000e007f"  # tags, as in the flag of Scotland
        or "\u1160" <= after <= "\u11ff"  # vowels and final consonants of Hangul
        or ("\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff")
        or (before, after) == ("\r", "\n")
    )


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
