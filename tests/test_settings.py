"""Settings that last: which source counts, what each may say, and what is told of a fault."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from local_react.errors import UsageError
from local_react.settings import PREFIX, Given, Setting, is_anything_set
from local_react.settings import given as what_is_set
from local_react.settings.contents import place
from local_react.settings.editing import drop, put
from local_react.settings.files import PROJECT_NAME, project_file, user_file
from local_react.settings.sharing import HARMLESS, ONLY, refusal

NOT_WINDOWS = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")


def _even(value: int) -> None:
    if value % 2:
        raise ValueError(f"must be even, not {value}")


SETTINGS = (
    Setting("model", "LOCAL_REACT_MODEL", str),
    Setting("max_steps", "LOCAL_REACT_MAX_STEPS", int, default=8),
    Setting("temperature", "LOCAL_REACT_TEMPERATURE", float, default=0.0),
    Setting("offline", "LOCAL_REACT_OFFLINE", bool, default=False),
    Setting("network", "LOCAL_REACT_NETWORK", Literal["ask", "allow", "deny"]),
    Setting("search_engine", "LOCAL_REACT_SEARCH_ENGINES", str),
    Setting("tool", "LOCAL_REACT_TOOL", list[str]),
    Setting("threads", "LOCAL_REACT_THREADS", int, check=_even),
    Setting("new", "LOCAL_REACT_NEW", str),
)
BY_KEY = {setting.key: setting for setting in SETTINGS}

Write = Callable[[str], Path]


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A user's home with a project in it, where we are, and nothing that is set."""
    for name in os.environ:
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LOCAL_REACT_CONFIG", str(tmp_path / "config"))
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    (tmp_path / "project" / "inside").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "inside")
    return tmp_path


@pytest.fixture
def user(home: Path) -> Write:
    """Writes the user's file."""
    return _writer(home / "config" / "config.toml")


@pytest.fixture
def project(home: Path) -> Write:
    """Writes the project's file, above the folder that we are in."""
    return _writer(home / "project" / PROJECT_NAME)


def _writer(path: Path) -> Write:
    def write(text: str) -> Path:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
        return path

    return write


def fault() -> str:
    with pytest.raises(UsageError) as raised:
        what_is_set(SETTINGS)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_variable_wins_over_the_project_and_that_over_the_user(
    user: Write, project: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert what_is_set(SETTINGS) == {}
    mine = user("max_steps = 1\n")
    assert what_is_set(SETTINGS) == {"max_steps": Given(1, f"user file {mine}")}
    theirs = project("max_steps = 2\n")
    assert what_is_set(SETTINGS) == {"max_steps": Given(2, f"project file {theirs}")}
    monkeypatch.setenv("LOCAL_REACT_MAX_STEPS", "3")
    assert what_is_set(SETTINGS) == {"max_steps": Given(3, "LOCAL_REACT_MAX_STEPS")}
    monkeypatch.setenv("LOCAL_REACT_MAX_STEPS", "")
    assert what_is_set(SETTINGS)["max_steps"].value == 2


def test_each_source_sets_what_the_others_leave_open(
    user: Write, project: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    user('network = "allow"\nmax_steps = 1')
    project("temperature = 0.5\nmax_steps = 2")
    monkeypatch.setenv("LOCAL_REACT_SEARCH_ENGINES", "brave")
    assert {key: each.value for key, each in what_is_set(SETTINGS).items()} == {
        "network": "allow",
        "max_steps": 2,
        "temperature": 0.5,
        "search_engine": "brave",
    }


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("max_steps", "8", 8),
        ("temperature", "1", 1.0),
        ("offline", "yes", True),
        ("offline", "FALSE", False),
        ("network", " Deny ", "deny"),
        ("tool", "calculator, search,", ["calculator", "search"]),
        ("tool", "search", ["search"]),
        ("model", "5", "5"),
    ],
)
def test_a_variable_is_read_as_people_write_it(
    monkeypatch: pytest.MonkeyPatch, key: str, written: str, value: object
) -> None:
    monkeypatch.setenv(BY_KEY[key].variable, written)
    assert what_is_set(SETTINGS)[key].value == value


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("max-steps = 3", "max_steps", 3),
        ("\ufeffmax_steps = 3", "max_steps", 3),
        ("# mine\r\nmax_steps = 3\r\n", "max_steps", 3),
        ("model = 5", "model", "5"),
        ('tool = ["a", "b"]', "tool", ["a", "b"]),
        ('tool = "a,b"', "tool", ["a", "b"]),
        ("tool = []", "tool", []),
        ('network = "DENY"', "network", "deny"),
        ("temperature = 1", "temperature", 1.0),
    ],
)
def test_a_file_is_read_as_people_write_it(user: Write, text: str, key: str, value: object) -> None:
    user(text)
    assert what_is_set(SETTINGS)[key].value == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("\nmax_step = 3", "line 2: there is no setting 'max_step': did you mean max_steps?"),
        ("max-stepz = 3", "line 1: there is no setting 'max-stepz': did you mean max_steps?"),
        ("zzzzz = 3", "there is no setting 'zzzzz': `local-react config show` lists them all"),
        ("[models]\nx = 1", "line 1: there is no setting 'models': did you mean model?"),
        ("# a\n\nnetwork = 'on'", "line 3, is 'on': it can be ask, allow, deny"),
        ("max_steps = 8.5", "line 1, is 8.5: it can be a whole number"),
        ("max_steps = true", "line 1, is true: it can be a whole number"),
        ("temperature = 'hot'", "line 1, is 'hot': it can be a number"),
        ("offline = 'perhaps'", "line 1, is 'perhaps': it can be true or false"),
        ("model = true", "line 1, is true: it can be a text"),
        ("tool = [1]", "line 1, is [1]: it can be a list of texts"),
        ("[network]\nx = 1", "line 1, is {'x': 1}: it can be ask, allow, deny"),
        ("threads = 3", "line 1, must be even, not 3"),
        ("max-steps = 1\nmax_steps = 2", "max_steps is set twice"),
        ("max_steps = = 3", "line 1"),
        ("max_steps", "is no valid TOML"),
        ("a = " + "[" * 5000, "is no valid TOML"),
        (f"network = '{'x' * 5000}'", "…: it can be ask"),
    ],
)
def test_a_fault_in_a_file_is_told_with_its_line(user: Write, text: str, told: str) -> None:
    path = user(text)
    message = fault()
    assert str(path) in message
    assert told in message
    assert len(message) < 400 + len(str(path))


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("LOCAL_REACT_NETWORK", "on", "LOCAL_REACT_NETWORK is 'on': it can be ask, allow, deny"),
        ("LOCAL_REACT_MAX_STEPS", "x", "LOCAL_REACT_MAX_STEPS is 'x': it can be a whole number"),
        ("LOCAL_REACT_THREADS", "3", "LOCAL_REACT_THREADS must be even, not 3"),
    ],
)
def test_a_fault_in_a_variable_is_told_with_its_name(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, told: str
) -> None:
    monkeypatch.setenv(variable, value)
    assert fault() == told


def test_a_fault_is_told_of_the_source_that_counts(
    user: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    user("network = 'on'")
    monkeypatch.setenv("LOCAL_REACT_NETWORK", "off")
    assert fault().startswith("LOCAL_REACT_NETWORK is 'off'")


def test_a_variable_may_be_read_in_a_way_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    lenient = Setting("offline", "LOCAL_REACT_OFFLINE", bool, read=lambda text: text != "0")
    for text, value in (("please", True), ("0", False)):
        monkeypatch.setenv("LOCAL_REACT_OFFLINE", text)
        assert what_is_set([lenient])["offline"].value is value


def test_files_that_cannot_be_read_are_named(user: Write) -> None:
    path = user("")
    path.write_bytes("max_steps = 3".encode("utf-16"))
    assert fault() == f"{path} is not UTF-8: save it as UTF-8"
    if sys.platform != "win32" and os.geteuid():
        path.chmod(0)
        assert fault() == f"{path} cannot be read: Permission denied"


def test_the_projects_file_is_the_nearest_one_up_to_the_home_directory(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> Path | None:
        file = project_file()
        return file.path if file else None

    assert found() is None
    for folder in ("", "project", "project/inside"):
        path = home / folder / PROJECT_NAME
        path.write_text("")
        assert found() == path
    (home / "project" / "inside" / PROJECT_NAME).unlink()
    (home / "project" / "inside" / PROJECT_NAME).mkdir()  # no file
    assert found() == home / "project" / PROJECT_NAME
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home / "project" / "inside"))
    assert found() is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a folder that one is in")
def test_a_folder_that_was_removed_has_no_project(home: Path) -> None:
    (home / "project" / "inside").rmdir()
    assert project_file() is None
    assert what_is_set(SETTINGS) == {}


@pytest.mark.parametrize(
    "text",
    [
        'network = "allow"',
        'network = "ask"',
        "offline = false",
        "offline = 1",
        'model = "./model"',
        'model = "model.GGUF"',
        'model = "..\\\\model"',
        'model = "~"',
        'model = "here"',
        'tool = ["search"]',
        'search-engine = "example"',
        'new = "x"',
    ],
)
def test_a_projects_file_sets_nothing_that_harms(
    user: Write, project: Write, home: Path, text: str
) -> None:
    (home / "project" / "inside" / "here").write_text("GGUF")
    path = project(f"# theirs\n{text}\n")
    assert re.match(
        rf"{re.escape(str(path))}, line 2: a project file may .*; for yourself: local-react config",
        fault(),
    )
    path.unlink()
    user(text)
    assert what_is_set(SETTINGS)


@pytest.mark.parametrize(
    "text", ['network = "deny"', "offline = true", 'model = "a-name"', "max_steps = 2"]
)
def test_a_projects_file_sets_what_is_harmless(project: Write, text: str) -> None:
    project(text)
    (key,) = what_is_set(SETTINGS)
    assert key == text.split(" ")[0]


def test_a_setting_nobody_thought_about_is_the_users_alone() -> None:
    assert refusal("a_new_one", "x")
    assert not any(refusal(key, value) for key, value in ONLY.items())
    assert not HARMLESS & ONLY.keys()


NOTHING = """
import sys
from local_react.settings import given, is_anything_set
assert not is_anything_set() and given([]) == {}
heavy = {"pydantic", "pydantic_settings", "tomllib", "tomli", "tomlkit", "click"} & set(sys.modules)
assert not heavy, heavy
"""


def test_where_nothing_is_set_nothing_is_imported(user: Write) -> None:
    assert not is_anything_set()
    done = subprocess.run(
        [sys.executable, "-c", NOTHING], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    user("")
    assert is_anything_set()


def test_a_change_keeps_the_rest_of_the_file(user: Write) -> None:
    path = user("# mine\r\nmax-steps = 1  # few\r\n\r\n# the end\r\n")
    assert put(user_file(), BY_KEY["max_steps"], "5") == 5
    assert put(user_file(), BY_KEY["tool"], "a, b") == ["a", "b"]
    assert path.read_bytes().decode() == (
        '# mine\r\nmax-steps = 5  # few\r\n\r\n# the end\r\ntool = ["a", "b"]\n'
    )
    assert drop(user_file(), "max_steps")
    assert not drop(user_file(), "max_steps")
    assert {key: each.value for key, each in what_is_set(SETTINGS).items()} == {"tool": ["a", "b"]}


def test_what_is_no_setting_can_be_taken_out_too(user: Write) -> None:
    path = user("wrong-one = 1\nmax_steps = 2\n")
    assert drop(user_file(), "wrong_one")
    assert path.read_text() == "max_steps = 2\n"


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(min_size=1))
@example("5")
@example('a "quoted" \\ text\n\t#')
def test_a_text_that_was_set_is_what_is_read(text: str) -> None:
    put(user_file(), BY_KEY["new"], text)
    assert what_is_set(SETTINGS)["new"].value == text


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("max_steps", "x", "max_steps is 'x': it can be a whole number"),
        ("threads", "3", "threads must be even, not 3"),
        ("network", "on", "network is 'on': it can be ask, allow, deny"),
    ],
)
def test_a_wrong_value_is_not_written(user: Write, key: str, value: str, told: str) -> None:
    path = user("max_steps = 1\n")
    with pytest.raises(UsageError, match=re.escape(told)):
        put(user_file(), BY_KEY[key], value)
    assert path.read_text() == "max_steps = 1\n"


def test_a_broken_file_is_not_written(user: Write) -> None:
    path = user("max_steps = = 1\n")
    for change in (
        lambda: put(user_file(), BY_KEY["max_steps"], "5"),
        lambda: drop(user_file(), "max_steps"),
    ):
        with pytest.raises(UsageError, match="no valid TOML"):
            change()
    assert path.read_text() == "max_steps = = 1\n"


def test_a_projects_file_is_not_given_what_it_may_not_set(project: Write) -> None:
    path = project("max_steps = 1\n")
    file = project_file()
    assert file
    with pytest.raises(UsageError, match="a project file may set network"):
        put(file, BY_KEY["network"], "allow")
    put(file, BY_KEY["network"], "deny")
    assert path.read_text() == 'max_steps = 1\nnetwork = "deny"\n'


def test_a_file_that_cannot_be_written_is_named(home: Path) -> None:
    (home / "config").write_text("a file where the directory should be")
    with pytest.raises(UsageError, match=r"config\.toml cannot be written: "):
        put(user_file(), BY_KEY["max_steps"], "5")


@NOT_WINDOWS
def test_the_users_file_is_the_users_alone_and_the_projects_as_it_was(
    user: Write, project: Write
) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    mine, theirs = user(""), project("")
    mine.chmod(0o644)
    theirs.chmod(0o664)
    file = project_file()
    assert file
    for each in (user_file(), file):
        put(each, BY_KEY["max_steps"], "5")
    assert (mode(mine), mode(theirs)) == (0o600, 0o664)
    theirs.unlink()
    put(file, BY_KEY["max_steps"], "5")
    assert mode(theirs) == 0o644


@NOT_WINDOWS
def test_a_link_leads_to_the_file_that_is_changed(home: Path, user: Write) -> None:
    kept = home / "kept.toml"
    kept.write_text("max_steps = 1\n")
    link = user("")
    link.unlink()
    link.symlink_to(kept)
    put(user_file(), BY_KEY["max_steps"], "5")
    assert link.is_symlink()
    assert kept.read_text() == "max_steps = 5\n"


def test_where_a_key_cannot_be_found_the_file_alone_is_named() -> None:
    assert place(Path("a.toml"), "b = 1", "c") == "a.toml"
    assert place(Path("a.toml"), 'x = """\n"""\n"ctx-size" = 1', "ctx_size") == "a.toml, line 3"
