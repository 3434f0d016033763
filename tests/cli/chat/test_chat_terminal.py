"""The chat in a real terminal, with a model of random weights."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

if os.name == "nt":
    pytest.skip("a terminal of POSIX", allow_module_level=True)

from chat_terminal import Terminal

from local_react import LlamaModel
from local_react.history import History

pytestmark = pytest.mark.usefixtures("own_places")

SMALL = ("--votes", "1", "--thought-tokens", "5")
PLAIN = (*SMALL, "--no-tools", "--max-steps", "1", "--ctx-size", "600")
WITH_A_STEP = (*SMALL, "-T", "calculator", "--max-steps", "2")
ENDLESS = ("--votes", "1", "--no-tools", "--temp", "2", "--thought-tokens", "1000000")
SUM = "What is 15% of 80?"
FOLDED = '  · calculator {"expression": "15% of 80"} → 12'

Chats: TypeAlias = Callable[..., Terminal]


@pytest.fixture
def chats(tiny_path: Path) -> Iterator[Chats]:
    """Opens chats, and closes them."""
    opened = list[Terminal]()

    def open_(*arguments: str, columns: int = 80, **env: str) -> Terminal:
        model = ("-m", str(tiny_path), "-t", "1")
        opened.append(Terminal("chat", *model, *arguments, columns=columns, env=env))
        return opened[-1]

    yield open_
    for terminal in opened:
        terminal.child.close(force=True)


def kept() -> list[str]:
    return [run.question for run in History().runs()]


def test_ask_look_undo_and_leave(chats: Chats) -> None:
    chat = chats(*WITH_A_STEP)
    chat.until("tiny.gguf: /help lists the commands", chat.at_prompt)
    lines = chat.say(SUM)
    assert FOLDED in lines
    assert f"> {SUM}" in lines
    assert kept() == [SUM]
    lines = chat.say("/steps")
    assert {"Observation: 12", "steps are shown whole"} <= {*lines}
    assert "taken back: What is 15% of 80?" in chat.say("/undo")
    assert kept() == []
    assert any("did you mean /tools?" in line for line in chat.say("/tols"))
    assert any("Leave, as Ctrl-D does" in line for line in chat.say("/help"))
    chat.type("\x04")
    assert chat.code() == 0


def test_ctrl_c_stops_the_answer_or_the_line_and_keeps_the_chat(chats: Chats) -> None:
    chat = chats(*ENDLESS)
    chat.until(chat.at_prompt)
    chat.type("Who are you?\r")
    chat.until(lambda: len(chat.lines) > 3)
    chat.type("\x03")
    lines = chat.until("stopped", chat.at_prompt)
    assert len([line for line in lines if not line.startswith(">")]) > 2  # what was written
    assert kept() == []
    assert any("a session without a name yet: 0 turns" in line for line in chat.say("/session"))
    chat.type("half a li")
    chat.until("> half a li")
    chat.type("\x03")
    assert "Ctrl-D" not in str(chat.until(chat.at_prompt))
    chat.type("\x03")
    chat.until("Ctrl-D or /exit leaves", chat.at_prompt)
    chat.type("exit\r")
    assert chat.code() == 0


def test_several_lines_are_one_question(chats: Chats) -> None:
    chat = chats(*PLAIN)
    chat.until(chat.at_prompt)
    chat.type("one\x1b\rtwo")
    chat.until("> one", ". two")
    chat.type("\r")
    chat.until(chat.at_prompt)
    chat.type('"""three\r')
    chat.until('> """three', lambda: chat.lines[-1] == ".")
    chat.type('four"""\r')
    chat.until('. four"""', chat.at_prompt)
    chat.type("\x1b[200~five\nsix\x1b[201~")
    chat.until("> five", ". six")
    chat.type("\r")
    chat.until(chat.at_prompt)
    assert kept() == ["one\ntwo", "three\nfour", "five\nsix"]


def test_what_was_typed_and_the_session_are_there_the_next_time(
    chats: Chats, tmp_path: Path
) -> None:
    chat = chats(*PLAIN)
    chat.say("Who are you?")
    chat.say("/context")
    chat.type("\x1b[A")
    chat.until(lambda: chat.lines[-1] == "> /context")
    chat.type("\x1b[A")
    chat.until(lambda: chat.lines[-1] == "> Who are you?")
    chat.type("\x03\x04")
    assert chat.code() == 0
    file = tmp_path / "data" / "chat-history"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = chats(*PLAIN, "-c")
    assert "> Who are you?" in again.until(again.at_prompt)  # the last turn
    again.type("\x12cont")
    again.until("I-search backward: cont", "> /context")
    again.type("\x03")
    assert any("who-are-you: 1 turn" in line for line in again.say("/session"))


@pytest.mark.parametrize("option", ["-n", "--private"])
def test_without_a_log_nothing_that_was_typed_is_kept(
    option: str, chats: Chats, tmp_path: Path
) -> None:
    chat = chats(*PLAIN, option)
    assert any("nothing is kept" in line for line in chat.until(chat.at_prompt))
    chat.say("Who are you?")
    assert any("1 turn" in line for line in chat.say("/session"))
    chat.type("\x04")
    assert chat.code() == 0
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    private = option == "--private"
    assert [path for path in written if private or path.parent.name == "data"] == []


def test_tab_completes_commands_and_names(chats: Chats) -> None:
    chat = chats(*PLAIN)
    chat.until(chat.at_prompt)
    chat.type("/rem\t")
    chat.until(lambda: chat.lines[-1] == "> /remember")
    chat.type("\x03")
    chat.until(chat.at_prompt)
    chat.type("/tools calc\t")
    chat.until(lambda: chat.lines[-1] == "> /tools calculator")


def test_another_size_while_it_writes_garbles_nothing(chats: Chats) -> None:
    chat = chats(*ENDLESS)
    chat.until(chat.at_prompt)
    chat.type("Who are you, if I may ask?\r")
    for columns in (30, 100, 20, 60):
        before = list(chat.screen.display)
        chat.until(lambda before=before: chat.screen.display != before)  # type: ignore[misc]
        chat.resize(columns)
    chat.type("\x03")
    chat.until("stopped", chat.at_prompt)
    chat.resize(80)
    lines = chat.say("/session")
    assert lines[-3:-1] == ["> /session", "a session without a name yet: 0 turns"]


def test_a_narrow_terminal_and_another_size_while_something_is_typed(chats: Chats) -> None:
    chat = chats(*WITH_A_STEP)
    chat.until(chat.at_prompt)
    chat.type("What is 15% of ")
    chat.until("> What is 15% of")
    chat.resize(30)
    chat.type("80?")
    chat.until("> What is 15% of 80?")
    chat.type("\r")
    lines = chat.until(chat.at_prompt)
    [folded] = [line for line in lines if line.startswith("  · calculator {")]
    assert folded.endswith("… → 12")
    assert len(folded) <= 29
    assert "Ctrl-R looks for" in str(chat.say("/help"))


def test_the_user_is_asked_amid_the_chat_and_may_type_ahead(chats: Chats) -> None:
    chat = chats(*WITH_A_STEP, "--approve")
    chat.until(chat.at_prompt)
    chat.type(f"{SUM}\r")
    chat.until("calculator wants to act; it only computes:", "Run it?")
    chat.type("y\r/session\r")
    lines = chat.until("what-is-15-of-80: 1 turn", chat.at_prompt)
    assert any(line.endswith("[n] y") for line in lines)  # what is typed there is seen
    assert lines.index(FOLDED) < lines.index("> /session")
    chat.type(f"{SUM}\r")
    chat.until(lambda: str(chat).count("Run it?") == 2)
    chat.type("\x03")
    chat.until("stopped", chat.at_prompt)
    assert "1 turn" in str(chat.say("/session"))


def test_a_dumb_terminal_gets_no_escape_codes(chats: Chats) -> None:
    chat, seen = chats(*PLAIN, TERM="dumb"), b""
    for wait, line in (("> ", "Who are you?"), ("gives more", "/session"), ("1 turn", "exit")):
        while wait.encode() not in seen:
            seen += chat.child.read_nonblocking(65536, timeout=120)
        chat.type(f"{line}\n")
    assert chat.code() == 0
    assert b"\x1b" not in seen


@pytest.mark.model
def test_a_later_question_costs_its_own_tokens(chats: Chats, smollm: LlamaModel) -> None:
    chat = chats("-m", str(smollm.path), "-v", "-T", "calculator", *SMALL, "--max-steps", "3")
    read = [_tokens_read(chat.say(line)) for line in ("Who are you?", "And who am I?")]
    assert read[0] > 4 * read[1] > 0
    assert any("2 turns known" in line for line in chat.say("/context"))


def _tokens_read(lines: list[str]) -> int:
    figures = [found for line in lines if (found := re.search(r"\[(\d+) tokens read", line))]
    return int(figures[-1][1])
