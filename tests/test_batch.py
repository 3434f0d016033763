"""Questions from a file, and the file of their results: what is read, kept and refused."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from threading import Event as Flag
from typing import Any

import pytest

from local_react.aside import side_by_side
from local_react.batch import Item, Results, Told, answered, read_items
from local_react.errors import ContextFull, ModelError, UsageError

SETTINGS = {"model": "m", "wanted": ("calculator",)}
TOLD = {"answer": "4", "exit_code": 0}


# -- the input -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "item"),
    [
        (b'{"question": " 2 + 2? "}', Item(1, "2 + 2?")),
        (b'{"prompt": "q", "id": 7}', Item(1, "q", 7)),
        (b'{"id": "a", "question": "q", "expected": 12}', Item(1, "q", "a", {"expected": 12})),
        (b'{"question": "q", "prompt": "p"}', Item(1, "q", rest={"prompt": "p"})),
        (b'{"question": "q", "id": null}', Item(1, "q")),
        (b'\xef\xbb\xbf{"question": "caf\xc3\xa9"}\r\n', Item(1, "café")),
        ('{"question": "é"}'.encode("utf-16"), Item(1, "é")),
        (b'{"question": "\\ud83d\\ude00"}', Item(1, "😀")),
    ],
)
def test_a_line_asks_a_question(line: bytes, item: Item) -> None:
    assert read_items(line) == [item]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"What is 2 + 2?", "it is no JSON"),
        (b'{"question": "q"', "it is no JSON"),
        (b'{"question": "q", "n": NaN}', "it is no JSON"),
        (b'{"question": "q", "n": ' + b"9" * 5000 + b"}", "it is no JSON"),
        (b"[" * 100_000, "it is no JSON"),
        (b'["q"]', "it is no JSON object"),
        (b'"q"', "it is no JSON object"),
        (b'{"id": "a"}', "it has no question"),
        (b'{"question": "  "}', "it has no question"),
        (b'{"question": 5}', "it has no question"),
        (b'{"question": "q", "id": true}', "its id is neither"),
        (b'{"question": "q", "id": [1]}', "its id is neither"),
        (b'{"question": "q", "id": 1.5}', "its id is neither"),
        (b'{"question": "caf\xe9"}', "it is no text in UTF-8"),
        (b'{"question": "\\ud800"}', "it is no text in UTF-8"),
    ],
)
def test_a_line_that_cannot_be_asked_says_why_and_stops_no_other(line: bytes, fault: str) -> None:
    before, bad, after = read_items(b'{"question": "a"}\n' + line + b'\n{"question": "b"}')
    assert bad.fault.startswith(fault)
    assert (before, after) == (Item(1, "a"), Item(3, "b"))


def test_blank_lines_are_no_questions_but_count_as_lines() -> None:
    data = b'\n{"question": "a"}\n \n\n{"question": "b"}\n'
    assert [(item.line, item.question) for item in read_items(data)] == [(2, "a"), (5, "b")]
    assert read_items(b"") == read_items(b"\n\n") == []


def test_as_text_a_line_is_the_question() -> None:
    data = b'Is 7 a prime?\r\n\n{"question": "q"}\n'
    found = [(item.line, item.question) for item in read_items(data, as_text=True)]
    assert found == [(1, "Is 7 a prime?"), (3, '{"question": "q"}')]


def test_a_question_may_stand_there_twice_but_not_an_id() -> None:
    same = read_items(b'{"question": "q"}\n{"question": "q"}\n')
    assert len({item.name for item in same}) == 2
    first, second, other = read_items(
        b'{"question": "q", "id": 1}\n{"question": "r", "id": 1}\n{"question": "q", "id": "1"}\n'
    )
    assert (first.fault, other.fault) == ("", "")
    assert second.fault == "its id 1 is that of line 1 too"
    assert second.result({"error": second.fault, "exit_code": 2}, {})["id"] == 1


# -- the results -----------------------------------------------------------------------


def items(count: int = 3) -> list[Item]:
    return [Item(n, f"q{n}", f"i{n}" if n % 2 else None) for n in range(1, count + 1)]


def line(item: Item, told: Told = TOLD, settings: Any = SETTINGS) -> str:
    return json.dumps(item.result(told, settings))


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path / "out.jsonl")


def names(results: Results, **options: Any) -> list[str]:
    return [done.name for done in results.go_on(items(), SETTINGS, **options)]


def test_what_was_added_is_there(results: Results) -> None:
    assert names(results) == []
    assert not results.path.exists()
    for item in items():
        results.append(line(item))
    assert names(results) == ['id "i1"', "line 2", 'id "i3"']
    assert [json.loads(text)["line"] for text in results.path.read_text().splitlines()] == [1, 2, 3]


def test_a_result_tells_what_it_answers_and_how_it_was_made() -> None:
    told = Item(4, "q", None, {"expected": 2}).result(TOLD, SETTINGS)
    assert list(told) == ["id", "line", "question", "answer", "exit_code", "settings", "input"]
    assert (told["line"], told["input"]) == (4, {"expected": 2})
    assert "input" not in Item(4, "q").result(TOLD, SETTINGS)


def test_wherever_the_last_line_was_cut_the_others_are_kept(results: Results) -> None:
    first, last = f"{line(items()[0])}\n".encode(), f"{line(items()[1])}\n".encode()
    for cut in range(len(last) + 1):
        results.path.write_bytes(first + last[:cut])
        whole = cut >= len(last) - 1  # all but the end of the line
        assert len(names(results)) == 1 + whole
        assert results.path.read_bytes() == first + (last if whole else b"")


@pytest.mark.parametrize("zeros", [b"\0" * 100, b'{"id": null, "li' + b"\0" * 100])
def test_what_a_power_cut_leaves_at_the_end_is_dropped(results: Results, zeros: bytes) -> None:
    results.append(line(items()[0]))
    kept = results.path.read_bytes()
    results.path.write_bytes(kept + zeros)
    assert names(results) == ['id "i1"']
    assert results.path.read_bytes() == kept
    results.append(line(items()[1]))
    assert names(results) == ['id "i1"', "line 2"]


def test_what_ended_in_an_error_is_tried_again(results: Results) -> None:
    first, second, third = items()
    results.append(line(first))
    results.append(line(second, {"error": "no", "exit_code": 2}, {"model": "another"}))
    results.append(line(third))
    with results.path.open("ab") as file:
        file.write(b'{"id": "i')
    results.path.chmod(0o640)
    assert names(results) == ['id "i1"', 'id "i3"']
    assert results.path.read_text() == f"{line(first)}\n{line(third)}\n"
    assert results.path.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in results.path.parent.iterdir()] == ["out.jsonl"]


OTHERS = [
    Item(1, "another question", "i1"),
    Item(2, "another question"),
    Item(3, "q3", "another id"),
    Item(9, "q2"),
]


@pytest.mark.parametrize("other", OTHERS, ids=lambda item: item.name)
def test_a_file_made_from_other_questions_is_refused_and_left_alone(
    results: Results, other: Item
) -> None:
    results.append(line(items()[0]))
    results.append(line(other))
    results.append(line(items()[2], {"error": "no", "exit_code": 2}))
    before = results.path.read_bytes()
    with pytest.raises(UsageError, match="answers another question at") as told:
        names(results)
    assert "\n" not in str(told.value)
    assert results.path.read_bytes() == before


def test_with_force_it_keeps_the_others_and_goes_on(results: Results) -> None:
    results.append(line(items()[0]))
    results.append(line(OTHERS[1]))
    results.append(line(items()[2], settings={"model": "another"}))
    before = results.path.read_bytes()
    assert names(results, force=True) == ['id "i1"', 'id "i3"']
    assert results.path.read_bytes() == before


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({**SETTINGS, "model": "n"}, 'model "n" and not "m"'),
        ({**SETTINGS, "temperature": 0.7}, 'temperature 0.7 and not "unset"'),
        ({"model": "m"}, r'wanted "unset" and not \["calculator"\]'),
    ],
)
def test_other_settings_are_refused_by_name(
    results: Results, settings: dict[str, Any], told: str
) -> None:
    results.append(line(items()[0], settings=settings))
    with pytest.raises(UsageError, match=f"was made with {told}"):
        names(results)


@pytest.mark.parametrize(
    "held",
    [
        b"my notes\n",
        b"my notes",
        b'{"question": "q"}\n',
        b'{"id": null, "line": 1, "question": "q"}\n',
        b'{"id": "i1", \n',
        b"[1]\n",
    ],
)
def test_a_file_that_holds_something_else_is_never_touched(results: Results, held: bytes) -> None:
    results.path.write_bytes(held)
    for force in (False, True):
        with pytest.raises(UsageError, match="holds something else"):
            names(results, force=force)
    assert results.path.read_bytes() == held


def test_an_empty_file_is_a_new_one(results: Results) -> None:
    results.path.touch()
    assert names(results) == []
    assert results.path.read_bytes() == b""


def test_a_line_that_an_editor_left_blank_is_none(results: Results) -> None:
    results.path.write_text(f"{line(items()[0])}\r\n\r\n{line(items()[1])}")
    assert names(results) == ['id "i1"', "line 2"]
    assert results.path.read_bytes().endswith(b"}\n")


def test_one_process_at_a_time(results: Results) -> None:
    with results.alone():
        with pytest.raises(UsageError, match="another batch is writing"), results.alone():
            pass
        results.append(line(items()[0]))
    with results.alone():
        pass
    assert [path.name for path in results.path.parent.iterdir()] == ["out.jsonl"]


def test_where_nothing_can_be_written_it_says_so(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match="there is no folder"),
        Results(tmp_path / "none" / "out").alone(),
    ):
        pass
    with pytest.raises(UsageError, match="is no file"):
        Results(tmp_path).go_on(items(), SETTINGS)
    with pytest.raises(UsageError, match="cannot be written: "):
        Results(tmp_path).append("{}")


# -- the asking ------------------------------------------------------------------------


def told_of(asked: list[Item], ask: Any, together: int = 1) -> dict[str, Told]:
    return {item.question: told for item, told in answered(asked, ask, together)}


def test_an_error_of_one_is_told_and_the_others_go_on() -> None:
    def ask(question: str, cancel: Flag) -> Told:
        if question == "q1":
            raise ContextFull("too long")
        if question == "q2":
            raise KeyError("x")
        return TOLD

    told = told_of([*items(3), Item(4, "q4", fault="it is no JSON")], ask, together=2)
    assert told["q1"] == {"error": "too long", "exit_code": 2}
    assert told["q2"] == {"error": "internal error: KeyError: 'x'", "exit_code": 1}
    assert told["q3"] == TOLD
    assert told["q4"] == {"error": "it is no JSON", "exit_code": 2}


def test_a_model_that_fails_ends_it() -> None:
    def ask(question: str, cancel: Flag) -> Told:
        raise ModelError("it is gone")

    with pytest.raises(ModelError, match="it is gone"):
        told_of(items(), ask)


def test_so_many_are_asked_at_once_and_no_more() -> None:
    meeting, under_way, most = threading.Barrier(3, timeout=30), list[str](), list[int]()

    def ask(question: str, cancel: Flag) -> Told:
        under_way.append(question)
        most.append(len(under_way))
        meeting.wait()
        under_way.remove(question)
        return TOLD

    assert len(told_of(items(6), ask, together=3)) == 6
    assert max(most) <= 3


def test_one_after_the_other_keeps_the_order() -> None:
    asked = [item for item, _ in answered(items(9), lambda question, cancel: TOLD, 1)]
    assert asked == items(9)


def test_left_early_it_tells_those_under_way() -> None:
    cancelled = threading.Semaphore(0)

    def ask(question: str, cancel: Flag) -> Told:
        if question != "q1":
            cancel.wait()
            cancelled.release()
        return TOLD

    told = answered(items(9), ask, 3)
    assert next(told)[0].question == "q1"
    told.close()
    assert cancelled.acquire(timeout=30)
    assert cancelled.acquire(timeout=30)


def test_nobody_waits_for_ever_for_one_that_does_not_notice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("local_react.aside._PATIENCE", 0.05)
    stuck, started = Flag(), Flag()

    def work(number: int) -> int:
        if number:
            started.set()
            stuck.wait()
        return number

    told = side_by_side(work, range(3), 2, Flag())
    assert next(told) == (0, 0)
    assert started.wait(30)
    told.close()  # it comes back
    assert not stuck.is_set()
    stuck.set()


def test_an_id_that_is_there_twice_costs_the_first_nothing(results: Results) -> None:
    text = b'{"question": "a", "id": 1}\n{"question": "b", "id": 1}\n'
    first, twin = read_items(text)
    assert (first.fault, "line 1" in twin.fault, first.name == twin.name) == ("", True, False)
    for _ in range(2):  # the same call again goes on from there
        done = results.go_on([first, twin], SETTINGS)
        for item in (first, twin):
            if item.name not in {one.name for one in done}:
                error = {"error": item.fault, "exit_code": 2}
                told = error if item.fault else {"answer": "x", "exit_code": 0}
                results.append(json.dumps(item.result(told, SETTINGS)))
    assert [one.name for one in results.go_on([first, twin], SETTINGS)] == [first.name]


def test_a_number_that_json_cannot_hold_is_a_fault() -> None:
    assert read_items(b'{"question": "a", "x": 1e999}')[0].fault
