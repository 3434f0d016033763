"""JSON schema -> GBNF, llama.cpp's grammar notation. Pure: text in, text out.

llama-cpp-python brings a converter of its own; it was looked at first. It leaves
white space and numbers unbounded, fails with a bare AssertionError or KeyError on
a part of the schemas, and lives in the package that only the backend may import.

This one reads any JSON Schema, those of pydantic and of other programs. Where a schema
says more than a grammar can (a pattern, a format, a multiple), or more than it should (a
hundred alternatives, each with as many), the grammar admits any value of the type, and what
was written is validated afterwards: it never refuses what the schema admits, as it is
written here: `", "` and `": "` between the parts, the properties in the schema's order, an
integer without a point. It takes two liberties, those of whoever writes schemas: one that
names no type is of the type that its keywords are about, and an object writes a name once.

    notation     the pieces that a grammar's text is made of
    checking     what llama.cpp would crash on, told before it sees it
    prose        lines of text that don't look like a call
    rules        the rules of one grammar, as they are collected
    documents    a schema as it came: that it is one, and what its references point to
    merging      two schemas that both hold, as one
    unions       alternatives that begin alike
    reading      a schema, keyword by keyword
    objects, arrays, integers   the rules of these
    owned        a string that brings a grammar of its own

The notation: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
"""

from __future__ import annotations

from local_react.gbnf.checking import check_notation
from local_react.gbnf.documents import Schema
from local_react.gbnf.notation import MAX_REPEAT, forced_beginning, literal, without_literals
from local_react.gbnf.owned import OWNED
from local_react.gbnf.prose import prose
from local_react.gbnf.rules import Rules

__all__ = [
    "MAX_REPEAT",
    "OWNED",
    "Rules",
    "Schema",
    "check_notation",
    "forced_beginning",
    "literal",
    "prose",
    "without_literals",
]
