"""The help: every command is in it, with its own words, and it is quick."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

import local_react.cli
from local_react.cli.commands import COMMANDS
from local_react.cli.front_page import ASK_OPTIONS, EXIT_CODES
from local_react.cli.main import run
from local_react.cli.root import root
from local_react.cli.sections import OTHERS, SECTIONS, section_of


def command(name: str) -> click.Command:
    found = root.get_command(click.Context(root), name)
    assert found is not None
    return found


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return what is printed, after checking that it is all and no error."""
    assert run(arguments) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_of_a_command_is_the_first_sentence_of_its_help(name: str) -> None:
    sentence = command(name).get_short_help_str(limit=1000)
    assert COMMANDS[name].help == sentence.rstrip(".")
    assert command(name).name == name


def commands_of_the_package() -> Iterator[click.Command]:
    """Yield the commands in the modules of cli that are no part of another."""
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(local_react.cli.__path__, "local_react.cli.")
    ]
    everything = [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, click.Command) and value is not root
    ]
    parts = {id(part) for group in everything for part in parts_of(group)}
    yield from (one for one in everything if id(one) not in parts)


def parts_of(one: click.Command) -> Iterator[click.Command]:
    for part in one.commands.values() if isinstance(one, click.Group) else ():
        yield part
        yield from parts_of(part)


def test_every_command_of_the_package_is_in_the_table() -> None:
    ids = {id(command(name)) for name in COMMANDS}
    assert [one.name for one in commands_of_the_package() if id(one) not in ids] == []


def test_the_front_page_has_all_commands_and_no_option_that_is_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = said(["--help"], capsys)
    for name, place in COMMANDS.items():
        assert f"\n  {name} " in page
        assert f"\n{place.section}:\n" in page
    known = {option for param in command("ask").params for option in param.opts}
    for spelled in ASK_OPTIONS:
        names = {word for word in spelled.replace(",", "").split() if word.startswith("-")}
        assert names
        assert names <= known, spelled
    assert all(f"\n  {code:<3}  " in page for code in EXIT_CODES)


@pytest.mark.parametrize("arguments", [["-h"], ["help"]])
def test_the_front_page_has_several_names(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(arguments, capsys) == said(["--help"], capsys)


@pytest.mark.parametrize("words", [["docs"], ["docs", "add"], ["calc"], ["ask"], ["completion"]])
def test_help_and_a_command_is_its_help(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    page = said(["help", *words], capsys)
    assert page == said([*words, "--help"], capsys)
    assert page.startswith(f"Usage: local-react {' '.join(words)}")


@pytest.mark.parametrize(
    ("word", "told"), [("doctr", "`local-react doctor`"), ("zzz", "`local-react --help`")]
)
def test_help_about_nothing_is_told(
    word: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["help", word]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert told in err


def test_the_options_of_a_question_are_all_in_sections(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = said(["ask", "--help"], capsys)
    options = [param for param in command("ask").params if isinstance(param, click.Option)]
    others = {option.opts[-1] for option in options if section_of(option) == OTHERS}
    assert others <= {"--version", "--help"}
    heads = [page.index(f"\n{title}:\n") for title in SECTIONS]
    assert heads == sorted(heads)
    assert "\nOptions:\n" not in page


def test_a_section_names_no_option_that_is_none() -> None:
    known = {
        option
        for name in ("ask", "chat", "batch")
        for param in command(name).params
        for option in (*param.opts, *param.secondary_opts)
    }
    named = {option for options in SECTIONS.values() for option in options}
    assert named - known == set()


def test_the_exit_codes_are_the_same_on_both_pages(capsys: pytest.CaptureFixture[str]) -> None:
    of_ask = " ".join(said(["ask", "--help"], capsys).split())
    for code, what in EXIT_CODES.items():
        assert f"{code} {what.split(',')[0]}" in of_ask


@pytest.mark.parametrize("name", ["completion", "man"])
def test_the_help_has_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"local-react {name} " in said([name, "--help"], capsys).split("\n", 1)[1]


HEAVY = """
import sys
from local_react.cli.main import run
code = run(sys.argv[1:])
heavy = {"llama_cpp", "numpy", "pydantic", "rich", "sympy", "httpx2", "ddgs", "sqlite3",
         "prompt_toolkit", "huggingface_hub", "local_react.agent", "local_react.protocol"}
print(code, *sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("help",),
        *((name, "--help") for name in COMMANDS if name not in ("man", "completion")),
    ],
    ids=" ".join,
)
def test_no_help_waits_for_what_it_does_not_need(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HEAVY, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stderr == "0\n"


def test_the_front_page_imports_no_command() -> None:
    code = (
        "import sys; from local_react.cli.main import run; run(['--help']);"
        "print(*sorted(n for n in sys.modules if n.startswith('local_react')), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = {place.module for place in COMMANDS.values()}
    assert not {f"local_react.cli.{module}" for module in modules} & {*done.stderr.split()}
