"""Words as the index has them: the same of a text and of a question about it."""

from __future__ import annotations

import sqlite3

import pytest

from local_react.words import TOKENIZER, Word, asked, indexed, spaced_words, telling


def finds(text: str, question: str) -> bool:
    """Say whether every word of the question is found in the text, through FTS5."""
    connection = sqlite3.connect(":memory:")
    connection.execute(f'CREATE VIRTUAL TABLE t USING fts5(body, tokenize="{TOKENIZER}")')
    connection.execute("INSERT INTO t VALUES (?)", (indexed(text),))
    query = " AND ".join(word.query for word in asked(question))
    rows = connection.execute("SELECT * FROM t WHERE t MATCH ?", (query,)).fetchall()
    connection.close()
    return bool(rows)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The runners were running", "runner run"),
        ("un café à Zürich", "cafe zurich"),
        ("un cafe\u0301", "café"),
        ("read_file(path)", "read file"),
        ("北京是中国的首都", "北京"),
        ("北京是中国的首都", "首都"),
        ("北京是中国的首都", "中国的首都"),
        ("猫很可爱", "猫"),
        ("这是猫", "猫"),
        ("東京タワーは高い", "東京タワー"),
        ("서울은 한국의 수도이다", "서울"),
        ("ภาษาไทยเป็นภาษาที่มีระดับเสียง", "ภาษาไทย"),
        ("ລາວເປັນພາສາ", "ພາສາ"),
        ("ភាសាខ្មែរ", "ខ្មែរ"),
        ("မြန်မာဘာသာ", "ဘာသာ"),
        ("Python 是一种语言 for everyone", "python 语言"),
        ("हिन्दी भाषा", "भाषा"),
        ("كِتَابٌ جديد", "كتاب"),
        ("ＡＢＣ １２３", "abc 123"),
        ("Привет, мир", "мир"),
    ],
)
def test_is_found(text: str, question: str) -> None:
    assert finds(text, question)


@pytest.mark.parametrize(
    ("text", "question"),
    [("北京是中国的首都", "东京"), ("北京", "京北"), ("हिन्दी", "हिन्दू"), ("a cat", "dog")],
)
def test_is_not_found(text: str, question: str) -> None:
    assert not finds(text, question)


def test_a_single_character_stands_for_what_begins_with_it() -> None:
    assert asked("猫 cat") == [Word("猫", begins=True), Word("cat")]


@pytest.mark.parametrize("question", ["AND OR NOT", "NEAR(a b)", "a* -b ^c", "title: x", 'a "b'])
def test_signs_of_a_question_mean_nothing(question: str) -> None:
    assert finds("and or not near a b c title x", question)


@pytest.mark.parametrize("question", ['"', "((", "*", "", "?!"])
def test_signs_alone_are_no_words(question: str) -> None:
    assert asked(question) == []


def test_words_that_tell_nothing_go_unless_there_are_no_others() -> None:
    assert telling(asked("Who is the man of the year?")) == [Word("man"), Word("year")]
    assert [word.text for word in telling(asked("Who is it"))] == ["who", "is", "it"]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Who works in IT?", ["works", "it"]),
        ("Is it in?", ["is", "it", "in"]),
        ("WHO WORKS IN IT?", ["works"]),
        ("What does the WHO say?", ["who", "say"]),
    ],
)
def test_a_word_in_capitals_is_a_name(question: str, told: list[str]) -> None:
    assert [word.text for word in telling(asked(question))] == told


def test_words_of_an_indexed_text() -> None:
    assert spaced_words("It's a Test_case, 42") == ["it", "s", "a", "test", "case", "42"]
    assert spaced_words("Déjà vu – हिन्दी") == ["déjà", "vu", "हिन्दी"]
