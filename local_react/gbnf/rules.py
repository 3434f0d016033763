"""The rules of one grammar, as they are collected."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from local_react.gbnf.notation import UNSEEN, choice, first_letters, repeat

if TYPE_CHECKING:
    from local_react.gbnf.documents import Schema

TERMINALS: Final = {
    "visible": rf"""[^"\\{UNSEEN}] | "\\" ["\\/]""",
    # No control characters, and no lone surrogates, which no file can hold.
    "char": r"""[^"\\\x00-\x1F\x7F] | "\\" escape""",
    "escape": r"""["\\/bfnrt] | "u" unit""",
    "unit": r"""[0-9a-cefA-CEF] hex{3} | [dD] [0-7] hex{2}""",
    "hex": r"""[0-9a-fA-F]""",
    "natural": r""""0" | [1-9] [0-9]{0,19}""",
    "fraction": r""""." [0-9]{1,22}""",
    # A float ends at about 10^308, and a number beyond it is none that JSON can hold.
    "magnitude": r"""natural fraction? exponent? | [1-9] fraction? [eE] [+]? huge""",
    "exponent": r"""[eE] ([-] [0-9]{1,3} | [+]? ([0-9]{1,2} | "1" [0-9]{2} | "2" [0-7] [0-9]))""",
    "huge": r""""2" [89] [0-9] | "30" [0-7]""",
    "any": """any-object | any-array | any-string | number | boolean | null""",
    "any-object": """"{" (any-pair (", " any-pair)*)? "}\"""",
    "any-pair": """any-string ": " any""",
    "any-array": """"[" (any (", " any)*)? "]\"""",
    "any-string": """"\\"" char* "\\"\"""",
    "integer": """"-"? natural""",
    "number": """"-"? magnitude""",
    "boolean": """"true" | "false\"""",
    "null": """"null\"""",
}

_NOTHING: Final = r"[^\x00-\U0010FFFF]"
"""What admits no text: the body of a rule that has none yet."""
_LONGEST: Final = 60
"""Characters of a rule's name."""


class Rules:
    """The rules of one grammar as they are collected; `text` is the grammar."""

    def __init__(self) -> None:
        self._bodies: dict[str, str] = {}
        self._alike: Counter[str] = Counter()

    def add(self, name: str, body: str) -> str:
        """Add a rule and return its name, changed to what GBNF allows and made unique."""
        unique = self._free(name, body)
        self._bodies[unique] = body
        return unique

    def named(self, name: str, body: str) -> str:
        """Return the name of a rule with this body: a new one unless the body is a name."""
        return body if re.fullmatch(r"[a-z][a-zA-Z0-9-]*", body) else self.add(name, body)

    def reserve(self, name: str) -> str:
        """Return the name of a new rule that gets its body afterwards."""
        unique = self._free(name)
        self._bodies[unique] = _NOTHING
        return unique

    def _free(self, name: str, body: str | None = None) -> str:
        """Return a name that no other rule has, or one whose rule has this body."""
        safe = re.sub(r"[^a-zA-Z0-9]+", "-", name)[-_LONGEST:].strip("-") or "rule"
        unique = safe
        while unique in TERMINALS or self._bodies.get(unique, body) != body:
            self._alike[safe] += 1
            unique = f"{safe}-{self._alike[safe] + 1}"
        return unique

    def replace(self, name: str, body: str) -> None:
        """Give a rule that was reserved its body."""
        self._bodies[name] = body

    def text(self) -> str:
        """Return the grammar; its start rule is the one that was added as "root"."""
        # Terminals first: a name that llama.cpp meets in a group for the first time counts
        # as a part of what is repeated there.
        rules = {**_used_terminals(self._bodies.values()), **self._bodies}
        return "\n".join(f"{name} ::= {body}" for name, body in rules.items()) + "\n"

    def string(self, least: int = 0, most: int | None = None) -> str:
        """Return the rule of a string of so many characters: one for all such strings."""
        if not least and most is None:
            return "any-string"
        body = f'"\\"" char{repeat(least, most)} "\\""'
        return self.add(f"string-{least}-{'' if most is None else most}", body)

    def schema(self, name: str, schema: Schema) -> str:
        """Add the rules for a JSON schema and return the name of its first one.

        Raises GrammarError, with the place in the schema, where it cannot be read or admits
        no value.
        """
        from local_react.gbnf.reading import SchemaReader

        return SchemaReader(self, name, schema).value(name, schema)

    def other_string(self, texts: Iterable[str]) -> str:
        """Return an expression of a JSON string that is none of the texts, which are written
        as JSON."""
        self._rest = self.add("string-rest", 'char* "\\""')
        return f'"\\"" {self._other(sorted(set(texts)))}'

    def _other(self, texts: Sequence[str]) -> str:
        """Return the rule of what may follow where these texts may not, with the quote."""
        options = [] if "" in texts else ['"\\""']
        branches = first_letters(texts)
        options += [f"{_class(letter)} {self._other(tails)}" for letter, tails in branches.items()]
        if "\\" not in branches:
            options.append(f'"\\\\" escape {self._rest}')
        options.append(rf"{_class(*branches, besides=True)} {self._rest}")
        return self.add("other", choice(options))


def _class(*letters: str, besides: bool = False) -> str:
    """Return a class of the letters, or of all others that a JSON string holds."""
    listed = "".join(
        f"\\U{ord(letter):08X}" if letter in r'"\[]-^' else letter for letter in letters
    )
    return rf'[^"\\\x00-\x1F\x7F{listed}]' if besides else f"[{listed}]"


def _used_terminals(bodies: Iterable[str]) -> dict[str, str]:
    used: dict[str, str] = {}
    waiting = list(bodies)
    while waiting:
        for word in re.findall(r"[a-z][a-z-]*", waiting.pop()):
            if word in TERMINALS and word not in used:
                used[word] = TERMINALS[word]
                waiting.append(TERMINALS[word])
    return used
