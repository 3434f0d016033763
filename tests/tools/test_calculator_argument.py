"""The grammar of the calculator's argument: what a model can write there, and cannot."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import Annotated

import pytest
from acceptance import admits, begins
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from local_react import LlamaModel, Sampling, tool
from local_react.core import Message
from local_react.gbnf import Rules
from local_react.protocol import step_grammar, system_text
from local_react.tools.calculator.argument import ARGUMENT


@tool
def compute(
    expression: Annotated[str, Field(max_length=500, json_schema_extra={"x-gbnf": ARGUMENT})],
) -> str:
    """Compute."""
    return expression


def argument_grammar() -> str:
    rules = Rules()
    rules.add("root", rules.schema("expression", {"type": "string", "x-gbnf": ARGUMENT}))
    return rules.text()


def in_json(text: str) -> str:
    """Return the string that a text between quotes is in JSON."""
    return str(json.loads(f'"{text}"'))


def admitted(model: LlamaModel, text: str) -> bool:
    return admits(model, argument_grammar(), f'"{text}"')


WRITTEN = [
    # arithmetic, as people and models write it
    "2",
    "-5^2",
    "2^3^2",
    "2 ** 10 // 3 % 7",
    "+(1 + 2) * (3 - 4) / 5",
    "1,299.99 * 1.15 + .5",
    "1e-9 + 6.02E+23",
    "1_000_000 / 3",
    "1234567890123456789012345678901234567890",
    "5! + |-3|",
    "3(4+5)(2)",
    "2pi r^2",
    "1/2 m v^2",
    "√16 + ∛27 − 6 × 7 ÷ 2 · 1",
    "2πx² + y³ + 2½ + ⅚ + 10⁻³",
    "sin(30°) + cos(pi/3)",
    "15% of 80",
    "100 + 10% - 5 %",
    "20 as a percentage of 80",
    "$1,200 * 12 + $5",
    "€50 / £20",
    "(50+50)*2=",
    "200 bananas * 2",
    "10 mod 3",
    "2 to the power of 10",
    "square root of 16 + cube root of 27",
    "12 divided by 4",
    "2 million dollars / 12",
    "3 hundred thousand people * 2",
    # functions, lists, matrices
    "sqrt(2) + cbrt(3) + log10(100) + log(8, 2) + atan2(1, 2)",
    "log base 2 of 8",
    "mean([1, 2, 3]) + median(4, 5) + stdev(1, 2)",
    "round(2/3, 2)",
    "factorize(360)",
    "det([[1, 2], [3, 4]])",
    "[1, 2; 3, 4] * [5; 6]",
    # comparisons, booleans, bits, bases
    "0.1 + 0.2 == 0.3",
    "1 <= 2 and 3 >= 2 or 5 != 6",
    "1 ≤ 2 ≥ 1 ≠ 3 < 4 > 2",
    "not true and not false or true and false",
    "1 is not 2",
    "12 & 10 | 3 << 2 >> 1 xor ~5",
    "0xff + 0b1010 + 0xDEADbeef + 0x1F",
    "255 in binary",
    "255 to hex",
    # algebra and calculus
    "2*x + 6 = 20",
    "12 + 5*3 + 4*1.50 + 8.50*x = 50",
    "x + y = 5, x - y = 1",
    "solve(x^2 - 4 = 0, x)",
    "x^2 > 4 and x < 10",
    "diff(x^3 + 2x, x)",
    "integrate(sin(x), x, 0, pi)",
    "limit(1/x, x -> ∞)",
    "series(exp(x), x, 0, 5)",
    "factor(x^2 - 5*x + 6)",
    "(3+4i)*2",
    "a = 3; b = 2*a; a + b",
    "rate_2 = 4.5%; f(x_1) = x_1^2",
    "x squared + y cubed",
    "1 if 2 > 1 else 3",
    # programs
    "asians = 240; japanese = 80; chinese = Asians - japanese",
    "hip-hop = remaining - jazz, hip-hop * 2",
    "team2 totalTime = 4 * 55; x = team2 totalTime / 2",
    "cost per gallon = 5; total += 3; total //= 2; total **= 2",
    "day_1_pages = 3; first_2 = 4; day_12 = 5",
    r"a = 3\nb = 2 * a\n    c = a + b\n(a + b) * 2",
    r"a = 3;\nb = 4,\nreturn a + b",
    "a = 3; print(a)",
    # units
    "5 km in miles",
    "72 degF to degC",
    "20 °C in °F",
    "72 degrees Fahrenheit to degrees Celsius",
    "3 h 20 min in seconds",
    "3 hours and 20 minutes in s",
    "60 miles per hour in km per hour",
    "9.81 m/s^2 in feet per second squared",
    "25 square meters in square feet",
    "100 kWh in MJ",
    "5 µm in mm",
    "12 fluid_ounces in cubic centimeters",
    # dates
    "2001-03-19 - 9 weeks",
    "03/19/2001 subtract 9 weeks",
    "8/31/2019 subtract 10 years and 16 months",
    "days between 2001-01-01 and June 12, 2051",
    "weekday of June 12, 2051",
    "day of the week of Thursday, February 29, 2052",
    "45 days after 29 February 2032",
    "days from 2020-01-01 until today",
]


def test_every_kind_of_expression_can_be_written(tiny: LlamaModel) -> None:
    assert len(WRITTEN) >= 60
    assert [text for text in WRITTEN if not admitted(tiny, text)] == []
    assert [text for text in WRITTEN if in_json(text) != text.replace(r"\n", "\n")] == []


REFUSED = [
    # prose
    "Input $300,000 and choose married filing status",
    "The total price of the items",
    "15% of 80 is what we need",
    "Please compute 2 + 2",
    "calculate the sum",
    "I think, the answer is that it depends",
    "red apples",
    "5 red apples plus 3",
    "antidisestablishmentarianisms",
    # what is no character of an expression
    '"',
    '1 is "a"',
    r"\"",
    r"\n",
    r"\u0041",
    "\\",
    "\n",
    "1\n2",
    r"\n1",
    r"1\n\n2",
    r"1\t+ 2",
    r"a\n",
    "1\t+ 2",
    "1 + 2 # two",
    "1 + 2?",
    "x := 5",
    "{1: 2}",
    '{"expression": "1"}',
    "'a' * 9",
    "`1`",
    "@",
    "1\x00",
    "1\u00a0+ 1",
    "(1)…",
    # code
    '__import__("os").system("true")',
    "__import__(os)",
    "().__class__",
    "a.b",
    "a .b",
    "a. b",
    "pi.func.__globals__",
    "2.real",
    "x__y",
    "_x",
    "x_",
    "os.path.join(1)",
    "(lambda: 0)()",
    "[i for i in (1, 2)]",
    "x if_y z",
    "import os",
    # white space, and nothing
    "",
    " ",
    " 1",
    "1  + 1",
    "1 +  1",
    "x  * 2",
    "days of  weeks",
    # too long
    "1+" * 250 + "1",
    "1 + " * 250 + "1",
    "9" * 501,
    "a+" * 501,
    "-" * 501,
    "x of" + " a of" * 7,
    "of " * 30,
]


def test_prose_code_and_what_is_too_long_cannot_be_written(tiny: LlamaModel) -> None:
    assert [text for text in REFUSED if admitted(tiny, text)] == []


def test_as_many_signs_as_the_calculator_takes_characters(tiny: LlamaModel) -> None:
    for text in ("9" * 500, "1+" * 249 + "1", "(" * 40 + "1" + ")" * 40, "a+" * 249 + "a"):
        assert admitted(tiny, text), text


def test_a_call_is_written_under_it_and_the_prompt_does_not_show_it(tiny: LlamaModel) -> None:
    grammar = step_grammar([compute])
    call = 'Thought: t\nAction: compute {"expression": '
    assert admits(tiny, grammar, f'{call}"2 * (3 + 4)"}}')
    assert begins(tiny, grammar, f'{call}"Please')
    assert not begins(tiny, grammar, f'{call}"Please mu')
    assert not begins(tiny, grammar, f'{call}""')
    assert 'compute {"expression": string}: Compute.' in system_text([compute])


JOINING = {"of", "in", "to", "into", "mod", "and", "or", "not", "per", "between", "until", "is"}
WORDS = st.sampled_from(
    [*sorted(JOINING), "km", "days", "sin", "the", "an", "offer", "into_x", "is_a", "a", "I"]
)
SIGNS = st.sampled_from([*"0179+-*/^%!()[]|,;=<>&~€²π", ".5", "_5"])
CLEAN = st.tuples(WORDS | SIGNS, st.sampled_from([" ", " ", ""]))
ANY = st.tuples(WORDS | SIGNS | st.sampled_from('._":{}#\\?'), st.sampled_from([" ", "", "  "]))


def sensible(text: str) -> bool:
    """Say whether a text is of the right pieces, none of them in the wrong company."""
    text = re.sub(r"(?<=[0-9])_(?=[A-Za-z])", "", text)  # day_1_pages
    pieces = re.findall(r"[A-Za-z]+(?:_[A-Za-z]+)*|[._][0-9]|.", text)
    if not pieces or pieces[0] == " " or re.search(r'  |[":{}#\\?]', text):
        return False
    if any(piece in "._" for piece in pieces):
        return False
    words = [piece[0].isalpha() and piece != "π" for piece in pieces]
    return not any(
        words[i] and piece == " " and words[i + 2] and not {pieces[i], pieces[i + 2]} & JOINING
        for i, piece in enumerate(pieces[1:-1])
    )


@settings(max_examples=400, deadline=None)
@given(pieces=st.lists(CLEAN, max_size=6) | st.lists(ANY, max_size=6))
def test_any_pieces_are_admitted_where_they_keep_to_the_rules(
    tiny: LlamaModel, pieces: list[tuple[str, str]]
) -> None:
    text = "".join(piece + space for piece, space in pieces)
    if re.search("[A-Za-z_]{20}", text) or re.search("(?:[A-Za-z_]+ ){5}", text):
        return  # words, and runs of them, have an end that is not looked at here
    assert admitted(tiny, text) == sensible(text), text


def written_by_noise(model: LlamaModel, seed: int) -> str:
    """Return what the random model writes between the quotes, as far as it is UTF-8."""
    sampling = Sampling(temperature=1.0, seed=seed)
    reply = model.start([Message("user", "x")]).generate(argument_grammar(), sampling)
    return "".join(islice(reply, 200)).partition("\ufffd")[0].removeprefix('"').removesuffix('"')


def test_what_noise_writes_under_it_is_fit_for_json(tiny: LlamaModel) -> None:
    texts = [written_by_noise(tiny, seed) for seed in range(20)]
    assert sum(map(len, texts)) > 400
    assert [text for text in texts if in_json(text) != text.replace(r"\n", "\n")] == []
    assert [text for text in texts if re.search(r"__|  |[a-z]\.[a-z]", text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "not true and not false or true and false * " * 4,
        "is not or of in to of in to * " * 6,
        "x y z v w - x y * " * 11,
        "sqrt(rate_x) * x - " * 10,
        "in5of7or9in" * 18,
    ],
)
def test_what_can_be_read_in_many_ways_is_read_to_its_end(tiny: LlamaModel, text: str) -> None:
    # Were the readings not to meet again, they would double at each word.
    assert admitted(tiny, text)
