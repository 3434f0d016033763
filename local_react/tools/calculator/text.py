"""What is written, brought into the characters that the scanner knows."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from local_react.errors import ToolError
from local_react.tools.calculator.money import without_currency
from local_react.tools.calculator.pasted import without_markup

_SIGNS: Final = str.maketrans(
    {**dict.fromkeys("×✕✖⋅·∙∗•", "*"), **dict.fromkeys("÷⁄∕", "/"), **dict.fromkeys("−–—‒‐‑", "-")}
    | {"π": " pi ", "τ": " tau ", "≤": "<=", "≥": ">=", "≠": "!=", "°": " deg ", "→": "->"}
    | {"μ": "µ", "∞": " infinity ", "“": '"', "”": '"', "‘": "'", "’": "'"}
)
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_ASKED: Final = re.compile(
    r"^(?:(?:what(?:'s| is| are)|how (?:much|many)(?: is| are)?|calculate|compute|evaluate|find"
    r"|convert)(?: the value of)?)\s+",
    re.IGNORECASE,
)
_INTERVAL: Final = r"\b(?:days?|weeks?|months?|years?)"
_GIVEN: Final = "(?:for|where|when|with|at)"
_PHRASES: Final = (
    # Wordings of several words, and the one that the grammar knows.
    (r"\b(?:what )?day of (?:the )?week(?: (?:of|is|was|on|for))?(?=\W)", "weekday "),
    (r"\bwhat (?:week)?day (?:is|was)\b", "weekday "),
    (r"\bper\s?cent\b", "%"),
    (r"\b(?:as a percentage|as a %|as %|as percent) of\b", " share_of "),
    (
        r"\b(light|nautical|fluid|fl|metric|troy|long|short)\.? (years?|miles?|ounces?|oz|tons?)\b",
        r"\1_\2",
    ),
    (r"\bfl_o(?:z|unces?)\b", "fluid_ounce"),
    (r"\b([0-9]+) choose ([0-9]+)\b", r"nCr(\1, \2)"),
    (rf"^([^=;\n]+) {_GIVEN} ([a-z]\w* ?= ?[^=;\n]+)$", r"it = \1; \2; it"),
    (rf"^([^=;\n]+=[^=;\n]+) {_GIVEN} ([a-z]\w* ?= ?[^=;\n]+)$", r"\2; \1"),
    (r"\b(?:an? )?half of\b", "1/2 of"),
    (r"\b(?:a )?third of\b", "1/3 of"),
    (r"\b(?:a )?quarter of\b", "1/4 of"),
    (r"\b(?:twice|double) (?=[0-9(])", "2 * "),
    (r"\bdivided by\b", "/"),
    (r"\b(?:multiplied by|times)\b", "*"),
    (r"\b(?:to|raised to) the power(?: of)?\b", "^"),
    (r"\b(?:the )?square root of\b", "√"),
    (r"\b(?:the )?cube root of\b", "∛"),
    # The names that programs give to what they take from a library.
    (r"(?<![\w.])(?:math|np|numpy)\.(?=[a-z])", ""),
    (r"\b(?:square|sq\.?) (?!of\b|root\b)([a-zµ]+)\b", r"\1^2"),
    (r"\b(?:cubic|cu\.?) (?!of\b|root\b)([a-zµ]+)\b", r"\1^3"),
    (r"\blog base ([\w.]+) of ([\w.]+|\([^()]*\))", r"log(\2, \1)"),
    (rf"^([0-9].*{_INTERVAL}) (?:after|from) (.+)$", r"\2 + \1"),
    (rf"^([0-9].*{_INTERVAL}) before (.+)$", r"\2 - \1"),
    (r"\bis not\b", "!="),
    (r"(?<=[\w)\]]) is(?= )", "=="),
    (r"(?:°|\bdeg(?:rees?)?) ?(?:celsius|c)\b", " degC "),
    (r"(?:°|\bdeg(?:rees?)?) ?(?:fahrenheit|f)\b", " degF "),
)
_COMPILED: Final = tuple((re.compile(found, re.IGNORECASE), put) for found, put in _PHRASES)
_POINTED: Final = re.compile(
    r"(?<![\w.,])[0-9]{1,3}(?:\.[0-9]{3}){2,}(?:,[0-9]+)?|(?<![\w.,])[0-9]{1,3}\.[0-9]{3},[0-9]+"
)
"""Thousands with points, as in 1.234.567,89."""


def bare(expression: str) -> str:
    """Return the expression without marks and words around it: `2 + 2`, what is 2 + 2."""
    return _ASKED.sub("", without_markup(expression).strip())


def tidy(expression: str) -> str:
    """Return the expression with one way to write each sign, a line per step.

    Raises ToolError where it is empty or mixes currencies.
    """
    text = bare(expression)
    text = re.sub("[⁰¹²³⁴-⁹⁺⁻]+", lambda run: f"^({run[0].translate(_SUPERSCRIPTS)})", text)
    text = re.sub("(?:([0-9.,]+) ?)?([¼-¾⅐-⅞])", _mixed_number, text)
    text = re.sub(r"(?<![\d.,/^)])([0-9]+) ([0-9]+)/([0-9]+)(?![\d.,/])", _mixed_fraction, text)
    # Thin and fixed spaces within a number separate thousands, as in 1 234 567.
    text = re.sub("(?<=[0-9])[\u00a0\u2009\u202f](?=[0-9]{3}(?![0-9]))", "", text)
    for pattern, put in _COMPILED:
        text = pattern.sub(put, text)
    text = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)
    text = _with_times(without_currency(text))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    text = "\n".join(line for line in lines if line)
    text = re.sub(r"\s*=\s*\??$|\s*\?$|;\s*$", "", text)
    pointed = _POINTED.search(text)
    if pointed:
        raise ToolError(
            f"not understood at {quoted(pointed[0])}: a decimal is written with a point and "
            "thousands with commas, as in 1,234.56"
        )
    if not text:
        raise ToolError("empty expression: write what to compute, such as 2 * 3")
    return text


def quoted(text: str) -> str:
    """Return a part of an expression in quotes, on one line and all of it visible."""
    return "'" + "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text) + "'"


def _with_times(text: str) -> str:
    """Return the text with * for the x of 3 x 4 and 3x4, where x is no unknown."""
    read = re.sub(r"(?<![\w.,])(?!0[xX])([0-9.,]+)[xX](?=[0-9])", r"\1*", text)
    read = re.sub(r"(?<=[0-9)!%]) [xX] (?=[0-9(.√])", " * ", read)
    return text if re.search(r"(?<![^\W\d])[xX](?![^\W\d_])", read.replace("0x", "")) else read


def _mixed_number(match: re.Match[str]) -> str:
    """Return 2½ as (2+1/2), and ½ as (1/2)."""
    if match[1] and not match[1].isdecimal():
        raise ToolError(
            f"not understood at {quoted(match[0])}: write a whole number before a fraction"
        )
    top, _, bottom = unicodedata.normalize("NFKC", match[2]).partition("⁄")
    return f"({match[1]}+{top}/{bottom})" if match[1] else f"({top}/{bottom})"


def _mixed_fraction(match: re.Match[str]) -> str:
    """Return 3 1/2 as (3+1/2); what is no mixed number stays as it is."""
    whole, top, bottom = match.groups()
    return f"({whole}+{top}/{bottom})" if int(top) < int(bottom) else match[0]
