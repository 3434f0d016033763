"""Questions that are an expression as they stand."""

from __future__ import annotations

import pytest

from local_react import Agent, Run, ScriptedModel
from local_react.core import Call
from local_react.tools.calculator import calculator
from local_react.tools.calculator.asked import expression_in


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is 15% of 1,299.99, plus 7?", "201.9985"),
        ("what's 2 + 2", "4"),
        ("Calculate 3 * (4 - 1).", "9"),
        ("How much is 7 squared minus 5?", "44"),
        ("Please compute 10 divided by 4!", "2.5"),
        ("12*12=", "144"),
        ("Convert 5 miles to km", "8.04672 km"),
        ("What is 20 percent of 50, please?", "10"),
    ],
)
def test_a_question_that_is_a_sum_is_offered_to_the_calculator(question: str, answer: str) -> None:
    assert calculator.offer is not None
    arguments = calculator.offer(question)
    assert arguments is not None
    assert calculator.run(arguments) == answer


@pytest.mark.parametrize(
    "question",
    [
        "What is 42?",
        "What is the capital of France?",
        "What is 2024 in the Chinese calendar?",
        "How much is 1000 US dollars in yuan?",
        "Tom has 3 bags of 12 apples. How many apples is that?",
        "What is the population of 3 largest cities?",
        "7 wonders of the world?",
        "What is 5 of the best books?",
        "What is 1/0?",
        "",
        "?",
        "1 + 1" * 200,
    ],
)
def test_another_is_not(question: str) -> None:
    assert calculator.offer is not None
    assert calculator.offer(question) is None


@pytest.mark.parametrize("question", ["(" * 190, "1 " * 99, "a the " * 33, "1, " * 60 + "x"])
def test_what_is_odd_is_looked_at_quickly(question: str) -> None:
    assert expression_in(question) is None or len(question) <= 200


def test_such_a_question_is_worked_out_before_the_model_writes_and_asked_once() -> None:
    model = ScriptedModel(['Thought: So it is.\nAction: Finish {"answer": "201.9985"}'])
    run = Agent(model, [calculator], votes="auto").run("What is 15% of 1,299.99, plus 7?")
    assert isinstance(run, Run)
    first = run.steps[0]
    assert first.action == Call("calculator", {"expression": "15% of 1,299.99 plus 7"})
    assert (first.thought, first.observation) == (calculator.offered, "201.9985")
    assert (run.answer, run.votes, run.confidence) == ("201.9985", (), 1.0)
