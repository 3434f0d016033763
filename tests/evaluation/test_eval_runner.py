"""Questions asked of scripted models: the arms, the rows, several at once, going on."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from local_react import ScriptedModel
from local_react.backends.scripted import ScriptedContext
from local_react.core import Message, Sampling
from local_react.errors import UsageError
from local_react.evaluation.arms import last_answer
from local_react.evaluation.items import Item, QuestionSet
from local_react.evaluation.plan import Plan
from local_react.evaluation.rows import Row, RowFile
from local_react.evaluation.runner import asked
from local_react.evaluation.settings import read_arm

FUNCTION = {
    "name": "geometry.area",
    "description": "d",
    "parameters": {
        "type": "dict",
        "properties": {"base": {"type": "integer"}},
        "required": ["base"],
    },
}
SUMS = QuestionSet("sums", tuple(Item(f"s{n}", f"What is {n} + {n}?", 2 * n, "number")
                                 for n in range(4)))  # fmt: skip


def finish(answer: object) -> str:
    return f'Thought: so.\nAction: Finish {{"answer": "{answer}"}}'


class Adding(ScriptedModel):
    """Answers each sum by looking at the question: as an agent, or with a worked text."""

    def start(self, messages: Sequence[Message], **options: Any) -> ScriptedContext:
        context = super().start(messages, **options)
        number = int(messages[-1].content.split(" + ")[0].split()[-1])
        alone = "Question: " not in messages[-1].content
        text = f"Add 1 and 1.\nAnswer: {2 * number}" if alone else finish(2 * number)
        context.replies = iter([text])
        return context


def plan(*arms: str, sets: Sequence[QuestionSet] = (SUMS,), together: int = 1) -> Plan:
    return Plan(sets, [read_arm(text) for text in arms], "scripted", Sampling(), together)


def rows_of(plan: Plan, model: ScriptedModel) -> list[Row]:
    return list(asked(plan, model, plan.jobs()))


@pytest.mark.parametrize("together", [1, 3])
def test_every_question_is_asked_of_every_arm(together: int) -> None:
    wanted = plan("cot", "agent", together=together)
    rows = rows_of(wanted, Adding([]))
    assert {(row.id, row.arm) for row in rows} == {
        (f"s{n}", arm) for n in range(4) for arm in ("cot", "agent")
    }
    assert all(row.right and not row.error and row.together == together for row in rows)
    assert all(row.seconds >= 0 for row in rows)
    own = wanted.own(rows[::-1])
    assert [row.key for row in own] == [
        ("sums", job.item.id, job.arm.label, "scripted", 0, 0.0) for job in wanted.jobs()
    ]


def test_one_at_a_time_the_arms_take_turns() -> None:
    rows = rows_of(plan("cot", "agent"), Adding([]))
    assert [(row.id, row.arm) for row in rows][:3] == [
        ("s0", "cot"),
        ("s0", "agent"),
        ("s1", "cot"),
    ]


def test_so_many_are_asked_at_once() -> None:
    barrier = threading.Barrier(4, timeout=30)

    class Meeting(Adding):
        def start(self, messages: Sequence[Message], **options: Any) -> ScriptedContext:
            if "Question: " in messages[-1].content:
                barrier.wait()
            return super().start(messages, **options)

    rows = rows_of(plan("agent", together=4), Meeting([]))
    assert [row.error for row in rows] == [""] * 4


def test_a_row_tells_what_the_agent_did() -> None:
    script = ['Thought: add\nAction: calculator {"expression": "1 + 1"}', "no action", finish("2.")]
    questions = QuestionSet("one", (Item("a", "What comes of one and one?", 2, "number"),))
    (row,) = rows_of(plan("agent:tools=calculator", sets=[questions]), ScriptedModel(script))
    assert (row.set, row.id, row.arm) == ("one", "a", "agent:tools=calculator")
    assert (row.answer, row.right, row.ended) == ("2.", True, "finish")
    assert (row.replies, row.calls, row.malformed) == (3, ("calculator",), 1)
    assert row.tokens > 5
    assert row.confidence is None
    assert row.trace[0] == {
        "thought": "add",
        "action": 'calculator {"expression": "1 + 1"}',
        "observation": "2",
    }
    assert row.trace[2]["action"] == "Finish 2."


def test_the_model_alone_is_asked_without_our_format() -> None:
    model = ScriptedModel(["12 it is"], thinking=["hm hm"])
    questions = QuestionSet("one", (Item("a", "q?", 12, "number"),))
    (row,) = rows_of(plan("bare", sets=[questions]), model)
    assert [message.content for message in model.seen] == ["q? Give the number alone."]
    assert model.grammars == [""]
    assert (row.right, row.answer, row.replies, row.tokens) == (True, "12 it is", 1, 5)


def test_a_long_reply_of_the_model_alone_is_cut() -> None:
    questions = QuestionSet("one", (Item("a", "q?", 12, "number"),))
    alone, reasoned = rows_of(
        plan("bare", "cot", sets=[questions]), ScriptedModel(["word " * 1000])
    )
    assert (alone.tokens, reasoned.tokens) == (64, 512)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("3 + 4 = 7\nAnswer: 7", "7"),
        ("**Answer:** 7 apples\nThanks", "7 apples"),
        ("Answer: 6\nno.\nThe answer is: 7", "7"),
        ("Answer:\n\\[\n7\n\\]", "7"),
        ("Answer: ", "Answer: "),
        ("it is 7", "it is 7"),
    ],
)
def test_the_answer_of_a_reasoned_reply(text: str, answer: str) -> None:
    assert last_answer(text) == answer


def calls(kind: str, *wanted: Any) -> QuestionSet:
    expected = {"kind": kind, "ground_truth": list(wanted)}
    item = Item("a", "Area?", expected, "calls", functions=(FUNCTION,))
    return QuestionSet("calls", (item,))


RIGHT = {"geometry.area": {"base": [6]}}


@pytest.mark.parametrize(
    ("questions", "reply", "right"),
    [
        (calls("calls", RIGHT), 'Thought: t\nAction: geometry.area {"base": 6}', True),
        (calls("calls", RIGHT), 'Thought: t\nAction: geometry.area {"base": 7}', False),
        (calls("calls", RIGHT), finish(6), False),
        (calls("no_call"), finish(6), True),
        (calls("no_call"), 'Thought: t\nAction: geometry.area {"base": 6}', False),
    ],
)
def test_of_the_agent_the_first_reply_counts(
    questions: QuestionSet, reply: str, right: bool
) -> None:
    # A second reply would be an IndexError: the script has none.
    (row,) = rows_of(plan("agent", sets=[questions]), ScriptedModel([reply]))
    assert (row.right, row.error, row.replies) == (right, "", 1)


def test_several_calls_of_the_first_reply_count() -> None:
    both = calls("calls", RIGHT, {"geometry.area": {"base": [7]}})
    lines = ['Action: geometry.area {"base": 7}', 'Action: geometry.area {"base": 6}']
    model = ScriptedModel(["\n".join(["Thought: t", *lines])])
    (row,) = rows_of(plan("agent", sets=[both]), model)
    assert (row.right, row.error, row.ended) == (True, "", "calls")
    assert (row.replies, row.calls) == (1, ("geometry.area",) * 2)


def test_a_first_reply_that_does_not_parse_calls_nothing() -> None:
    (row,) = rows_of(plan("agent", sets=[calls("no_call")]), ScriptedModel(["Thought: hm"]))
    assert (row.right, row.malformed, row.ended) == (True, 1, "broken off")


def test_of_the_model_alone_a_list_of_calls_counts() -> None:
    model = ScriptedModel(['[{"name": "geometry.area", "arguments": {"base": 6}}]'])
    (row,) = rows_of(plan("bare", sets=[calls("calls", RIGHT)]), model)
    assert row.right
    assert '"type": "integer"' in model.seen[0].content


def test_an_arm_that_does_not_fit_is_left_out() -> None:
    sets = [SUMS, calls("no_call")]
    jobs = plan("cot", "retrieval", "agent:tools=none", "agent", sets=sets).jobs()
    assert {(job.questions.name, job.arm.label) for job in jobs} == {
        ("sums", "cot"),
        ("sums", "agent:tools=none"),
        ("sums", "agent"),
        ("calls", "agent"),
    }


def test_passages_of_the_documents_are_shown(tmp_path: Path, own_places: None) -> None:
    corpus = tmp_path / "corpus.jsonl"
    lines = [{"title": "Fuel", "text": "Fuel is a band of Brett Scallions."},
             {"title": "Oil/2", "text": "Oil is burnt in engines."}]  # fmt: skip
    corpus.write_text("\n".join(map(json.dumps, lines)))
    item = Item("a", "Whose band is Fuel?", "Brett Scallions", "text")
    questions = QuestionSet("words", (item,), (corpus,))
    model = ScriptedModel(["Brett Scallions"])
    (row,) = rows_of(plan("retrieval", sets=[questions]), model)
    assert row.scores == {"em": 1.0, "f1": 1.0}
    assert "Fuel\nFuel is a band" in model.seen[0].content

    script = ['Thought: look\nAction: search_documents {"query": "engines"}', finish("Scallions")]
    model = ScriptedModel(script)
    (row,) = rows_of(plan("agent:tools=search_documents", sets=[questions]), model)
    assert any("Oil is burnt" in part["observation"] for part in row.trace)
    assert row.scores["f1"] == pytest.approx(2 / 3)


def test_documents_that_are_none_are_told(tmp_path: Path, own_places: None) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"name": 1}\n')
    questions = QuestionSet("words", SUMS.items, (corpus,))
    with pytest.raises(UsageError, match=r"corpus\.jsonl cannot be read"):
        rows_of(plan("agent", sets=[questions]), Adding([]))


def test_an_error_is_a_row_and_the_others_go_on() -> None:
    class Failing(Adding):
        def start(self, messages: Sequence[Message], **options: Any) -> ScriptedContext:
            if "2 + 2" in messages[-1].content:
                raise RuntimeError("no such number")
            return super().start(messages, **options)

    rows = rows_of(plan("cot", together=2), Failing([]))
    (failed,) = [row for row in rows if row.error]
    assert (failed.id, failed.right, failed.error) == ("s2", False, "RuntimeError: no such number")
    assert sum(row.right for row in rows) == 3


def test_a_wrong_setting_is_told_before_anything_is_asked() -> None:
    model = Adding([])
    with pytest.raises(UsageError, match="max-steps must be 1 or more"):
        rows_of(plan("cot", "agent:max_steps=0"), model)
    assert model.seen == []


def test_left_early_what_is_under_way_is_cancelled() -> None:
    cancelled = []

    class Endless(Adding):
        def start(self, messages: Sequence[Message], **options: Any) -> ScriptedContext:
            context = super().start(messages, **options)
            if "0 + 0" not in messages[-1].content:
                assert context.cancel.wait(30)
                cancelled.append(messages[-1].content)
            return context

    rows = asked(plan("cot", together=2), Endless([]), plan("cot", together=2).jobs())
    assert next(rows).id == "s0"
    rows.close()
    assert cancelled


class TestGoingOn:
    """What is in a file is not asked again."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> RowFile:
        return RowFile(tmp_path / "rows.jsonl")

    @pytest.fixture
    def kept(self, file: RowFile) -> list[Row]:
        rows = rows_of(plan("cot"), Adding([]))
        for row in rows:
            file.append(row)
        return rows

    def test_rows_are_read_as_they_were(self, file: RowFile, kept: list[Row]) -> None:
        assert file.read() == kept
        assert plan("cot").split(file.read()) == (kept, [])

    def test_a_line_that_was_cut_is_asked_again(self, file: RowFile, kept: list[Row]) -> None:
        assert file.path is not None
        file.path.write_bytes(file.path.read_bytes()[:-40])
        found, missing = plan("cot").split(file.read())
        assert found == kept[:3]
        assert [job.item.id for job in missing] == ["s3"]
        file.append(kept[3])
        assert file.read() == kept

    def test_a_line_cut_inside_a_character(self, file: RowFile, kept: list[Row]) -> None:
        assert file.path is not None
        with file.path.open("ab") as out:
            out.write('{"id": "€'.encode()[:-1])
        assert file.read() == kept

    def test_another_arm_seed_or_temperature_is_another(self, kept: list[Row]) -> None:
        assert len(plan("cot", "bare").split(kept)[1]) == 4
        arms = [read_arm("cot")]
        for sampling in (Sampling(seed=1), Sampling(temperature=0.5)):
            assert len(Plan([SUMS], arms, "scripted", sampling).split(kept)[1]) == 4
        assert len(Plan([SUMS], arms, "other", Sampling()).split(kept)[1]) == 4

    def test_a_question_with_another_answer_is_asked_again(self, kept: list[Row]) -> None:
        items = (Item("s0", "What is 0 + 0?", 1, "number"), *SUMS.items[1:])
        missing = plan("cot", sets=[QuestionSet("sums", items)]).split(kept)[1]
        assert [job.item.id for job in missing] == ["s0"]

    def test_an_error_is_tried_again(self) -> None:
        class Failing(Adding):
            def start(self, messages: Sequence[Message], **options: Any) -> ScriptedContext:
                raise RuntimeError("no memory")

        rows = rows_of(plan("cot"), Failing([]))
        assert len(plan("cot").split(rows)[1]) == 4

    def test_without_a_path_nothing_is_kept(self, kept: list[Row]) -> None:
        RowFile(None).append(kept[0])
        assert RowFile(None).read() == []

    def test_a_file_of_something_else_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text('{"question": "q"}\nwords\n')
        with pytest.raises(UsageError, match="holds no results"):
            RowFile(path).read()

    def test_a_place_that_cannot_be_written_is_told(self, tmp_path: Path, kept: list[Row]) -> None:
        with pytest.raises(UsageError, match="cannot be written"):
            RowFile(tmp_path / "no" / "rows.jsonl").append(kept[0])
