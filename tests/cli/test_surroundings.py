"""The command line where something around it is not as usual. bench/trials/surroundings.py
tries every command in many more surroundings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

import local_react
from local_react.cli.main import run
from local_react.errors import UsageError
from local_react.places import cache_dir, config_dir, data_dir

POSIX = pytest.mark.skipif(os.name == "nt", reason="there are no such streams and signals")
FAST = ("--thought-tokens", "8", "-t", "1", "--max-steps", "1", "--votes", "1", "--no-tools")
SOURCES = str(Path(local_react.__file__).parent.parent)

NOISY = '''
import os, subprocess, sys, threading

def noisy(text: str) -> str:
    """Say something in all ways."""
    os.write(1, b"written\\n")
    subprocess.run(["echo", "by a program"])
    subprocess.run(["echo", "by another"], stdout=sys.stdout)
    print("printed")
    sys.stdout.write("to the stream\\n")
    sys.stdout.buffer.write(b"to its bytes\\n")
    aside = threading.Thread(target=lambda: sys.stdout.write("by a thread\\n"))
    aside.start()
    aside.join()
    return f"given {text}"
'''


def ended(
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    python: Sequence[str] = (),
    redirection: str = "",
    folder: Path | None = None,
) -> tuple[int, str, str]:
    """Return exit code, output and errors of the program, started by a shell."""
    line = [sys.executable, *python, "-m", "local_react", *arguments]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", *line] if redirection else line,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=120,
        cwd=folder,
        env={**os.environ, **(environment or {})},
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@POSIX
def test_standard_output_holds_what_a_tool_gives_and_nothing_that_it_prints(
    tmp_path: Path, own_places: None
) -> None:
    tools = tmp_path / "noisy.py"
    tools.write_text(NOISY)
    arguments = ("tools", "test", "noisy", '{"text": "x"}', "--functions", str(tools))
    code, out, err = ended(arguments)
    assert (code, out) == (0, "given x\n")
    assert sorted(err.splitlines()) == sorted(
        ["written", "by a program", "by another", "printed", "to the stream", "to its bytes",
         "by a thread"]
    )  # fmt: skip


@POSIX
@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_what_is_kept_is_whole_where_streams_are_closed(
    closed: str, tiny_path: Path, own_places: None
) -> None:
    code, _, _ = ended(["-m", str(tiny_path), *FAST, "hello"], redirection=closed)
    assert code in (0, 4)
    assert ended(["trace", "list", "--json"])[0] == 0


DESCRIPTORS = """
import os, sys
from local_react.cli.streams import set_apart
set_apart()
with open(sys.argv[1], "w") as file:
    assert file.fileno() > 2, file.fileno()
os.write(1, b"to nobody")
os.write(2, b"to nobody")
"""


@POSIX
def test_no_file_is_taken_for_standard_output_that_is_closed(tmp_path: Path) -> None:
    line = [sys.executable, "-c", DESCRIPTORS, str(tmp_path / "file")]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "sh", *line], check=False, timeout=60
    )
    assert done.returncode == 0
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.parametrize("python", [["-OO"], ["-W", "error"]], ids=str)
def test_it_answers_whatever_python_is_told(
    python: list[str], tiny_path: Path, own_places: None
) -> None:
    arguments = ["-m", str(tiny_path), *FAST[:-1], "-T", "calculator", "--json", "hello"]
    code, out, err = ended(arguments, python=python)
    assert code in (0, 4), err
    assert json.loads(out)["question"] == "hello"
    assert "Warning" not in err
    code, out, _ = ended(["tools", "list"], python=python)
    assert code == 0
    assert "exact" in next(line for line in out.splitlines() if line.startswith("calculator"))


@pytest.mark.parametrize("name", ["json", "click", "sqlite3", "numpy", "libzim"])
def test_a_file_named_as_a_library_is_not_run(name: str, tmp_path: Path, own_places: None) -> None:
    (tmp_path / f"{name}.py").write_text("raise SystemExit(99)")
    for arguments in (["calc", "1/3"], ["tools", "list"], ["memory", "list"]):
        code, _, err = ended(arguments, {"PYTHONPATH": SOURCES}, folder=tmp_path)
        assert code == 0, err


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert local_react.__version__ == version("local-react")


@pytest.mark.parametrize("find", [data_dir, config_dir])
def test_without_a_home_it_is_told_which_variable_says_where(
    find: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere(*arguments: object, **options: object) -> Path:
        raise RuntimeError("could not determine the home directory")

    for name in ("data", "config", "cache"):
        monkeypatch.setattr(f"platformdirs.user_{name}_path", nowhere)
    for variable in ("DATA_DIR", "CONFIG", "CACHE"):
        monkeypatch.delenv(f"LOCAL_REACT_{variable}")
    with pytest.raises(UsageError, match=r"no home directory.*LOCAL_REACT_"):
        find()
    assert cache_dir() is None


def test_a_relative_home_keeps_nothing_in_the_folder_that_one_works_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: Path("home/share"))
    monkeypatch.delenv("LOCAL_REACT_DATA_DIR")
    with pytest.raises(UsageError, match="no home directory"):
        data_dir()


@pytest.mark.parametrize("output", ["json", "stream-json"])
def test_ctrl_c_while_the_model_loads_is_told_as_json(
    output: str,
    own_places: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def pressed(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("local_react.cli.wiring.load_model", pressed)
    monkeypatch.setattr(sys, "stdin", None)
    assert run(["--output-format", output, "Who?"]) == 130
    told = json.loads(capsys.readouterr().out)
    assert (told["question"], told["stop_reason"], told["steps"]) == ("Who?", "interrupted", [])
    assert run(["Who?"]) == 130
    assert capsys.readouterr().out == ""


@POSIX
@pytest.mark.parametrize("files", [9, 14])
def test_too_few_files_are_told_in_a_line(files: int, tiny_path: Path, own_places: None) -> None:
    arguments = ["-m", str(tiny_path), *FAST, "hello"]
    limited = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh"]
    done = subprocess.run(
        [*limited, sys.executable, "-m", "local_react", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert done.returncode in (0, 4) or "local-react: " in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs a bound on the address space")
@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["-m", "TINY", *FAST, "hello"], 3, "MiB of addresses are allowed"),
        (["calc", "2/3"], 2, "too little memory"),
    ],
)
def test_too_little_memory_is_told_in_a_line(
    arguments: list[str], code: int, told: str, tiny_path: Path, own_places: None
) -> None:
    filled = [str(tiny_path) if one == "TINY" else one for one in arguments]
    done = subprocess.run(
        ["sh", "-c", 'ulimit -v 65536; exec "$@"', "sh",
         sys.executable, "-m", "local_react", *filled],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1), done.stderr
    assert told in done.stderr
