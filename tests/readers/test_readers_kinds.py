"""Kinds of files: by their content first; and the rules for opening them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from reader_files import docx, epub, odt, pdf, pdf_text, png, word_paragraph, xhtml, zipped

import local_react.readers.reading as reading
from local_react.readers import Unreadable, kind_of, read_bytes, read_file

PAGE = b"<!-- saved -->\n<!DOCTYPE HTML>\n<html><title>T</title><body><p>alpha</p></body></html>"


def reason(data: bytes, name: str = "") -> str:
    with pytest.raises(Unreadable) as caught:
        read_bytes(data, name=name)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "text") for name in ("a.txt", "B.MD", "x.tar.py", "README", ".bashrc", "a.ts")),
        *((name, "text") for name in ("a.log.1", "notes", "a.csv", "a.xml", "dir.d/Makefile")),
        *((f"a.{kind}", kind) for kind in ("html", "pdf", "docx", "odt", "epub", "eml", "rtf")),
        ("a.HTM", "html"),
        *((f"a.{no}", None) for no in ("png", "JPG", "zip", "tar.gz", "exe", "so", "gguf")),
        *((f"a.{no}", None) for no in ("safetensors", "mp3", "mp4", "pst", "pyc", "woff2")),
        # Of these a person wants to hear why: they are tried.
        *((f"a.{old}", "text") for old in ("xlsx", "doc", "msg", "mbox", "pptx")),
    ],
)
def test_a_name_promises_a_kind(name: str, kind: str | None) -> None:
    assert kind_of(name) == kind
    assert kind_of(Path("some") / name) == kind


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.docx", "a", "a.pdf", "a.html"])
def test_content_decides_before_the_name(name: str) -> None:
    page_name = name if name != "a.html" else "a.md"
    assert read_bytes(PAGE, name=page_name).parts[0].text == "alpha"
    assert read_bytes(pdf([pdf_text("beta")]), name=name).parts[0].unit == "page"
    assert read_bytes(docx(word_paragraph("gamma")), name=name).parts[0].text == "gamma"
    assert read_bytes(odt("<text:p>delta</text:p>"), name=name).parts[0].text == "delta"
    book = epub({"a.xhtml": xhtml("<p>epsilon</p>")}, ["a.xhtml"])
    assert read_bytes(book, name=name).parts[0].unit == "chapter"
    assert read_bytes(rb"{\rtf1 zeta}", name=name).parts[0].text == "zeta"


def test_a_page_in_utf16_is_a_page() -> None:
    assert read_bytes(PAGE.decode().encode("utf-16"), name="a.txt").title == "T"


@pytest.mark.parametrize("name", ["a.php", "a.vue", "a.js", "a.j2"])
def test_code_that_begins_like_a_page_keeps_its_lines(name: str) -> None:
    (part,) = read_bytes(PAGE, name=name).parts
    assert (part.unit, part.text) == ("line", PAGE.decode())


def test_markdown_with_a_little_html_stays_text() -> None:
    data = b'<p align="center">logo</p>\n\n# Tool\n'
    assert read_bytes(data, name="README.md").parts[0].unit == "line"


def test_comments_without_end_do_not_stop_it() -> None:
    assert read_bytes(b"<!---->" * 500 + b"<htm>", name="a.txt").parts[0].unit == "line"


def test_a_servers_type_counts_where_the_name_says_nothing() -> None:
    data = b"<p>hello</p>"
    assert read_bytes(data, content_type="text/html").parts[0].text == "hello"
    assert read_bytes(data, content_type="Text/HTML; charset=utf-8").parts[0].text == "hello"
    assert read_bytes(data, content_type="text/plain").parts[0].text == "<p>hello</p>"
    assert read_bytes(data, url="https://x.test/a%20b.txt?c=d.html").parts[0].unit == "line"


@pytest.mark.parametrize(
    ("entry", "words"),
    [("xl/workbook.xml", "Excel"), ("ppt/presentation.xml", "PowerPoint"), ("a.txt", "unpack")],
)
def test_other_archives_are_told_apart(entry: str, words: str) -> None:
    assert words in reason(zipped({entry: "text"}))


def test_old_office_files_are_named() -> None:
    assert "Office" in reason(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.doc")


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.epub"])
def test_a_file_that_breaks_its_names_promise_is_damaged(name: str) -> None:
    assert reason(bytes(range(256)), name) == f"damaged: its content is no {name[2:]}"


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    for path in (tmp_path / "pipe.txt", tmp_path, Path("/dev/zero")):
        with pytest.raises(Unreadable, match="not a regular file"):
            read_file(path)


def test_what_cannot_be_opened_is_an_os_error(tmp_path: Path) -> None:
    loop = tmp_path / "loop.txt"
    loop.symlink_to(loop)
    for path in (loop, tmp_path / "missing.txt"):
        with pytest.raises(OSError, match=path.name):
            read_file(path)


def test_a_huge_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        file.write(b"a line of text\n" * 300)
        file.truncate(300 << 20)
    monkeypatch.setattr(reading, "_read", lambda *_: pytest.fail("it was read"))
    with pytest.raises(Unreadable) as caught:
        read_file(path)
    assert str(caught.value) == "larger than 64 MB"


def test_huge_bytes_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_TEXT", 1000)
    assert reason(b"word " * 300).startswith("larger than")
    assert read_bytes(b"word " * 200).parts


def test_a_folder_of_all_sorts_is_read_or_explained(tmp_path: Path) -> None:
    """Case f14 of the known bugs: no file stops the others, or vanishes without a word."""
    files = {
        "good.txt": b"alpha beta",
        "bad.txt": b"caf\xe9 gamma",
        "utf16.txt": "delta".encode("utf-16"),
        "bom.txt": "epsilon".encode("utf-8-sig"),
        "pic.png": png(),
        "pic.txt": png(),
        "empty.txt": b"",
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    found = {path.name: told(path) for path in tmp_path.iterdir()}
    assert found.pop("loop").startswith("OSError")
    assert found == {
        "good.txt": "alpha beta",
        "bad.txt": "café gamma",
        "utf16.txt": "delta",
        "bom.txt": "epsilon",
        "pic.png": "a picture, not text",
        "pic.txt": "a picture, not text",
        "empty.txt": "empty",
    }


def test_a_file_without_permission_is_an_os_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: object, flags: int) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    path = tmp_path / "noperm.txt"
    path.write_bytes(b"secret")
    monkeypatch.setattr(os, "open", refuse)  # as root, tests may read anything
    with pytest.raises(PermissionError):
        read_file(path)


def told(path: Path) -> str:
    try:
        return read_file(path).parts[0].text
    except Unreadable as error:
        return str(error)
    except OSError as error:
        return f"OSError {error.errno}"


def test_importing_the_readers_loads_none_of_their_libraries() -> None:
    code = (
        "import sys, local_react.readers\n"
        "heavy = {'lxml', 'trafilatura', 'pypdf', 'charset_normalizer', 'striprtf', 'email'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
