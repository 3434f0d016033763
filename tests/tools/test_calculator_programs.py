"""Small programs, as a model writes them to solve a word problem in one call."""

from __future__ import annotations

import re

import pytest
from calculating import refusal

from local_react.tools.calculator import calculator, evaluate


@pytest.mark.parametrize(
    ("program", "told"),
    [
        # names in another case
        ("boys = 30; girls = 12; rest = Boys - girls", "rest = 18"),
        ("Total = 5; tot = 3; total * TOT", "15"),
        ("total = 5; Total = 7; total + Total", "12"),
        ("N = 10; n * (n + 1) / 2", "55"),
        ("Miles = 180; 540 / miles", "3"),
        ("A = 5; a + A = 8", "a = 3"),
        ("Pi = 3; sum = 4; Sum + sqrt(Sum)", "6"),
        # words joined by hyphens
        ("folk = 40; all = 100; non-folk = 2; x = all / non-folk", "x = 50"),
        ("lo-fi = 12 - 3; post-rock = 4; lo-fi * 2 + Post-Rock", "22"),
        ("t-shirts = 3; 2 * t-shirts", "6"),
        ("all-you-can = 7; all-you-can - 2", "5"),
        # words joined by a space
        ("run2 lapTime = 3 * 12; y = run2 lapTime / 4", "y = 9"),
        ("box weight = 5; box weight per day = 2; box weight * box weight per day", "10"),
        ("price per kilo = 4; kilos = 2.5; kilos * price per kilo", "10"),
        ("the sum = 4; the sum * 2 + sum", "12"),
        ("average speed = 60; max speed = 90; max speed - average speed", "30"),
        ("number of times = 5; times per day = 3; number of times * times per day", "15"),
        ("Ann's pens = 5; Bob's pens = Ann's pens * 2", "Bob's pens = 10"),
        ("week 1 pages = 30; week 2 pages = 12; week 1 pages + week 2 pages", "42"),
        ("pens = 4; pens cost = pens * 3; x = pens cost / 2", "x = 6"),
        ("total cost = 9 and tax rate = 10%; total cost * tax rate", "0.9"),
        ("cats and dogs = 12, birds = 3, cats and dogs + birds", "15"),
        ("miles per hour = 60; 60 miles per hour * 2 hours", "120 miles"),
        # words that are something else
        ("miles = 2 * 60; hours = 3; miles / hours", "40"),
        ("m = 4; kg = 2; m * kg", "8"),
        ("times = 5; times * 3; ", "15"),
        ("percent = 20; return = 50 * percent / 100; return + 1", "11"),
        # names with numbers
        ("team2 = 3; first_2 = 4; day_1_pages = team2 * first_2", "day_1_pages = 12"),
        # changes
        ("a = 5; b = 3; a += b", "a = 8"),
        ("a = 9; a -= 1 + 2; a *= 1 + 1; a /= 4; a", "3"),
        ("a = 7; a //= 2; a **= 2; a %= 5; a", "4"),
        ("Net = 100; net += 10%", "Net = 110 (10% of 100 added)"),
        ("unit price = 5; unit price += 2; unit price * 2", "14"),
        ("a = 10; a = a / 2", "a = 5"),
        ("a = 10; a = a - 3; a = a * a; a", "49"),
        # what ends a step
        ("a = 3\nb = 4\na + b", "7"),
        ("a = 3,\nb = 4,\nc = a * b", "c = 12"),
        ("a = 3;\n\nb = 4;\nc = a * b;", "c = 12"),
        ("a = 1,200, b = 2, a / b", "600"),
        ("a = 3, a + 2", "5"),
        ("a = max(1, 2), b = a + 1", "b = 3"),
        # code around the steps
        ("a = 3 # three, as said = so\nb = a * 2 # six; or so\n# done", "b = 6"),
        ("a = 5 # five; b = 6; a + b", "11"),
        ("def solution():\n    a = 3\n    b = a * 2\n    return b", "6"),
        ("def f(n) -> int:\n\ta = 3\n\treturn a + 1\n\nprint(f(2))", "4"),
        ("def main():\n  a = 3\n  print(max(a, 4))\n\nmain()", "4"),
        ("a = 3; print(a); b = 4", "3"),
        ("a = 3; b = 4, return a + b", "7"),
        ('a = 3\nprint("Sum, in $: (", a + 1)', "4"),
        ("a = 3\nprint(f'Sum: {a + 1:.2f}')", "4"),
        ("a = 3; b = 4; return a, b", "[3, 4]"),
        ("```python\na = 3\na * 2\n```", "6"),
        ("let a = 5; var b = 2; a * b", "10"),
        ("unit price = 4\nreturn unit price", "4"),
        ("a = 17; b = a // 5; b ** 2", "9"),
        # what is counted or measured
        ("price = $12; count = 3; price * count", "36"),
        ("time = 3 hours; speed = 60 km/h; speed * time", "180 km"),
        ("a = 12 t-shirts; a / 4", "3 (the word t-shirts is left out)"),
        ("pens = 5 pens; lost = 2 pens; pens - lost", "3 (the word pens is left out)"),
        ("pens = 5; lost = 2 pens", "lost = 10 (2 pens is read as a product)"),
        ("hours = 2 hours; 3 hours + hours", "5 hours"),
        ("a = 3; a", "3"),
    ],
)
def test_what_a_program_is_worth(program: str, told: str) -> None:
    assert evaluate(program) == told


@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("x-y = 2, x+y = 10", "x = 6, y = 4"),
        ("pens-caps = 5, pens+caps = 15", "caps = 5, pens = 10"),
        ("net-tax = 50, tax = 10", "net = 60 (net-tax is read as a difference)"),
        ("price-1 = 5", "price = 6"),
        ("x y = 6, x = 2", "y = 3"),
        ("half of x = 5", "x = 10"),
        ("side squared = 16", "side = -4 or side = 4"),
        ("price plus tax = 10, tax = 2", "price = 8"),
        ("cost less discount = 5; discount = 1", "cost = 6"),
        ("width = 2; height = 3; width height = 6", "true"),
        ("x + y = 10; x - y = 2", "x = 6, y = 4"),
        ("average of 3, 5, 10", "6"),
        ("3 times 4", "12"),
    ],
)
def test_what_is_a_formula_is_no_name(formula: str, told: str) -> None:
    assert evaluate(formula) == told


@pytest.mark.parametrize(
    "expression",
    ["print(1)", "return 1", "1 # one", "# a = 1", "def f(): pass", "x = 1, 2", "a and b = 3"],
)
def test_code_without_a_step_and_lone_values_stay_refused(expression: str) -> None:
    assert refusal(expression)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (
            "a = 3; b = c * 2; d = b",
            r"unknown name 'c': .* as in c = 3 \(in the step 'b = c \* 2'\)$",
        ),
        ("total = 5; x = totl * 2; y = 3", "'totl': did you mean total.*in the step 'x = totl"),
        ("total = 5; totl + 2", "'totl': did you mean total"),
        ("a = 3; total += a", r"'total \+=' changes what has no value yet: .*write total = 0"),
        ("a = 1,200; b = a +; c = 3", r"b = a \+' ends too early.*in the step 'b = a \+'"),
        ("a = 3; b = a/0; c = b", "division by zero.*in the step 'b = a/0'"),
        ("a = 3; a + 1; b = 2", r"^the step 'a \+ 1' has no name: write [^(]*$"),
        ("unit price = 5; x = unit price + 3 km", "in the step 'x = unit price"),
        ("a = 3; b = 5 km + a", "in the step 'b = 5 km"),
        ("a = 3\nprint(b * 2)", "unknown name 'b'.*in the step 'b \\* 2'"),
    ],
)
def test_an_error_names_the_step_and_what_to_write(program: str, said: str) -> None:
    assert re.search(said, refusal(program))


def test_an_error_of_one_step_does_not_repeat_it() -> None:
    assert "in the step" not in refusal("a = 1/0")


@pytest.mark.parametrize(
    "program",
    ["a = __import__('os')", "a = 1\nimport os", "a = 3\nprint(f'{open(1)}')", "a = (1).real; a"],
)
def test_a_program_is_calculated_and_never_run(program: str) -> None:
    assert refusal(program)


def test_the_tool_takes_a_long_program() -> None:
    steps = [f"spent{n} = {n} * 12.5 + 3" for n in range(15)]
    text = "; ".join([*steps, "total = " + " + ".join(f"spent{n}" for n in range(9))])
    assert 200 < len(text) <= 500
    assert calculator.run({"expression": text}) == "total = 477"
