"""What kind of answer a question wants, and when two answers say the same."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_react.answers import (
    ATTACHED,
    Kind,
    asked_in,
    kind_of,
    meaning,
    most_common,
    normal,
    number_in,
)

NUMBERS = [
    "Ana has 3 boxes of 12 eggs and drops 5. How many eggs are left?",
    "Mr. Bell pays $1.50 for a roll. How much do 4 rolls cost Mrs. Bell?",
    "How far does Dr. Lee drive at 80 km an hour until 6 p.m. if she sets off at 2?",
    "In a class of 30, 12 like tea and 9 like milk. How many students like neither?",
    "How much money does she spend to help her brother with his 3 bills?",
    "How many languages do you know?",
    "How old is Tom if he is twice as old as Eva, who is 4?",
    "What is 15% of 1,299.99 plus 7?",
    "What is 15% of 1,299.99, plus 7?",
    "What's 2 + 2?",
    "15% of 1,299.99 plus 7?",
    "(3 + 4) * 2 = ?",
    "12 divided by 4?",
    "What was the total cost of the trip?",
    "What is Marcus' total bill?",
    "What's the average of 3, 4 and 8?",
    "What percentage of the pupils take dance?",
    "What is the width of her room?",
    "If a train takes 3 hours, how long is it under way in 4 days?",
    "How many people live in Berlin?",
    "He said 3.5 is enough. How many litres are 2 bottles of 1.75?",
    "If each of 3 shops sells 20 rolls, calculate the total number of rolls that are sold.",
    "There are 3 shops. Work out their average profit. They sell rolls.",
    "Given 3 shops with 20 rolls each, find the number of rolls?",
    "How many were there between 1914 and 1918? Give the number alone.",
    f"How many words are in the text?{ATTACHED}Is it? Was it? Who knows?",
]
YES_OR_NO = [
    "Is a whale a fish?",
    "Are the Alder and the Tamm both rivers? Give the answer alone.",
    "Hasn't the train left yet?",
    "Did Aristotle use a laptop?",
    "Would a pear sink in water?",
    "Can you find Bugs Bunny at Space Mountain?",
    "If it is 3 o'clock in Oslo, is it night in Tokyo?",
    "For hostas to look their best, do they need shade?",
    "Is Berlin, the capital of Germany, larger than Paris?",
    "Was Einstein German?",
    "Who was it, the aunt? Answer yes or no.",
    "The moon is made of cheese. Answer 'yes' or 'no'.",
    f"Is the text in English?{ATTACHED}How many? Or which one?",
]
SHORT = [
    "Who painted the Night Watch? Give the answer alone.",
    "In which year was Ada born? Answer in as few words as possible.",
    "Name the capital of Peru in one word.",
    "Who is it, Tom or Eva? Only the name.",
]
TEXT = [
    "Why is the sky blue?",
    "Explain in one sentence what a ReAct agent is.",
    "What is love?",
    "How much do you know about whales?",
    "How far would you like to go with this?",
    "How much does it matter to them?",
    "Is it a fish or a mammal?",
    "Which musician, Tom Bell or Eva Lee, is a member of the band Fuel?",
    "Can you tell me who wrote Hamlet?",
    "Could you please explain entropy?",
    "Do you know where Lima is?",
    "May I ask what a fjord is?",
    "How many legs has a spider and what does it eat?",
    "How many moons has Mars, and how far away are they?",
    "How many moons has Mars? Who found them?",
    "What was the number one hit of 1985?",
    "Do the dishes.",
    "Find the shop. Calculate nothing.",
    "Calculate the total cost of the trip. Then determine its average price a day.",
    "Hello!",
    "",
    "?",
    "Was ist die Hauptstadt von Frankreich?",
    "Was macht der Hund?",
    "Was war das für ein Fisch?",
    "Is dit het grootste meer?",
    "Do que ele gosta?",
    "¿Cuántas manzanas quedan?",
    "Combien de pommes reste-t-il ?",
    "法国的首都是哪里？",
    f"Summarise this.{ATTACHED}How many apples are left? Is it true? Answer yes or no.",
]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        *((question, "number") for question in NUMBERS),
        *((question, "yes or no") for question in YES_OR_NO),
        *((question, "short") for question in SHORT),
        *((question, "text") for question in TEXT),
    ],
)
def test_the_kind_is_read_from_the_words(question: str, kind: Kind) -> None:
    assert kind_of(question) == kind


@pytest.mark.parametrize("part", ["x", "1 plus ", "what is ", "what is a-", "a. ", "? ", "Is a, "])
def test_a_long_text_is_read_as_quickly_as_a_short_one(part: str) -> None:
    # A search whose steps grow with the square of the length would take hours.
    assert kind_of(part * 500_000) in ("text", "number", "yes or no")


@given(st.text())
def test_any_text_has_a_kind(text: str) -> None:
    assert kind_of(text) in ("number", "yes or no", "short", "text")
    assert kind_of(text) == kind_of(f"{text}{ATTACHED}How many are 2 and 3?")


def test_what_is_asked_stands_before_what_is_attached() -> None:
    assert asked_in("Q?") == "Q?"
    assert asked_in(f"Q?{ATTACHED}a{ATTACHED}b") == "Q?"


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("57", 57),
        ("57 lbs", 57),
        ("$1,299.99", Fraction("1299.99")),
        ("-3.5 degrees", Fraction("-3.5")),
        ("−3", -3),
        (".5", Fraction(1, 2)),
        ("3/4 of a cup", Fraction(3, 4)),
        ("3 / 4", Fraction(3, 4)),
        ("It is 12 [1], since 3 * 4 = 12", 12),
        ("[2] 8 [1, 2]", 8),
        ("8.", 8),
        ("5, as said", 5),
        ("none", None),
        ("[1]", None),
        ("", None),
        ("1/0", None),
    ],
)
def test_the_number_of_an_answer(answer: str, number: int | Fraction | None) -> None:
    assert number_in(answer) == number


@given(st.text(alphabet="0123456789.,/-− [];x"))
def test_whatever_an_answer_holds_its_number_is_read_or_none(answer: str) -> None:
    number_in(answer)
    meaning(answer, "number")


@pytest.mark.parametrize(
    ("answer", "bare"),
    [
        ("The Hague.", "hague"),
        ("An  apple, a pear", "apple pear"),
        ("U.S.A.", "usa"),
        ("Zürich", "zürich"),
        ("the", ""),
    ],
)
def test_words_are_compared_as_hotpotqa_does(answer: str, bare: str) -> None:
    assert normal(answer) == bare


SAME: list[tuple[Kind, str, str]] = [
    ("number", "8164.8", "$8,164.80 a year"),
    ("number", "0.3333333", "1/3"),
    ("number", "2.0", "2"),
    ("number", "-0", "0"),
    ("number", "9" * 400, "9" * 400 + ".0"),
    ("yes or no", "Yes.", "yes, both are [1, 2]"),
    ("yes or no", "No [1]", "no"),
    ("short", "The Hague [3]", "hague"),
    ("text", "Olaf Brandt.", "olaf  brandt"),
]
DIFFERENT: list[tuple[Kind, str, str]] = [
    ("number", "8164.8", "8165"),
    ("number", "12345678", "12345679"),
    ("number", "5", "-5"),
    ("yes or no", "Yes", "No"),
    ("short", "Lima", "Lima, Peru"),
]
NOTHING: list[tuple[Kind, str]] = [
    ("number", "many"),
    ("yes or no", "The aunt"),
    ("yes or no", "Yesterday"),
    ("short", "the"),
    ("text", " [1]"),
]


@pytest.mark.parametrize(("kind", "one", "other"), SAME)
def test_answers_that_say_the_same(kind: Kind, one: str, other: str) -> None:
    assert meaning(one, kind) == meaning(other, kind) is not None


@pytest.mark.parametrize(("kind", "one", "other"), DIFFERENT)
def test_answers_that_differ(kind: Kind, one: str, other: str) -> None:
    assert meaning(one, kind) != meaning(other, kind)


@pytest.mark.parametrize(("kind", "answer"), NOTHING)
def test_answers_that_say_nothing_that_could_be_compared(kind: Kind, answer: str) -> None:
    assert meaning(answer, kind) is None


@pytest.mark.parametrize(
    ("meanings", "best", "count"),
    [
        ([], None, 0),
        ([None, None], None, 0),
        (["a"], "a", 1),
        (["a", "b"], "a", 1),
        (["b", "a", "a"], "a", 2),
        (["b", "a", "a", "b"], "b", 2),
        ([None, None, None, "a"], "a", 1),
    ],
)
def test_most_share_a_meaning(meanings: list[str | None], best: str | None, count: int) -> None:
    assert most_common(meanings) == (best, count)
