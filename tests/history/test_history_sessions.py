"""Sessions: made, found, named, listed, deleted."""

from __future__ import annotations

from pathlib import Path

import pytest
from kept_runs import run_of

from local_react.errors import UsageError
from local_react.history import History, SessionInfo


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "data" / "history.sqlite")


def asked(history: History, question: str, session: str | None = None) -> SessionInfo:
    """Ask in a session, or in a new one, and return it."""
    id_ = session or history.open_session().id
    history.add(run_of(question), session=id_)
    return history.find_session(id_)


def names(history: History) -> list[str]:
    return [info.name for info in history.sessions()]


def test_before_anything_is_kept_there_is_no_file(history: History) -> None:
    assert history.sessions() == [] and history.latest_session() is None
    assert history.turns(history.open_session().id) == []
    assert not history.path.parent.exists()


def test_it_is_in_the_data_directory(own_places: None, tmp_path: Path) -> None:
    assert History().path == tmp_path / "data" / "history.sqlite"


def test_a_new_session_is_kept_with_its_first_question(history: History) -> None:
    opened = history.open_session()
    assert (opened.name, opened.turns, history.sessions()) == ("", 0, [])
    history.add(run_of("What's the capital of Peru?"), session=opened.id)
    (info,) = history.sessions()
    assert (info.id, info.name) == (opened.id, "whats-the-capital-of-peru")
    assert (info.turns, info.question) == (1, "What's the capital of Peru?")
    assert info == history.latest_session() == history.find_session(info.id)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is 15% of 80?", "what-is-15-of-80"),
        ("Größe  des\nMatterhorns?", "größe-des-matterhorns"),
        ("日本の首都は?", "日本の首都は"),
        ("दिल्ली कहाँ है?", "दिल्ली-कहाँ-है"),
        ("deadbeef?", "deadbeef-1"),
        ("one two three four five six seven eight nine", "one-two-three-four-five-six"),
        ("x" * 5000, "x" * 32),
    ],
)
def test_a_name_is_made_of_the_first_words(history: History, question: str, name: str) -> None:
    assert asked(history, question).name == name


@pytest.mark.parametrize("question", ["", "?!", "\x00\ud800"])
def test_a_question_without_words_gives_a_name_all_the_same(
    history: History, question: str
) -> None:
    first, second = asked(history, question), asked(history, question)
    assert first.name.startswith("session-2") and second.name == f"{first.name}-2"


def test_the_same_question_gives_names_that_differ(history: History) -> None:
    assert [asked(history, "Why?").name for _ in range(3)] == ["why", "why-2", "why-3"]
    history.delete_session("why-2")
    assert asked(history, "Why?").name not in ("why", "why-3")


def test_a_named_session_is_made_once(history: History) -> None:
    trip = history.open_session(" trip  to Peru ")
    assert trip.name == "trip to Peru"
    assert history.open_session("trip to Peru") == trip == history.open_session(trip.id)
    assert names(history) == ["trip to Peru"]
    assert asked(history, "Where?", trip.id).name == "trip to Peru"
    assert asked(history, "When?", "trip to Peru").turns == 2
    assert asked(history, "What?", "another").name == "another"


def test_a_name_is_the_same_however_its_accents_are_typed(history: History) -> None:
    trip = history.open_session("Zu\u0308rich")
    assert history.open_session("Z\u00fcrich") == trip
    assert history.find_session("Zu\u0308rich") == trip


@pytest.mark.parametrize(
    "name", ["", "  ", "-n", "x" * 61, "a\x00b", "a\x1b[0m", "\udc80", "0123abcd"]
)
def test_what_can_be_no_name(history: History, name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        history.open_session(name)
    trip = history.open_session("trip")
    with pytest.raises(UsageError, match="name"):
        history.rename_session("trip", name)
    assert history.sessions() == [trip]


def test_the_one_used_last_comes_first(history: History) -> None:
    first, second = asked(history, "One?"), asked(history, "Two?")
    assert names(history) == ["two", "one"]
    asked(history, "Three?", first.id)
    assert names(history) == ["one", "two"]
    assert [info.name for info in history.sessions(1)] == ["one"]
    assert history.latest_session() == history.find_session(first.id)
    assert history.find_session(second.id).turns == 1


def test_the_order_does_not_follow_a_clock_that_is_set_back(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hour in (12, 9, 3):
        for module in ("runs", "sessions"):
            time = f"2025-01-01T{hour:02}:00:00+00:00"
            monkeypatch.setattr(f"local_react.history.{module}.now", lambda time=time: time)
        asked(history, f"At {hour}?")
        asked(history, f"Again at {hour}?", "kept")
    assert names(history) == ["kept", "at-3", "at-9", "at-12"]
    assert history.find_session("kept").updated == "2025-01-01T03:00:00+00:00"
    assert [run.question for run in history.runs(session="kept")] == [
        f"Again at {hour}?" for hour in (12, 9, 3)
    ]


def test_a_session_is_found_by_name_id_and_beginning_of_the_id(history: History) -> None:
    info = asked(history, "One?")
    for name in ("one", info.id, info.id[:4], info.id.upper(), " one "):
        assert history.find_session(name) == info
    for name in (info.id[:3], "on", "", "nothing", "'", "%", "*"):
        with pytest.raises(UsageError, match="no session"):
            history.find_session(name)


def test_the_nearest_name_is_told(history: History) -> None:
    with pytest.raises(UsageError, match="none is kept yet"):
        history.find_session("trip")
    history.open_session("trip to Peru")
    with pytest.raises(UsageError, match="did you mean 'trip to Peru'"):
        history.find_session("trip to Perou")
    with pytest.raises(UsageError, match="sessions list"):
        history.find_session("xyz")


def test_a_beginning_of_several_ids_is_told_as_such(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = iter(["abcd0001", "11111111", "abcd0002", "22222222"])
    monkeypatch.setattr("os.urandom", lambda size: bytes.fromhex(next(ids)))
    asked(history, "One?")
    two = asked(history, "Two?")
    with pytest.raises(UsageError, match=r"abcd0001 \(one\), abcd0002 \(two\)"):
        history.find_session("abcd")
    assert history.find_session("abcd0002") == two


def test_a_session_is_renamed(history: History) -> None:
    info = asked(history, "One?")
    other = history.open_session("other")
    renamed = history.rename_session("one", "two")
    assert (renamed.id, renamed.name, renamed.turns) == (info.id, "two", 1)
    assert history.rename_session("two", "two") == renamed
    with pytest.raises(UsageError, match="'other' already"):
        history.rename_session("two", "other")
    with pytest.raises(UsageError, match="no session"):
        history.rename_session("one", "three")
    assert {info.name for info in history.sessions()} == {"two", other.name}


def test_sessions_are_deleted_with_their_runs(history: History) -> None:
    one, two = asked(history, "One?"), asked(history, "Two?")
    alone = history.add(run_of("Alone?"))
    with pytest.raises(UsageError, match="no session"):
        history.delete_session("one", "thre")
    assert len(history.sessions()) == 2
    assert history.delete_session("one", one.id) == [one]
    assert names(history) == ["two"]
    assert [run.question for run in history.runs()] == ["Two?", "Alone?"]
    assert history.runs(session=one.id) == []
    assert history.clear() == 2
    assert not history.sessions() and not history.runs()
    with pytest.raises(UsageError):
        history.run(alone)
    assert asked(history, "Two?").id != two.id


def test_a_session_that_was_deleted_while_it_goes_on_begins_anew(history: History) -> None:
    info = asked(history, "One?")
    history.delete_session("one")
    again = asked(history, "Two?", info.id)
    assert (again.id, again.name, again.turns) == (info.id, "two", 1)


def test_what_is_taken_back_leaves_no_session(history: History) -> None:
    """The name that was made of a question goes with it."""
    info = asked(history, "My secret?")
    asked(history, "The weather?", info.id)
    first, second = history.runs(session=info.id)
    history.remove(first.id)
    assert names(history) == ["the-weather"]
    history.remove(second.id)
    assert history.sessions() == []
    assert asked(history, "And now?", info.id).name == "and-now"


def test_a_name_that_was_chosen_stays_when_all_is_taken_back(history: History) -> None:
    history.add(run_of("Where?"), session="trip")
    history.remove("last")
    assert [(info.name, info.turns) for info in history.sessions()] == [("trip", 0)]


def test_a_long_first_question_is_told_by_its_beginning(history: History) -> None:
    assert asked(history, "long " * 1000).question == ("long " * 1000)[:200]
