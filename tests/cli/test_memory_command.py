"""`local-react memory`: facts added, listed and forgotten."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from local_react.cli.memory import memory
from local_react.errors import UsageError
from local_react.history import History

Run = Callable[..., str]


@pytest.fixture
def history(own_places: None) -> History:
    """The history of this test alone, which the command looks at."""
    return History()


@pytest.fixture
def run(history: History, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command and gives what it prints, on standard output
    alone."""

    def call(*arguments: str) -> str:
        assert not memory.main(list(arguments), standalone_mode=False)
        told = capsys.readouterr()
        assert told.err == ""
        return told.out

    return call


def texts(history: History) -> list[str]:
    return [fact.text for fact in history.facts()]


def test_nothing_yet(run: Run, history: History) -> None:
    assert run() == run("list")
    assert run().startswith("nothing is remembered yet: `local-react memory add ")
    assert json.loads(run("list", "--json")) == []
    assert run("clear") == "nothing is remembered\n"
    with pytest.raises(UsageError, match="memory list"):
        run("forget", "Bern")
    assert not history.path.exists()


def test_facts_are_added_once_and_listed(run: Run, history: History) -> None:
    assert run("add", "I live in Bern") == "remembered as 1: I live in Bern\n"
    assert run("add", "My", "name", "is", "\x1b[31mAna\u202e") == (
        "remembered as 2: My name is [31mAna\n"
    )
    assert run("add", "i live in bern.") == "remembered as 1: I live in Bern\n"
    assert run() == run("list") == "   1  I live in Bern\n   2  My name is [31mAna\n"
    told = run("list", "--json")
    assert "\x1b" not in told and "\u202e" not in told
    assert [(fact["number"], fact["text"]) for fact in json.loads(told)] == [
        (1, "I live in Bern"),
        (2, "My name is \x1b[31mAna\u202e"),
    ]


def test_a_fact_is_forgotten_by_number_or_words(run: Run, history: History) -> None:
    for fact in ("I live in Bern", "I have a dog", "I have a cat"):
        history.remember(fact)
    assert run("forget", "1") == "forgotten: I live in Bern\n"
    assert run("forget", "a", "DOG") == "forgotten: I have a dog\n"
    assert texts(history) == ["I have a cat"]


def test_several_facts_are_forgotten_only_where_the_user_says_so(
    run: Run, history: History
) -> None:
    for fact in ("I have a dog", "I have a cat", "We meet on Tuesdays"):
        history.remember(fact)
    for arguments in (["forget", "i"], ["clear"]):
        done = subprocess.run(
            [sys.executable, "-m", "local_react", "memory", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert "nobody to ask: --yes" in done.stderr and done.stderr.count("\n") == 1
    assert len(texts(history)) == 3
    assert run("forget", "i", "-y") == "forgotten: I have a dog\nforgotten: I have a cat\n"
    assert texts(history) == ["We meet on Tuesdays"]
    assert run("clear", "--yes") == "forgotten: We meet on Tuesdays\n"
    assert texts(history) == []


@pytest.mark.skipif(os.name == "nt", reason="SKIPPED: no pseudo-terminals there")
def test_on_a_terminal_it_is_shown_what_would_be_forgotten(history: History) -> None:
    import pexpect

    for fact in ("I have a dog", "I have a cat"):
        history.remember(fact)
    for keys, left in (("n\n", 2), ("y\n", 0)):
        arguments = ["-m", "local_react", "memory", "clear"]
        child = pexpect.spawn(sys.executable, arguments, encoding="utf-8", timeout=120)
        child.expect(r"\[y/N\]")
        assert "  I have a dog\r\n  I have a cat\r\n" in str(child.before)
        child.send(keys)
        child.expect(pexpect.EOF)
        child.close()
        assert child.exitstatus == 0
        assert len(texts(history)) == left
