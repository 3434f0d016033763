"""The user's tools: which functions become tools, and that a fault in one stops no other."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from local_react.errors import ToolError, UsageError
from local_react.plugins import ENTRY_POINTS, Loaded, load_tools, tools_dir
from local_react.tools.base import as_text

Write = Callable[..., Path]

DOUBLE = '''
def double(number: int) -> int:
    """Return twice the number."""
    return number * 2
'''


@pytest.fixture(autouse=True)
def places(own_places: None) -> None:
    """No tools of other tests."""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file of Python, in the user's folder of tools where it has no other place."""

    def call(text: str | bytes, name: str = "mine.py", folder: Path | None = None) -> Path:
        path = (folder or tools_dir()) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path.resolve()

    return call


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Installs a package, a module and the entry points that it has."""
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    def install(text: str, points: str) -> None:
        about = tmp_path / "site" / "brings_tools-1.2.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: brings-tools\nVersion: 1.2\n")
        (about / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n{points}\n")
        (tmp_path / "site" / "brings_tools.py").write_text(text)
        monkeypatch.delitem(sys.modules, "brings_tools", raising=False)

    return install


def names(loaded: Loaded) -> list[str]:
    return [tool.name for tool in loaded.tools]


def call(loaded: Loaded, name: str, **arguments: object) -> str:
    tool = next(tool for tool in loaded.tools if tool.name == name)
    return as_text(tool.run(arguments))


def test_without_files_there_are_no_tools() -> None:
    assert load_tools() == Loaded()


def test_what_a_file_defines_at_its_top_level_is_a_tool(write: Write) -> None:
    path = write('''
from __future__ import annotations

import json
from dataclasses import dataclass
from os.path import join
from textwrap import dedent
from typing import Literal

from local_react import calculator, tool


@dataclass
class Place:
    """A class is no tool."""

    x: float
    y: float = 2


def area(place: Place, unit: Literal["m", "ft"] = "m") -> str:
    """Return the area.

    More.
    """
    return f"{place.x * place.y} {unit}"


@tool(name="take_note", may=["writes"])
def note(text: str) -> str:
    """Write a note down."""
    return text


def _helper(x):
    return x


def make():
    """Return a function."""
    def made(x: int) -> int:
        """No tool either."""
        return x
    return made


also = area
double = lambda x: 2 * x
made = make()
''')
    loaded = load_tools()
    assert names(loaded) == ["area", "take_note", "make"]
    assert loaded.faults == ()
    assert dict(loaded.origins) == dict.fromkeys(names(loaded), str(path))
    assert loaded.tools[0].description == "Return the area."
    assert loaded.tools[1].has_effect
    assert call(loaded, "area", place={"x": 3}) == "6.0 m"
    with pytest.raises(ToolError, match="unit"):
        call(loaded, "area", place={"x": 3}, unit="mile")


def test_files_are_named_or_in_the_folder_and_each_is_read_once(
    write: Write, tmp_path: Path
) -> None:
    write(DOUBLE, "b.py")
    write(DOUBLE.replace("double", "treble"), "a.py")
    write("boom", "_part.py")
    write("boom", "notes.txt")
    named = write(DOUBLE.replace("double", "half"), "any name!.txt", tmp_path)
    loaded = load_tools([named, tools_dir() / "b.py", named])
    assert (names(loaded), loaded.faults) == (["half", "double", "treble"], ())


def test_the_users_home_is_understood(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    write(DOUBLE, "mine.py", tmp_path)
    assert names(load_tools([Path("~/mine.py")])) == ["double"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_file_may_be_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(DOUBLE))
    writer.start()
    loaded = load_tools([pipe])
    writer.join()
    assert (names(loaded), loaded.faults) == (["double"], ())
    # Whoever looks for its source must not open the pipe again, and wait for ever.
    code = loaded.tools[0].function.__code__
    assert linecache.getlines(code.co_filename) == []
    assert sys.modules[loaded.tools[0].function.__module__].__file__ == f"<{pipe}>"


@pytest.mark.parametrize(("name", "told"), [("none.py", "there is no file"), ("", "is a folder")])
def test_a_file_that_does_not_exist_is_refused(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        load_tools([tmp_path / name])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\ndef f(:\n", ", line 2: SyntaxError: "),
        ("\nimport no_such_module_here\n", ", line 2: ModuleNotFoundError: No module named"),
        ("import sys\n\nsys.exit(3)\n", ", line 3: it ends the program"),
        ("def f():\n    1 / 0\n\nf()\n", ", line 2: ZeroDivisionError: division by zero"),
        ("raise ValueError('a\\nb' * 999)", ", line 1: ValueError: a ba ba"),
        (b"\xff\xfe\x00", "mine.py: "),
        (b"x = 'a\x00b'", "mine.py"),
        ("X = 1\n", "it defines no tool: write a function with a docstring"),
        ("def f(x) -> int:\n    '''Do.'''\n", ", line 1: tool f: x has no type hint"),
        ("\ndef f(x: int) -> int:\n    return x\n", ", line 2: tool f has no docstring"),
        ("def f(x: Nothing) -> int:\n    '''Do.'''\n", "line 1: NameError"),
        (
            "from __future__ import annotations\ndef f(x: Nothing) -> int:\n    '''Do.'''\n",
            ", line 2: tool f: a type hint cannot be read",
        ),
        ("def f(x: object()) -> int:\n    '''Do.'''\n", ", line 1: tool f: "),
        ("def f(*x: int) -> int:\n    '''Do.'''\n", ", line 1: tool f: *x cannot be described"),
        ("async def f() -> int:\n    '''Do.'''\n", ", line 1: a tool is made of a plain function"),
        (
            "import functools\n@functools.cache\ndef f() -> int:\n    '''Do.'''\n",
            ", line 2: a tool is made of a plain function",
        ),
        ("def Finish(x: int) -> int:\n    '''Do.'''\n", "it is the Action that ends a run"),
    ],
)
def test_a_fault_is_told_in_one_line_and_stops_no_other(
    write: Write, text: str | bytes, told: str
) -> None:
    path = write(text)
    write(DOUBLE, "others.py")
    before = set(sys.modules)
    loaded = load_tools()
    assert names(loaded) == ["double"]
    (fault,) = loaded.faults
    assert fault.startswith(str(path))
    assert told in fault
    assert "\n" not in fault
    assert len(fault) < 350 + len(str(path))
    assert len(set(sys.modules) - before) <= 2  # nor does what failed stay


def test_a_fault_in_one_function_leaves_the_others_of_its_file(write: Write) -> None:
    write(f"def bad(x):\n    '''Do.'''\n{DOUBLE}")
    loaded = load_tools()
    assert (names(loaded), len(loaded.faults)) == (["double"], 1)


def test_a_schema_under_which_no_model_can_write_is_a_fault(write: Write) -> None:
    write(f'''
from typing import Annotated
from pydantic import Field

def odd(x: Annotated[str, Field(json_schema_extra={{"x-gbnf": "no rules"}})]) -> str:
    """Return it."""
    return x
{DOUBLE}''')
    loaded = load_tools()
    assert names(loaded) == ["double"]
    assert ", line 5: " in loaded.faults[0]


def test_of_two_with_one_name_the_first_is_taken(write: Write, tmp_path: Path) -> None:
    first = write(DOUBLE, "mine.py", tmp_path)
    second = write(f"\n{DOUBLE.replace('2', '3')}")
    loaded = load_tools([first])
    assert call(loaded, "double", number=4) == "8"
    assert loaded.faults == (
        f"{second}, line 3: there is a tool double already, {first}, line 2: rename this one",
    )


def test_no_tool_takes_the_name_of_a_built_in_one(write: Write) -> None:
    path = write(DOUBLE)
    loaded = load_tools(builtin=["search", "Double"])
    assert loaded.tools == ()
    assert loaded.faults == (
        f"{path}, line 2: there is a tool double already, a built-in one: rename this one",
    )


def test_standard_output_stays_clean(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write('''
import sys

print("while it is loaded")
sys.stdout.write("too\\n")

def talk(word: str) -> str:
    """Return the word."""
    print("in", "a call", sep=" ", file=None)
    return word
''')
    loaded = load_tools()
    thread = threading.Thread(target=lambda: call(loaded, "talk", word="hi"))
    thread.start()
    thread.join()
    out, err = capsys.readouterr()
    assert (out, err) == ("", "while it is loaded\ntoo\nin a call\n")
    sys.stdout.write("ours\n")
    assert capsys.readouterr().out == "ours\n"


def test_nothing_is_written_beside_a_file(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = write(DOUBLE)
    assert names(load_tools()) == ["double"]
    assert list(path.parent.iterdir()) == [path]
    path.write_text(DOUBLE.replace("2", "3"))  # as long, and as old perhaps
    assert call(load_tools(), "double", number=2) == "6"


def test_a_file_may_be_named_like_an_installed_module(write: Write) -> None:
    json = sys.modules["json"]
    write(f"import json\n{DOUBLE}\nassert json.dumps(1) == '1'\n", "json.py")
    assert names(load_tools()) == ["double"]
    assert sys.modules["json"] is json


def test_a_file_in_another_encoding_says_so(write: Write) -> None:
    text = "# coding: latin-1\n" + DOUBLE.replace("twice the number", "das Doppelte für Sie")
    write(text.encode("latin-1"))
    assert load_tools().tools[0].description == "Return das Doppelte für Sie."


def test_a_folder_that_is_none_is_told(write: Write) -> None:
    write("", "tools", tools_dir().parent)
    assert load_tools().faults[0].startswith(f"{tools_dir()}: it cannot be read: ")


MODULE = f'''
from local_react import tool, calculator
print("a package")
{DOUBLE}
@tool
def treble(number: int) -> int:
    """Return three times the number."""
    return number * 3

both = [double, treble]
nothing = 5
def undocumented(x: int) -> int:
    return x
'''


@pytest.mark.parametrize(
    ("point", "found"),
    [
        ("brings_tools:double", ["double"]),
        ("brings_tools:treble", ["treble"]),
        ("brings_tools:both", ["double", "treble"]),
        ("brings_tools", ["double", "treble"]),
    ],
)
def test_a_package_brings_tools(
    package: Callable[[str, str], None],
    capsys: pytest.CaptureFixture[str],
    point: str,
    found: list[str],
) -> None:
    package(MODULE, f"any = {point}")
    loaded = load_tools()
    assert names(loaded) == found
    assert set(loaded.origins.values()) == {"brings-tools 1.2"}
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("point", "told"),
    [
        ("brings_tools:nowhere", "AttributeError"),
        ("no_module_of_that_name", "ModuleNotFoundError"),
        ("brings_tools:nothing", "a tool is made of a plain function, not of 5"),
        ("brings_tools:undocumented", "has no docstring"),
        ("textwrap", "no docstring|has no type hint"),
        ("keyword", "it brings no tool"),
    ],
)
def test_a_fault_in_a_package_is_told_and_stops_no_other(
    package: Callable[[str, str], None], write: Write, point: str, told: str
) -> None:
    package(MODULE, f"bad = {point}\nlast = brings_tools:treble")
    write(DOUBLE)
    loaded = load_tools()
    assert names(loaded) == ["double", "treble"]
    assert loaded.faults
    for fault in loaded.faults:
        assert fault.startswith("plugin bad of brings-tools 1.2: ")
    assert any(part in loaded.faults[0] for part in told.split("|"))


POSIX = pytest.mark.skipif(os.name != "posix", reason="SKIPPED: Windows has no file modes")


@POSIX
@pytest.mark.parametrize("which", ["file", "folder", "above"])
def test_a_file_that_every_user_can_change_is_not_run(
    write: Write, tmp_path: Path, which: str
) -> None:
    path = write(f"raise SystemExit\n{DOUBLE}", "mine.py", tmp_path / "above" / "folder")
    at = {"file": path, "folder": path.parent, "above": path.parent.parent}[which]
    at.chmod(at.stat().st_mode | 0o002)
    whose = "it" if which == "file" else at
    told = f"{path}: it is not run: every user can write to {whose}: `chmod o-w {at}`"
    assert load_tools([path]) == Loaded(faults=(told,))
    at.chmod(at.stat().st_mode & ~0o002)
    assert "it ends the program" in load_tools([path]).faults[0]


@POSIX
def test_in_the_folder_of_tools_it_is_the_same(write: Write) -> None:
    write(DOUBLE)
    tools_dir().chmod(0o777)
    assert load_tools().tools == ()


@POSIX
def test_a_file_in_a_folder_where_each_has_their_own_is_run(write: Write, tmp_path: Path) -> None:
    path = write(DOUBLE, "mine.py", tmp_path / "for all")
    path.parent.chmod(0o1777)  # as /tmp
    assert names(load_tools([path])) == ["double"]


@POSIX
def test_a_link_is_as_good_as_its_own_folder(write: Write, tmp_path: Path) -> None:
    path = write(DOUBLE, "mine.py", tmp_path / "own")
    (tmp_path / "shared").mkdir()
    link = tmp_path / "shared" / "link.py"
    link.symlink_to(path)
    assert names(load_tools([link])) == ["double"]
    link.parent.chmod(0o777)
    assert load_tools([link]).tools == ()


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="SKIPPED: only root can give a file away"
)
@pytest.mark.parametrize("which", ["file", "folder"])
def test_another_users_file_is_not_run(write: Write, tmp_path: Path, which: str) -> None:
    path = write(DOUBLE, "mine.py", tmp_path / "folder")
    os.chown(path if which == "file" else path.parent, 12345, 12345)
    (fault,) = load_tools([path]).faults
    assert fault.startswith(f"{path}: it is not run: it")
    assert "belongs to another user: make it yours, or copy it" in fault


@pytest.mark.parametrize("where", ["working directory", "PYTHONPATH"])
def test_what_is_not_installed_is_not_run(
    package: Callable[[str, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
) -> None:
    package(f"raise SystemExit\n{DOUBLE}", "any = brings_tools")
    if where == "PYTHONPATH":
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["nowhere", str(tmp_path / "site")]))
    else:
        monkeypatch.chdir(tmp_path / "site")
    assert load_tools() == Loaded(
        faults=(
            f"plugin any in {tmp_path / 'site'} is not run: it is not installed; install it "
            "with pip",
        )
    )
    assert "brings_tools" not in sys.modules
