"""What the calculator's expression may be made of, as a grammar that a model writes under.

It keeps prose out, and knows nothing of what an expression means: brackets need not
match and names need not be known. There is one way to read most texts, so that
llama.cpp has few readings to follow at once, and a run of words counts as one with the
sign behind it, because a count that differs between readings would keep them apart.
"""

from __future__ import annotations

from typing import Final

# There are no attributes, because a dot stands before a digit only, and no dunder names,
# because an underscore stands before a digit or within a word, and never before another.
# Lines of a program are separated by the \n of JSON, of which there are no two in a row.
ARGUMENT: Final = r"""
root ::= words unit{0,500} | unit{1,500}
unit ::= sign " "? words? break? | [._]? [0-9] "_" words break?
break ::= "\\n" " "{0,4} words?
words ::= run " "?
sign ::= [._] [0-9] |
    [0-9+*/^%!()\[\]|,;=<>&~×÷−·√∛π∞°≤≥≠→⁰¹²³⁴-⁹⁻¼-¾⅐-⅞$€£¥₹₩₽₪₺₫₴₦₱฿-]

# Words next to each other, of which one in every two joins others: a preposition or an
# operator, a count, part of a unit's name. Letters in a row, as in m v^2, are one word.
run ::= (join " "){0,2} word more{0,6}
more ::= " " join (" " word)?
word ::= letter (letter | "_" letter){0,19} | name (" " name){1,5}
letter ::= [A-Za-zµΩα-ορ-ω]
name ::= [b-zB-HJ-Zα-ορ-ω]
join ::= "a" ("dd" "ed"? | "fter" | "nd" | "s" " a"?) |
    "b" ("ase" | "efore" | "etween" | "illion" | "y") |
    "cub" ("e" "d"? | "ic") |
    "d" ("eg" ("ree" "s"?)? | "ozen") |
    "else" |
    "f" ("luid" | "rom") |
    "hundred" |
    "i" ("f" | "n" "to"? | "s") |
    "light" |
    "m" ("etric" | "illion" | "inus" | "od" "ulo"?) |
    "n" ("autical" | "ot") |
    "o" ("f" "f"? | "r" | "ver") |
    "p" ("er" | "i" | "lus") |
    "return" |
    "s" ("ince" | "quare" "d"? | "ubtract" "ed"?) |
    "t" ("he " ("power" | "week") | "housand" | "ill" | "imes" | "o" | "rillion") |
    "until" |
    "xor"
"""
"""GBNF for what stands between the quotes of the argument's JSON string: up to 500
signs, each digit being one, and before each up to 15 words. The schema's own limit of
characters still holds: what is longer is refused, where a cut would change its value."""
