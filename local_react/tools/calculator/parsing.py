"""A step from tokens to its value, by the grammar and its rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, cast

import lark

from local_react.tools.calculator import complaints
from local_react.tools.calculator.rules import rules
from local_react.tools.calculator.values import Content, Value


def value_of(text: str, tokens: Sequence[lark.Token], known: Mapping[str, Content]) -> Value:
    """Return what a step is worth, its names being known so far; `text` is what errors
    quote. Raises ToolError where the tokens make no sense."""
    try:
        tree = _parser().parse(cast("Any", tokens))
    except lark.UnexpectedInput as error:
        token: Any = getattr(error, "token", None)
        known_place = token is not None and token.type != "$END" and token.start_pos is not None
        place = int(token.start_pos) if known_place else len(text)
        raise complaints.not_understood(text, place) from error
    return cast("Value", _worth(tree, rules(known)))


def _worth(tree: lark.Tree[Any], table: Any) -> Any:
    """Return a tree's value, from its leaves up: nothing recurses, however deep."""
    worth: dict[int, Any] = {}
    for node in tree.iter_subtrees():
        children = [
            worth.pop(id(child)) if isinstance(child, lark.Tree) else child
            for child in node.children
        ]
        worth[id(node)] = table[str(node.data)](*children)
    return worth[id(tree)]


class _Tokens(lark.lexer.Lexer):
    """Hands the parser the tokens that it is given."""

    def __init__(self, _: Any) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any = None) -> Iterator[lark.Token]:
        yield from lexer_state


@cache
def _parser() -> lark.Lark:
    grammar = resources.files("local_react.tools.calculator").joinpath("grammar.lark")
    return lark.Lark(
        grammar.read_text(encoding="utf-8"),
        parser="lalr",
        lexer=_Tokens,
        keep_all_tokens=True,
        maybe_placeholders=True,
    )
