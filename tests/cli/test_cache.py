"""`local-react cache`: what is kept, told and cleared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from local_react.cli.cache import cache
from local_react.cli.main import run as run_command
from local_react.errors import UsageError
from local_react.network import Answers, Kept
from local_react.prefix_cache import PrefixCache

Run = Callable[..., str]


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PrefixCache:
    """An empty cache of this test's own, which the command looks at."""
    monkeypatch.setenv("LOCAL_REACT_CACHE", str(tmp_path / "own"))
    return PrefixCache(tmp_path / "own" / "prefixes")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command and gives its output."""

    def call(*arguments: str) -> str:
        assert not cache.main(list(arguments), standalone_mode=False)
        return capsys.readouterr().out

    return call


def put(kept: PrefixCache, key: str, model: str = "a.gguf", size: int = 1500) -> None:
    assert kept.save(key, np.ones(size, dtype=np.uint8), model=model, tokens=913)


def process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "local_react", "cache", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_an_empty_cache_is_told_as_such(kept: PrefixCache, run: Run) -> None:
    directory, summary, answers = run().splitlines()
    assert directory == str(kept.directory)
    assert summary.startswith("nothing yet, of at most 2.0 GB")
    assert answers.startswith("0 answers of the network, 0 bytes")
    told = json.loads(run("--json"))
    assert (told["prefixes"], told["answers"]["answers"]) == ([], 0)
    assert run("clear") == "nothing was kept\n"
    assert json.loads(run("clear", "--json")) == {"removed": 0, "bytes": 0}
    assert not kept.directory.exists()


def test_each_entry_is_a_line_the_last_used_first(kept: PrefixCache, run: Run) -> None:
    put(kept, "one", "a-model-with-quite-a-long-name.Q4_K_M.gguf")
    put(kept, "two", size=2_000_000)
    then = datetime(2024, 5, 6, 7, 8).astimezone()
    os.utime(kept.directory / "one.state", (then.timestamp(), then.timestamp()))
    _, first, second, summary, _ = run().splitlines()
    assert first.split()[:5] == ["a.gguf", "913", "tokens", "2.0", "MB"]
    assert "long-name.Q4_K_M.gguf" in second
    assert second.endswith("used 2024-05-06 07:08")
    assert first.index(" tokens") == second.index(" tokens")
    assert summary.startswith("2 files, 2.0 MB, of at most 2.0 GB")
    assert "no question" in summary
    assert run("show").splitlines()[1:-1] == [first, second, summary]


def test_json_has_the_same(kept: PrefixCache, run: Run) -> None:
    put(kept, "one")
    [entry] = kept.entries()
    [told] = json.loads(run("--json"))["prefixes"]
    assert (told["file"], told["bytes"]) == (str(entry.path), entry.path.stat().st_size)
    assert (told["model"], told["tokens"]) == ("a.gguf", 913)
    assert abs(datetime.fromisoformat(told["used"]).timestamp() - entry.used) <= 1


def test_an_entry_of_no_use_is_shown_and_goes_like_the_others(kept: PrefixCache, run: Run) -> None:
    put(kept, "one")
    (kept.directory / "two.state").write_bytes(b"\xff" * 500)
    [line] = [line for line in run().splitlines() if "damaged" in line]
    assert "500 bytes" in line
    assert {told["model"] for told in json.loads(run("--json"))["prefixes"]} == {"a.gguf", ""}
    size = sum(entry.bytes for entry in kept.entries())
    assert run("clear") == f"removed 2 files, {size / 1000:.1f} kB\n"
    assert kept.entries() == []


def test_clear_as_json(kept: PrefixCache, run: Run) -> None:
    put(kept, "one")
    size = kept.entries()[0].bytes
    assert json.loads(run("clear", "--json")) == {"removed": 1, "bytes": size}
    put(kept, "one")
    assert run("clear").startswith("removed 1 file, ")


def test_what_the_network_answered_is_counted_and_cleared(kept: PrefixCache, run: Run) -> None:
    answers = Answers.usual()
    assert answers is not None
    answers.save("search", "rain", Kept(b"wet"))
    assert run().splitlines()[-1].startswith("1 answer of the network, ")
    size = answers.path.stat().st_size
    assert json.loads(run("--json"))["answers"]["bytes"] == size
    assert json.loads(run("clear", "--json")) == {"removed": 1, "bytes": size}
    assert not answers.path.exists()


def test_what_cannot_be_removed_is_told(kept: PrefixCache) -> None:
    put(kept, "one")
    (kept.directory / "two.state").mkdir()
    with pytest.raises(UsageError, match=r"1 file in .* could not be removed"):
        cache.main(["clear"], standalone_mode=False)
    assert [entry.path.name for entry in kept.entries()] == ["two.state"]


def test_a_cache_that_cannot_be_looked_into_is_not_empty(kept: PrefixCache) -> None:
    kept.directory.parent.mkdir()
    kept.directory.write_text("a file")
    for arguments in ([], ["--json"], ["clear"]):
        with pytest.raises(UsageError) as caught:
            cache.main(arguments, standalone_mode=False)
        assert str(kept.directory) in str(caught.value)


@pytest.mark.skipif(os.name == "nt", reason="such names are refused there")
def test_a_model_s_name_cannot_steer_the_terminal(
    kept: PrefixCache, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put(kept, "one", "a\x1b[2Jb.gguf")
    assert "\x1b" not in run()
    monkeypatch.setenv("LOCAL_REACT_CACHE", str(tmp_path / "c\x1b[2J"))
    assert "\x1b" not in run()


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line with which the command is refused."""
    assert run_command(["cache", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


@pytest.mark.parametrize("arguments", [(), ("--json",), ("clear",)])
def test_off_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("LOCAL_REACT_CACHE", "off")
    assert "LOCAL_REACT_CACHE" in refused(capsys, *arguments)


@pytest.mark.parametrize(
    "arguments", [("foo",), ("clear", "all"), ("sizes", "of", "CPUs?"), ("",), ("Clear",)]
)
def test_another_word_is_one_line_that_says_what_there_is(
    kept: PrefixCache, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    put(kept, "one")
    told = refused(capsys, *arguments)
    assert " ".join(arguments) in told
    assert "`local-react cache clear`" in told
    assert kept.entries()


def test_as_a_command_it_is_found_and_prints_no_colours(kept: PrefixCache) -> None:
    put(kept, "one")
    done = process()
    assert (done.returncode, done.stderr) == (0, "")
    assert "a.gguf" in done.stdout
    assert "\x1b" not in done.stdout
    assert process("clear").stdout.startswith("removed 1 file")
    help_page = process("--help").stdout
    assert "LOCAL_REACT_CACHE=off" in help_page
    assert "no question, answer or document" in " ".join(help_page.split())
