"""Several runs of one question: who votes, what counts, and that nothing is left behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from threading import Event as Flag
from typing import Any

import pytest

from local_react import Agent, Call, Finish, Run, Sampling, ScriptedModel, Step, Text, tool
from local_react.aside import Aside, LinkedFlag
from local_react.backends.scripted import ScriptedContext
from local_react.core import Event, StopReason, Usage
from local_react.errors import ContextFull, UsageError
from local_react.voting import (
    BACKED,
    MOST_VOTES,
    ROUNDS,
    Ballot,
    Way,
    ballots,
    is_settled,
    joined,
    rounds,
    varied,
)

BOTH: tuple[Way, ...] = ("tools", "reasoning")


def ended(answer: str, reason: StopReason = "finish", tokens: int = 1) -> Run:
    return Run("Q?", (), answer, reason, "model", usage=Usage(tokens, 2 * tokens))


# -- who votes -----------------------------------------------------------------------


def test_the_first_two_runs_take_a_way_each_and_are_plain() -> None:
    assert ballots(0, 2, tools=True) == [
        Ballot(0, "tools", varied=False),
        Ballot(1, "reasoning", varied=False),
    ]
    assert ballots(2, 9, tools=True) == ballots(0, 9, tools=True)[2:]
    assert all(ballot.varied for ballot in ballots(2, 9, tools=True))
    assert [ballot.number for ballot in ballots(2, 9, tools=True)] == list(range(2, 9))
    assert {ballot.way for ballot in ballots(2, 9, tools=True)} == set(BOTH)
    assert [(b.way, b.varied) for b in ballots(0, 3, tools=False)] == [
        ("reasoning", False),
        ("reasoning", True),
        ("reasoning", True),
    ]
    assert ballots(2, 2, tools=True) == []


def test_the_varied_runs_have_some_chance_in_them_and_seeds_of_their_own() -> None:
    plain = Sampling(seed=3)
    assert varied(plain, 4) == varied(plain, 4) != varied(plain, 5)
    assert varied(plain, 4).seed == 7
    assert varied(plain, 4).temperature >= 0.5
    assert varied(plain, 4).top_k > 0
    assert varied(plain, 4).top_p < 1
    own = Sampling(temperature=1.5, top_k=3, top_p=0.1, min_p=0.2, repeat_penalty=1.1, seed=3)
    assert varied(own, 4) == replace(own, seed=7)


def test_the_rounds() -> None:
    for reckons in (False, True):
        assert list(rounds(3, reckons=reckons)) == [3]
    assert list(rounds("auto", reckons=True)) == list(ROUNDS)
    assert list(rounds("auto", reckons=False)) == list(BACKED)
    assert list(ROUNDS) == sorted(set(ROUNDS))


@pytest.mark.parametrize(
    ("answers", "settled"),
    [
        (["5", "5"], True),
        (["5", "6"], False),
        (["5", "5.0", "6"], True),
        (["5", "6", "5", "7", "5"], True),
        (["5", "6", "5", "7", "8"], False),
        (["5", "5", "6", "6"], False),
        (["x", "y", "z"], False),
        ([], False),
    ],
)
def test_most_of_the_runs_have_to_agree(answers: list[str], settled: bool) -> None:
    assert is_settled([ended(answer) for answer in answers], "number") is settled


@pytest.mark.parametrize("reason", ["max_steps", "context", "no_progress", "cut_off"])
def test_a_run_that_did_not_end_by_itself_says_nothing(reason: StopReason) -> None:
    assert not is_settled([ended("5"), ended("5", reason)], "number")
    assert not is_settled([ended("5", reason)] * 5, "number")
    run = joined([ended("5", reason), ended("7")], "number", tools=True)
    assert (run.answer, run.confidence) == ("7", 0.5)
    assert is_settled([ended("5")], "number")
    assert not is_settled([ended("5", reason)], "number")


def test_a_run_whose_answer_stands_on_a_wrong_sum_says_nothing() -> None:
    sum_ = "That is 2 + 3 = 6."
    slip, mended = Step(sum_, Finish("6"), None), Step("3 + 3 = 6", Finish("6"), None)
    slipped = replace(ended("6"), steps=(slip,))
    right = replace(ended("6"), steps=(replace(slip, observation="no"), mended))
    assert is_settled([right, right], "number")
    assert not is_settled([right, slipped], "number")
    assert joined([slipped, ended("5")], "number", tools=True).answer == "5"


def test_an_answer_may_have_to_be_given_twice() -> None:
    runs = [ended("5", "max_steps"), ended("7"), ended("8"), ended("8.0")]
    run = joined(runs, "number", tools=True, least=2)
    assert (run.answer, run.confidence) == ("8", 0.5)
    run = joined(runs[:3], "number", tools=True, least=2)
    assert (run.answer, run.stop_reason, run.confidence) == ("5", "max_steps", 0.0)


@pytest.mark.parametrize(
    ("answers", "answer", "counts"),
    [
        (["5", "6", "6"], "6", [False, True, True]),
        (["5", "$5.00 [1]", "6"], "5", [True, True, False]),
        # What both ways come to counts once more, ...
        (["6", "5", "5", "6"], "6", [True, False, False, True]),
        (["6", "5", "5", "5", "6"], "6", [True, False, False, False, True]),
        (["6", "5", "5", "5", "5", "6"], "5", [False, True, True, True, True, False]),
        # ... and of two firsts the one that was reasoned first is taken.
        (["6", "5"], "5", [False, True]),
        (["a", "6", "b"], "6", [False, True, False]),
        (["a", "b", "c"], "a", [False, False, False]),
    ],
)
def test_the_answer_is_the_first_that_most_give(
    answers: list[str], answer: str, counts: list[bool]
) -> None:
    run = joined([ended(text) for text in answers], "number", tools=True)
    assert run.answer == answer
    assert [vote.counts for vote in run.votes] == counts
    assert [vote.answer for vote in run.votes] == answers
    assert run.confidence == sum(counts) / len(counts)


def test_the_votes_bear_what_each_run_took_and_the_run_what_all_did() -> None:
    run = joined([ended("5", tokens=1), ended("6", "context", tokens=10)], "number", tools=True)
    assert [vote.usage for vote in run.votes] == [Usage(1, 2), Usage(10, 20)]
    assert [vote.way for vote in run.votes] == ["tools", "reasoning"]
    assert [vote.stop_reason for vote in run.votes] == ["finish", "context"]
    assert run.usage == Usage(11, 22)


def test_one_run_alone_is_no_vote() -> None:
    run = joined([ended("5")], "number", tools=True)
    assert (run.votes, run.confidence, run.answer) == ((), None, "5")


# -- an agent that asks several times -------------------------------------------------

SUM = "Ana has 3 boxes of 12 eggs. How many eggs are that?"
NAME = "Who painted it? Give the answer alone."


def finish(answer: str) -> str:
    return f'Thought: t\nAction: Finish {{"answer": "{answer}"}}'


@dataclass
class Voter(ScriptedModel):
    """Says what `say` returns of the way it is asked, the sampling, and how many replies
    it gave before in that run. A run by reasoning is one without tools."""

    replies: Any = ()
    say: Callable[[str, Sampling, int], str] = lambda way, sampling, number: finish("36")
    asked: list[tuple[str, int, float]] = field(default_factory=list)
    going: list[ScriptedContext] = field(default_factory=list)
    """Those that are writing."""
    offered: list[str] = field(default_factory=list)

    def start(self, messages: Any, **options: Any) -> ScriptedContext:
        context = VoterContext(**vars(super().start(messages, **options)))
        context.way = "tools" if "Tools:" in messages[0].content else "reasoning"
        return context


@dataclass
class VoterContext(ScriptedContext):
    way: Way = "tools"
    given: int = 0

    def generate(self, grammar: str | None, sampling: Sampling) -> Iterator[str]:
        assert isinstance(self.model, Voter)
        if not self.given:
            self.model.asked.append((self.way, sampling.seed, sampling.temperature))
        if threading.current_thread().name == "vote":
            self.model.offered.append(grammar or "")
        self.model.going.append(self)
        reply = self.model.say(self.way, sampling, self.given)
        while reply == WAIT and not self.cancel.is_set():
            time.sleep(0.001)
        self.replies, self.given = iter([reply.removeprefix(WAIT)]), self.given + 1
        yield from super().generate(grammar, sampling)
        self.model.going.remove(self)


WAIT = "wait until it is stopped"


def saying(*answers: str) -> Callable[[str, Sampling, int], str]:
    """Return what has the first run with tools give the first answer, that by reasoning the
    second, and the others, which have seeds of their own, theirs."""

    def say(way: str, sampling: Sampling, number: int) -> str:
        return finish(answers[sampling.seed or BOTH.index(way)])

    return say


@tool
def add(text: str) -> str:
    """Add."""
    return "36"


@tool(may=["reads network"])
def look(text: str) -> str:
    """Look it up."""
    return "36"


@tool(may=["writes"])
def delete(text: str) -> str:
    """Delete it."""
    deleted.append(text)
    return "gone"


deleted: list[str] = []


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """After each test, no thread of a vote goes on."""
    deleted.clear()
    yield
    for thread in [one for one in threading.enumerate() if one.name == "vote"]:
        thread.join(30)
        assert not thread.is_alive()


def test_where_both_ways_agree_two_runs_are_enough() -> None:
    model = Voter()
    run = Agent(model, [add], votes="auto").run(SUM)
    assert sorted(model.asked) == [("reasoning", 0, 0.0), ("tools", 0, 0.0)]
    assert (run.answer, run.confidence, len(run.votes)) == ("36", 1.0, 2)
    assert run.usage == run.votes[0].usage + run.votes[1].usage


def test_where_they_disagree_three_more_are_asked() -> None:
    model = Voter(say=saying("36", "35", "36", "36", "1"))
    run = Agent(model, [add], votes="auto").run(SUM)
    assert [vote.answer for vote in run.votes] == ["36", "35", "36", "36", "1"]
    assert [vote.way for vote in run.votes] == [b.way for b in ballots(0, 5, tools=True)]
    assert (run.answer, run.confidence, run.finished) == ("36", 0.6, True)
    asked = [(b.way, b.number if b.varied else 0) for b in ballots(0, 5, tools=True)]
    assert sorted((way, seed) for way, seed, _ in model.asked) == sorted(asked)


def test_where_they_go_on_to_there_are_five_at_most() -> None:
    run = Agent(Voter(say=saying(*"12345")), [add], votes="auto").run(SUM)
    assert [vote.answer for vote in run.votes] == list("12345")
    # Where none is said twice, what was reasoned without chance is taken.
    assert (run.answer, run.confidence) == ("2", 1 / 5)


def going_round(*answers: str) -> Callable[[str, Sampling, int], str]:
    """Return what has the run with tools call one until it must not, and the others, by
    reasoning, give the answers."""

    def say(way: str, sampling: Sampling, number: int) -> str:
        if way == "tools":
            return finish("?") if number else 'Thought: t\nAction: look {"text": "x"}'
        return finish(answers[max(0, sampling.seed - 1)])

    return say


def test_a_run_that_came_to_no_end_is_backed_by_reasoning() -> None:
    model = Voter(say=going_round("Manet", "Monet", "Monet"))
    run = Agent(model, [look], votes="auto", max_steps=2).run(NAME)
    assert (run.answer, run.confidence, run.finished) == ("Monet", 2 / 4, True)
    assert [vote.stop_reason for vote in run.votes] == ["max_steps", *["finish"] * 3]
    assert [way for way, _, _ in model.asked] == ["tools", *["reasoning"] * 3]


def test_where_the_reasoning_does_not_agree_either_the_run_stands() -> None:
    model = Voter(say=going_round("Manet", "Monet", "Degas"))
    run = Agent(model, [look], votes="auto", max_steps=2).run(NAME)
    assert (run.answer, run.stop_reason, run.confidence) == ("?", "max_steps", 0.0)
    assert isinstance(run.steps[0].action, Call)


def test_a_text_is_backed_by_nothing() -> None:
    model = Voter(say=going_round())
    run = Agent(model, [look], votes="auto", max_steps=2).run("Why is it blue?")
    assert (run.answer, run.stop_reason, run.votes) == ("?", "max_steps", ())


@pytest.mark.parametrize("votes", [1, 5, "auto"])
@pytest.mark.parametrize(("answer", "confidence"), [("12.0", 1.0), ("13", None)])
def test_what_a_tool_computes_as_it_stands_is_asked_once_and_sure(
    votes: Any, answer: str, confidence: float | None
) -> None:
    sums = replace(add, offer=lambda question: {"text": "3 * 4"}, function=lambda text: "12")
    model = Voter(say=lambda way, sampling, number: finish(answer))
    run = Agent(model, [sums], votes=votes).run("What is 3 * 4?")
    assert (run.answer, run.votes, run.confidence) == (answer, (), confidence)
    assert len(model.asked) == 1


def test_the_answer_of_most_is_taken_though_the_first_run_says_another() -> None:
    run = Agent(Voter(say=saying("1", "2", "2")), [add], votes=3).run(SUM)
    assert (run.answer, run.confidence) == ("2", 2 / 3)
    assert run.steps[-1].action == Finish("2")


def test_so_many_runs_are_made_as_are_wanted_whatever_they_say() -> None:
    for votes in (2, 3, 6):
        assert len(Agent(Voter(), [add], votes=votes).run(SUM).votes) == votes


def test_the_varied_runs_have_seeds_of_their_own_and_are_as_warm_as_wanted() -> None:
    model = Voter()
    Agent(model, [add], votes=4, sampling=Sampling(temperature=1.0, seed=7)).run(SUM)
    assert sorted(seed for _, seed, _ in model.asked) == [7, 7, 9, 10]
    assert {temperature for _, _, temperature in model.asked} == {1.0}


RUNS = [("reasoning", 0), ("reasoning", 1), ("reasoning", 2)]


def test_without_tools_all_runs_reason() -> None:
    model = Voter()
    run = Agent(model, votes=3).run(SUM)
    assert {vote.way for vote in run.votes} == {"reasoning"}
    warm = varied(Sampling(), 0).temperature
    assert sorted(model.asked) == [(way, seed, warm if seed else 0.0) for way, seed in RUNS]


@pytest.mark.parametrize(
    ("question", "votes", "count"),
    [
        (SUM, 1, 0),
        ("Why is the sky blue?", 5, 0),
        ("Why is the sky blue?", "auto", 0),
        (NAME, "auto", 0),
        (NAME, 3, 3),
        ("Is a whale a fish?", 3, 3),
    ],
)
def test_only_answers_that_can_be_compared_are_asked_for_again(
    question: str, votes: Any, count: int
) -> None:
    run = Agent(Voter(), [add], votes=votes).run(question)
    assert len(run.votes) == count
    assert (run.confidence is None) == (count == 0)


@pytest.mark.parametrize("votes", [0, -1, MOST_VOTES + 1])
def test_votes_out_of_range_are_refused(votes: int) -> None:
    with pytest.raises(UsageError, match=f"--votes must be auto or 1 to .*{votes}"):
        Agent(Voter(), votes=votes)


def test_of_the_runs_the_first_is_seen_and_the_run_comes_last() -> None:
    *events, run = list(Agent(Voter(say=saying("1", "2", "2")), [add], votes=3).stream(SUM))
    assert isinstance(run, Run)
    assert "".join(e.text for e in events if isinstance(e, Text)) == finish("1")
    assert [e.action for e in events if isinstance(e, Step)] == [Finish("1")]


# -- what is not done twice ------------------------------------------------------------


def calling(name: str) -> Callable[[str, Sampling, int], str]:
    """Return what has every run call the tool first, and the first run alone answer 1."""

    def say(way: str, sampling: Sampling, number: int) -> str:
        if number == 0:
            return f'Thought: t\nAction: {name} {{"text": "x"}}'
        return finish("36" if threading.current_thread().name == "vote" else "1")

    return say


@pytest.mark.parametrize("name", ["look", "delete"])
@pytest.mark.parametrize("votes", [3, "auto"])
def test_a_run_that_did_more_than_compute_is_not_repeated(name: str, votes: Any) -> None:
    run = Agent(Voter(say=calling(name)), [add, look, delete], votes=votes).run(SUM)
    assert (run.answer, run.votes, run.confidence) == ("1", (), None)
    assert isinstance(run.steps[0].action, Call)
    assert deleted == (["x"] if name == "delete" else [])


def test_a_run_that_only_computed_is() -> None:
    run = Agent(Voter(say=calling("add")), [add, look, delete], votes=3).run(SUM)
    assert [vote.answer for vote in run.votes] == ["1", "36", "36"]


def test_a_run_that_invented_a_tool_is_repeated_too() -> None:
    assert len(Agent(Voter(say=calling("google")), [add], votes=3).run(SUM).votes) == 3


def test_no_vote_looks_outside_or_has_an_effect() -> None:
    def say(way: str, sampling: Sampling, number: int) -> str:
        vote = threading.current_thread().name == "vote"
        if vote and number == 0:  # in spite of its grammar
            return (
                'Thought: t\nAction: delete {"text": "x"}\nAction: look {"text": "x"}'
                '\nAction: add {"text": "x"}'
            )
        return finish("36")

    model = Voter(say=say)
    run = Agent(model, [add, look, delete], votes=6).run(SUM)
    assert len(run.votes) == 6
    assert deleted == []
    assert not any("delete" in grammar or "look" in grammar for grammar in model.offered)
    assert any('"add "' in grammar for grammar in model.offered)


# -- Ctrl-C, cancel, and other ends ----------------------------------------------------


def waiting(way: str, sampling: Sampling, number: int) -> str:
    """Have the first run answer, and all others wait until they are stopped."""
    return WAIT if threading.current_thread().name == "vote" else finish("1")


def endless(way: str, sampling: Sampling, number: int) -> str:
    """Have the first run think for long, and all others wait until they are stopped."""
    return WAIT if threading.current_thread().name == "vote" else "Thought: one\ntwo\nthree"


def until(events: Iterator[Event], piece: str) -> None:
    for event in events:
        if isinstance(event, Text) and piece in event.text:
            return


@pytest.mark.parametrize("votes", [3, "auto"])
def test_ctrl_c_in_the_first_run_gives_it_as_far_as_it_is_and_goes_on(votes: Any) -> None:
    events = Agent(Voter(say=endless), [add], votes=votes).stream(SUM)
    until(events, "two")
    run = events.throw(KeyboardInterrupt())
    assert isinstance(run, Run)
    assert (run.stop_reason, run.answer, run.votes) == ("interrupted", "", ())
    assert [step.thought for step in run.steps] == ["one\ntwo"]
    with pytest.raises(KeyboardInterrupt):
        next(events)


def test_ctrl_c_that_the_first_run_itself_hears_goes_on_too() -> None:
    @tool
    def pressed(text: str) -> str:
        """Be interrupted."""
        raise KeyboardInterrupt

    def say(way: str, sampling: Sampling, number: int) -> str:
        if threading.current_thread().name == "vote":
            return WAIT
        return 'Thought: t\nAction: pressed {"text": "x"}'

    seen = list[Event]()
    with pytest.raises(KeyboardInterrupt):
        seen.extend(Agent(Voter(say=say), [pressed], votes=3).stream(SUM))
    assert isinstance(seen[-1], Run)
    assert (seen[-1].stop_reason, seen[-1].votes) == ("interrupted", ())
    with pytest.raises(KeyboardInterrupt):
        Agent(Voter(say=say), [pressed], votes=3).run(SUM)


def test_ctrl_c_before_the_first_run_says_anything_gives_an_empty_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def press(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Aside, "__init__", press)
    events = Agent(Voter(), [add], votes=3).stream(SUM)
    run = next(events)
    assert isinstance(run, Run)
    assert (run.question, run.steps, run.stop_reason) == (SUM, (), "interrupted")
    with pytest.raises(KeyboardInterrupt):
        next(events)


def press_in_turn(monkeypatch: pytest.MonkeyPatch, turn: int, press: Callable[[], None]) -> None:
    """See to it that something happens when a vote is awaited for the so-manieth time."""
    real, awaited = Aside.awaited, list[object]()

    def waits(self: Aside[Any]) -> Any:
        awaited.append(self)
        if len(awaited) == turn:
            press()
        return real(self)

    monkeypatch.setattr(Aside, "awaited", waits)


def interrupt() -> None:
    raise KeyboardInterrupt


def test_ctrl_c_while_votes_are_awaited_gives_what_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    press_in_turn(monkeypatch, 1, interrupt)
    events = Agent(Voter(say=waiting), [add], votes=5).stream(SUM)
    seen = list[Event]()
    with pytest.raises(KeyboardInterrupt):
        for event in events:
            seen.append(event)
    run = seen[-1]
    assert isinstance(run, Run)
    assert (run.answer, run.votes, run.finished) == ("1", (), True)


def test_the_votes_that_are_in_when_ctrl_c_is_pressed_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    press_in_turn(monkeypatch, 3, interrupt)
    events = Agent(Voter(say=saying(*"12234")), [add], votes=5).stream(SUM)
    (run,) = [event for event in _all_but_ctrl_c(events) if isinstance(event, Run)]
    assert (run.answer, [vote.answer for vote in run.votes]) == ("2", ["1", "2", "2"])


def _all_but_ctrl_c(events: Iterator[Event]) -> Iterator[Event]:
    with pytest.raises(KeyboardInterrupt):
        yield from events


@pytest.mark.parametrize("votes", [5, "auto"])
def test_cancelling_while_votes_are_awaited_gives_what_there_is(
    monkeypatch: pytest.MonkeyPatch, votes: Any
) -> None:
    cancel = Flag()
    press_in_turn(monkeypatch, 1, cancel.set)
    run = Agent(Voter(say=waiting), [add], votes=votes).run(SUM, cancel)
    assert (run.answer, run.finished) == ("1", True)
    # No further round is begun.
    assert len(run.votes) == (5 if votes == 5 else ROUNDS[0])
    assert {vote.stop_reason for vote in run.votes[1:]} == {"interrupted"}
    assert run.confidence == 1 / len(run.votes)


def test_cancelling_in_the_first_run_ends_all() -> None:
    cancel = Flag()
    events = Agent(Voter(say=endless), [add], votes=3).stream(SUM, cancel)
    until(events, "two")
    cancel.set()
    *_, run = events
    assert isinstance(run, Run)
    assert (run.stop_reason, run.votes) == ("interrupted", ())


def test_a_run_that_is_cancelled_beforehand_asks_nothing() -> None:
    cancel, model = Flag(), Voter()
    cancel.set()
    run = Agent(model, [add], votes=9).run(SUM, cancel)
    assert (run.stop_reason, run.steps, model.asked) == ("interrupted", (), [])


def test_who_listens_no_longer_stops_the_votes() -> None:
    events = Agent(Voter(say=endless), [add], votes=9).stream(SUM)
    until(events, "two")
    votes = [one for one in threading.enumerate() if one.name == "vote"]
    assert len(votes) == 8
    events.close()
    for one in votes:
        one.join(30)
    assert not any(one.is_alive() for one in votes)


def test_when_the_run_comes_no_vote_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local_react.aside._PATIENCE", 60.0)

    def say(way: str, sampling: Sampling, number: int) -> str:
        if threading.current_thread().name == "vote":
            return WAIT
        return finish("1") if number else 'Thought: t\nAction: look {"text": "x"}'

    model = Voter(say=say)
    assert Agent(model, [look], votes=9).run(SUM).votes == ()
    assert model.going == []


def test_an_error_in_a_vote_is_raised_and_stops_the_others() -> None:
    def say(way: str, sampling: Sampling, number: int) -> str:
        if way == "reasoning":
            raise RuntimeError("the model is broken")
        return waiting(way, sampling, number)

    with pytest.raises(RuntimeError, match="the model is broken"):
        Agent(Voter(say=say), [add], votes=5).run(SUM)


def test_an_error_in_the_first_run_is_raised_and_stops_the_votes() -> None:
    def say(way: str, sampling: Sampling, number: int) -> str:
        if threading.current_thread().name == "vote":
            return WAIT
        raise RuntimeError("the model is broken")

    with pytest.raises(RuntimeError, match="the model is broken"):
        Agent(Voter(say=say), [add], votes=5).run(SUM)


def test_a_vote_that_has_no_room_says_nothing() -> None:
    def run(size: int, votes: int) -> Run | None:
        try:
            return Agent(Voter(context_size=size), [add], votes=votes).run(SUM)
        except ContextFull:
            return None

    size = next(n for n in range(100, 2000) if (alone := run(n, 1)) and alone.finished)
    voted = run(size, 2)
    assert voted is not None
    assert voted.answer == "36"
    assert [(vote.answer, vote.stop_reason) for vote in voted.votes] == [
        ("36", "finish"),
        ("", "context"),
    ]
    assert voted.confidence == 0.5


def test_a_question_that_does_not_fit_is_refused_as_ever() -> None:
    with pytest.raises(ContextFull, match="question is"):
        Agent(Voter(context_size=1500), [add], votes=3).run("word " * 1800 + SUM)


@pytest.mark.parametrize("which", ["own", "other"])
def test_a_linked_flag_is_set_with_the_other(which: str) -> None:
    other = Flag()
    linked = LinkedFlag(other)
    assert not linked.is_set()
    (linked if which == "own" else other).set()
    assert linked.is_set()
    assert other.is_set() == (which == "other")
