"""The index of the user's documents: added, brought up to date, searched, read, removed."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from local_react.documents import Library, Progress
from local_react.errors import UsageError

PARAGRAPH = "The harbour and its long wall are kept by the town. " * 20


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "data")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    write(folder / "plan.md", "# The plan\n\nWe buy a lighthouse in March.\n")
    write(folder / "money.txt", "Each lamp costs 40 crowns.\n")
    write(folder / "deep" / "er" / "boat.py", "def row_the_boat():\n    pass\n")
    return folder


def write(path: Path, text: str, *, old: bool = True) -> None:
    """Write a file, as if an hour ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if old:
        os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns - 3600 * 10**9))


def names(library: Library, question: str) -> list[str]:
    return [hit.name for hit in library.search(question)]


def test_what_was_added_is_found_with_its_place(library: Library, notes: Path) -> None:
    added = library.add([notes])
    assert (added.added, added.skipped, added.passages) == (3, [], 3)
    (hit,) = library.search("When do we buy the lighthouse?")
    assert (hit.title, hit.name, hit.place) == ("The plan", "plan.md", "lines 1-3")
    assert Path(hit.path) == notes / "plan.md"
    assert hit.text == "# The plan\n\nWe buy a lighthouse in March."
    assert names(library, "boat") == [str(Path("deep", "er", "boat.py"))]


def test_titles_and_names_of_files_are_searched(library: Library, tmp_path: Path) -> None:
    write(tmp_path / "a" / "zebra crossing.txt", "Stripes on a road.")
    write(tmp_path / "a" / "other.txt", "A zebra is an animal. " * 3)
    library.add([tmp_path / "a"])
    assert names(library, "crossing") == ["zebra crossing.txt"]
    assert names(library, "the zebra crossing")[0] == "zebra crossing.txt"


def test_an_index_that_is_not_there_is_empty(library: Library) -> None:
    assert library.is_empty
    assert library.search("anything") == []
    assert (library.roots(), library.files(), library.status().files) == ([], [], 0)
    assert not library.path.exists()
    with pytest.raises(UsageError, match="there are no documents"):
        library.read(1)


@pytest.mark.parametrize("question", ["", " ", '"', "* - ( )", "AND", 'NEAR("a" b', "x" * 5000])
def test_any_question_is_plain_text(library: Library, notes: Path, question: str) -> None:
    library.add([notes])
    assert library.search(question) == []


def test_a_question_of_words_without_meaning_still_finds(library: Library, tmp_path: Path) -> None:
    write(tmp_path / "a.txt", "To be, or not to be")
    library.add([tmp_path / "a.txt"])
    assert names(library, "to be or not to be") == ["a.txt"]


def test_only_what_changed_is_read_again(library: Library, notes: Path) -> None:
    library.add([notes])
    numbers = {file.path: file.document for file in library.files()}
    write(notes / "money.txt", "Each lamp costs 50 thalers.\n")
    write(notes / "new.txt", "A new keeper.\n")
    (notes / "deep" / "er" / "boat.py").unlink()
    seen: list[Progress] = []
    added = library.add([notes], seen.append)
    assert (added.added, added.changed, added.unchanged, added.removed) == (1, 1, 1, 1)
    assert [seen[-1].done, seen[-1].total] == [2, 2]
    assert names(library, "crowns") == names(library, "boat") == []
    assert names(library, "thalers") == ["money.txt"]
    after = {file.path: file.document for file in library.files()}
    assert after[os.fspath(notes / "money.txt")] == numbers[os.fspath(notes / "money.txt")]
    assert after[os.fspath(notes / "new.txt")] not in numbers.values()


def test_a_new_time_alone_costs_no_reading(library: Library, notes: Path) -> None:
    library.add([notes])
    os.utime(notes / "plan.md")
    added = library.add([notes])
    assert (added.changed, added.unchanged, added.passages) == (0, 3, 0)
    assert library.status().changed == 0


def test_a_change_right_after_reading_is_seen(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write(path, "alpha", old=False)
    time = path.stat().st_mtime_ns
    library.add([path])
    path.write_text("gamma")
    os.utime(path, ns=(time, time))  # as a file system with coarse times has it
    assert library.add([path]).changed == 1
    assert names(library, "gamma") == ["a.txt"]


def test_the_index_holds_nothing_of_what_is_gone(library: Library, notes: Path) -> None:
    """The full-text index has as many entries as there are passages: none is left over."""
    library.add([notes])
    write(notes / "money.txt", PARAGRAPH * 30)
    library.add([notes])
    library.remove(notes / "plan.md")
    library.add([notes])
    library.remove(notes)
    assert library.is_empty
    with sqlite3.connect(library.path) as connection:
        terms = "CREATE VIRTUAL TABLE temp.t USING fts5vocab(main, words, 'row')"
        connection.execute(terms)
        assert connection.execute("SELECT term FROM t").fetchall() == []
        assert connection.execute("SELECT count(*) FROM passages").fetchone() == (0,)
    connection.close()
    assert b"lighthouse" not in library.path.read_bytes()


def test_what_can_never_be_read_is_told_apart_from_what_cannot_now(
    library: Library, notes: Path
) -> None:
    (notes / "pic.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    (notes / "broken.pdf").write_bytes(b"%PDF-1.4 and then nothing")
    (notes / "empty.txt").touch()
    added = library.add([notes])
    assert (added.added, added.other) == (3, 1)
    assert [Path(path).name for path, _ in added.skipped] == ["broken.pdf", "empty.txt"]
    assert all(reason and "\n" not in reason for _, reason in added.skipped)
    status = library.status()
    assert list(status.skipped) == added.skipped
    assert status.other == ((".png files are not read", 1),)
    again = library.add([notes])
    assert (again.unchanged, again.other, again.skipped) == (3, 1, added.skipped)


def test_a_file_that_can_be_read_later_is(library: Library, notes: Path) -> None:
    write(notes / "plan.md", "")
    assert library.add([notes]).skipped
    write(notes / "plan.md", "Now it says: narwhal")
    added = library.add([notes])
    assert (added.added, added.skipped) == (1, [])
    assert names(library, "narwhal") == ["plan.md"]


def test_files_in_bad_shape_stop_no_index_and_are_told(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "f14"
    folder.mkdir()
    (folder / "good.txt").write_text("alpha beta")
    (folder / "bad.txt").write_bytes(b"caf\xe9 gamma")
    (folder / "utf16.txt").write_bytes("delta in two bytes".encode("utf-16"))
    (folder / "bom.txt").write_bytes(b"\xef\xbb\xbfepsilon")
    (folder / "pic.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "empty.txt").touch()
    (folder / "noperm.txt").write_text("secret")
    (folder / "noperm.txt").chmod(0)
    (folder / "loop").symlink_to(folder)
    (folder / "self").symlink_to(folder / "self")
    added = library.add([folder])
    assert names(library, "alpha") == ["good.txt"]
    for word in ("gamma", "café", "cafe"):
        assert names(library, word) == ["bad.txt"]
    assert names(library, "delta") == ["utf16.txt"]
    assert names(library, "epsilon") == ["bom.txt"]
    skipped = {Path(path).name for path, _ in added.skipped}
    assert "empty.txt" in skipped
    if os.geteuid() != 0:  # the superuser reads it all the same
        assert "noperm.txt" in skipped
    assert added.other == 1


def test_links_and_hidden_files_are_left_out(library: Library, notes: Path, tmp_path: Path) -> None:
    write(tmp_path / "outside" / "secret.txt", "unicorn")
    write(notes / ".git" / "config.txt", "unicorn")
    write(notes / "node_modules" / "x.txt", "unicorn")
    write(notes / ".hidden.txt", "unicorn")
    (notes / "link").symlink_to(tmp_path / "outside")
    (notes / "link.txt").symlink_to(tmp_path / "outside" / "secret.txt")
    os.mkfifo(notes / "pipe")
    assert library.add([notes]).added == 3
    assert names(library, "unicorn") == []


def test_what_is_named_is_added_though_it_is_hidden(library: Library, notes: Path) -> None:
    library.add([notes])
    write(notes / ".hidden.txt", "unicorn")
    library.add([notes / ".hidden.txt"])
    library.add([notes])
    assert names(library, "unicorn") == [".hidden.txt"]


def test_a_folder_in_a_folder_is_read_once(library: Library, notes: Path) -> None:
    library.add([notes / "deep"])
    (before,) = library.files()
    added = library.add([notes, notes / "deep", notes])
    assert (added.added, added.unchanged) == (2, 1)
    assert [root.path for root in library.roots()] == [os.fspath(notes)]
    assert before in library.files()
    assert names(library, "boat") == [str(Path("deep", "er", "boat.py"))]
    write(notes / "deep" / "more.txt", "octopus")
    assert library.add([notes / "deep"]).added == 1
    assert library.add([notes]).unchanged == 4


def test_a_single_file_becomes_part_of_its_folder(library: Library, notes: Path) -> None:
    library.add([notes / "deep" / "er" / "boat.py", notes / "plan.md"])
    assert len(library.roots()) == 2
    added = library.add([notes])
    assert (added.added, added.unchanged, len(library.roots())) == (1, 2, 1)
    (notes / "plan.md").unlink()
    assert library.add([notes]).removed == 1
    assert names(library, "lighthouse") == []


def test_names_that_two_folders_have_are_told_in_full(library: Library, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        write(tmp_path / folder / "plan.txt", f"the {folder} plan with walrus {folder}")
    write(tmp_path / "b" / "only.txt", "dolphin")
    library.add([tmp_path / "a", tmp_path / "b"])
    expected = {os.fspath(tmp_path / folder / "plan.txt") for folder in ("a", "b")}
    assert set(names(library, "walrus")) == expected
    assert names(library, "dolphin") == ["only.txt"]


@pytest.mark.skipif(os.name == "nt", reason="SKIPPED: Windows has no such names")
@pytest.mark.parametrize("name", [b"not\xffutf8.txt", b"two\nlines.txt", "北京 é.txt".encode()])
def test_any_name_of_a_file_works(library: Library, tmp_path: Path, name: bytes) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    path = Path(os.fsdecode(os.fsencode(folder) + b"/" + name))
    path.write_text("manatee")
    library.add([folder])
    (hit,) = library.search("manatee")
    assert Path(hit.path) == path
    hit.name.encode()
    json.dumps(hit.name)
    assert library.read(hit.document).passages[0][1] == "manatee"
    path.unlink()
    assert library.add([folder]).removed == 1


def test_the_same_text_is_found_once(library: Library, tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt"):
        write(tmp_path / "a" / name, "the same axolotl")
    write(tmp_path / "a" / "three.txt", "another axolotl")
    library.add([tmp_path / "a"])
    assert len(names(library, "axolotl")) == 2


def test_a_word_that_all_have_does_not_hide_the_one_that_few_have(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_react.documents.searching._RANKED", 3)
    monkeypatch.setattr("local_react.documents.searching._COUNTED", 8)
    for number in range(12):
        write(tmp_path / "a" / f"{number}.txt", f"ship number {number} in the harbour")
    write(tmp_path / "a" / "x.txt", "a harbour without any ship but a pelican")
    library.add([tmp_path / "a"])
    assert names(library, "which ship has a pelican in the harbour")[0] == "x.txt"
    assert len(names(library, "ship harbour")) == 5
    assert len(names(library, "ship of the narwhal")) == 5


def test_the_words_that_are_rare_and_common_rank_together(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_react.documents.searching._RANKED", 4)
    texts = [f"battery {n} of a car that nobody drives" for n in range(3)]
    texts += [f"phone {n}" for n in range(5)] + ["battery of a phone and of nothing else"]
    texts += [f"something else, {n}" for n in range(12)]
    for number, text in enumerate(texts):
        write(tmp_path / "a" / f"{number}.txt", text)
    library.add([tmp_path / "a"])
    assert names(library, "phone battery")[0] == "8.txt"


def test_removing_takes_out_a_root_a_folder_or_a_file(library: Library, notes: Path) -> None:
    library.add([notes])
    assert library.remove(notes / "deep") == 1
    assert library.remove(notes / "plan.md") == 1
    assert names(library, "lighthouse boat") == []
    assert names(library, "lamp") == ["money.txt"]
    for path in notes.rglob("*.txt"):
        path.unlink()
    assert library.remove(notes) == 1
    assert library.roots() == []


def test_what_was_never_added_cannot_be_removed(library: Library, notes: Path) -> None:
    with pytest.raises(UsageError, match="nothing was added at"):
        library.remove(notes)
    library.add([notes / "deep"])
    with pytest.raises(UsageError, match="nothing was added at"):
        library.remove(notes / "plan.md")
    assert library.remove(notes) == 1  # above a root is all of it


@pytest.mark.parametrize("name", ["nothing", "loop", "pipe"])
def test_what_is_not_there_is_refused(library: Library, tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match=r"^cannot add") as caught:
        library.add([tmp_path / name])
    assert "\n" not in str(caught.value)


def test_the_files_are_their_owners(library: Library, notes: Path) -> None:
    library.add([notes])
    for path in library.path.parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(library.path.parent.stat().st_mode) == 0o700


def test_what_is_on_disk_is_compared(library: Library, notes: Path) -> None:
    library.add([notes])
    assert library.status().changed == 0
    write(notes / "plan.md", "longer than it was before, by far: the plan")
    (notes / "money.txt").unlink()
    assert library.status().changed == 2


def read(library: Library, document: int, where: str) -> tuple[Sequence[str], str]:
    excerpt = library.read(document, where)
    return [place for place, _ in excerpt.passages], excerpt.next


def test_a_document_is_read_on(library: Library, tmp_path: Path) -> None:
    write(tmp_path / "long.txt", "\n\n".join([PARAGRAPH.strip()] * 9 + ["The end, a puffin."]))
    library.add([tmp_path / "long.txt"])
    (number,) = (file.document for file in library.files())
    places, following = read(library, number, "")
    assert places == ["line 1", "line 3", "line 5"]
    assert following == "from line 7"
    assert read(library, number, following)[0] == ["line 7", "line 9", "line 11"]
    assert read(library, number, "next after line 5")[0] == ["line 7", "line 9", "line 11"]
    assert read(library, number, "lines 4-5") == (["line 5"], "from line 7")
    assert read(library, number, "5") == (["line 5"], "from line 7")
    assert read(library, number, "the puffin") == (["line 19"], "")


def test_reading_on_comes_to_the_end_of_any_document(library: Library, tmp_path: Path) -> None:
    endless = PARAGRAPH * 9  # one line, of many parts, that begins and ends amid passages
    write(tmp_path / "odd.txt", f"Short line.\n{endless}\nanother\n\n{PARAGRAPH}\n{endless}\nEnd.")
    library.add([tmp_path / "odd.txt"])
    (number,) = (file.document for file in library.files())
    text, following = [], ""
    for _ in range(50):
        excerpt = library.read(number, following)
        text += [text for _, text in excerpt.passages]
        following = excerpt.next
        if not following:
            break
    whole = (tmp_path / "odd.txt").read_text(encoding="utf-8")
    assert " ".join(" ".join(text).split()) == " ".join(whole.split())


@pytest.mark.parametrize(
    ("document", "where", "told"),
    [
        (99, "", "there is no document 99"),
        (10**30, "", "there is no document 1000"),
        (1, "page 3", "document 1 has no page 3: it has lines? 1"),
        (1, "line 300", "document 1 has no line 300: it has line"),
        (1, "walrus", "document 1 says nothing of 'walrus'"),
        (1, "after line 1", "document 1 ends with line 1"),
        (2, "", "document 2, b.txt, was not read: "),
    ],
)
def test_what_there_is_to_read_is_told(
    library: Library, tmp_path: Path, document: int, where: str, told: str
) -> None:
    write(tmp_path / "a.txt", "one line")
    write(tmp_path / "b.txt", "")
    library.add([tmp_path / "a.txt", tmp_path / "b.txt"])
    with pytest.raises(UsageError, match=told):
        library.read(document, where)


def test_archives_are_noted_and_forgotten(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "wiki.zim"
    path.touch()
    assert not library.remove_archive(path)
    library.add_archive(path, "Wiki")
    library.add_archive(path, "Wikipedia")
    assert library.archives() == [(path, "Wikipedia")]
    assert library.is_empty
    assert library.remove_archive(path)
    assert library.archives() == []


@pytest.mark.parametrize(
    ("question", "spoken_of"),
    [
        ("When does the lease of Mill Lane end?", True),
        ("Who is Milan Petrov?", True),
        ("What is our rent?", True),
        ("How much rent do I pay for my flat in a year?", True),
        ("Who wrote Pride and Prejudice?", False),
        ("What is the capital of Peru?", False),
        ("How long does a rent strike last on average in big cities of Europe?", False),
        ("What is 4477 * 2024?", False),
        ("?!", False),
    ],
)
def test_it_is_known_whether_the_documents_speak_of_a_question(
    library: Library, tmp_path: Path, question: str, spoken_of: bool
) -> None:
    assert not library.speaks_of(question)
    write(tmp_path / "lease.md", "# Lease of the flat in Mill Lane\n\nRent: 1140, due in 2024.")
    write(tmp_path / "team.txt", "Milan Petrov, 4477\nJo Tanaka, 4423")
    library.add([tmp_path / "lease.md", tmp_path / "team.txt"])
    assert library.speaks_of(question) is spoken_of
