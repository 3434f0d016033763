"""The sets of a data folder, and files of a user's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from local_react.errors import UsageError
from local_react.evaluation.sets import BRIEFLY, NAMES, data_folder, read_own, read_set

CALL = {"kind": "calls", "ground_truth": [{"f": {"x": [1]}}]}
FUNCTION = {"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {}}}


def write(path: Path, *lines: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def bfcl(number: int, category: str, *contents: str) -> dict[str, Any]:
    return {
        "id": f"{category}_{number}",
        "category": category,
        "question": contents[-1],
        "messages": [{"role": "user", "content": content} for content in contents],
        "functions": [FUNCTION, FUNCTION],
        "expected": CALL,
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    line = {"id": "a", "question": "How many?", "answer": 4}
    write(tmp_path / "gsm8k" / "public.jsonl", line, {**line, "id": "b"})
    write(tmp_path / "hotpotqa" / "public.jsonl", {**line, "answer": "four"})
    write(tmp_path / "hotpotqa_corpus" / "corpus_public.jsonl", {"title": "T", "text": "words"})
    write(tmp_path / "fever" / "public.jsonl", {**line, "answer": "REFUTES"})
    write(
        tmp_path / "bfcl" / "public.jsonl",
        bfcl(1, "simple_python", "Act as if it were May.", "Call it."),
        bfcl(2, "multiple", "Call one."),
    )
    return tmp_path


def test_a_set_is_read(data: Path) -> None:
    numbers = read_set("gsm8k", data)
    assert [(item.id, item.question, item.scorer) for item in numbers.items] == [
        ("a", "How many?", "number"),
        ("b", "How many?", "number"),
    ]
    assert not numbers.documents
    assert [item.id for item in numbers.first(1).items] == ["a"]
    assert numbers.first(None) == numbers
    assert "REFUTES" in read_set("fever", data).items[0].question


def test_a_set_with_documents_takes_more(data: Path, tmp_path: Path) -> None:
    found = read_set("hotpotqa", data, documents=[tmp_path / "more.jsonl"])
    assert [path.name for path in found.documents] == ["corpus_public.jsonl", "more.jsonl"]
    assert found.items[0].question == f"How many? {BRIEFLY}"


def test_calls_are_of_one_category_and_all_turns_are_asked(data: Path) -> None:
    (item,) = read_set("bfcl-simple", data).items
    assert item.question == "Act as if it were May.\n\nCall it."
    assert item.functions == (FUNCTION,)
    assert read_set("bfcl-multiple", data).calls_functions


def test_another_file_of_a_sets_format(data: Path) -> None:
    held = write(data / "held.jsonl", {"id": "h", "question": "q", "answer": 1})
    assert [item.id for item in read_set("gsm8k", data, file=held).items] == ["h"]


@pytest.mark.parametrize(
    ("name", "lines", "told"),
    [
        ("gsm9k", [], "did you mean gsm8k?"),
        ("zzz", [], "the sets are gsm8k, svamp"),
        ("svamp", [], "LOCAL_REACT_DATA"),
        ("gsm8k", [{"question": "q"}], "not in the format of gsm8k"),
        ("gsm8k", [], "holds no question of gsm8k"),
        ("bfcl-parallel", None, "holds no question of bfcl-parallel"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_line(
    data: Path, name: str, lines: list[Any] | None, told: str
) -> None:
    if lines is not None and name != "svamp":
        write(data / name / "public.jsonl", *lines)
    with pytest.raises(UsageError) as raised:
        read_set(name, data)
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_of_ones_own_is_scored_by_its_answers(tmp_path: Path) -> None:
    own = write(
        tmp_path / "mine.jsonl",
        {"question": "2 + 2?", "answer": 4},
        {"question": "Is it?", "answer": "Yes"},
        {"question": "Is it not?", "answer": False},
        {"question": "Who?", "answer": "Jane", "id": 7},
        {"question": "Which?", "answer": ["a", "b"]},
        {"question": "2 + 2?", "answer": 5},
    )
    found = read_own(own)
    assert found.name == "mine"
    assert [item.scorer for item in found.items] == [
        "number", "yesno", "yesno", "text", "text", "number",
    ]  # fmt: skip
    assert found.items[2].expected == "no"
    assert found.items[3].id == "7"
    assert found.items[5].id == f"{found.items[0].id}#2"
    assert found.items[3].question == f"Who? {BRIEFLY}"


def test_an_id_is_the_questions_wherever_it_stands(tmp_path: Path) -> None:
    lines = [{"question": "a", "answer": 1}, {"question": "b", "answer": 1}]
    there = read_own(write(tmp_path / "x.jsonl", *lines)).items
    back = read_own(write(tmp_path / "y.jsonl", *lines[::-1])).items
    assert [item.id for item in there] == [item.id for item in back][::-1]


def test_a_scorer_is_named(tmp_path: Path) -> None:
    lines = [{"question": "a", "answer": "cat"}, {"question": "b", "answer": "dog"}]
    found = read_own(write(tmp_path / "x.jsonl", *lines), scorer="label")
    assert found.items[0].choices == ("cat", "dog")
    assert found.items[0].question == "a Answer with one of: cat, dog."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"question": "a"}', "line 1: it should be like"),
        ('{"question": "", "answer": 1}', "line 1"),
        ('{"question": "a", "answer": 1}\n\n["a"]', "line 3"),
        ('{"question": "a", "answer": null}', "line 1"),
        ('{"question": "a", "answer": []}', "line 1"),
        ('{"question": "a", "answer": ', "line 1 is no JSON"),
        ("", "holds no question"),
        ("\xff", "it is not UTF-8"),
    ],
)
def test_a_line_that_is_none_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=told):
        read_own(path)


def test_a_scorer_that_cannot_use_the_answer_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", {"question": "a", "answer": "cat"})
    for scorer in ("number", "yesno"):
        with pytest.raises(UsageError, match=f"the scorer {scorer} cannot use 'cat'"):
            read_own(path, scorer=scorer)


def test_the_data_folder_is_named_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_REACT_DATA", "/elsewhere")
    assert data_folder() == Path("/elsewhere")
    monkeypatch.delenv("LOCAL_REACT_DATA")
    assert data_folder().parts[-2:] == ("shared", "data")


def test_the_sets_that_are_here_can_all_be_read() -> None:
    if not data_folder().is_dir():
        pytest.skip("SKIPPED, the data folder is missing")
    for name in NAMES:
        found = read_set(name, data_folder())
        assert len({item.id for item in found.items}) == len(found.items) > 0
