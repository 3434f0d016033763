"""What was typed in chats: the last of it, and nothing that was deleted elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from prompt_toolkit.history import FileHistory

from local_react.cli.main import run
from local_react.cli.typed import forget_all_typed, forget_typed, prepare, typed_file
from local_react.core import Run
from local_react.history import History

pytestmark = pytest.mark.usefixtures("own_places")


def type_in(*texts: str) -> None:
    kept = FileHistory(str(prepare()))
    for text in texts:
        kept.store_string(text)


def there() -> Sequence[str]:
    return list(FileHistory(str(typed_file())).load_history_strings())[::-1]


def test_the_last_texts_stay_and_are_read_as_they_were() -> None:
    texts = [f"text {number}\n# and more\n+ yet é" for number in range(1003)]
    type_in(*texts)
    prepare()
    assert there() == texts[3:]


def test_long_texts_are_kept_as_far_as_they_go() -> None:
    texts = [f"{number} {'x' * 300_000}" for number in range(5)]
    type_in(*texts)
    prepare()
    assert there() == texts[2:]


@pytest.mark.skipif(os.name == "nt", reason="SKIPPED: Windows has no file modes")
def test_it_is_its_owners_alone_whatever_it_was() -> None:
    type_in("one")
    typed_file().chmod(0o666)
    prepare()
    assert typed_file().stat().st_mode & 0o777 == 0o600


def test_a_link_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("theirs")
    typed_file().parent.mkdir()
    typed_file().symlink_to(tmp_path / "theirs")
    with pytest.raises(OSError, match="link"):
        prepare()
    assert (tmp_path / "theirs").read_text() == "theirs"


def test_what_was_deleted_goes_with_its_spaces_changed_too() -> None:
    type_in("one", '"""two\nthree"""', "/remember two  three", "four")
    forget_typed(["two three", " "])
    assert there() == ["one", "four"]
    forget_all_typed()
    assert not typed_file().exists()
    forget_typed(["one"])
    forget_all_typed()


@pytest.mark.parametrize(
    ("command", "left"),
    [
        (("sessions", "delete", "trip", "-y"), ["another?", "/remember I am Ann"]),
        (("sessions", "delete", "--all", "-y"), []),
        (("trace", "rm", "last", "-y"), ["secret?", "/remember I am Ann"]),
        (("memory", "forget", "1", "-y"), ["secret?", "another?"]),
        (("memory", "clear", "-y"), ["secret?", "another?"]),
    ],
)
def test_what_is_deleted_by_a_command_is_not_left_here(
    command: Sequence[str], left: Sequence[str]
) -> None:
    history = History()
    history.add(Run("secret?", (), "12", "finish", "m"), session="trip")
    history.add(Run("another?", (), "12", "finish", "m"), session="other")
    history.remember("I am Ann")
    type_in("secret?", "another?", "/remember I am Ann")
    assert run(list(command)) == 0
    assert there() == left
