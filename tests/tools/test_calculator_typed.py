"""What models and people really type into a calculator, and what must come of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from calculating import refusal

from local_react.tools.calculator import evaluate

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        # money
        ("$2,400 * 3", "7200"),
        ("€50 + €20", "70"),
        ("20€ + 30€", "50"),
        ("US$50 * 2", "100"),
        ("C$50 + C$20", "70"),
        ("R$ 50 + 3", "53"),
        ("USD 1,200.50 + USD 3", "1203.5"),
        ("CHF 1,200 * 2", "2400"),
        ("EUR20 * 3", "60"),
        ("¥500 + 200 JPY", "700 (the word JPY is left out)"),
        ("15% of USD 80", "12"),
        ("$5 per hour * 8 hours", "40"),
        ("$1.2k * 2", "2400"),
        # A rate of one currency to another is what such amounts are counted with.
        ("100 USD * 0.92 EUR/USD", "92 (the word USD is left out; the word EUR is left out)"),
        (
            "USD = 2; EUR = 3; 50 USD + 20 EUR",
            "160 (50 USD is read as a product; 20 EUR is read as a product)",
        ),
        # what stands around a sum
        ("(40+60)*2=", "200"),
        ("40+60 = ?", "100"),
        ("What is the square root of 49?", "7"),
        ("the cube root of 27", "3"),
        ("what's 6*7", "42"),
        ("`6*7`", "42"),
        ("'6*7'", "42"),
        ("“6*7”", "42"),
        ("**6*7**", "42"),
        ("$6*7$", "42"),
        ("6*7;", "42"),
        # names of a programming language's functions
        ("math.sqrt(49)", "7"),
        ("Math.pow(2, 5)", "32"),
        ("np.sqrt(49) + math.floor(2.5)", "9"),
        ("factorial(5)", "120"),
        ("fact(5)", "120"),
        ("math.factorial(5)", "120"),
        ("fabs(-3)", "3"),
        ("lcm(6, 8)", "24"),
        ("gcd(18, 24)", "6"),
        ("pow(64, 1/3)", "4"),
        ("comb(6, 2) + perm(4, 2)", "27"),
        ("hypot(3, 4)", "5"),
        ("degrees(pi)", "180"),
        ("round(2.675, 2)", "2.68"),
        ("avg(2, 3, 4)", "3"),
    ],
)
def test_it_is_understood(expression: str, value: str) -> None:
    assert evaluate(expression) == value


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("$50 + £20", r"mixed currencies \$ and £"),
        ("50€ - 20$", r"mixed currencies \$ and €"),
        ("50 USD + 20 EUR", "mixed currencies EUR and USD"),
        ("$50 + 20 EUR", r"mixed currencies \$ and EUR"),
        ("50 dollars + 20 euros", "mixed currencies dollar and euro"),
        ("2 million dollars + 3 euros", "mixed currencies dollar and euro"),
        ("C$50 + US$20", r"mixed currencies C\$ and US\$"),
        ("GBP 5 + CHF 5", "mixed currencies CHF and GBP"),
        ("max($5, €3)", r"mixed currencies \$ and €"),
        ("100 USD to EUR", "currencies are not converted here"),
        ("Put $250,000 down and pick single", "not a math expression"),
        ("math.__class__", "there are no attributes"),
        ("math.pi.real", "there are no attributes"),
        ("os.sqrt(4)", "there are no attributes"),
        ("numpy.linalg.inv(2)", "there are no attributes"),
    ],
)
def test_it_is_refused_in_a_line_that_says_why(expression: str, said: str) -> None:
    assert re.search(said, refusal(expression))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("3^200", str(3**200)),
        ("25!", "15511210043330985984000000"),
        ("0.5**1500", "2.85"),
        ("1.07^40", "14.97445783"),
        ("(1+0.04/12)**240", "2.2225820"),
    ],
)
def test_ordinary_powers_are_not_refused(expression: str, value: str) -> None:
    assert evaluate(expression).startswith(value)


@pytest.mark.parametrize("expression", ["0.5**2000", "10^-500", "2^-3000 * 3"])
def test_what_is_next_to_nothing_is_not_told_as_nothing(expression: str) -> None:
    told = evaluate(expression)
    assert told != "0"
    assert "e-" in told


HOSTILE = [
    '__import__("pathlib").Path({mark}).touch()',
    "().__class__.__mro__[1].__subclasses__()",
    "pi.func.__init__.__globals__",
    "(lambda: 1)()",
    "[n for n in (1,2)]",
    "open({mark}, 'w')",
    'f"{{1+1}}"',
    '"xy"*10**9',
    "[0]*10**9",
    "(1,)*10**9",
    'Symbol("x").__class__',
    'exec("1")',
    "x:=5",
    "1;2",
    "getattr(pi, 'real')",
    "math.sqrt.__self__",
    "__builtins__",
    "e.__class__.__base__",
]
PROGRAM = """
import json, sys, time, psutil
from local_react.errors import ToolError
from local_react.tools.calculator import evaluate
evaluate("sqrt(2) + 1e3 + ln(2)")  # what it needs is imported when first needed
modules, memory, began = set(sys.modules), psutil.Process().memory_info().rss, time.monotonic()
told = []
for expression in json.load(sys.stdin):
    try:
        told.append("value " + evaluate(expression)[:80])
    except ToolError as error:
        told.append(str(error))
grown = psutil.Process().memory_info().rss - memory
print(json.dumps([told, grown, sorted(set(sys.modules) - modules), time.monotonic() - began]))
"""


def test_code_runs_nothing_imports_nothing_and_takes_no_memory(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    expressions = [text.format(mark=f'"{mark}"') for text in HOSTILE]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(expressions),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    told, grown, imported, seconds = json.loads(done.stdout)
    assert [line for line in told if line.startswith("value") or len(line) > 250] == []
    assert len(told) == len(HOSTILE)
    assert not mark.exists()
    assert imported == []
    assert grown < 50_000_000
    assert seconds < 30  # far above what refusing takes
