"""Documents that found passages name by their titles are found with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from local_react.documents import Library

FILLER = "The harbour and its long wall are kept by the town.\n\n" * 60


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "data")


def added(library: Library, folder: Path, **texts: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        Path(folder, f"{name.replace('_', ' ')}.txt").write_text(text, encoding="utf-8")
    library.add([folder])


def linked(library: Library, question: str, limit: int = 2) -> list[str]:
    found = library.search(question, 1, limit)
    return [Path(hit.name).stem for hit in found[1:]]


def test_a_document_that_a_passage_names_comes_with_it(library: Library, tmp_path: Path) -> None:
    added(
        library,
        tmp_path / "notes",
        Linden_Bridge="The Linden Bridge was finished in 1911 to plans by Olaf Brandt of Sorby.",
        Olaf_Brandt="He was born on 4 May 1868.",
        Sorby="A town on the river Ald.",
        Ald="It rises near Hoff.",
    )
    asked = "Who planned the Linden Bridge?"
    assert linked(library, asked) == ["Olaf Brandt", "Sorby"]
    assert linked(library, asked, 1) == ["Olaf Brandt"]
    assert [hit.name for hit in library.search(asked)] == ["Linden Bridge.txt"]


def test_a_question_that_names_two_documents_needs_no_third(
    library: Library, tmp_path: Path
) -> None:
    added(
        library,
        tmp_path / "notes",
        Mira_Kells="A painter like Olaf Brandt.",
        Jon_Adair="A cyclist.",
        Olaf_Brandt="A painter.",
    )
    asked = "Who is older, Mira Kells or Jon Adair?"
    assert len(library.search(asked, 2, 2)) == 2
    assert linked(library, "Who is Mira Kells?") == ["Olaf Brandt"]
    assert library.speaks_of("Do Jon Adair and somebody unheard of share a birthday in Sorby?")


@pytest.mark.parametrize(
    ("text", "title", "is_named"),
    [
        ("The plans are by the office of Brandt & Sons.", "Brandt_and_Sons", False),
        ("The plans are by O. Brandt-Nilsen.", "Brandt", False),
        ("The plans are by Brandt.", "Brandt", True),
        ("He was in the All-Star Game.", "Game", False),
        ("It is a game of chance.", "Game", False),
        ("He played the lead in Game.", "Game", True),
        ("He played the lead in Game.", "Game_(2016_film)", True),
        ("See the quarterly report.", "quarterly_report", False),
        ("See the Quarterly Report.", "quarterly_report", True),
        ("See [[Quarterly-Report]].", "quarterly_report", True),
        ("All of It Is about Us.", "It", False),
    ],
)
def test_what_names_a_document(
    library: Library, tmp_path: Path, text: str, title: str, is_named: bool
) -> None:
    first = f"Zebra crossing. {text}"
    added(library, tmp_path / "notes", first=first, **{title: "Something about stripes."})
    assert bool(linked(library, "zebra crossing")) == is_named


def test_of_a_long_document_the_passage_nearest_to_the_question_comes(
    library: Library, tmp_path: Path
) -> None:
    long = f"{FILLER}\n\nHe was knighted for his bridges in 1902.\n\n{FILLER}"
    added(
        library,
        tmp_path / "notes",
        bridge="The architect of the Linden Bridge was Olaf Brandt.",
        Olaf_Brandt=long,
    )
    question = "When was the architect of the Linden Bridge knighted?"
    *_, last = library.search("architect Linden knighted", 1, 1)
    assert (last.name, "knighted" in last.text) == ("Olaf Brandt.txt", True)
    hits = library.search(question, 10, 2)
    assert len({(hit.name, hit.place) for hit in hits}) == len(hits)


def test_a_name_in_a_script_without_spaces_is_no_fault(library: Library, tmp_path: Path) -> None:
    added(library, tmp_path / "notes", first="Zebra 横浜の港。", 横浜="港がある。")
    assert linked(library, "zebra") == []
