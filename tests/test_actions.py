"""Several Actions in one reply: the grammar, the parser, and what the loop makes of them."""

from __future__ import annotations

import threading
from threading import Event as Flag
from typing import Any

import pytest
from acceptance import admits, begins

from local_react import (
    Agent,
    Call,
    Finish,
    LlamaModel,
    Malformed,
    Run,
    ScriptedModel,
    Step,
    ToolError,
    calculator,
    tool,
)
from local_react.core import Findings, Passage
from local_react.protocol import MOST_CALLS, action_grammar, observation, parse, step_grammar
from local_react.tools.base import AnyTool

DONE = 'Action: Finish {"answer": "42"}'
FINISH = f"Thought: done\n{DONE}"
SUM = 'Action: calculator {"expression": "1 + 1"}'
SHOUT = 'Action: shout {"text": "x"}'


def act(*calls: str, thought: str = "t") -> str:
    """Return a reply with these calls, each a tool and its text: "shout hi"."""
    pairs = (call.partition(" ")[::2] for call in calls)
    lines = [f'Action: {name} {{"text": "{text}"}}' for name, text in pairs]
    return "\n".join([f"Thought: {thought}", *lines])


@tool
def shout(text: str) -> str:
    """Return the text in capitals."""
    made.append(text)
    if text == "refuse":
        raise ToolError("say it nicely")
    return text.upper()


@tool(may=["reads network"])
def read(text: str) -> Findings:
    """Return two passages."""
    return Findings((Passage(f"about {text}", f"{text}.org"), Passage("more", f"{text}.com")))


@tool(may=["writes"])
def delete(text: str) -> str:
    """Delete it."""
    made.append(f"deleted {text}")
    return f"{text} is gone"


made: list[str] = []


@pytest.fixture(autouse=True)
def nothing_made() -> None:
    made.clear()


def run(*replies: str, tools: tuple[AnyTool, ...] = (shout, read, delete), **options: Any) -> Run:
    return Agent(ScriptedModel(replies), tools, **options).run("Q?")


# -- the format ----------------------------------------------------------------------

GOOD = [
    f"Thought: t\n{SUM}",
    f"Thought: t\n{SUM}\n{SUM}",
    f"Thought: t\n{SUM}\n{SHOUT}\n{SUM}",
    f"Thought: t\n\n{SUM}\n{SHOUT}",
    "\n".join(["Thought: t", *[SHOUT] * MOST_CALLS]),
    f"Thought: t\n{DONE}",
]
BAD = [
    "\n".join(["Thought: t", *[SHOUT] * (MOST_CALLS + 1)]),
    f"Thought: t\n{DONE}\n{DONE}",
    f"Thought: t\n{DONE}\n{SUM}",
    f"Thought: t\n{SUM}\n{DONE}",
    f"Thought: t\n{SUM}\n\n{SUM}",
    f"Thought: t\n{SUM}{SUM}",
    f"Thought: t\n{SUM} {SUM}",
    f"Thought: t\n{SUM}\n",
    f"Thought: t\n{SUM}\nThought: u\n{SUM}",
    f"Thought: t\n{SUM}\nObservation: 2\n{SUM}",
    f'Thought: t\n{SUM}\nAction: unknown {{"text": "x"}}',
]


def test_the_grammar_admits_several_calls_or_one_finish(tiny: LlamaModel) -> None:
    grammar = step_grammar([calculator, shout])
    assert [text for text in GOOD if not admits(tiny, grammar, text)] == []
    assert [text for text in BAD if admits(tiny, grammar, text)] == []
    assert not any(isinstance(action, Malformed) for text in GOOD for action in parse(text)[1])


def test_after_a_thought_was_closed_several_calls_may_come_too(tiny: LlamaModel) -> None:
    grammar = action_grammar([calculator, shout])
    rest = [text.partition("Action:")[2] for text in GOOD]
    assert [text for text in rest if not admits(tiny, grammar, text)] == []
    rest = [text.partition("Action:")[2] for text in BAD]
    assert [text for text in rest if admits(tiny, grammar, text)] == []


@pytest.mark.parametrize("grammar_of", [step_grammar, action_grammar])
def test_a_reply_may_have_to_call(tiny: LlamaModel, grammar_of: Any) -> None:
    start = "Thought: t\nAction:" if grammar_of is step_grammar else ""
    must, may = grammar_of([shout], must_call=True), grammar_of([shout])
    assert admits(tiny, must, f'{start} shout {{"text": "x"}}\n{SHOUT}')
    assert not begins(tiny, must, f"{start} F")
    assert begins(tiny, may, f"{start} F")
    # Where there is nothing to call, there is nothing it must.
    assert begins(tiny, grammar_of([], must_call=True), f"{start} F")


def test_a_thought_begins_as_it_is_told(tiny: LlamaModel) -> None:
    grammar = step_grammar([shout], "No, not so. ")
    assert admits(tiny, grammar, f"Thought: No, not so. I think.\n{SHOUT}")
    assert not begins(tiny, grammar, "Thought: I think")


@pytest.mark.parametrize("text", GOOD[:-1])
def test_the_calls_are_parsed_in_their_order(text: str) -> None:
    thought, actions = parse(text)
    assert thought == "t"
    names = [line.split()[1] for line in text.split("\n") if line.startswith("Action")]
    assert [action.tool for action in actions if isinstance(action, Call)] == names


@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        ([SUM, "Action: shout {"], [Call, Malformed]),
        ([SUM, 'Action: shout {"text": "x', SUM], [Call, Malformed]),
        (["Action: shout 5", SUM], [Malformed]),
        ([SUM, "Action:", SUM], [Call, Malformed]),
        # A Finish stands alone: behind calls it knows nothing of what they give.
        ([SUM, DONE], [Call]),
        ([SUM, SHOUT, DONE, SUM], [Call, Call]),
        ([DONE, SUM], [Finish]),
        ([DONE, DONE], [Finish]),
        ([SHOUT] * (MOST_CALLS + 5), [Call] * MOST_CALLS),
    ],
)
def test_what_stands_behind_what_is_no_call_is_left_out(
    lines: list[str], kinds: list[type]
) -> None:
    _, actions = parse("\n".join(["Thought: t", *lines]))
    assert [type(action) for action in actions] == kinds


def test_observations_are_numbered_where_there_are_several() -> None:
    assert observation("a").content == "Observation: a"
    assert observation("a", "b\nc").content == "Observation 1: a\nObservation 2: b\nc"


# -- in a run ------------------------------------------------------------------------


def test_each_call_of_a_reply_gets_its_observation() -> None:
    model = ScriptedModel([act("shout a", "shout b", thought="both"), FINISH])
    *events, done = list(Agent(model, [shout]).stream("Q?"))
    assert isinstance(done, Run)
    assert [step.observation for step in done.steps] == ["A", "B", None]
    assert [step.thought for step in done.steps] == ["both", "", "done"]
    assert [step.reply for step in done.steps] == [1, 1, 2]
    assert model.seen[-1].content == "Observation 1: A\nObservation 2: B"
    assert [event for event in events if isinstance(event, Step)] == list(done.steps)
    assert done.steps[0].usage.generated > 0 == done.steps[1].usage.generated
    assert done.usage.generated == sum(step.usage.generated for step in done.steps)


def test_sources_are_numbered_through() -> None:
    done = run(act("read a", "shout x", "read b"), act("read c"), FINISH)
    assert [source.number for source in done.sources] == [1, 2, 3, 4, 5, 6]
    assert [source.where for source in done.sources] == [
        "a.org", "a.com", "b.org", "b.com", "c.org", "c.com"
    ]  # fmt: skip
    assert [len(step.sources) for step in done.steps] == [2, 0, 2, 2, 0]
    assert "> [3] b.org" in str(done.steps[2].observation)


def test_a_call_that_fails_stands_beside_one_that_works() -> None:
    done = run(act("shout a", "shout refuse", "google x", "shout b"), FINISH)
    told = [str(step.observation) for step in done.steps[:-1]]
    assert (told[0], told[1], told[3]) == ("A", "Error: say it nicely", "B")
    assert told[2].startswith("Error: there is no tool google")
    assert made == ["a", "refuse", "b"]


def test_a_call_that_was_cut_off_is_told_beside_one_that_was_not() -> None:
    done = run(act("shout a") + '\nAction: shout {"text": "b', FINISH)
    assert [type(step.action) for step in done.steps] == [Call, Malformed, Finish]
    assert "not understood" in str(done.steps[1].observation)
    assert (made, done.answer) == (["a"], "42")


@pytest.mark.parametrize("name", ["shout", "read", "delete"])
def test_the_same_call_twice_in_one_reply_is_made_once(name: str) -> None:
    reply = act(f"{name} a b", "shout x", f"{name} a  b", f"{name} c")
    done = run(reply, act(f"{name} d"), FINISH)
    assert [step.reply for step in done.steps] == [1, 1, 1, 1, 2, 3]
    first, _, twin, third = (str(step.observation) for step in done.steps[:4])
    assert "(You had this result already" in twin
    assert twin.startswith("[1], [2] " if name == "read" else first)
    assert "already" not in first + third
    # It was written before there was a result: the tool may be used again.
    assert "already" not in str(done.steps[4].observation)
    assert made.count("a b") + made.count("deleted a b") == (name != "read")
    assert done.guards == {"repeated call": 1}
    assert done.finished


def test_a_call_of_an_earlier_reply_is_known_beside_a_new_one() -> None:
    done = run(act("shout a"), act("shout b", "shout a"), FINISH)
    assert [step.observation for step in done.steps[:2]] == ["A", "B"]
    assert str(done.steps[2].observation).startswith("A (You had this result already")
    assert made == ["a", "b"]


def test_a_thought_that_comes_again_is_told_of_once() -> None:
    thought = "I do both of them now."
    done = run(act("shout a", "shout b", thought=thought), act("shout c", "shout d",
               thought=thought), FINISH)  # fmt: skip
    told = [str(step.observation) for step in done.steps]
    assert told[:3] == ["A", "B", "C"]
    assert told[3].startswith("D (You have thought this before")


# -- at the same time ----------------------------------------------------------------


def meeting(*, network: bool) -> tuple[AnyTool, AnyTool]:
    """Return two tools, each of which waits until the other is called as well."""
    barrier = threading.Barrier(2, timeout=30 if network else 0.01)

    def meet(text: str) -> str:
        """Wait for the other."""
        barrier.wait()
        return text

    make = tool(may=["reads network"] if network else [], own_words=True, name="one")
    other = tool(may=["reads network"] if network else [], own_words=True, name="two")
    return make(meet), other(meet)


def test_calls_that_wait_for_the_network_wait_together() -> None:
    done = run(act("one a", "two b"), FINISH, tools=meeting(network=True))
    assert [step.observation for step in done.steps] == ["a", "b", None]


def test_others_run_one_after_the_other() -> None:
    done = run(act("one a", "two b"), FINISH, tools=meeting(network=False))
    assert all("BrokenBarrierError" in str(step.observation) for step in done.steps[:2])


def test_what_fails_beside_others_fails_alone() -> None:
    @tool(may=["reads network"], own_words=True)
    def fetch(text: str) -> str:
        """Fetch."""
        if text == "bad":
            raise ToolError("no network")
        return text

    done = run(act("fetch a", "fetch bad", "fetch b"), FINISH, tools=(fetch,))
    assert [step.observation for step in done.steps[:3]] == ["a", "Error: no network", "b"]


def test_what_needs_a_yes_is_asked_for_in_turn() -> None:
    asked = list[tuple[str, str, list[str]]]()

    def approve(wanted: Call) -> bool:
        thread = threading.current_thread().name
        asked.append((str(wanted.arguments["text"]), thread, list(made)))
        return True

    done = run(
        act("read x"), act("delete a", "delete b", "shout c"), FINISH, approve=approve, max_steps=9
    )
    here = threading.current_thread().name
    assert asked == [("a", here, []), ("b", here, ["deleted a"])]
    assert made == ["deleted a", "deleted b", "c"]
    assert done.answer == "42"


def test_network_calls_that_need_a_yes_are_asked_for_in_turn() -> None:
    @tool(may=["reads files"])
    def file(text: str) -> str:
        """Read a file."""
        return text

    asked = list[tuple[str, str]]()

    def approve(wanted: Call) -> bool:
        text = str(wanted.arguments["text"])
        asked.append((text, threading.current_thread().name))
        return text == "b"

    done = run(
        act("file x"), act("read a", "read b"), FINISH, tools=(file, read), approve=approve
    )  # fmt: skip
    here = threading.current_thread().name
    assert asked == [("a", here), ("b", here)]
    assert "not allowed" in str(done.steps[1].observation)
    assert "about b" in str(done.steps[2].observation)


def test_a_call_written_before_the_outside_text_was_seen_needs_no_yes() -> None:
    # What one reply asks for nothing outside can have asked for.
    done = run(act("read x", "delete a"), act("delete b"), FINISH)
    assert made == ["deleted a"]
    assert "not allowed" in str(done.steps[2].observation)


# -- limits --------------------------------------------------------------------------


def test_steps_are_counted_by_their_replies() -> None:
    model = ScriptedModel([act("shout a", "shout b", "shout c"), act("shout d", "shout e"), FINISH])
    done = Agent(model, [shout], max_steps=3).run("Q?")
    assert (len(done.steps), done.answer, done.stop_reason) == (6, "42", "max_steps")
    assert ["shout" in grammar for grammar in model.grammars] == [True, True, False]


@tool
def much(text: str) -> str:
    """Return much."""
    made.append(text)
    return f"{text}. " + "A sentence of some words. " * 500


@pytest.mark.parametrize("size", range(360, 1000, 40))
def test_where_the_context_has_no_room_for_all_some_are_made_and_shown(size: int) -> None:
    calls = [f"much {n}" for n in range(MOST_CALLS)]
    model = ScriptedModel([act(*calls), FINISH, FINISH], context_size=size)
    done = Agent(model, [much]).run("Q?")
    shown = [step for step in done.steps if isinstance(step.action, Call)]
    assert 0 <= len(shown) == len(made) <= MOST_CALLS
    assert made == [str(n) for n in range(len(made))]
    assert all(str(step.observation).startswith(f"{n}. ") for n, step in enumerate(shown))
    assert done.answer == "42"
    assert done.usage.evaluated <= size


def test_a_small_context_makes_fewer_calls_than_a_large_one() -> None:
    counts = []
    for size in (400, 480, 5000):
        made.clear()
        calls = [f"much {n}" for n in range(MOST_CALLS)]
        Agent(ScriptedModel([act(*calls), FINISH], context_size=size), [much]).run("Q?")
        counts.append(len(made))
    assert 0 < counts[0] < counts[1] < counts[2] == MOST_CALLS


def test_together_observations_take_no_more_than_each_alone() -> None:
    model = ScriptedModel([act("much 1", "much 2", "shout x"), FINISH])
    done = Agent(model, [much, shout], observation_tokens=60).run("Q?")
    sizes = [model.count(str(step.observation)) for step in done.steps[:3]]
    assert 40 < sizes[0] <= 60
    assert 40 < sizes[1] <= 60
    assert done.steps[2].observation == "X"


def test_once_the_run_is_cancelled_no_further_call_of_the_reply_is_made() -> None:
    cancel = Flag()

    @tool
    def cancels(text: str) -> str:
        """Cancel the run."""
        cancel.set()
        return text

    model = ScriptedModel([act("shout a", "cancels b", "shout c")])
    done = Agent(model, [shout, cancels]).run("Q?", cancel)
    assert [step.observation for step in done.steps] == ["A", "b"]
    assert (made, done.stop_reason) == (["a"], "interrupted")
