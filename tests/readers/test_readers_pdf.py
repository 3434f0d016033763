"""PDF: page by page, and what hostile ones do."""

from __future__ import annotations

from io import BytesIO

import pytest
from pypdf import PdfReader, PdfWriter
from reader_files import pdf, pdf_text

from local_react.readers import Part, Unreadable, read_bytes


def reason(data: bytes) -> str:
    with pytest.raises(Unreadable) as caught:
        read_bytes(data, name="a.pdf")
    return str(caught.value)


def encrypted(password: str, algorithm: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf([pdf_text("secret plan")]))))
    writer.encrypt(user_password=password, owner_password="owner", algorithm=algorithm)
    file = BytesIO()
    writer.write(file)
    return file.getvalue()


def test_pages_are_parts_with_their_numbers() -> None:
    info = b"/Title (Tides \\(2024\\)) /CreationDate (D:20240506101112+02'00')"
    found = read_bytes(pdf([pdf_text("alpha", "second line"), pdf_text("café")], info))
    assert (found.title, found.date) == ("Tides (2024)", "2024-05-06")
    assert found.parts == (Part("alpha\nsecond line", "page", 1), Part("café", "page", 2))


def test_empty_and_broken_pages_are_left_out_but_counted() -> None:
    found = read_bytes(pdf([pdf_text("alpha"), b"", None, pdf_text("delta")]))
    assert [(part.text, part.number) for part in found.parts] == [("alpha", 1), ("delta", 4)]


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
def test_an_empty_password_opens_and_another_does_not(algorithm: str) -> None:
    assert read_bytes(encrypted("", algorithm)).parts[0].text == "secret plan"
    assert reason(encrypted("x", algorithm)) == "encrypted PDF: save it without a password"


def test_a_scan_holds_no_text() -> None:
    assert reason(pdf([b"q 1 0 0 1 0 0 cm Q", b""])) == "holds pictures of text only: OCR it first"


def test_damaged_dates_and_titles_are_no_loss() -> None:
    found = read_bytes(pdf([pdf_text("alpha")], b"/Title 17 /CreationDate (D:nonsense)"))
    assert found.date == ""
    assert found.parts[0].text == "alpha"


@pytest.mark.parametrize("cut", range(5, 1200, 61))
def test_a_file_that_was_cut_off_is_read_or_refused(cut: int) -> None:
    data = pdf([pdf_text("alpha"), pdf_text("beta")])[:cut]
    try:
        found = read_bytes(data, name="a.pdf")
    except Unreadable as error:
        assert "\n" not in str(error)
    else:
        assert found.parts[0].text in ("alpha", "beta")


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7\n" + b"garbage " * 100,
        pdf([]),
        pdf([pdf_text("a")]).replace(b"/Kids [5 0 R]", b"/Kids [2 0 R]"),  # a tree in itself
        pdf([pdf_text("a")]).replace(b"/Count 1", b"/Count 999999999"),
        pdf([pdf_text("a")], trailer=b"/Prev 9"),
        pdf([pdf_text("a")]).replace(b"startxref\n", b"startxref\n9"),
    ],
)
def test_broken_structures_are_read_or_refused(data: bytes) -> None:
    try:
        assert read_bytes(data).parts[0].text == "a"
    except Unreadable as error:
        assert str(error).startswith(("damaged PDF", "holds pictures"))


def test_a_page_that_draws_itself_ends() -> None:
    page = pdf_text("alpha") + b"\n/X Do /X Do"
    (part,) = read_bytes(pdf([page])).parts
    assert part.text.startswith("alpha")


def test_a_page_that_unpacks_without_end_is_left_out() -> None:
    bomb = pdf_text("bomb") + b" " * (80 << 20)
    found = read_bytes(pdf([pdf_text("alpha"), bomb]))
    assert [part.text for part in found.parts] == ["alpha"]


def test_a_page_of_endless_drawing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = pdf_text("map") + b" 0 0 m 1 1 l S" * 1000
    data = pdf([pdf_text("alpha"), drawing])
    assert len(read_bytes(data).parts) == 2
    monkeypatch.setattr("local_react.readers.pdf._MOST_OPERATIONS", 500)
    assert [part.text for part in read_bytes(data).parts] == ["alpha"]


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    data = pdf([pdf_text("alpha"), None]).replace(b"startxref\n", b"startxref\n9")
    assert read_bytes(data).parts
    assert capfd.readouterr() == ("", "")
