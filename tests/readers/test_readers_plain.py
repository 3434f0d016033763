"""Plain text: its characters, its lines, and what is no text."""

from __future__ import annotations

from pathlib import Path

import pytest
from reader_files import png

from local_react.readers import Document, Part, Unreadable, read_bytes, read_file

RUSSIAN = "Это русский текст. Москва является столицей России."
JAPANESE = "これは日本語の文章です。東京は日本の首都であり、人口は多い。"
CHINESE = "这是一个中文文件。北京是中华人民共和国的首都。"
KOREAN = "이것은 한국어 문서입니다. 서울은 대한민국의 수도이다."
GREEK = "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας και η μεγαλύτερη πόλη."
POLISH = "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i praw."
FRENCH = "Le café était fermé, alors nous sommes allés près de l'église."
ENGLISH = "It costs 5 € – “cheap”, isn’t it?"


def text_of(data: bytes, name: str = "a.txt") -> str:
    (part,) = read_bytes(data, name=name).parts
    return part.text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("alpha beta", "ascii"),
        ("café gamma", "utf-8"),
        ("café gamma", "cp1252"),
        ("naïve", "latin-1"),
        ("Müller, Zürich", "cp1252"),
        (ENGLISH, "cp1252"),
        (FRENCH, "cp1252"),
        (FRENCH, "mac-roman"),
        (FRENCH, "cp850"),
        (POLISH, "cp1250"),
        (POLISH, "iso8859-2"),
        ("Привет, мир", "koi8-r"),
        ("Привет, мир", "cp1251"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "cp866"),
        (f"return total  # {RUSSIAN}", "koi8-r"),
        (GREEK, "cp1253"),
        ("東京", "shift_jis"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc-jp"),
        (f"x = 1  # {JAPANESE}", "shift_jis"),
        ("你好，世界！今天天气很好。", "gb18030"),
        (CHINESE, "gb18030"),
        ("這是一個中文檔案。臺北是臺灣的首都，人口超過兩百萬。", "big5"),
        (KOREAN, "euc-kr"),
        ("القاهرة هي عاصمة مصر وأكبر مدينة في العالم العربي", "cp1256"),
        ("ירושלים היא בירת ישראל והעיר הגדולה ביותר בה", "cp1255"),
        ("กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย", "cp874"),
        (ENGLISH, "utf-16"),
        (ENGLISH, "utf-16-le"),
        (ENGLISH, "utf-16-be"),
        (ENGLISH, "utf-32"),
        (CHINESE, "utf-16"),
        (CHINESE, "utf-8-sig"),
    ],
)
def test_text_in_any_usual_encoding_is_read(text: str, encoding: str) -> None:
    assert text_of(text.encode(encoding)) == text
    often = "\n".join([text] * 30)
    assert text_of(often.encode(encoding)) == often


def test_letters_far_from_the_start_decide_the_encoding() -> None:
    start = "plain words only\n" * 20_000
    assert text_of((start + RUSSIAN).encode("koi8-r")).endswith(RUSSIAN)
    long_line = CHINESE * 1000
    assert text_of(long_line.encode("gb18030")) == long_line


def test_one_bad_byte_leaves_utf8_as_it_is() -> None:
    data = f"{CHINESE}\n{RUSSIAN}".encode()
    assert text_of(data[:-1]).startswith(CHINESE)
    assert text_of(data + b"\xff end") == f"{CHINESE}\n{RUSSIAN}\ufffd end"


def test_a_server_says_the_encoding() -> None:
    data = "ÄÖÜ".encode("cp1252")
    found = read_bytes(data, content_type="text/plain; charset=KOI8-R")
    assert found.parts[0].text == data.decode("koi8-r")
    for nonsense in ("no-such", "zip", "idna", "unicode_escape", "", '"', "\x00"):
        shown = read_bytes(b"caf\xe9", content_type=f"text/plain; charset={nonsense}")
        assert shown.parts[0].text == "café"


def test_lines_are_those_of_an_editor() -> None:
    data = b"one\r\ntwo\rthree\n\nfive\x0cstill five\x0bstill\nsix\xc2\x85six\xe2\x80\xa8six"
    text = text_of(data)
    assert text.split("\n") == [
        *("one", "two", "three", "", "five still five still", "six six six"),
    ]
    assert text.splitlines() == text.split("\n")


def test_terminal_colours_are_left_out() -> None:
    assert text_of(b"\x1b[1;31merror\x1b[0m: no\n", "build.log") == "error: no\n"


def test_nuls_of_a_crash_are_dropped() -> None:
    assert text_of(b"word " * 1000 + b"\x00\x00end") == "word " * 1000 + "end"


def test_json_escapes_are_shown_as_characters() -> None:
    data = rb'{"a": "caf\u00e9 \ud83d\ude00 \u5317", "b": "\u0022\u000a\\u00e9 \\\u00e9"}'
    assert text_of(data, "a.json") == '{"a": "café 😀 北", "b": "\\u0022\\u000a\\\\u00e9 \\\\é"}'
    assert "\\u00e9" in text_of(data, "a.py")


def test_alone_surrogates_can_be_stored() -> None:
    text = text_of(rb'"\ud83d"', "a.json")
    assert text.encode() == '"\ufffd"'.encode()


@pytest.mark.parametrize(
    ("name", "data", "title"),
    [
        ("a.md", b"intro\n\n# The plan #\n\ntext", "The plan"),
        ("a.md", b"## No title\n", ""),
        ("a.py", b"# a comment\nx = 1\n", ""),
        ("a.tex", rb"\documentclass{article}\title{On tools}", "On tools"),
    ],
)
def test_titles(name: str, data: bytes, title: str) -> None:
    assert read_bytes(data, name=name).title == title


@pytest.mark.parametrize("name", "a.txt a.csv a.jsonl a.rs a.srt a.yaml a.unknown README".split())
def test_a_text_file_is_one_part_from_line_1(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"a,b\n1,2\n")
    assert read_file(path) == Document("", "", (Part("a,b\n1,2\n", "line", 1),))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \r\n\t\x00 ", "empty"),
        (png(), "a picture, not text"),
        (bytes(range(256)) * 9, "not text: binary data"),
        (b"text\x00\x01\x02\x03 and more", "not text: binary data"),
        (b"\xff\xfe" + b"\x01\x00\x02\x00" * 50, "not text: binary data"),
        (b"\x1f\x8b\x08 anything", "an archive: unpack it and add what it holds"),
        (b"\x7fELF\x02 anything", "a program, not text"),
        (b"GGUF\x03 anything", "a model, not text"),
        (b"SQLite format 3\x00 anything", "a database, not text"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt", "sound or video, not text"),
    ],
)
def test_what_is_no_text_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_bytes(data, name="a.txt")
    assert str(caught.value) == reason


@pytest.mark.parametrize("seed", range(40))
def test_noise_is_no_text(seed: int) -> None:
    import random

    with pytest.raises(Unreadable):
        read_bytes(random.Random(seed).randbytes(400))
