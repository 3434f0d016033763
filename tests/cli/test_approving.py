"""What the user is asked before a tool acts, and what comes of each answer."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pexpect
import pytest

from local_react import Agent, ScriptedModel, calculator, tool
from local_react.cli.approving import approver
from local_react.core import Call, Findings, Passage
from local_react.network import Network, Outgoing, Reply
from local_react.tools.base import AnyTool


@tool(may=["writes"])
def write_note(text: str, times: int = 1) -> str:
    """Write a note."""
    return f"wrote {text!r} {times} times"


@tool(may=["reads files"])
def read_note() -> Findings:
    """Read the note."""
    return Findings((Passage("the rent is 900", "note.txt"),))


@tool(may=["reads network"])
def look(query: str) -> Findings:
    """Look something up."""
    return Findings((Passage(f"nothing about {query}", "https://a.example"),))


TOOLS: Sequence[AnyTool] = [write_note, read_note, look, calculator]
NOTE = Call("write_note", {"text": "milk"})
SUM = Call("calculator", {"expression": "2 + 2"})
LOOK = Call("look", {"query": "the rent"})
READ = Call("read_note", {})

Asked = list[Outgoing]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    return lambda text: monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def somebody(reply: Reply = "no", asked: Asked | None = None) -> Network:
    """Return an open door with somebody to ask."""

    def ask(outgoing: Outgoing) -> Reply:
        if asked is not None:
            asked.append(outgoing)
        return reply

    return Network("allow", ask=ask)


def made(
    network: Network, *, every: bool = False, yes: bool = False, named: Sequence[str] = ()
) -> Any:
    return approver(TOOLS, every=every, network=network, named=named, yes=yes)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("y\n", NOTE),
        ("YES\n", NOTE),
        (" always \n", NOTE),
        ("n\n", False),
        ("no\n", False),
        ("\n", False),
        ("", False),
        ("what?\ny\n", NOTE),
        ("maybe", False),
    ],
)
def test_before_an_effect_the_user_is_asked(
    typed: Callable[[str], None], keys: str, said: object, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(keys)
    assert made(somebody())(NOTE) == said
    out, err = capsys.readouterr()
    assert out == ""
    assert 'write_note wants to act; it may change something:\n  {"text": "milk"}\n' in err
    assert "y: yes, n: no, e: edit, a: always" in err


def test_always_is_for_this_tool_alone(typed: Callable[[str], None]) -> None:
    typed("a\nn\n")
    approve = made(somebody(), every=True)
    assert [approve(call) for call in (NOTE, NOTE, SUM, NOTE)] == [NOTE, True, False, True]


def test_what_nobody_sees_is_written_out(
    typed: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    typed("n\n")
    hidden = "rm  -r\u00a0a\u200b\x1b[2J\u202e\U000e0041\n é 中 😀"
    made(somebody())(Call("write_note", {"text": hidden}))
    shown = capsys.readouterr().err.splitlines()[2].strip()
    assert json.loads(shown) == {"text": hidden}
    assert shown == ('{"text": "rm  -r\\u00a0a\\u200b\\u001b[2J\\u202e\\udb40\\udc41\\n é 中 😀"}')


def test_without_anybody_to_ask_nothing_acts() -> None:
    alone = made(Network("allow"))
    assert alone(NOTE) is False
    assert made(Network("allow"), every=True)(SUM) is False


def test_yes_lets_tools_act_but_gives_no_consent_to_send(typed: Callable[[str], None]) -> None:
    typed("")
    assert made(Network("allow"), yes=True)(NOTE) is True
    # The loop asks about this one after the user's documents were read.
    assert made(Network("allow"), yes=True)(LOOK) is False
    assert made(Network("allow"), yes=True, named=["look"])(LOOK) is True
    asked = Asked()
    assert made(somebody("yes", asked), yes=True)(LOOK) is True
    assert [outgoing.asker for outgoing in asked] == ["look"]


def test_what_was_seen_and_agreed_to_is_not_asked_twice(typed: Callable[[str], None]) -> None:
    typed("y\ny\n")
    asked = Asked()
    approve = made(somebody("no", asked), every=True)
    assert (approve(READ), approve(LOOK)) == (READ, LOOK)
    assert asked == []


def test_always_does_not_cover_what_is_sent_after_documents_were_read(
    typed: Callable[[str], None],
) -> None:
    typed("a\ny\n")
    asked = Asked()
    approve = made(somebody("no", asked), every=True)
    assert (approve(LOOK), approve(LOOK)) == (LOOK, True)
    assert asked == []
    assert approve(READ) == READ
    assert approve(LOOK) is False
    assert [outgoing.text for outgoing in asked] == ['{"query": "the rent"}']


# -- in the loop, on a real terminal ---------------------------------------------------

PROGRAM = """
import json, sys
from local_react import Agent, ScriptedModel, calculator, tool
from local_react.cli.approving import approver
from local_react.cli.door import network_for
from local_react.errors import LocalReactError

@tool(may=["writes"])
def write_note(text: str, times: int = 1) -> str:
    "Write a note."
    return f"wrote {text!r} {times} times"

options = {"offline": True, "network_mode": None, "no_cache": True, "private_addresses": False}
every, yes, *replies = json.loads(sys.argv[1])
tools = [write_note, calculator]
approve = approver(tools, every=every, network=network_for(options), named=(), yes=yes)
agent = Agent(ScriptedModel(replies), tools, approve=approve, approve_every=every)
with open(sys.argv[2], "w") as out:
    for event in agent.stream("Do it."):
        pass
    json.dump([step.observation for step in event.steps] + [event.stop_reason], out)
"""

WRITE = 'Thought: t\nAction: write_note {"text": "milk"}'
FINISH = 'Thought: t\nAction: Finish {"answer": "done"}'


def on_a_terminal(
    tmp_path: Path, *replies: str, every: bool = False
) -> tuple[pexpect.spawn[str], Callable[[], list[str]]]:
    out = tmp_path / "out.json"
    told = json.dumps([every, False, *replies, FINISH])
    environment = {**os.environ, "PROMPT_TOOLKIT_NO_CPR": "1", "TERM": "xterm"}
    child = pexpect.spawn(
        sys.executable,
        ["-c", PROGRAM, told, str(out)],
        env=environment,
        encoding="utf-8",
        timeout=60,
        dimensions=(24, 200),
    )

    def observations() -> list[str]:
        child.expect(pexpect.EOF)
        child.close()
        return list(json.loads(out.read_text()))

    return child, observations


ASKED = r"Run it\? .*\[n\] "


def test_yes_on_a_terminal(tmp_path: Path) -> None:
    child, observations = on_a_terminal(tmp_path, WRITE)
    child.expect_exact('{"text": "milk"}')
    child.expect(ASKED)
    child.sendline("y")
    assert observations() == ["wrote 'milk' 1 times", None, "finish"]


def test_no_is_told_to_the_model(tmp_path: Path) -> None:
    child, observations = on_a_terminal(tmp_path, WRITE)
    child.expect(ASKED)
    child.sendline("n")
    first, *_ = observations()
    assert "not allowed here without the user's yes" in first


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        ("not json", "it is no JSON"),
        ("[1]", "it is no JSON object"),
        ('{"text": "eggs", "times": "many"}', "times: "),
        ('{"text": "eggs", "colour": 1}', "colour: "),
        ("{}", "text: Field required"),
    ],
)
def test_an_edit_is_checked_and_asked_for_again(tmp_path: Path, edit: str, told: str) -> None:
    child, observations = on_a_terminal(tmp_path, WRITE)
    child.expect(ASKED)
    child.sendline("e")
    child.expect("arguments: ")
    child.send(f"\x15{edit}\r")  # Ctrl-U clears the line
    child.expect("That will not do: ")
    child.expect_exact(told)
    child.expect("arguments: ")
    child.send('\x15{"text": "eggs", "times": 2}\r')
    child.expect(ASKED)  # the call as it is now, which may still be refused
    child.sendline("y")
    assert "wrote 'eggs' 2 times" in observations()[0]


def test_what_is_edited_begins_with_what_is_there(tmp_path: Path) -> None:
    child, observations = on_a_terminal(tmp_path, WRITE)
    child.expect(ASKED)
    child.sendline("e")
    child.expect("arguments: ")
    child.send("\x7f\x7f and eggs" + '"}\r')
    child.expect(ASKED)
    child.sendline("y")
    assert "wrote 'milk and eggs' 1 times" in observations()[0]


@pytest.mark.parametrize("keys", ["\x15\r", "\x15\x04"])
def test_an_edit_that_is_left_changes_nothing(tmp_path: Path, keys: str) -> None:
    child, observations = on_a_terminal(tmp_path, WRITE)
    child.expect(ASKED)
    child.sendline("e")
    child.expect("arguments: ")
    child.send(keys)
    child.expect(ASKED)
    child.sendline("y")
    assert observations()[0] == "wrote 'milk' 1 times"


def test_with_approve_what_only_computes_is_asked_about_too(tmp_path: Path) -> None:
    step = 'Thought: t\nAction: calculator {"expression": "%d + 1"}'
    child, observations = on_a_terminal(tmp_path, step % 1, step % 2, every=True)
    child.expect_exact("calculator wants to act; it only computes:")
    child.expect(ASKED)
    child.sendline("a")
    assert observations()[:2] == ["2", "3"]


def test_what_was_typed_ahead_is_no_yes(tmp_path: Path) -> None:
    child, observations = on_a_terminal(tmp_path, WRITE)
    child.sendline("y")  # long before anything is asked
    child.expect(ASKED)
    child.sendline("n")
    assert "not allowed" in observations()[0]


def test_ctrl_d_is_a_no_and_ctrl_c_ends_the_run(tmp_path: Path) -> None:
    child, observations = on_a_terminal(tmp_path, WRITE)
    child.expect(ASKED)
    child.sendeof()
    assert "not allowed" in observations()[0]
    child, _ = on_a_terminal(tmp_path, WRITE)
    child.expect(ASKED)
    child.sendintr()
    child.expect("KeyboardInterrupt")
    child.expect(pexpect.EOF)
    child.close()


def test_in_the_loop_a_tool_with_an_effect_does_not_run_without_a_terminal() -> None:
    approve = made(Network("deny"))
    run = Agent(ScriptedModel([WRITE, FINISH]), [write_note], approve=approve).run("Do it.")
    assert "not allowed" in (run.steps[0].observation or "")


def test_the_arguments_are_checked_by_the_tool_as_a_run_does() -> None:
    from local_react.cli.approving import _arguments

    good: Mapping[str, Any] = {"text": "a", "times": 3}
    assert _arguments(write_note, json.dumps(good)) == good
    with pytest.raises(ValueError, match="it is no JSON"):
        _arguments(write_note, "[" * 100_000)
