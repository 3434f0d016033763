"""Questions that are an expression as they stand: "What is 15% of 80, plus 7?".

A small model that has to copy such a question into an expression makes mistakes that the
calculator, which reads words, does not.
"""

from __future__ import annotations

import re
from typing import Final

_ASKED: Final = re.compile(
    r"\s*(?:please\s+)?(?:(?:what(?:'s|’s|\s+is)|how\s+much\s+is|calculate|compute|work\s+out"
    r"|evaluate|convert)\s+)?(?P<sum>.+?)\s*(?:,?\s*please)?\s*[?.=!]*\s*",
    re.IGNORECASE | re.DOTALL,
)
_PLAIN: Final = re.compile(
    r"(?:[\d.,\s()+*/^%!=×÷·−√-]|\b(?:plus|minus|times|multiplied\s+by|divided\s+by|over|of|percent"
    r"|mod|modulo|squared|cubed|to\s+the\s+power\s+of|(?:the\s+)?(?:square|cube)\s+root\s+of"
    r"|sqrt|half|third|quarter|a|the)\b)+",
    re.IGNORECASE,
)
_CONVERTED: Final = re.compile(
    r"-?[\d.,]+\s*[a-zµ°Ω]+(?:\s+[a-z]+)?\s+(?:in|to|into|as)\s+[a-zµ°Ω]+(?:\s+[a-z]+)?",
    re.IGNORECASE,
)
_PAUSE: Final = re.compile(r",\s+(?=[a-zA-Z])")
_LONGEST: Final = 200


def expression_in(question: str) -> str | None:
    """Return the expression that a question is, None where it is not one alone."""
    if len(question) > _LONGEST or not (found := _ASKED.fullmatch(question)):
        return None
    text = _PAUSE.sub(" ", found["sum"])
    if _CONVERTED.fullmatch(text):
        return text
    # A number alone asks for something else: "What is 42?"
    has_more = re.search(r"\d", text) and re.search(r"[^\d\s.,]", text)
    return text if has_more and _PLAIN.fullmatch(text) else None
