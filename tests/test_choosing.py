"""Which tools a question is put to the model with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Event as Flag
from typing import Any

import pytest

from local_react import Agent, Network, Run, ScriptedModel, builtin_tools, tool
from local_react.answers import ATTACHED
from local_react.choosing import (
    YES_OR_NO,
    asks_to_write,
    choice,
    first_offer,
    fitting,
    is_reckoning,
)
from local_react.core import Call, Message, Weighed
from local_react.documents import Library
from local_react.loop import MARGIN, MARGIN_OF_OWN, NO_TOOL, WRITES
from local_react.tools.base import AnyTool
from local_react.tools.calculator import calculator
from local_react.tools.current_time import current_time

RECKONING = [
    "Ana has 3 boxes of 12 eggs and drops 5. How many eggs are left?",
    "A shirt costs $20 and trousers twice as much. How much are both?",
    "There are ninety birds and fifteen fly away. How many are left?",
    "A store had 1500 apples and 2000 pears. How many fruits is that in total?",
    "In 2004 there were 60 children at a club, in 2005 half as many. How many are 3 times that?",
    "He walks in 2000 steps to the shop and back in 1900 steps. How many steps is that?",
    "In a class of 30, 12 like tea and 9 like milk. How many students like neither?",
    "Each of 3 shops sells 20 rolls. Calculate the total number of rolls.",
    "What is 15% of 1,299.99 plus 7?",
    "15% of 1,299.99 plus 7?",
    "Mr. Bell is three times as old as Tom, who is 9. How old is Mr. Bell?",
    "What is the area of a room of 3 m by 4.5 m?",
    "Two dogs weigh 37 and 20 lbs. What is their combined weight?",
    "100 of my shares of Tesla and 50 of yours cost how much at $300 each?",
    f"How many are 3 dozen and 4?{ATTACHED}Nothing to see here.",
]
LOOKED_UP = [
    "How many people live in Berlin?",
    "What is 1000 US dollars in yuan?",
    "How much is 1000 US dollars in yuan?",
    "What time is it in Beijing?",
    "What is Tesla's stock price times 100 shares?",
    "How many days are left until 25 December 2026?",
    "How many days are there from May 3, 2020 to 7th of June 2021?",
    "How old is somebody who was born on 3 May 1990?",
    "How many people died in the war between 1914 and 1918?",
    "How many medals did Peru win in 1984 and 1988?",
    "How many nights are from 2024-05-03 to 2024-06-07, or from 5/3/2024 to 6/7/2024?",
    "I have two dogs, a border collie and a Scottish terrier. What is their combined weight?",
    "Was the tower built in 1889 with 18,038 parts?",
    "Write a poem of 4 lines of 8 syllables.",
    "¿Cuántas son 3 manzanas y 4 peras?",
    "",
    f"How many words has it?{ATTACHED}1, 2, 3, 4 and 5.",
    "word " * 400 + "How many are 3 and 4?",
]


@pytest.mark.parametrize("question", RECKONING)
def test_a_question_that_brings_its_numbers_is_reckoned(question: str) -> None:
    assert is_reckoning(question)


@pytest.mark.parametrize("question", LOOKED_UP)
def test_other_questions_are_not(question: str) -> None:
    assert not is_reckoning(question)


@tool
def own(text: str) -> str:
    """Do what a user wants."""
    return text


@pytest.fixture
def everything(own_places: None) -> list[AnyTool]:
    """All built-in tools, and one of the user's."""
    return [own, *builtin_tools(Network("allow"), library=Library(), everything=True)]


def names(tools: list[AnyTool], question: str) -> set[str]:
    """Return the names of the tools that fit a question."""
    chosen = fitting(tools, question)
    assert chosen == [one for one in tools if one in chosen]
    return {one.name for one in chosen}


SUM = "How much are 3 times 4.50"
OUTSIDE = {"read_page", "search", "wikipedia", "lookup"}


@pytest.mark.parametrize(
    ("question", "besides"),
    [
        ("Ana has 3 boxes of 12 eggs. She sold 5 today and 2 yesterday. How many are left?", set()),
        ("At a rate of 60 miles an hour, how long are 90 miles?", set()),
        ("John is currently 20 and Tom 12. How old are they together?", set()),
        ("He ordered 3 books online last week at $5 each. How much did he pay?", set()),
        ("Tom is 5 miles ahead of Eva, who runs 6 an hour. How far apart are they?", set()),
        ("A shop has 20 cans in stock and a stock of 30 jars. How many are that?", set()),
        (f"{SUM} hours from now?", {"current_time"}),
        (f"{SUM} hours, and is it 5 o'clock until tomorrow?", {"current_time"}),
        ("How many hours ahead of Oslo by 3 or 4 is Tokyo?", {"current_time"}),
        ("How many days are left in this year after 30 days off and 12 at work?", {"current_time"}),
        (f"{SUM} euros in yuan?", {"exchange_rate"}),
        ("How much are 100 USD and 50 CHF?", {"exchange_rate"}),
        ("If I convert 100 dollars and 50 pounds, how much is that?", {"exchange_rate"}),
        ("How much are 100 shares of Tesla and 50 of Apple worth?", OUTSIDE),
        ("How much are 3 times the current number and 4?", OUTSIDE),
        ("What is the latest number of people in 3 of the 5 towns?", OUTSIDE),
        ("Look up the price. How much are 3 of it and 4 of mine?", OUTSIDE),
        ("How much are today's prices of 3 pears and 4 plums?", OUTSIDE),
    ],
)
def test_what_computes_and_the_users_own_tools_are_kept(
    everything: list[AnyTool], question: str, besides: set[str]
) -> None:
    there = {one.name for one in everything}
    assert names(everything, question) == ({"own", "calculator"} | besides) & there


@pytest.mark.parametrize("question", [q for q in LOOKED_UP if len(q) < 1000])
def test_for_any_other_question_all_tools_are_kept(
    everything: list[AnyTool], question: str
) -> None:
    assert fitting(everything, question) == everything


def test_a_tool_tells_itself_what_it_suits() -> None:
    asked = list[str]()

    def suits(question: str) -> bool:
        asked.append(question)
        return "own" in question

    choosy = replace(own, name="choosy", suits=suits)
    assert fitting([choosy, own], RECKONING[0]) == [own]
    assert fitting([choosy, own], f"My own. {RECKONING[0]}") == [choosy, own]
    assert fitting([choosy], RECKONING[0]) == []
    assert asked
    assert fitting([choosy], "Who is it?") == [choosy]


def offering(name: str, text: str | None) -> AnyTool:
    """Return a tool that offers a call with the text, or none."""
    return replace(
        own,
        name=name,
        offer=lambda question: {"text": text} if text else None,
        offered=f"ask {name}",
    )


def test_the_first_tool_that_has_something_to_say_offers_its_call() -> None:
    tools = [own, offering("a", None), offering("b", "x"), offering("c", "y")]
    assert first_offer(tools, "Q?") == ("ask b", Call("b", {"text": "x"}))
    assert first_offer(tools[:2], "Q?") is None
    assert first_offer(tools, "Q" * 1000) is None


def test_where_a_call_is_offered_what_reads_elsewhere_and_what_suits_stays() -> None:
    @tool(may=["reads files"])
    def read(text: str) -> str:
        """Read."""
        return text

    never = replace(own, name="never", suits=lambda question: False)
    tools = [own, never, offering("b", "x"), replace(read, suits=lambda question: False)]
    assert [one.name for one in fitting(tools, "Who is it?")] == ["own", "b", "read"]


# -- the first choice, between acting and answering ------------------------------------

FINISH = 'Thought: done\nAction: Finish {"answer": "42"}'
CALL = 'Thought: t\nAction: own {"text": "x"}'


@dataclass
class Weighing(ScriptedModel):
    """Thinks so likely of yes and no, each written in two ways."""

    likely: Sequence[float] = (0.9, 0.0, 0.1, 0.0)
    weighed: list[tuple[Sequence[Message], Sequence[str]]] = field(default_factory=list)

    def weigh(
        self, messages: Sequence[Message], options: Sequence[str], *, cancel: Flag | None = None
    ) -> Weighed:
        self.weighed.append((messages, options))
        return Weighed([math.log(share) if share else -math.inf for share in self.likely])


YES, NO = (0.5, 0.45, 0.02, 0.03), (0.1, 0.2, 0.3, 0.4)


@tool
def also(text: str) -> str:
    """Do more."""
    return text


@tool(may=["reads files"])
def read(text: str) -> str:
    """Read a file."""
    return text


def asked(
    likely: Sequence[float], tools: Sequence[AnyTool], *replies: str, question: str = "Who is it?"
) -> tuple[Run, Weighing]:
    model = Weighing(replies, likely=likely)
    return Agent(model, tools).run(question), model


def test_where_the_model_says_no_the_first_reply_is_an_answer() -> None:
    run, model = asked(NO, [own], f'Thought: {NO_TOOL}So.\nAction: Finish {{"answer": "42"}}')
    assert f'"Thought: {NO_TOOL}"' in model.grammars[0]
    assert "own" not in model.grammars[0]
    assert "Finish" in model.grammars[0]
    assert (run.answer, run.stop_reason, run.finished) == ("42", "finish", True)
    assert len(model.weighed) == 1


def test_where_it_says_yes_the_first_reply_calls_a_tool() -> None:
    run, model = asked(YES, [own], CALL, FINISH)
    assert NO_TOOL not in model.grammars[0]
    assert ["own" in grammar for grammar in model.grammars] == [True, True]
    assert ["Finish" in grammar for grammar in model.grammars] == [False, True]
    assert (run.answer, len(model.weighed)) == ("42", 1)


def test_where_a_tool_could_bring_anything_the_first_reply_may_answer_all_the_same() -> None:
    run, model = asked(NO, [own, read], FINISH)
    assert "own" in model.grammars[0]
    assert "read" in model.grammars[0]
    assert "Finish" in model.grammars[0]
    assert run.finished
    assert model.weighed == []


@pytest.mark.parametrize(("margin", "acts"), [(MARGIN * 1.01, True), (MARGIN * 0.99, False)])
@pytest.mark.parametrize("other", [current_time, also])
def test_beside_another_tool_less_will_do(other: AnyTool, margin: float, acts: bool) -> None:
    likely = (0.1 * math.exp(margin), 0.0, 0.1, 0.0)
    _, model = asked(likely, [own, other], FINISH)
    assert ("own" in model.grammars[0]) is acts
    # Beside a built-in one it may answer, too.
    assert ("Finish" in model.grammars[0]) is not (other is also and acts)


def test_a_no_holds_for_the_first_reply_alone() -> None:
    run, model = asked(NO, [own], "out of format", CALL, FINISH)
    assert ["own" in grammar for grammar in model.grammars] == [False, True, True]
    assert ["No tool here" in grammar for grammar in model.grammars] == [True, False, False]
    assert (run.answer, len(model.weighed)) == ("42", 1)


@pytest.mark.parametrize(
    ("likely", "acts"),
    [
        ((1.0, 0.0, 0.0, 0.0), True),
        ((0.0, 1.0, 0.0, 0.0), True),
        ((0.0, 0.0, 1.0, 0.0), False),
        ((0.0, 0.0, 0.0, 1.0), False),
        ((0.0, 0.0, 0.0, 0.0), False),
        ((0.5, 0.0, 0.5, 0.0), False),
        ((1e-30, 0.0, 0.0, 0.0), False),  # it says neither
        ((0.1 * math.exp(MARGIN_OF_OWN) * 1.01, 0.0, 0.05, 0.05), True),
        ((0.1 * math.exp(MARGIN_OF_OWN) * 0.99, 0.0, 0.05, 0.05), False),
    ],
)
def test_yes_has_to_be_likelier_than_no_by_a_margin(likely: Sequence[float], acts: bool) -> None:
    _, model = asked(likely, [own], FINISH)
    assert ("own" in model.grammars[0]) is acts


def test_it_is_asked_of_what_is_asked_and_of_all_tools() -> None:
    _, model = asked(YES, [own, also], FINISH, question=f"Who is it?{ATTACHED}a secret text")
    [(messages, options)] = model.weighed
    assert messages == choice([own, also], "Who is it?")
    assert list(options) == list(YES_OR_NO)
    assert [message.role for message in messages] == ["system", "user"]
    assert "- own(text): Do what a user wants.\n- also(text): Do more." in messages[0].content
    assert "Who is it?" in messages[1].content
    assert "secret" not in "".join(message.content for message in messages)
    # All but the last are the same in every run: they may be kept on disk.
    assert choice([own, also], "Other?")[0] == messages[0]


@pytest.mark.parametrize(
    ("tools", "question", "options"),
    [
        ([calculator], RECKONING[0], {}),
        ([], "Who is it?", {}),
        ([own], "Who is it?", {"max_steps": 1}),
    ],
)
def test_there_is_no_choice_where_it_is_clear(
    tools: list[AnyTool], question: str, options: dict[str, Any]
) -> None:
    model = Weighing([FINISH], likely=NO)
    assert Agent(model, tools, **options).run(question).answer == "42"
    assert model.weighed == []
    assert NO_TOOL not in model.grammars[0]


def test_where_a_call_is_offered_there_is_no_choice() -> None:
    run, model = asked(NO, [offering("a", "x")], FINISH)
    assert [type(step.action).__name__ for step in run.steps] == ["Call", "Finish"]
    assert model.weighed == []


POEM = "Write a poem about the sea."


@pytest.mark.parametrize(
    ("likely", "tools", "weighs", "beginning"),
    [
        (YES, [calculator], False, WRITES),  # no built-in tool writes
        (NO, [calculator, own], True, WRITES),
        (YES, [calculator, own], True, ""),  # one of the user's may
        (NO, [own], True, WRITES),
    ],
)
def test_a_text_that_is_asked_for_is_written_and_not_refused(
    likely: Sequence[float], tools: list[AnyTool], weighs: bool, beginning: str
) -> None:
    _, model = asked(likely, tools, CALL, FINISH, question=POEM)
    assert bool(model.weighed) is weighs
    assert (WRITES in model.grammars[0]) is bool(beginning)
    assert NO_TOOL not in model.grammars[0]
    assert ("own-arguments" in model.grammars[0]) is (not beginning)


@pytest.mark.parametrize(
    ("question", "writes"),
    [
        (POEM, True),
        ("Can you please summarise this?", True),
        ("tell me a short joke", True),
        ("Translate 'good morning' into French.", True),
        ("Who wrote Faust?", False),
        ("Tell me the time in Tokyo.", False),
        ("What is the weather like?", False),
        ("List my documents.", False),
    ],
)
def test_what_asks_for_a_text(question: str, writes: bool) -> None:
    assert asks_to_write(question) is writes
