"""Runs: kept whole, listed, found, gone on from, taken back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kept_runs import TRANSCRIPT, run_of

from local_react.core import Call, Step, Usage
from local_react.errors import UsageError
from local_react.history import History


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history.sqlite")


def test_nothing_yet(history: History) -> None:
    assert history.runs() == []
    with pytest.raises(UsageError, match="no run is kept yet"):
        history.find_run("last")
    with pytest.raises(UsageError, match="no run 'abcd'"):
        history.run("abcd")
    with pytest.raises(UsageError, match="no session"):
        history.runs(session="trip")


def test_a_run_comes_back_as_it_was(history: History) -> None:
    run = run_of("What is 15% of 80?")
    before = datetime.now(timezone.utc).replace(microsecond=0)
    id_ = history.add(run, transcript=TRANSCRIPT, session="trip")
    assert history.run(id_) == run
    assert history.transcript(id_) == TRANSCRIPT
    info = history.find_run(id_)
    assert (info.id, info.session, info.conversed) == (id_, "trip", True)
    assert (info.question, info.answer) == (run.question, run.answer)
    assert (info.stop_reason, info.model, info.seconds) == ("finish", "smollm2-135m", 1.5)
    assert (info.usage, info.tokens) == (Usage(120, 34), 154)
    assert before <= datetime.fromisoformat(info.time) <= datetime.now(timezone.utc)


def test_a_run_outside_of_sessions_has_none_and_needs_no_transcript(history: History) -> None:
    id_ = history.add(run_of("What?"))
    assert history.find_run(id_).session is None
    assert history.transcript(id_) == ""
    assert history.sessions() == []


def test_the_newest_run_is_listed_last(history: History) -> None:
    for number in range(5):
        history.add(run_of(f"Question {number}?"), session="even" if number % 2 == 0 else None)
    assert [run.question[9] for run in history.runs()] == list("01234")
    assert [run.question[9] for run in history.runs(last=2)] == list("34")
    assert [run.question[9] for run in history.runs(session="even", last=2)] == list("24")
    assert history.runs(last=0) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [("STRASSE", 1), ("straße", 1), ("forty", 1), ("%", 1), ("_", 0), ("", 3), ("\x00tail", 1)],
)
def test_runs_are_found_by_what_was_asked_and_answered(
    history: History, text: str, count: int
) -> None:
    history.add(run_of("Wie lang ist die Straße?", "5 km"))
    history.add(run_of("What is 50% of 80?", "Forty"))
    history.add(run_of("a\x00tail"))
    assert len(history.runs(containing=text)) == count


def test_a_run_is_found_by_the_beginning_of_its_id(history: History) -> None:
    first, last = history.add(run_of("One?")), history.add(run_of("Two?"))
    assert history.find_run(first[:6]).id == history.find_run(first.upper()).id == first
    assert history.find_run("last").id == history.find_run(" LAST ").id == last
    for name in (first[:3], "", "?", "%", "zzzzzzzz", first + "0"):
        with pytest.raises(UsageError, match="no run"):
            history.find_run(name)


def test_a_beginning_of_several_ids_is_told_as_such(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The third is drawn again, since it is taken.
    ids = iter(["abcd0001", "abcd0002", "abcd0001", "abcd1111"])
    monkeypatch.setattr("os.urandom", lambda size: bytes.fromhex(next(ids)))
    assert [history.add(run_of("?")) for _ in range(3)] == ["abcd0001", "abcd0002", "abcd1111"]
    with pytest.raises(UsageError, match="abcd0001, abcd0002"):
        history.find_run("abcd000")


def test_a_conversation_goes_on_from_its_turns(history: History) -> None:
    turns = [run_of(f"Question {number}?") for number in range(3)]
    for run in turns:
        history.add(run, session="trip")
    aside = replace(run_of("Broken off?"), stop_reason="interrupted")
    history.add(aside, session="trip", conversed=False)
    history.add(run_of("Elsewhere?"), session="other")
    assert history.turns("trip") == turns
    assert history.find_session("trip").turns == 3
    assert [run.conversed for run in history.runs(session="trip")] == [True] * 3 + [False]
    with pytest.raises(UsageError, match="no session"):
        history.turns("tripp")


def test_a_run_is_taken_back(history: History) -> None:
    first = history.add(run_of("One?"), session="trip")
    history.add(run_of("Two?"), session="trip")
    history.remove("last")
    assert history.turns("trip") == [run_of("One?")]
    history.remove(first)
    with pytest.raises(UsageError, match="no run"):
        history.remove(first)


def test_a_number_is_not_given_to_another_run(history: History) -> None:
    history.add(run_of("One?"))
    gone = history.add(run_of("Two?"))
    history.remove(gone)
    new = history.add(run_of("Three?"))
    assert new != gone
    assert history.transcript(new) == ""


ODD = st.text(st.characters(), max_size=30) | st.sampled_from(
    ["\ud800", "\x00", "é\udc80\x00x", "\ud83d\ude00"]
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(question=ODD, answer=ODD, transcript=ODD)
def test_any_text_is_kept(history: History, question: str, answer: str, transcript: str) -> None:
    call = Step(answer, Call("t", {question: [answer, 1.5, None]}), question)
    run = replace(run_of(question, answer), steps=(call,))
    id_ = history.add(run, transcript=transcript, session=history.open_session().id)
    assert history.run(id_) == run
    assert history.transcript(id_) == transcript
    assert history.find_run(id_).question == question.encode("utf-8", "backslashreplace").decode()


def test_a_question_of_a_megabyte_is_kept(history: History) -> None:
    question = "What does this say? " + "lorem \x00 ipsum\n" * 80_000
    id_ = history.add(run_of(question), transcript=question, session=history.open_session().id)
    assert history.run(id_).question == history.transcript(id_) == question
    assert history.runs()[0].question == question
    (info,) = history.sessions()
    assert info.name == "what-does-this-say-lorem-ipsum"
