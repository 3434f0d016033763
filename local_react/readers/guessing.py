"""The likeliest encoding of text that is not UTF-8 and doesn't say what it is.

charset-normalizer ranks them well by language where there are some sentences, and of a
few words makes Persian or Korean. So what the letters do decides first: no language
goes on with a capital within a word, changes its script there, or is made of rare signs.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache, partial

_LATIN = ("cp1252", "cp1250", "iso8859_2", "cp1254", "cp1257", "mac_roman", "cp850")
_OTHERS = (
    *("cp932", "gb18030", "big5", "cp949", "euc_jp"),
    *("cp1251", "koi8_r", "cp866", "cp1253", "cp1256", "cp1255", "cp874"),
)
"""The commoner one first."""
_JAPANESE = ("cp932", "euc_jp")
_RARE_FROM = {"gb18030": 0xD8, "big5": 0xC9, "euc_jp": 0xD0, "cp932": 0x98}
"""The first byte from which the standards' second level begins: the rare ideographs."""

_WITHIN_WORDS = "’‘‐‑–—…·،、。，；："

_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_PLAIN_LETTER = re.compile(rb"(?<![\x80-\xff])[A-Za-z]")
_FEW = 16
"""High bytes in different words, up to which a ranking by language says nothing."""
_SAMPLE = 500
_LATER = 0.02
"""What one place later in the order counts, against the share of odd characters."""


def likeliest(sample: bytes, cut: bool = False) -> str:
    """Return Python's name of the encoding that the bytes are most likely in; `cut` says
    that they may end within a character."""
    runs = _HIGH_RUN.findall(sample)
    candidates = _LATIN + _OTHERS if _is_latin(sample, runs) else _OTHERS + _LATIN
    texts = {name: text for name in candidates if (text := _decoded(sample, name, cut))}
    if not texts:
        return "cp1252"
    order = list(texts)
    if sum(map(len, _HIGH_RUN.findall(b" ".join(set(sample.split()))))) > _FEW:
        order.sort(key=partial(_place, _ranking(sample, order)))
    # Sorting is stable: among equals the first of the order stays first.
    return min(order, key=lambda name: _oddness(texts[name], name) + _LATER * order.index(name))


def _is_latin(sample: bytes, runs: list[bytes]) -> bool:
    """Say whether the high bytes are single letters and signs among plain letters, as in
    Western and Central European text, and not whole words."""
    high = sum(map(len, runs))
    in_words = sum(len(run) for run in runs if len(run) >= 3)
    return len(_PLAIN_LETTER.findall(sample)) >= high and 2 * in_words <= high


def _decoded(sample: bytes, name: str, cut: bool) -> str:
    """Return the text, or nothing where it can't be that."""
    for data in (sample, sample[:-1]) if cut else (sample,):
        try:
            return data.decode(name)
        except UnicodeDecodeError:
            continue
    return ""


def _ranking(sample: bytes, names: list[str]) -> list[str]:
    """Return those of the encodings that charset-normalizer finds possible, best first."""
    from charset_normalizer import from_bytes

    return [match.encoding for match in from_bytes(sample, cp_isolation=names)]


def _place(ranking: list[str], name: str) -> int:
    return ranking.index(name) if name in ranking else len(ranking)


def _oddness(text: str, name: str) -> float:
    """Return how much of the text, from 0 to about 1, no text would have."""
    padded = f" {text[:_SAMPLE]} "
    odd, count = 0.0, 0
    for before, character, after in zip(padded, padded[1:], padded[2:], strict=False):
        if character > "\x7f":
            count += 1
            odd += _odd_sign(before, character, after) or _odd_letter(before, character, name)
    thai_in_words = name == "cp874" and count < 8 * len(text.split())  # Thai has no spaces
    return odd / max(1, count) + (0.3 if thai_in_words else 0)


def _odd_sign(before: str, character: str, after: str) -> float:
    """Return how odd it is as a sign that is no letter."""
    category = unicodedata.category(character)
    if (category[0] == "C" and category != "Cf") or character == "\ufffd":
        return 2.0
    beside = before.isalpha(), after.isalpha()
    if category == "Nd" and any(beside) and not character.isascii():
        return 1.0
    if category[0] == "P" and character not in _WITHIN_WORDS:
        return 1.0 if all(beside) else 0.0
    if category == "No" or category[0] == "S":
        return 1.0 if all(beside) else 0.5 if beside[0] else 0.0
    return 0.0


def _odd_letter(before: str, letter: str, name: str) -> float:
    """Return how odd it is as a letter after the one before it."""
    script = _script(letter)
    if "\uff61" <= letter <= "\uff9f":  # half-width katakana
        return 1.0
    if script == "HEBREW" and unicodedata.category(letter) == "Mn":  # points
        return 1.0
    if script in ("HIRAGANA", "KATAKANA"):
        return -0.3 if name in _JAPANESE else 1.0
    if script in ("CJK", "HANGUL"):
        return _rarity(letter, script, name)
    if not (letter.isalpha() and before.isalpha()):
        return 0.0
    if script != _script(before):
        return 1.0
    if letter.isupper():
        return 1.0 if before.islower() else 0.1
    return 0.3 if script == "LATIN" and before > "\x7f" else 0.0  # accents side by side


def _rarity(letter: str, script: str, name: str) -> float:
    first, *others = letter.encode(name)
    if name == "cp949":
        return 0.0 if script == "HANGUL" and first >= 0xB0 and others[0] >= 0xA1 else 0.8
    rare = first >= _RARE_FROM.get(name, 0x100)
    outside_gb2312 = name == "gb18030" and (first < 0xB0 or others[0] < 0xA1)
    return 0.8 if rare or outside_gb2312 else 0.0


@lru_cache(2048)
def _script(letter: str) -> str:
    """Return the script of a letter: the first word of its name."""
    return unicodedata.name(letter, "").partition(" ")[0].partition("-")[0]
