"""The manual page: all options are in it, and roff reads it as it was meant."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import local_react
from local_react.cli.commands import COMMANDS
from local_react.cli.front_page import EXAMPLES, EXIT_CODES
from local_react.cli.main import run
from local_react.cli.manual import ENVIRONMENT, escaped, manual
from local_react.cli.root import root

TITLE = '.TH "" 1 "" "" ""\n'


@pytest.fixture(scope="module")
def page() -> str:
    return manual()


def commands(
    command: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield each command, with the words that lead to it."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            part = command.get_command(context, name)
            assert part is not None
            yield from commands(part, (*path, name))


def section(page: str, title: str) -> str:
    return page.split(f"\n.SH {title}\n")[1].split("\n.SH ")[0]


def test_every_command_is_in_it_with_all_its_options(page: str) -> None:
    seen = 0
    for path, command in commands(root):
        if command.hidden:
            continue
        words = escaped(" ".join(("local-react", *path)))
        part = section(page, "COMMANDS")
        if path:
            (part,) = re.findall(
                rf"^\.SS {re.escape(words)} (?![a-z])(.*?)(?=^\.SS |\Z)", part, re.M | re.S
            )
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                for name in (*option.opts, *option.secondary_opts):
                    assert re.search(rf"{re.escape(escaped(name))}(?![a-z])", part), (path, name)
                    seen += 1
    assert seen > 100


def test_examples_exit_codes_and_variables_are_in_it(page: str) -> None:
    assert all(escaped(line) in section(page, "EXAMPLES") for line in EXAMPLES)
    codes = re.findall(r"\\fB(\d+)\\fR", section(page, "EXIT STATUS"))
    assert codes == [str(code) for code in EXIT_CODES]
    assert all(escaped(name) in section(page, "ENVIRONMENT") for name in ENVIRONMENT)


def test_every_variable_that_the_program_reads_is_told() -> None:
    package = Path(local_react.__file__).parent
    read = set[str]()
    for path in package.rglob("*.py"):
        read |= set(re.findall(r"[\"'](LOCAL_REACT_[A-Z_]*[A-Z])[\"']", path.read_text("utf-8")))
    assert {"LOCAL_REACT_MODEL", "LOCAL_REACT_OFFLINE", "LOCAL_REACT_CACHE"} <= read
    assert read <= set(ENVIRONMENT)


def test_the_directories_are_as_from_anybodys_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("LOCAL_REACT_DATA_DIR", str(tmp_path / "my-data"))
    monkeypatch.setenv("LOCAL_REACT_CONFIG", "/elsewhere/config")
    files = section(manual(), "FILES")
    assert escaped(str(Path("~/my-data"))) in files
    assert escaped(str(Path("/elsewhere/config"))) in files
    assert tmp_path.name not in files


@pytest.mark.parametrize(
    ("text", "roff"),
    [
        (".hidden", r"\&.hidden"),
        ("'quoted'", r"\(aqquoted\(aq"),
        (r"C:\new", r"C:\(rsnew"),
        ("--max-steps", r"\-\-max\-steps"),
        ('"q" `c` ^ ~', r"\(dqq\(dq \(gac\(ga \(ha \(ti"),
        ("café ≤ 😀", r"caf\[u00E9] \[u2264] \[u1F600]"),
    ],
)
def test_nothing_in_a_text_is_taken_for_roff(text: str, roff: str) -> None:
    assert escaped(text) == roff


@pytest.mark.parametrize(
    "text", [".hidden .SH x", "'quoted' \"twice\"", r"C:\new\*[x] \fB", "--a -b - ^ ~ ` x"]
)
def test_roff_shows_a_text_as_it_is(text: str) -> None:
    shown = formatted(f"{TITLE}.SH NAME\n{escaped(text)}\n")
    assert text in shown


def formatted(page: str) -> str:
    """Return what man shows of it, after checking that there was nothing to warn of."""
    if not (program := shutil.which("groff")):
        pytest.skip("SKIPPED, groff is not installed: what it makes of the page is not tried")
    done = subprocess.run(
        [program, "-man", "-Tutf8", "-ww", "-P-cbou", "-rLL=200n"],
        input=page.encode("ascii"),  # so that it needs no encoding
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout.decode()


def test_groff_formats_the_page_and_warns_of_nothing(page: str) -> None:
    shown = formatted(page)
    assert "--max-steps" in shown
    assert 'local-react "What is 15% of 80?"' in shown
    assert all(f"local-react {name}" in shown for name in COMMANDS)
    assert not re.search(r"\\[(\[&-]|\bfB\b", shown)


def test_mandoc_finds_nothing_wrong(page: str) -> None:
    if not (program := shutil.which("mandoc")):
        pytest.skip("SKIPPED, mandoc is not installed: its opinion of the page is not asked")
    done = subprocess.run(
        [program, "-Tlint", "-W", "warning"],
        input=page.encode("ascii"),
        capture_output=True,
        check=False,
    )
    # The page has no date: it is of the version that it names.
    lines = [line for line in done.stdout.decode().splitlines() if "missing date" not in line]
    assert lines == []


def test_man_itself_shows_it(page: str, tmp_path: Path) -> None:
    if sys.platform != "linux" or not (program := shutil.which("man")):
        pytest.skip("SKIPPED, man-db is not installed: the page is not tried in it")
    file = tmp_path / "local-react.1"
    file.write_text(page, encoding="ascii")
    done = subprocess.run(
        [program, "--warnings", "-E", "ascii", "-l", str(file)],
        capture_output=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "MANPAGER": "cat", "MANWIDTH": "80"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"SYNOPSIS" in done.stdout


def test_the_command_prints_the_page(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["man"]) == 0
    assert capsys.readouterr() == (page, "")
