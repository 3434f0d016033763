"""What comes along with a text that was copied: LaTeX, Markdown, what shows nothing."""

from __future__ import annotations

import re
from typing import Final

_ZERO_WIDTH: Final = "[\u00ad\u200b-\u200d\u2060\ufeff]"
_UNSEEN: Final = re.compile(rf"(?<!\w){_ZERO_WIDTH}+|{_ZERO_WIDTH}+(?!\w)")
"""Within a word it is no accident, and stays."""
_GROUP: Final = r"\{([^{}]*)\}"
_NESTED: Final = tuple(
    (re.compile(found), put)
    for found, put in (
        (r"(?<![\w.])([0-9]+)\s*\\[dt]?frac\s*\{([0-9]+)\}\s*\{([0-9]+)\}", r"(\1+\2/\3)"),
        (rf"\\[dt]?frac\s*{_GROUP}\s*{_GROUP}", r"((\1)/(\2))"),
        (rf"\\sqrt\s*\[([0-9]+)\]\s*{_GROUP}", r"root(\2, \1)"),
        (rf"\\sqrt\s*{_GROUP}", r"sqrt(\1)"),
        (rf"\\(?:boxed|text|mathrm|left|right)\s*{_GROUP}", r"\1"),
        (r"\^\s*\{?\\circ\}?", " deg "),
        (rf"\^\s*{_GROUP}", r"^(\1)"),
    )
)
_COMMANDS: Final = {
    **dict.fromkeys(("cdot", "times", "ast"), "*"),
    **dict.fromkeys(
        ("left", "right", "displaystyle", "quad", ",", ";", "!", "(", ")", "[", "]"), ""
    ),
    "div": "/",
    "le": "<=",
    "leq": "<=",
    "ge": ">=",
    "geq": ">=",
    "ne": "!=",
    "neq": "!=",
    "to": "->",
    "infty": " infinity ",
    "degree": " deg ",
    "circ": " deg ",
    "%": "%",
    "$": "$",
    "pi": " pi ",
    "approx": "==",
    **{name: name for name in ("sin", "cos", "tan", "ln", "log", "exp", "min", "max")},
}


def without_markup(text: str) -> str:
    """Return the text without the marks of LaTeX and Markdown around its mathematics."""
    text = _UNSEEN.sub("", text).replace("`", "").strip()
    text = re.sub(r"^(?:\*\*|__)(.+)(?:\*\*|__)$", r"\1", text, flags=re.DOTALL)
    text = re.sub(r"^[>*•]\s+|^=\s*(?=[^=])", "", text)
    text = re.sub(r"^[\"“](.*)[\"”]$|^['‘]([^'‘’]*)['’]$", r"\1\2", text)
    return _without_latex(text) if "\\" in text or "^{" in text else text


def _without_latex(text: str) -> str:
    for _ in range(10):  # groups within groups, from the innermost outwards
        before = text
        for pattern, put in _NESTED:
            text = pattern.sub(put, text)
        if text == before:
            break
    text = re.sub(r"^\$\$?(.+?)\$\$?$", r"\1", text.strip())
    return re.sub(r"\\([A-Za-z]+|.)", _command, text)


def _command(found: re.Match[str]) -> str:
    # What is not known stays as it is, and is quoted as not understood.
    return _COMMANDS.get(found[1], found[0])
