"""`local-react calc`: the calculator from the shell, without a model."""

from __future__ import annotations

import json
import sys

import click

from local_react.cli.show import printable
from local_react.errors import ToolError, UsageError

_MOST_BYTES = 100_000
"""What is read from standard input: longer ones are refused all the same."""


@click.command(
    "calc",
    # What begins with a dash is a negative number here, as in -5^2.
    context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": True},
)
@click.argument("expression", nargs=-1, type=click.UNPROCESSED, metavar='"EXPRESSION"')
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def calc(expression: tuple[str, ...], as_json: bool) -> int:
    """Work out an expression exactly, with the agent's calculator and without a model.

    It takes arithmetic as people write it, steps (a = 3; b = 2*a; a + b), equations
    (2*x + 6 = 20), units (5 km in miles), dates (2024-01-16 + 45 days), and mathematics
    such as diff(x^2, x). Without an expression it reads one from standard input; its
    lines are steps.

    An expression that has no value ends with exit code 2 and says what to write instead.
    """
    # Imported here, so that no other command waits for it.
    from local_react.tools.calculator import evaluate

    text = " ".join(expression) if expression else _piped()
    try:
        answer = evaluate(text)
    except ToolError as error:
        if not as_json:
            raise UsageError(printable(str(error))) from error
        click.echo(json.dumps({"expression": text, "error": str(error)}))
        return UsageError.exit_code
    click.echo(json.dumps({"expression": text, "answer": answer}) if as_json else printable(answer))
    return 0


def _piped() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError('no expression: local-react calc "15% of 80"')
    return sys.stdin.buffer.read(_MOST_BYTES).decode("utf-8", "replace")
