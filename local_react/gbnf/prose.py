"""Lines of text that don't look like a call, and texts that are none of some words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from local_react.gbnf.notation import UNSEEN, first_letters

_INK: Final = r"[^\x00-\x20\x7F{]"
"""What prose is made of: no white space, no control characters, no brace."""


def prose(words: Iterable[str]) -> dict[str, str]:
    """Return rules whose "prose" admits lines of text, one blank line between them
    at most, of which none begins with one of the words, in any case of their
    letters and behind white space or Markdown marks, and none holds `{"`.

    The words become a trie, and a line may leave it anywhere but at a word's end:
    there is one reading of every line, which keeps the grammar fast.
    """
    rules = {
        "prose": 'line ("\\n" "\\n"? line)*',
        "line": r"[ \t]{0,12} ([*_#>`-]{1,4} [ ]{0,2})? line-start",
        "rest": f"({_INK} | gap)* line-end",
        "gap": rf'[ \t]{{1,8}} {_INK} | [ \t]{{0,8}} "{{"{{1,3}} [^"{{\x00-\x1F\x7F]',
        "line-end": "[ ]{0,2}",
    }
    _leave_trie("line-start", [word.lower() for word in words], rules)
    return rules


def _leave_trie(name: str, words: Sequence[str], rules: dict[str, str]) -> None:
    branches = first_letters(words)
    letters = "".join(char + char.upper() for char in branches)
    if name == "line-start":  # the marks are behind it, or they would hide a word
        options = [f"[^{letters}{UNSEEN}{{*_#>`-] rest"]
    else:
        options = [rf"[^{letters}\x00-\x20\x7F{{] rest", "gap rest", "line-end"]
    for char, tails in branches.items():
        if "" not in tails:
            _leave_trie(f"{name}-{char}", tails, rules)
            options.append(f"[{char}{char.upper()}] {name}-{char}")
    rules[name] = " | ".join(options)
