"""The words of the calculator's language that are neither functions nor units, and its signs."""

from __future__ import annotations

from typing import Final

ANGLES: Final = frozenset({"deg", "degree", "degrees", "rad", "radian", "radians"})
CONSTANTS: Final = frozenset({"pi", "e", "tau", "phi", "infinity"}) | ANGLES
ALIASES: Final = {"oo": "infinity", "inf": "infinity", "_pi": "pi", "_e": "e"}
SIGNS: Final = {
    "+": "PLUS",
    "-": "MINUS",
    "*": "TIMES",
    "/": "DIVIDE",
    "//": "FLOOR",
    "^": "POWER",
    "**": "POWER",
    "(": "OPEN",
    ")": "CLOSE",
    "[": "LIST",
    "]": "TSIL",
    ",": "COMMA",
    "!": "FACTORIAL",
    "=": "EQ",
    "&": "BIT_AND",
    "&&": "AND",
    "<<": "SHIFT",
    ">>": "SHIFT",
    "~": "BIT_NOT",
    "√": "ROOT",
    "∛": "ROOT",
    "->": "CONVERT",
    "?": "QUESTION",
    ":": "COLON",
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), "COMPARE"),
}
"""Signs, and the token that each is."""
OPERATORS: Final = {
    "plus": "+",
    "minus": "-",
    "times": "*",
    "add": "+",
    "added": "+",
    "subtract": "-",
    "less": "-",
    "of": "OF",
    "off": "OFF",
    "mod": "MOD",
    "modulo": "MOD",
    "and": "AND",
    "or": "OR",
    "not": "NOT",
    "xor": "XOR",
    "if": "IF",
    "else": "ELSE",
    "in": "CONVERT",
    "to": "CONVERT",
    "as": "CONVERT",
    "into": "CONVERT",
    "between": "BETWEEN",
    "since": "SINCE",
    "until": "UNTIL",
    "till": "UNTIL",
    "from": "FROM",
    "share_of": "SHARE_OF",
    "weekday": "WEEKDAY",
}
"""Words that stand between values, or before them, and the sign or token they are."""
MULTIPLIERS: Final = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "mln": 10**6,
    "billion": 10**9,
    "bn": 10**9,
    "trillion": 10**12,
    "lakh": 10**5,
    "lakhs": 10**5,
    "crore": 10**7,
    "crores": 10**7,
    "mio": 10**6,
    "gross": 144,
    "dozen": 12,
}
_MEANT: Final = """
    half halves halved twice thrice double doubled triple tripled third thirds more fewer
    ago later ppm ppb percentage bitwise
    one two three four five six seven eight nine ten eleven twelve twenty
"""
NOT_LEFT_OUT: Final = frozenset(_MEANT.split())
"""Words after a number that change it: to leave one out would give another result."""
POWERS: Final = {"squared": 2, "cubed": 3}
TRUTHS: Final = {"true": True, "false": False}
DAYS: Final = {"yesterday": -1, "today": 0, "tomorrow": 1}
BASES: Final = {
    "binary": "base 2",
    "bin": "base 2",
    "octal": "base 8",
    "oct": "base 8",
    "hex": "base 16",
    "hexadecimal": "base 16",
}
FORMS: Final = {
    "fraction": "fraction",
    "decimal": "decimal",
    "decimals": "decimal",
    "percent": "percent",
    "percentage": "percent",
    "scientific": "scientific",
}
"""What a number can be told as, beside the bases."""
