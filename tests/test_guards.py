"""What keeps a run from going round, each rule with its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest

from local_react import Agent, Call, Finish, Malformed, Run, ScriptedModel, Step, ToolError, tool
from local_react.core import Source
from local_react.guards import (
    ERROR,
    REPEATED_CHARACTERS,
    THOUGHT_BEFORE,
    broken,
    failed_twice,
    goes_round,
    is_known,
    is_stuck,
    known_result,
    repeats_a_thought,
    same,
    without_twins,
    worn_out,
)
from local_react.tools.base import AnyTool

KNOWN = "(You had this result already: use it, or try something else.)"
FINISH = 'Thought: done\nAction: Finish {"answer": "42"}'
_number = count()


def asked(text: str = "a", tool: str = "search") -> Call:
    return Call(tool, {"query": text})


def step(
    action: Any, reply: int, observation: str | None = None, thought: str = "", **more: Any
) -> Step:
    shown = f"result {next(_number)}" if observation is None else observation
    return Step(thought, action, shown, reply=reply, **more)


def steps(*actions: Any, observation: str | None = None) -> list[Step]:
    """Return steps of one action a reply, each with a result of its own if none is given."""
    return [step(action, reply, observation) for reply, action in enumerate(actions, 1)]


# -- the same call -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "a"),
        ("weight of a dog", "a dog of weight"),
        ("Weight of a Dog", "weight OF a dog"),
        ("1+1", " 1 + 1 "),
        ("f(x,  y)", "f(x,y)"),
        ("größe hund", "Hund Größe"),
    ],
)
def test_calls_that_are_the_same(one: str, other: str) -> None:
    assert same(asked(one), asked(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a b", "ab"),
        ("3 - 5", "5 - 3"),
        ("dog", "dogs"),
        ("a a b", "a b b"),
        ("x1 x2", "x2 x1"),
        ("N", "n"),
    ],
)
def test_calls_that_differ(one: str, other: str) -> None:
    assert not same(asked(one), asked(other))


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ({"a": 1, "b": "x"}, {"b": "x", "a": 1}, True),
        ({"a": 1}, {"a": 1.5}, False),
        ({"a": 1}, {"b": 1}, False),
        ({"a": ["x y"]}, {"a": ["y x"]}, False),
        ({"message": "dog bites man"}, {"message": "man bites dog"}, False),
        ({}, {}, True),
    ],
)
def test_arguments_of_other_kinds_are_compared_as_they_are(
    one: Mapping[str, Any], other: Mapping[str, Any], alike: bool
) -> None:
    assert same(Call("t", one), Call("t", other)) is alike


def test_only_calls_are_ever_the_same() -> None:
    assert not same(asked(tool="x"), asked(tool="y"))
    assert not same(Finish("a"), Finish("a"))
    assert not same(Malformed("a", "b"), Malformed("a", "b"))
    assert without_twins([asked("a b"), asked("x"), asked("b a")]) == [asked("a b"), asked("x")]
    assert without_twins([Malformed("a", "b")] * 2) == [Malformed("a", "b")] * 2


def test_a_known_result_is_shown_with_a_note() -> None:
    first = step(asked(), 1, "42")
    assert known_result(asked(), [first]) == f"42 {KNOWN}"
    assert known_result(asked("b"), [first]) is None
    assert is_known(f"42 {KNOWN}")
    assert not is_known("42")


def test_a_known_result_bears_one_note_only() -> None:
    first = step(asked(), 1, f"42 {KNOWN} {THOUGHT_BEFORE}")
    assert known_result(asked(), [first]) == f"42 {KNOWN}"


def test_a_known_result_from_outside_is_named_by_its_numbers() -> None:
    sources = (Source(3, "", "a.txt"), Source(4, "", "b.txt"))
    found = step(asked(), 1, "> [3] a.txt\n> much", sources=sources)
    assert known_result(asked(), [found]) == f"[3], [4] {KNOWN}"


def test_a_tool_that_was_given_the_same_call_in_two_replies_is_worn_out() -> None:
    assert worn_out(steps(asked("a"), asked("b"))) == set()
    assert worn_out(steps(asked("a"), asked("b"), asked("a"))) == {"search"}
    assert worn_out(steps(asked("a"), asked("a", "other"))) == set()


def test_a_call_that_one_reply_makes_twice_wears_nothing_out_and_is_counted() -> None:
    twice = [step(asked(), 1), step(asked(), 1, f"42 {KNOWN}")]
    assert worn_out(twice) == set()
    assert broken(twice, 0) == {"repeated call": 1}
    assert worn_out([*twice, step(asked(), 2)]) == {"search"}


# -- two calls in turns --------------------------------------------------------------


@pytest.mark.parametrize(
    ("letters", "stuck"),
    [
        ("abab", True),
        ("xabab", True),
        ("aba", False),
        ("abac", False),
        ("abcb", False),
        ("aaaa", False),  # one call, for which there is another rule
        ("ababc", False),
    ],
)
def test_two_calls_in_turns(letters: str, stuck: bool) -> None:
    assert is_stuck(steps(*map(asked, letters))) is stuck


def test_calls_in_turns_are_counted_also_behind_the_last_reply() -> None:
    turns = steps(*map(asked, "abab"))
    assert broken(turns, 0)["alternating calls"] == 1
    finished = [*turns, Step("", Finish("x"), None, reply=5)]
    assert broken(finished, 0)["alternating calls"] == 1
    assert broken(finished, 0)["repeated call"] == 2


def test_calls_of_one_reply_are_no_turns() -> None:
    together = [step(asked(letter), 1 + n // 2) for n, letter in enumerate("abab")]
    assert not is_stuck(together)
    assert "alternating calls" not in broken(together, 0)


# -- the same Thought ----------------------------------------------------------------

THOUGHT = "I have to look it up."


def thinking(*thoughts: str) -> list[Step]:
    return [step(asked(str(n)), n, thought=thought) for n, thought in enumerate(thoughts, 1)]


@pytest.mark.parametrize(
    ("thought", "again"),
    [
        (THOUGHT, True),
        ("i have to look... it UP", True),
        ("It up I have to look.", False),
        ("I have to look it up now.", False),
    ],
)
def test_a_thought_is_repeated_word_by_word(thought: str, again: bool) -> None:
    assert repeats_a_thought(thought, thinking("Something else.", THOUGHT)) is again


def test_a_short_thought_may_come_again() -> None:
    assert not repeats_a_thought("I look up.", thinking("I look up.", "I look up."))
    assert not is_stuck(thinking(*["I look up."] * 9))


@pytest.mark.parametrize(("times", "stuck"), [(2, False), (3, True)])
def test_the_third_time_ends(times: int, stuck: bool) -> None:
    thoughts = thinking(*["First something else."], *[THOUGHT] * times)
    assert is_stuck(thoughts) is stuck
    assert broken(thoughts, 0) == {"repeated thought": times - 1}


def test_steps_of_one_reply_do_not_repeat_its_thought() -> None:
    together = [
        step(asked(text), 1, thought=thought)
        for text, thought in zip("abc", (THOUGHT, "", ""), strict=True)
    ]
    assert broken(together, 0) == {}


# -- the same error ------------------------------------------------------------------


def failing(*errors: tuple[str, str], replies: list[int] | None = None) -> list[Step]:
    """Return steps with calls that differ, of these tools, which end in these errors."""
    numbers = replies or list(range(1, len(errors) + 1))
    return [
        step(asked(str(n), tool), reply, f"{ERROR}{error}")
        for n, ((tool, error), reply) in enumerate(zip(errors, numbers, strict=True))
    ]


def test_the_same_error_three_times_leaves_the_tool_out() -> None:
    assert worn_out(failing(("t", "x"), ("t", "x"))) == set()
    thrice = failing(("t", "x"), ("t", "x"), ("t", "x"))
    assert worn_out(thrice) == {"t"}
    assert broken(thrice, 0)["repeated error"] == 1
    assert worn_out(failing(("t", "x"), ("t", "y"), ("t", "x"))) == set()
    assert worn_out(failing(("t", "x"), ("u", "x"), ("t", "x"))) == set()


def test_an_error_is_the_same_whatever_we_say_behind_it() -> None:
    noted = failing(("t", "x"), ("t", f"x {THOUGHT_BEFORE}"), ("t", f"x {KNOWN}"))
    assert worn_out(noted) == {"t"}


def test_errors_of_one_reply_count_once() -> None:
    assert worn_out(failing(("t", "x"), ("t", "x"), ("t", "x"), replies=[1, 1, 1])) == set()
    assert worn_out(failing(*[("t", "x")] * 4, replies=[1, 1, 2, 3])) == {"t"}


def test_two_errors_of_any_kind_are_told_of_a_tool() -> None:
    assert failed_twice(failing(("t", "x"))) == set()
    assert failed_twice(failing(("t", "x"), ("u", "y"), ("t", "z"))) == {"t"}


# -- nothing new ---------------------------------------------------------------------

BAD, NEW, OLD = f"{ERROR}no", "fine", f"fine {KNOWN}"


def ended(*replies: list[str]) -> list[Step]:
    """Return steps with calls that differ: of each reply what its calls gave."""
    return [
        step(asked(f"{n} {next(_number)}"), n, observation)
        for n, reply in enumerate(replies, 1)
        for observation in reply
    ]


@pytest.mark.parametrize(
    ("replies", "stuck"),
    [
        ([[BAD], [OLD]], False),
        ([[BAD], [OLD], [f"{BAD} again"]], True),
        ([[NEW], [OLD], [OLD]], False),
        ([[OLD], [OLD], [OLD], [NEW]], False),
        ([[NEW], [OLD], [BAD], [f"{OLD} {THOUGHT_BEFORE}"]], True),
        # It was thought before, but brought something.
        ([[BAD], [OLD], [f"{NEW} {THOUGHT_BEFORE}"]], False),
        ([[BAD, OLD], [OLD, BAD], [BAD, BAD]], True),
        ([[BAD, OLD], [OLD, NEW], [BAD, BAD]], False),
        ([[BAD, BAD, OLD]], False),
    ],
)
def test_three_replies_that_bring_nothing_new(replies: list[list[str]], stuck: bool) -> None:
    assert is_stuck(ended(*replies)) is stuck
    assert ("nothing new" in broken(ended(*replies), 0)) is (
        stuck or replies[:3] == [[OLD], [OLD], [OLD]]
    )


# -- text that repeats itself --------------------------------------------------------


def test_text_that_repeats_itself() -> None:
    line = "".join(map(str, range(50)))[:REPEATED_CHARACTERS]
    assert not goes_round(line * 2)
    assert goes_round(line * 3)
    assert not goes_round(line * 3 + "and on it goes")
    assert not goes_round("-" * 9 * REPEATED_CHARACTERS)
    assert goes_round("-" * 600)
    assert not goes_round("")


def test_what_was_not_met_is_not_told() -> None:
    assert broken([], 0) == {}
    assert broken(steps(asked("a"), asked("b")), 2) == {"repeated text": 2}


# -- in a run ------------------------------------------------------------------------


@tool
def look(query: str) -> str:
    """Look it up."""
    if query.startswith("bad"):
        raise ToolError("say it nicely")
    return f"about {query}"


@tool
def other(query: str) -> str:
    """Do something else."""
    return f"other {query}"


def said(text: str, name: str = "look", thought: str = "t") -> str:
    return f'Thought: {thought}\nAction: {name} {{"query": "{text}"}}'


def run(*replies: str, tools: tuple[AnyTool, ...] = (look, other)) -> tuple[Run, list[list[str]]]:
    """Return a run, and which tools each reply was offered."""
    model = ScriptedModel(replies)
    done = Agent(model, tools, max_steps=20).run("Q?")
    names = [tool.name for tool in tools]
    return done, [[name for name in names if f'"{name} "' in text] for text in model.grammars]


BOTH, OTHER, NONE = ["look", "other"], ["other"], list[str]()


def test_words_in_another_order_are_the_same_call() -> None:
    done, offered = run(said("two dogs"), said("Dogs two"), said("x", "other"), FINISH)
    assert str(done.steps[1].observation) == f"about two dogs {KNOWN}"
    assert offered == [BOTH, BOTH, OTHER, OTHER]
    assert (done.stop_reason, done.guards) == ("finish", {"repeated call": 1})


def test_where_no_tool_is_left_the_answer_was_forced() -> None:
    done, offered = run(said("a"), said("a"), FINISH, tools=(look,))
    assert offered == [["look"], ["look"], NONE]
    assert (done.answer, done.stop_reason, done.finished) == ("42", "no_progress", False)
    assert done.guards == {"repeated call": 1}


def test_two_calls_in_turns_end_a_run() -> None:
    done, offered = run(
        said("a"), said("b", "other"), said("a"), said("b", "other"), FINISH, said("c")
    )
    assert offered[-1] == NONE
    assert (len(done.steps), done.answer, done.stop_reason) == (5, "42", "no_progress")
    assert done.guards == {"repeated call": 2, "alternating calls": 1}


def test_a_thought_that_is_repeated_is_told_and_at_last_ends_a_run() -> None:
    done, offered = run(*[said(text, thought=THOUGHT) for text in "abc"], FINISH)
    told = [str(one.observation) for one in done.steps]
    assert told[:3] == ["about a", f"about b {THOUGHT_BEFORE}", f"about c {THOUGHT_BEFORE}"]
    assert offered == [BOTH, BOTH, BOTH, NONE]
    assert (done.stop_reason, done.guards) == ("no_progress", {"repeated thought": 2})


def test_the_same_error_leaves_its_tool_out_and_the_others_in() -> None:
    replies = [said("bad a"), said("x", "other"), said("bad b"), said("y", "other"), said("bad c")]
    done, offered = run(*replies, FINISH)
    assert offered == [BOTH] * 5 + [OTHER]
    assert (done.stop_reason, done.guards) == ("finish", {"repeated error": 1})


def test_errors_alone_end_a_run() -> None:
    done, _ = run(said("bad a"), said("x", "google"), said("bad b"), FINISH)
    assert (done.answer, done.stop_reason, done.finished) == ("42", "no_progress", False)
    assert done.guards == {"nothing new": 1}


def test_text_that_repeats_itself_is_broken_off_and_counted() -> None:
    line = "the same long line of thought, again, and again, and again.\n"
    done, _ = run("Thought: " + line * 50, ' Finish {"answer": "42"}')
    assert (done.answer, done.guards) == ("42", {"repeated text": 1})


# -- an answer that stands on a wrong sum ---------------------------------------------

WRONG = 'Thought: That is 20 + 10 + 6 = 46.\nAction: Finish {"answer": "46"}'
RIGHT = 'Thought: That is 20 + 10 + 6 = 36.\nAction: Finish {"answer": "36"}'


@pytest.mark.parametrize("tools", [(), (look,)])
def test_an_answer_that_stands_on_a_wrong_sum_is_given_back(tools: tuple[AnyTool, ...]) -> None:
    result, _ = run(WRONG, RIGHT, tools=tools)
    assert (result.answer, result.finished, result.guards) == ("36", True, {"wrong sum": 1})
    assert result.steps[0].action == Finish("46")
    told = f"{ERROR}20 + 10 + 6 = 36, not 46. Correct what follows from it."
    assert result.steps[0].observation == told


def test_it_is_given_back_once_alone() -> None:
    result, _ = run(WRONG, WRONG)
    assert (result.answer, len(result.steps)) == ("46", 2)
    assert result.guards["wrong sum"] == 1


def test_where_there_is_no_room_for_another_answer_it_is_taken() -> None:
    result = Agent(ScriptedModel([WRONG]), [look], max_steps=1).run("How many?")
    assert (result.answer, result.guards) == ("46", {})


# -- a reply that goes round in its Action --------------------------------------------


def test_an_answer_that_goes_round_stands_but_has_not_finished_the_run() -> None:
    done, _ = run('Thought: t\nAction: Finish {"answer": "It is 1.5' + "0" * 900 + '"}')
    [only] = done.steps
    assert isinstance(only.action, Finish)
    assert done.answer.startswith("It is 1.5000")
    assert len(done.answer) < 100
    assert (done.stop_reason, done.finished) == ("cut_off", False)
    assert done.guards == {"repeated text": 1}


def test_of_calls_that_go_round_the_whole_ones_stand() -> None:
    long = said("one two three four five six seven eight nine ten eleven twelve").partition("\n")
    calls = "\n".join([long[2], *[said(c * 70).partition("\n")[2] for c in "xx"]])
    done, _ = run(f"{long[0]}\n{calls}\nAction: look", FINISH)
    assert [one.action.tool for one in done.steps if isinstance(one.action, Call)] == ["look"] * 3
    assert (done.answer, done.finished) == ("42", True)
    assert not any(isinstance(one.action, Malformed) for one in done.steps)


def test_a_reply_ends_with_a_call_that_it_repeats() -> None:
    one, other = said("a").partition("\n")[2], said("b", "other").partition("\n")[2]
    text = "\n".join(["Thought: t", one, other, one, other, one])
    done, _ = run(text, FINISH)
    calls = [step.action for step in done.steps if isinstance(step.action, Call)]
    assert [call.tool for call in calls] == ["look", "other", "look"]
    assert (done.finished, done.guards) == (True, {"repeated call": 1})
