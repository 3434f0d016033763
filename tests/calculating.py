"""Asks the calculator for what it must not answer."""

from __future__ import annotations

import pytest

from local_react.errors import ToolError
from local_react.tools.calculator import evaluate


def refusal(expression: str) -> str:
    """Return the one line with which an expression is refused."""
    with pytest.raises(ToolError) as caught:
        evaluate(expression)
    assert "\n" not in str(caught.value)
    return str(caught.value)
