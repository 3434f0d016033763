"""A session: what a later question knows, what a turn costs, and what leaves the window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from acceptance import admits

from local_react import (
    Agent,
    Finish,
    LlamaModel,
    Run,
    ScriptedModel,
    Step,
    calculator,
    tool,
)
from local_react.backends.scripted import ScriptedContext
from local_react.choosing import refers_back
from local_react.core import Call, Event, Sampling, Text, Usage
from local_react.errors import ContextFull, UsageError
from local_react.session import Session

PROBLEM = "Tom has 3 bags of 12 apples and eats 4. How many apples are left?"


def answer(text: str, thought: str = "t") -> str:
    return f'Thought: {thought}\nAction: Finish {{"answer": "{text}"}}'


def call(text: str) -> str:
    return f'Thought: t\nAction: echo {{"text": "{text}"}}'


@tool
def echo(text: str) -> str:
    """Return the text."""
    return text * 3


def asked(session: Session, question: str) -> Run:
    *_, run = session.ask(question)
    assert isinstance(run, Run)
    return run


def contents(model: ScriptedModel) -> list[str]:
    return [message.content for message in model.seen]


def turn(question: str, text: str, *steps: Step) -> Run:
    last = Step("t", Finish(text), None, reply=len(steps) + 1)
    return Run(question, (*steps, last), text, "finish", "m")


def test_a_later_question_is_put_into_the_same_chat() -> None:
    model = ScriptedModel([answer("Paris"), answer("Rome")])
    session = Session(Agent(model, [echo]))
    assert asked(session, "What is the capital of France?").answer == "Paris"
    opening = len(model.seen)
    run = asked(session, "And of Italy?")
    assert run.answer == "Rome"
    assert contents(model)[opening:] == ["Question: And of Italy?"]
    written = model.count(answer("Rome"))
    assert run.usage == Usage(written, written)  # not those of the turn before
    assert [one.answer for one in session.turns] == ["Paris", "Rome"]


def test_undo_goes_back_to_the_chat_before() -> None:
    model = ScriptedModel([answer("a"), answer("b"), answer("c")])
    session = Session(Agent(model, [echo]))
    asked(session, "What is first?")
    room = session.room
    asked(session, "What is second?")
    assert session.undo().answer == "b"
    assert session.room == room
    before = len(model.seen)
    asked(session, "What is third?")
    assert contents(model)[before:] == ["Question: What is third?"]
    assert [one.answer for one in session.turns] == ["a", "c"]
    session.undo()
    session.undo()
    with pytest.raises(UsageError, match="nothing to take back"):
        session.undo()


def test_the_same_again_takes_the_place_of_the_turn_with_some_chance_in_it() -> None:
    model = ScriptedModel([answer("a"), answer("b"), answer("c")])
    session = Session(Agent(model, [echo]))
    asked(session, "What is first?")
    asked(session, "What is second?")
    *_, run = session.again()
    assert isinstance(run, Run)
    assert (run.question, run.answer) == ("What is second?", "c")
    assert [one.answer for one in session.turns] == ["a", "c"]


def test_a_word_problem_is_put_by_itself_and_known_later() -> None:
    model = ScriptedModel([answer("Paris"), answer("32"), answer("64")])
    session = Session(Agent(model, [echo]))
    asked(session, "What is the capital of France?")
    before = len(model.seen)
    asked(session, PROBLEM)
    alone = contents(model)[before:]
    assert alone[-1] == f"Question: {PROBLEM}"
    assert "Question: What is the capital of France?" not in alone
    before = len(model.seen)
    asked(session, "And twice that?")
    assert contents(model)[before:] == [f"Question: {PROBLEM}", "Question: And twice that?"]


def test_a_word_problem_that_speaks_of_what_was_said_is_not() -> None:
    model = ScriptedModel([answer("32"), answer("5")])
    session = Session(Agent(model, [echo]))
    asked(session, PROBLEM)
    before = len(model.seen)
    asked(session, "If he eats 20 more and gives 7 away, how many are left?")
    assert f"Question: {PROBLEM}" in contents(model)[before:]


def test_what_gave_no_answer_is_no_turn_and_leaves_no_trace() -> None:
    model = ScriptedModel([answer("a"), call("x"), answer("b")])
    session = Session(Agent(model, [echo]))
    asked(session, "What is first?")
    room = session.room
    events = list[Event]()
    for event in session.ask("What is second?"):
        events.append(event)
        if isinstance(event, Text):
            session.stop()
    run = events[-1]
    assert isinstance(run, Run)
    assert (run.answer, run.stop_reason) == ("", "interrupted")
    assert (len(session.turns), session.room) == (1, room)
    assert asked(session, "What is third?").answer == "b"


def test_an_earlier_session_goes_on_with_what_its_tools_gave() -> None:
    step = Step("look", Call("echo", {"text": "x"}), "xxx", reply=1)
    model = ScriptedModel([answer("b")])
    session = Session(Agent(model, [echo], system="Be brief."), [turn("What is x?", "xxx", step)])
    asked(session, "And then?")
    said = contents(model)
    assert said[-3:] == [
        "Be brief.\n\nQuestion: What is x?",
        "Observation: xxx",
        "Question: And then?",
    ]
    assert session.left == 0


def test_the_oldest_turns_leave_where_the_window_is_full() -> None:
    # A window for a few such answers beside the instructions.
    long = " ".join(f"w{n}" for n in range(250))
    model = ScriptedModel([answer(f"{long} {n}") for n in range(12)], context_size=3000)
    session = Session(Agent(model, [echo], action_tokens=2000))
    lefts = list[int]()
    for n in range(12):
        assert asked(session, f"What is number {n} about?").answer.startswith("w0 w1")
        lefts.append(session.left)
    assert lefts[0] == 0
    assert lefts == sorted(lefts)
    assert 3 <= lefts[-1] < 12


def test_facts_stand_before_the_question_they_are_for() -> None:
    model = ScriptedModel([answer("Rex"), answer("b")])
    session = Session(Agent(model, [echo]))
    list(session.ask("What is my dog called?", facts=["My dog is called Rex."]))
    told = "The user told before:\n- My dog is called Rex.\n\nQuestion: What is my dog called?"
    assert contents(model)[-1] == told
    asked(session, "Why?")
    assert contents(model)[-1] == "Question: Why?"


def test_another_agent_goes_on_with_the_conversation() -> None:
    session = Session(Agent(ScriptedModel([answer("a")]), [echo]))
    asked(session, "What is first?")
    other = ScriptedModel([answer("b")], name="other")
    session.agent = Agent(other, [echo])
    run = asked(session, "And second?")
    assert (run.model, run.answer) == ("other", "b")
    assert "Question: What is first?" in contents(other)


def test_cleared_it_begins_anew() -> None:
    model = ScriptedModel([answer("a"), answer("b")])
    session = Session(Agent(model, [echo]))
    asked(session, "What is first?")
    session.clear()
    before = len(model.seen)
    asked(session, "And second?")
    assert "Question: What is first?" not in contents(model)[before:]
    assert len(session.turns) == 1


def test_a_question_that_is_empty_or_too_long_is_refused_and_the_session_goes_on() -> None:
    model = ScriptedModel([answer("a"), answer("b")], context_size=2000)
    session = Session(Agent(model, [echo]))
    with pytest.raises(UsageError, match="empty"):
        session.ask("  ")
    asked(session, "What is first?")
    with pytest.raises(ContextFull, match="tokens"):
        session.ask("word " * 3000)
    assert asked(session, "And second?").answer == "b"


@pytest.mark.parametrize(
    ("question", "back"),
    [
        ("And in euros?", True),
        ("What about Rome?", True),
        ("How old is she?", True),
        ("Why?", True),
        ("Double it and add 5. How much is that?", True),
        ("What is 10% of the total plus 3?", True),
        ("What is the capital of France?", False),
        ("Tom has 3 apples. He eats 2 of them. How many are left?", False),
        ("What is 15% of 80?", False),
    ],
)
def test_what_speaks_of_something_said_before(question: str, back: bool) -> None:
    assert refers_back(question) is back


@pytest.mark.model
def test_a_turn_costs_its_own_tokens(smollm: LlamaModel) -> None:
    session = Session(Agent(smollm, [calculator], thought_tokens=20, max_steps=2))
    first = asked(session, "What is the capital of France?")
    context, _ = session.opened("And of Italy?")
    second = asked(session, "And of Italy?")
    assert first.answer and second.answer
    own = smollm.count("Question: And of Italy?") + smollm.count(second.answer) + 120
    assert second.usage.evaluated < own < smollm.context_size - context.room


def test_what_is_for_a_tool_is_not_answered_as_the_turn_before_was(tiny: LlamaModel) -> None:
    calls = 'Thought: t\nAction: calculator {"expression": "6 * 7"}'
    model = ScriptedModel([answer("6"), calls, answer("42"), answer("Goethe")])
    session = Session(Agent(model, [calculator]))
    asked(session, "Which number did you say?")
    before = len(model.grammars)
    asked(session, "How much is seven times that?")
    assert not admits(tiny, model.grammars[before], answer("42"))
    assert admits(tiny, model.grammars[before], calls)
    before = len(model.grammars)
    asked(session, "Who said it?")
    assert admits(tiny, model.grammars[before], answer("Goethe"))


def test_what_was_read_in_an_earlier_turn_still_asks_for_a_yes() -> None:
    sent = list[str]()

    @tool(may=["reads files"])
    def read_notes(text: str) -> str:
        """Read the user's notes."""
        return "the safe is 1234"

    @tool(may=["reads network"])
    def look_up(text: str) -> str:
        """Look it up."""
        sent.append(text)
        return "found"

    calls = [
        'Thought: t\nAction: read_notes {"text": "safe"}',
        answer("1234"),
        'Thought: t\nAction: look_up {"text": "1234"}',
        answer("b"),
    ]
    session = Session(Agent(ScriptedModel(calls), [read_notes, look_up]))
    asked(session, "What do the notes say?")
    run = asked(session, "And the web?")
    assert sent == []
    assert "not allowed" in str(run.steps[0].observation)


def test_again_and_again_is_another_try_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = list[int]()

    class Noting(ScriptedContext):
        def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
            seeds.append(sampling.seed)
            return super().generate(grammar, sampling)

    monkeypatch.setattr("local_react.backends.scripted.ScriptedContext", Noting)
    session = Session(Agent(ScriptedModel([answer("a")]), [echo]))
    asked(session, "What is first?")
    for _ in range(3):
        *_, run = session.again()
        assert isinstance(run, Run)
    assert len(set(seeds)) == 4


def test_ctrl_c_that_is_handed_on_gives_the_run_with_what_there_is() -> None:
    session = Session(Agent(ScriptedModel([answer("a")]), [echo]))
    events = session.ask("What is first?")
    next(events)
    run = events.throw(KeyboardInterrupt())
    assert isinstance(run, Run)
    assert (run.stop_reason, session.turns) == ("interrupted", [])
