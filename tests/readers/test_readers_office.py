"""Word, OpenDocument and EPUB: text in order, and archives that mean harm."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest
from reader_files import W, docx, epub, odt, word_paragraph, xhtml, zipped

from local_react.readers import Part, Unreadable, archive, read_bytes

CELL = "<w:tc>{}</w:tc>"


def lines(data: bytes) -> list[str]:
    (part,) = read_bytes(data).parts
    assert (part.unit, part.number) == ("paragraph", 1)
    return part.text.split("\n")


def reason(data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        read_bytes(data)
    return str(caught.value)


def row(*cells: str) -> str:
    return f"<w:tr>{''.join(CELL.format(word_paragraph(cell)) for cell in cells)}</w:tr>"


def test_a_word_file_is_read_in_order() -> None:
    body = (
        '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Plan</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>one </w:t></w:r><w:r><w:t>two</w:t><w:tab/><w:t>3</w:t></w:r></w:p><w:p/>"
        f"<w:tbl>{row('City', 'Boats')}{row('Rome', '3')}</w:tbl>{word_paragraph('caf&#233;')}"
    )
    assert lines(docx(body)) == ["Plan", "one two 3", "City | Boats", "Rome | 3", "café"]


def test_what_word_does_not_show_is_left_out() -> None:
    run = "<w:r><w:t>{}</w:t></w:r>"
    body = (
        f"<w:p><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>{run.format('kept')}"
        f"<w:moveFrom>{run.format('moved')}</w:moveFrom><w:ins>{run.format(' new')}</w:ins>"
        "<w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"
    )
    assert lines(docx(body)) == ["kept new"]


def test_a_text_box_is_read_once() -> None:
    box = f"<w:txbxContent>{word_paragraph('in the box')}</w:txbxContent>"
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    body = (
        f"<w:p {mc}><w:r><w:t>before</w:t></w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice>"
        f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:p>"
    )
    assert sorted(lines(docx(body))) == ["before", "in the box"]


def test_tables_in_tables_and_notes() -> None:
    inner = f"<w:tbl>{row('a', 'b')}</w:tbl>"
    body = (
        f"<w:tbl><w:tr>{CELL.format(word_paragraph('x') + inner)}{CELL.format('')}</w:tr></w:tbl>"
    )
    notes = f"<w:footnotes {W}>{word_paragraph('a note')}</w:footnotes>"
    assert lines(docx(body, footnotes=notes)) == ["x a | b", "a note"]


def test_title_and_date_of_a_word_file() -> None:
    core = (
        '<p:coreProperties xmlns:p="p" xmlns:dc="dc" xmlns:dcterms="t"><dc:title>The\nplan'
        "</dc:title><dcterms:created>2023-01-02T00:00:00Z</dcterms:created>"
        "<dcterms:modified>2024-05-06T10:00:00Z</dcterms:modified></p:coreProperties>"
    )
    found = read_bytes(docx(word_paragraph("alpha"), core=core))
    assert (found.title, found.date) == ("The plan", "2024-05-06")
    broken = read_bytes(docx(word_paragraph("alpha"), core="<dc:title>no"))
    assert (broken.title, broken.date) == ("", "")


def test_an_opendocument_text_is_read_in_order() -> None:
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        "<text:h>Plan</text:h>"
        "<text:p>one<text:s/>two<text:tab/><text:span>3</text:span> end</text:p>"
        "<table:table><table:table-row><table:table-cell><text:p>City</text:p></table:table-cell>"
        "<table:table-cell><text:p>Boats</text:p></table:table-cell></table:table-row></table:table>"
    )
    meta = "<dc:title>Tides</dc:title><dc:date>2024-05-06T10:00:00</dc:date>"
    data = odt(body, meta)
    assert lines(data) == ["Plan", "one two 3 end", "City | Boats"]
    found = read_bytes(data)
    assert (found.title, found.date) == ("Tides", "2024-05-06")


def test_a_book_is_read_in_its_own_order() -> None:
    chapters = {
        "b%20b.xhtml": xhtml("<h1>Two</h1><p>second&nbsp;one</p>"),
        "a.xhtml": xhtml("<p>first</p>", '<!DOCTYPE html PUBLIC "x" "http://x.test/xhtml.dtd">'),
        "cover.xhtml": xhtml('<img src="cover.png"/>'),
        "c.xhtml": "<p>not <b>well-formed<br></p>",
    }
    metadata = "<dc:title>Tides</dc:title><dc:date>2019-03-04</dc:date>"
    spine = ["cover.xhtml", "a.xhtml", "b%20b.xhtml", "c.xhtml"]
    data = epub(chapters, spine, metadata)
    data = zipped({name.replace("%20", " "): text for name, text in unzipped(data).items()})
    found = read_bytes(data)
    assert (found.title, found.date) == ("Tides", "2019-03-04")
    assert found.parts == (
        Part("first", "chapter", 1),
        Part("Two\nsecond one", "chapter", 2),
        Part("not well-formed", "chapter", 3),
    )


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def test_a_book_without_a_usable_description_is_read_by_name() -> None:
    entries = unzipped(epub({"b.xhtml": xhtml("two"), "a.xhtml": xhtml("one")}, []))
    entries["OPS/book.opf"] = b"<package><not well-formed"
    assert [part.text for part in read_bytes(zipped(entries)).parts] == ["one", "two"]


def test_names_in_a_book_lead_nowhere() -> None:
    data = epub({"../../../../../etc/passwd": "x", "a.xhtml": xhtml("one")}, ["a.xhtml"])
    entries = unzipped(data)
    entries["OPS/book.opf"] = entries["OPS/book.opf"].replace(b"a.xhtml", b"/etc/passwd")
    assert [part.text for part in read_bytes(zipped(entries)).parts] == ["one"]


def test_a_protected_book_is_refused_and_protected_fonts_are_not() -> None:
    def book(locked: str) -> bytes:
        note = f'<encryption><CipherReference URI="OPS/{locked}"/></encryption>'
        return epub({"a.xhtml": xhtml("one")}, ["a.xhtml"], encryption=note)

    assert "copy protection" in reason(book("a.xhtml"))
    assert read_bytes(book("font.otf")).parts[0].text == "one"


@pytest.mark.parametrize("make", [docx, odt])
def test_a_file_without_text(make: object) -> None:
    assert callable(make)
    assert reason(make("")) == "holds no text"


def test_entities_are_refused() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]>'
    text = (
        f"{bomb}<w:document {W}><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>"
    )
    assert "entities" in reason(zipped({"word/document.xml": text}))


def test_damaged_xml_is_named() -> None:
    assert "not well-formed" in reason(docx("<w:p>"))
    deep = docx("<w:sdt>" * 5000 + "</w:sdt>" * 5000)
    assert "not well-formed" in reason(deep)


def test_a_zip_bomb_is_left_alone() -> None:
    huge = word_paragraph("a" * 1000) * 40_000
    packed = docx(huge)
    assert len(packed) < len(huge) // 250
    assert "far more than its size" in reason(packed)


def test_all_entries_together_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    book = epub({f"{n}.xhtml": xhtml(f"<p>{'word ' * 300}</p>") for n in range(9)}, [
        f"{n}.xhtml" for n in range(9)
    ])  # fmt: skip
    assert len(read_bytes(book).parts) == 9
    monkeypatch.setattr(archive, "_MOST_UNPACKED", 10_000)
    assert "far more than its size" in reason(book)


def test_an_entry_that_lies_about_its_size_is_left_alone() -> None:
    content = word_paragraph("word " * 3000)
    data = docx(content)
    size = len(unzipped(data)["word/document.xml"])
    lie = data.replace(size.to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert lie != data
    assert reason(lie).startswith(("unpacks to far more", "damaged"))


def test_too_many_entries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_MOST_ENTRIES", 50)
    assert "more than 50 entries" in reason(zipped({f"{n}": "" for n in range(51)}))


def test_a_locked_archive_asks_for_one_without_a_password() -> None:
    data = bytearray(docx(word_paragraph("alpha")))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        found = data.find(mark)
        while found >= 0:
            data[found + at] |= 1
            found = data.find(mark, found + 1)
    assert reason(bytes(data)) == "encrypted: save it without a password"
    locked = unzipped(odt("<text:p>alpha</text:p>"))
    locked["META-INF/manifest.xml"] = b"<manifest:encryption-data/>"
    assert reason(zipped(locked)) == "encrypted: save it without a password"


@pytest.mark.parametrize("share", range(1, 20))
@pytest.mark.parametrize("kind", ["docx", "odt", "epub"])
def test_an_archive_that_was_cut_off_or_spoilt_is_refused_or_read(kind: str, share: int) -> None:
    text = " ".join(f"word{n}" for n in range(500))
    data = {
        "docx": docx(word_paragraph(text)),
        "odt": odt(f"<text:p>{text}</text:p>"),
        "epub": epub({"a.xhtml": xhtml(text)}, ["a.xhtml"]),
    }[kind]
    at = len(data) * share // 20
    assert reason(data[:at]).startswith("damaged")
    spoilt = data[:at] + bytes(byte ^ 0xFF for byte in data[at : at + 9]) + data[at + 9 :]
    try:
        assert read_bytes(spoilt).parts
    except Unreadable as error:
        assert "\n" not in str(error)
