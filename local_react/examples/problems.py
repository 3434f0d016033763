"""Word problems, each worked out by reasoning alone and by the calculator."""

from __future__ import annotations

from dataclasses import dataclass

from local_react.examples.example import Example, ExampleStep


@dataclass(frozen=True, slots=True)
class Problem:
    """A word problem, worked out by reasoning alone and by the calculator."""

    question: str
    reasoning: str
    expression: str
    result: str
    answer: str

    @property
    def reasoned(self) -> Example:
        return Example(
            self.question, (ExampleStep(self.reasoning, "Finish", {"answer": self.answer}),)
        )

    @property
    def computed(self) -> Example:
        plan = "I name each amount and compute the next one from it."
        return Example(
            self.question,
            (
                ExampleStep(plan, "calculator", {"expression": self.expression}, self.result),
                ExampleStep("That is what was asked for.", "Finish", {"answer": self.answer}),
            ),
        )


PROBLEMS = (
    Problem(
        "A club of 24 people pays 31.50 a month each, and a tenth of what comes in goes to the "
        "coach. How much is left for the club in a year?",
        "The club takes in 24 * 31.50 = 756 a month.\n"
        "In a year that is 756 * 12 = 9072.\n"
        "The coach gets a tenth of it: 9072 / 10 = 907.20.\n"
        "So 9072 - 907.20 = 8164.80 is left.",
        "monthly = 24 * 31.50; yearly = monthly * 12; coach = yearly / 10; left = yearly - coach",
        "left = 8164.8",
        "8164.80",
    ),
    Problem(
        "Nadia reads 18 pages on Monday, twice as many on Tuesday, and on Wednesday 10 fewer than "
        "on Tuesday. Her book has 120 pages. How many pages does she still have to read?",
        "On Tuesday she reads 2 * 18 = 36 pages.\n"
        "On Wednesday she reads 36 - 10 = 26 pages.\n"
        "So far she has read 18 + 36 + 26 = 80 pages.\n"
        "She still has 120 - 80 = 40 pages to read.",
        "monday = 18; tuesday = 2 * monday; wednesday = tuesday - 10; "
        "read = monday + tuesday + wednesday; still = 120 - read",
        "still = 40",
        "40",
    ),
    Problem(
        "A baker sells 3/4 of his 160 rolls in the morning at 0.80 each and the rest in the "
        "evening at half that price. He paid 45 for the flour. What is his profit?",
        "In the morning he sells 160 * 3/4 = 120 rolls and takes in 120 * 0.80 = 96.\n"
        "The rest is 160 - 120 = 40 rolls, at 0.80 / 2 = 0.40 each: 40 * 0.40 = 16.\n"
        "Altogether he takes in 96 + 16 = 112.\n"
        "His profit is 112 - 45 = 67.",
        "morning_rolls = 160 * 3/4; morning = morning_rolls * 0.80; "
        "evening_rolls = 160 - morning_rolls; evening = evening_rolls * 0.80 / 2; "
        "profit = morning + evening - 45",
        "profit = 67",
        "67",
    ),
    Problem(
        "Tom is 6 years older than Eva. In 4 years he will be twice as old as she is then. How old "
        "is Eva now?",
        "Let Eva be x years old now. Then Tom is x + 6.\n"
        "In 4 years Eva is x + 4 and Tom is x + 10.\n"
        "Tom is then twice as old: x + 10 = 2 * (x + 4) = 2 * x + 8.\n"
        "So x = 10 - 8 = 2.",
        "x + 6 + 4 = 2 * (x + 4)",
        "x = 2",
        "2",
    ),
)
