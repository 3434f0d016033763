"""An answer as Markdown on a terminal. Nothing of it may get lost: what a small model writes
is often not meant as Markdown."""

from __future__ import annotations

import re
import sys
from typing import Final

_MEANT: Final = re.compile(
    r"^ {0,3}(?:#{1,6} |[-*+] |\d{1,3}[.)] |>|```|~~~|\|)|\*\*\S|`[^`\n]+`|\]\(\w", re.MULTILINE
)
"""What an answer has that is meant as Markdown."""
_CODE: Final = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]+`)", re.DOTALL)
_TIMES: Final = re.compile(r"(?<=[\w)\]])([*_])(?=[\w(\[])")
"""What stands within a word or between two numbers is no emphasis: 3*4*5, snake_case_name."""


def is_markdown(text: str) -> bool:
    """Return whether a text has anything to be rendered."""
    return _MEANT.search(text) is not None


def show_markdown(text: str) -> None:
    """Print a text on standard output, rendered."""
    from markdown_it import MarkdownIt
    from rich.console import Console
    from rich.markdown import Markdown

    shown = Markdown("", hyperlinks=False)  # whereto a link leads is to be seen
    # With HTML, rich leaves out every tag: also those that an answer is about.
    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    shown.parsed = parser.parse(_with_stars(text))
    for token in shown.parsed:
        for part in token.children or ():
            if part.type == "softbreak":  # a line break is one
                part.type = "hardbreak"
    Console(file=sys.stdout).print(shown)


def _with_stars(text: str) -> str:
    parts = _CODE.split(text)
    parts[::2] = [_TIMES.sub(r"\\\1", part) for part in parts[::2]]
    return "".join(parts)
