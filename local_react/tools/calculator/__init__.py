"""calculator: exact mathematics as people and models write it.

An expression is worked out in a process of its own, which is kept warm, with limits on
its time and memory. That process alone imports sympy; no text ever reaches `eval`,
`exec`, `sympify` or `parse_expr`.

An expression goes through program with naming (what is code in it, names of several words),
text and pasted (one way to write each sign), scanner (pieces), steps, reader with counted
(tokens: what depends on the context), grammar.lark by parsing, rules and measure_rules
(values; calls and operators compute them), and answer. process and worker are the two sides
of the pipe.

Conventions, where there is a choice:

- ^ and ** are powers; `-5^2` is -25, `2^3^2` is 512.
- % between two values is the remainder, with the divisor's sign; after a value it is
  percent. `100 + 10%` is 110, as on a pocket calculator, and the answer says so.
- A product without a sign counts like one with it: `1/2pi` is (1/2)*pi; said too.
  A unit binds tighter: `60 km / 2 h` is 30 km/h.
- `log` of one value is natural, said too; `round` takes halves away from zero.
- 1,234.5 is one number, but inside a function's parentheses a comma separates values.
- 03/04/2001 is month/day/year, unless a date of the expression can only be day/month/year.
- `a = 3; b = 2*a; a + b` are steps, each with a name but the last. Beside steps, and only
  there, `# ...` is a comment, and `return x` or `print(x)` says what is to be told.
- The left side of a step is a name, though of several words (`total cost = 5`), unless it is
  a formula: `x y = 6`, `price plus tax = 10`, or `net-tax = 5` where `tax` is a
  name and `net-tax` is not used again.
- A number before a word that is a name makes a product with it, `a = 3; 2 a`, said too; but
  after `apples = 5 apples` apples are what is counted.
- `A` is `a` where that alone has a value, but not as a letter of an equation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final

from pydantic import Field

from local_react.errors import ToolError
from local_react.tools.base import tool
from local_react.tools.calculator.argument import ARGUMENT
from local_react.tools.calculator.asked import expression_in
from local_react.tools.calculator.process import shared_worker

MAX_LENGTH: Final = 1000
"""Characters of an expression."""
_ARGUMENT_LENGTH: Final = 500
"""And of one that a model writes: what is longer has been seen to have no end."""

Expression = Annotated[
    str,
    Field(
        description="such as 12% of 80 - 2.5",
        max_length=_ARGUMENT_LENGTH,
        json_schema_extra={"x-gbnf": ARGUMENT},
    ),
]


@tool(name="calculator")
def _calculator(expression: Expression) -> str:
    """Compute exactly: + - * / ^ ( ), 5% of 60, 100 + 10%, 7 mod 3, 5!, sqrt(2), round(x, 2),
    min, max, sum, mean, gcd, log10, sin, pi. Also equations, units and dates:
    2*x + 6 = 20, 5 km in miles, 2024-01-16 + 45 days."""
    return evaluate(expression)


def _offer(question: str) -> dict[str, str] | None:
    """Return the call that works out a question which is an expression as it stands."""
    expression = expression_in(question)
    if expression is None:
        return None
    try:
        evaluate(expression)
    except ToolError:
        return None
    return {"expression": expression}


calculator: Final = replace(_calculator, offer=_offer, offered="This can be computed as it stands.")


def evaluate(expression: str | Sequence[str]) -> str:
    """Return the value of an expression as text, and how an ambiguous one was read.

    Steps are separated by ; or a line break, or given as a list, and later ones use the
    names of earlier ones. Raises ToolError, one line that says what to write instead,
    where there is no value, and where it takes too long or too much memory.
    """
    if not isinstance(expression, str):
        expression = "\n".join(expression)
    if len(expression) > MAX_LENGTH:
        raise ToolError(
            f"too large: the expression is too long, {len(expression)} characters of at most "
            f"{MAX_LENGTH}; compute it in parts"
        )
    return shared_worker().evaluate(expression)
