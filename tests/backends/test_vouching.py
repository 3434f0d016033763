"""A file that nobody vouches for is tried in a process of its own before it is loaded."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tiny_model import write_tiny_model
from trials.gguf_file import STRING, Pair, taken_apart, text, texts, texts_of

from local_react import LlamaModel
from local_react.backends.llama import trying, vouching
from local_react.backends.llama.rehearsal import every_byte
from local_react.errors import ModelError
from local_react.places import cache_dir
from local_react.search_path import search_path

pytestmark = pytest.mark.usefixtures("own_places")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_tiny_model(tmp_path / "own.gguf")


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were tried, which really are."""
    tried: list[Path] = []
    real = trying.try_file

    def noted(path: Path, *args: object) -> None:
        tried.append(path)
        real(path, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(vouching, "try_file", noted)
    return tried


def fatal(path: Path) -> Path:
    """Make of a file one over which llama.cpp ends the process: a vocabulary of whole words
    and no bytes, for a tokenizer that falls back to them."""
    file = taken_apart(path.read_bytes())
    file.pair("tokenizer.ggml.model").value = text(b"llama")
    words = texts_of(file.pair("tokenizer.ggml.tokens"))
    file.pair("tokenizer.ggml.tokens").value = texts([b"word%d" % n for n in range(len(words))])
    path.write_bytes(file.whole())
    return path


def test_a_file_is_tried_once_and_again_when_it_was_changed(path: Path, tries: list[Path]) -> None:
    for _ in range(2):
        LlamaModel(path, threads=1).close()
    assert tries == [path]
    os.utime(path, ns=(1, 1))
    LlamaModel(path, threads=1).close()
    assert tries == [path, path]


def test_what_came_of_it_is_the_owners_alone(path: Path) -> None:
    LlamaModel(path, threads=1).close()
    kept = (cache_dir() or Path()) / "tried_models.json"
    assert list(json.loads(kept.read_text())) == [str(path)]
    if os.name == "posix":
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", ["", "null", "[", '{"a": 1}', "[" * 100_000, "\0"])
def test_a_damaged_record_is_as_none(path: Path, tries: list[Path], damage: str) -> None:
    kept = (cache_dir() or Path()) / "tried_models.json"
    kept.parent.mkdir(parents=True)
    kept.write_text(damage)
    LlamaModel(path, threads=1).close()
    assert tries == [path]


def test_without_the_cache_it_is_tried_each_time(
    path: Path, tries: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    LlamaModel(path, threads=1, warm_start=False).close()
    monkeypatch.setenv("LOCAL_REACT_CACHE", "off")
    LlamaModel(path, threads=1).close()
    assert tries == [path, path]


def test_what_is_trusted_is_not_tried(path: Path, tries: list[Path]) -> None:
    LlamaModel(path, threads=1, trusted=True).close()
    assert not tries


def test_a_file_that_ends_the_process_ends_another_and_is_remembered(
    path: Path, tries: list[Path]
) -> None:
    fatal(path)
    for _ in range(2):
        with pytest.raises(ModelError) as caught:
            LlamaModel(path, threads=1)
        message = str(caught.value)
        assert message.startswith(f"{path} cannot be loaded: llama.cpp broke down over it")
        assert "\n" not in message
    assert tries == [path]


def test_a_file_that_never_answers_is_given_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "_COMMAND", "while True: pass")
    monkeypatch.setattr(trying, "_SECONDS", 0.2)
    with pytest.raises(ModelError, match=r"did not answer within 0 s"):
        LlamaModel(path, threads=1)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import os; os.abort()", "SIGABRT" if os.name == "posix" else "exit code"),
        (
            "import sys; sys.stderr.write('x\\nGGML_ASSERT(a == b) failed\\n'); sys.exit(3)",
            "a == b",
        ),
        ("import missing_module", "No module named"),
        ("print('no JSON')", "exit code 0"),
        ("print('[]')", "exit code 0"),
    ],
)
def test_however_it_ends_one_line_tells(
    path: Path, monkeypatch: pytest.MonkeyPatch, code: str, told: str
) -> None:
    monkeypatch.setattr(trying, "_COMMAND", code)
    with pytest.raises(ModelError) as caught:
        LlamaModel(path, threads=1)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_where_no_process_can_be_started_it_is_not_loaded(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(path))
    with pytest.raises(ModelError, match="cannot be tried in a process of its own"):
        LlamaModel(path, threads=1)


def test_a_program_in_one_piece_is_not_started_again(
    path: Path, tries: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    LlamaModel(path, threads=1).close()
    assert not tries


def test_a_file_in_the_folder_is_taken_for_no_library(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('taken for a library')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    LlamaModel(path, threads=1).close()


def test_a_broken_template_is_told_with_the_file(path: Path) -> None:
    file = taken_apart(path.read_bytes())
    key = b"tokenizer.chat_template"
    file.pairs = [*file.without(key.decode()).pairs, Pair(key, STRING, text(b"{{ 1 / 0 }}"))]
    path.write_bytes(file.whole())
    with pytest.raises(ModelError, match=r"own\.gguf .*template"):
        LlamaModel(path, threads=1)


def test_the_text_that_is_tried_holds_every_byte() -> None:
    data = set(every_byte().encode())
    assert data == {*range(1, 0x100)} - {0xC0, 0xC1, *range(0xF5, 0x100)}


@pytest.mark.skipif(os.name != "posix", reason="SKIPPED, no signals")
def test_only_what_the_file_has_done_is_remembered(
    path: Path, tries: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        for code in ("import os; os.kill(os.getpid(), 9)", "raise SystemExit(1)"):
            patch.setattr(trying, "_COMMAND", code)
            with pytest.raises(ModelError, match="ended without an answer"):
                LlamaModel(path, threads=1)
    LlamaModel(path, threads=1).close()
    assert tries == [path] * 3


_INTERRUPTED = """
import os, signal, subprocess, sys, threading
from pathlib import Path
from local_react import LlamaModel
from local_react.backends.llama import trying
ready = Path(sys.argv[2])
trying._COMMAND = (
    "import os, signal; from pathlib import Path; signal.signal(signal.SIGINT, signal.SIG_IGN);"
    f"Path({str(ready)!r}).write_text(str(os.getpid()))\\nwhile True: pass"
)
def interrupt():
    while not (ready.exists() and ready.read_text()):
        pass
    os.killpg(0, signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    LlamaModel(sys.argv[1], threads=1)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(os.name != "posix", reason="SKIPPED, no process groups")
def test_ctrl_c_ends_the_trial_too(path: Path, tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED, str(path), str(ready)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(search_path())},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        start_new_session=True,
    )
    assert done.stdout == "interrupted\n"
    assert _ends(int(ready.read_text()))


def _ends(number: int) -> bool:
    """Return whether a process ends, or waits for somebody to notice."""
    for _ in range(1000):
        try:
            if psutil.Process(number).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.01)
    return False
