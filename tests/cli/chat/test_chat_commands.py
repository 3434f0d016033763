"""What the commands of a chat do, without a terminal."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from chatting import Scripted, Shown, Typed, finish, opened, said

from local_react import ScriptedModel
from local_react.cli.chat.commands import COMMANDS, is_open
from local_react.cli.chat.conversation import Chat
from local_react.cli.chat.talking import talk
from local_react.core import Event, Sampling
from local_react.history import History
from local_react.session import Session

pytestmark = pytest.mark.usefixtures("own_places")

CALL = 'Thought: sum\nAction: calculator {"expression": "2+2"}'


def questions(history: History, session: str) -> list[str]:
    return [run.question for run in history.turns(session)]


def test_a_question_is_answered_and_kept_at_once() -> None:
    chat = opened([finish("12"), finish("13")])
    seen = list[int]()

    class Looking(Shown):
        def end(self) -> None:
            seen.append(len(chat.log.history.runs()))

    shown = Looking()
    assert talk(chat, Typed("one?", "", "  ", "two?"), shown, typed=True) == 0
    assert (shown.answers, seen) == (["12", "13"], [1, 2])
    assert questions(chat.log.history, chat.log.session) == ["one?", "two?"]
    last = chat.log.history.runs()[-1]
    assert '"question": "two?"' in chat.log.history.transcript(last.id)


@pytest.mark.parametrize("word", ["exit", "QUIT", "/bye", "/exit", "/quit", " exit "])
def test_what_leaves(word: str) -> None:
    assert said(opened([finish("12")]), word, "one?").answers == []


@pytest.mark.parametrize(
    ("line", "question"),
    [
        ("//etc is what?", "/etc is what?"),
        ('"""\na\n\n/b\n"""', "a\n\n/b"),
        ('"""/help"""', "/help"),
        ("exit now?", "exit now?"),
    ],
)
def test_what_is_a_question(line: str, question: str) -> None:
    chat = opened([finish("12")])
    said(chat, line)
    assert [turn.question for turn in chat.session.turns] == [question]


@pytest.mark.parametrize(
    ("text", "open_"),
    [('"""', True), ('"""a\nb', True), ('"""a\nb"""', False), ('a """', False), ('""""""', False)],
)
def test_a_block_is_open_until_it_is_closed(text: str, open_: bool) -> None:
    assert is_open(text) == open_


@pytest.mark.parametrize(
    ("typed", "near"), [("/tols", "/tools"), ("/HLEP", "/help"), ("/rem", "/remember")]
)
def test_an_unknown_command_names_the_nearest(
    typed: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = opened([finish("12")])
    assert talk(chat, Typed(typed), Shown(), typed=False) == 2
    assert f"did you mean {near}?" in capsys.readouterr().err
    assert not chat.session.turns


def test_the_help_has_every_command() -> None:
    [told] = said(opened([]), "/help").notes
    assert all(f"/{name}" in told for name in COMMANDS)
    assert said(opened([]), "/HELP").notes == [told]


def test_undo_takes_a_turn_back_and_out_of_what_is_kept() -> None:
    chat = opened([finish("12"), finish("13")])
    shown = said(chat, "one?", "two?", "/undo")
    assert shown.notes[-1] == "taken back: two?"
    assert [turn.question for turn in chat.session.turns] == ["one?"]
    assert questions(chat.log.history, chat.log.session) == ["one?"]


def test_where_there_is_nothing_to_take_back_it_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    chat = opened([])
    assert talk(chat, Typed("/undo", "/retry", "/save"), Shown(), typed=False) == 2
    assert capsys.readouterr().err.count("ask something") == 3


def test_retry_puts_another_answer_in_the_place_of_the_last() -> None:
    chat = opened([finish("12"), finish("13"), finish("14"), finish("15")])
    shown = said(chat, "one?", "two?", "/retry", "/retry")
    assert len(shown.answers) == 4
    assert [turn.question for turn in chat.session.turns] == ["one?", "two?"]
    kept = chat.log.history.turns(chat.log.session)
    assert [run.answer for run in kept] == [shown.answers[0], shown.answers[-1]]
    assert chat.tries == 2


def test_each_retry_chooses_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, ask = list[Sampling | None](), Session.ask

    def noted(self: Session, question: str, **given: Any) -> Generator[Event, None, None]:
        chosen.append(given.get("sampling"))
        return ask(self, question, **given)

    monkeypatch.setattr(Session, "ask", noted)
    said(opened([finish(str(n)) for n in range(4)]), "one?", "/retry", "/retry", "two?")
    assert (chosen[0], chosen[3]) == (None, None)
    assert len({None, *chosen}) == 3
    assert all(one.temperature > 0 for one in chosen if one)


def test_a_retry_without_an_answer_leaves_all_as_it_was() -> None:
    chat = opened([finish("12"), finish("13")])
    shown = said(chat, "one?", "two?", "/retry")  # the script is at its end: an internal error
    assert shown.answers == ["12", "13"]
    assert [turn.answer for turn in chat.session.turns] == ["12", "13"]
    assert questions(chat.log.history, chat.log.session) == ["one?", "two?"]
    assert said(chat, "/undo").notes == ["taken back: two?"]


def test_a_fault_of_ours_does_not_end_the_chat(capsys: pytest.CaptureFixture[str]) -> None:
    shown = said(opened([]), "one?", "/session")
    assert "internal error: " in capsys.readouterr().err
    assert shown.notes == ["a session without a name yet: 0 turns"]


def test_clear_begins_another_session_and_keeps_this_one() -> None:
    chat = opened([finish("12"), finish("13")])
    first = chat.log.session
    said(chat, "one?", "/clear", "two?")
    assert questions(chat.log.history, first) == ["one?"]
    assert questions(chat.log.history, chat.log.session) == ["two?"]
    assert len(chat.session.turns) == len(chat.infos) == 1


def test_steps_are_unfolded_and_folded_again() -> None:
    chat = opened([CALL, finish("4", thought="done")], "-T", "calculator")
    shown = said(chat, "Add them up?", "/steps", "/steps")
    assert '  · calculator {"expression": "2+2"} → 4' in shown.notes
    assert (
        'Thought: sum\nAction: calculator {"expression": "2+2"}\nObservation: 4\n'
        "Thought: done\nsteps are shown whole"
    ) in shown.notes
    assert shown.notes[-1] == "steps are folded to a line each"
    assert shown.answers == ["4"]


def test_unfolded_steps_are_shown_whole() -> None:
    chat = opened([CALL, finish("4")], "-T", "calculator")
    shown = said(chat, "/steps", "Add them up?")
    assert "Observation: 4" in shown.notes
    assert not any("·" in note for note in shown.notes)


def test_stats_are_told_where_they_are_wanted() -> None:
    shown = said(opened([finish("12")] * 3), "one?", "/stats", "two?", "/stats")
    told = [note for note in shown.notes if "tokens read" in note]
    assert len(told) == 2  # the last one at once, and the next
    assert len(said(opened([finish("12")], "-v"), "one?").notes) == 1


def test_the_system_prompt_can_be_told_set_and_taken_back() -> None:
    chat = opened([finish("12")], "-s", "Be brief.")
    shown = said(chat, "/system", "/system Answer in French.\nAlways.", "/system", "/system -")
    assert shown.notes[0] == "Be brief."
    assert shown.notes[2] == "Answer in French.\nAlways."
    assert chat.session.agent.system == ""


def test_the_context_is_told() -> None:
    chat = opened([finish("12")], context_size=5000)
    [before] = said(chat, "/context").notes
    assert before == "0 of 5,000 tokens are used, 5,000 are left; 0 turns known"
    said(chat, "Who are you?")
    [after] = said(chat, "/context").notes
    assert after.endswith("1 turn known")
    assert after != before


def test_turns_that_leave_the_context_are_told() -> None:
    long = "Who is it that I spoke of, and why? " * 20
    chat = opened([finish("nobody")] * 9, context_size=2000)
    shown = said(chat, *[long] * 8)
    told = [note for note in shown.notes if "left out" in note]
    assert chat.session.left >= 1
    assert told[-1].startswith(f"the oldest {chat.session.left} turns no longer fit")


# Sessions, and what is saved


def test_a_session_can_be_gone_on_with_by_its_name() -> None:
    said(opened([finish("12")], "--session", "trip"), "one?")
    chat = opened([finish("13")], "--session", "trip")
    assert [turn.question for turn in chat.session.turns] == ["one?"]
    said(chat, "two?", "/undo", "/undo")
    assert questions(chat.log.history, "trip") == []


def test_the_last_session_is_gone_on_with() -> None:
    said(opened([finish("12")]), "one?")
    chat = opened([finish("13")], "-c")
    said(chat, "two?")
    assert questions(chat.log.history, chat.log.session) == ["one?", "two?"]


def test_a_chat_can_go_over_to_another_session() -> None:
    chat = opened([finish("12"), finish("13"), finish("14")])
    shown = said(chat, "/session trip", "one?", "/session home", "two?", "/session trip")
    assert shown.notes[0] == "a new session: trip"
    assert shown.notes[-1] == "going on with trip: 1 turn\n> one?\n12"
    assert said(chat, "/session").notes == ["trip: 1 turn"]
    assert questions(chat.log.history, "home") == ["two?"]


def test_load_takes_no_name_that_no_session_has(capsys: pytest.CaptureFixture[str]) -> None:
    chat = opened([finish("12")], "--session", "trip")
    assert talk(chat, Typed("one?", "/load tripp", "/load"), Shown(), typed=False) == 2
    assert "did you mean 'trip'?" in capsys.readouterr().err
    assert len(chat.session.turns) == 1


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_what_was_saved_can_be_loaded_and_gone_on_with(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a talk.{suffix}"
    first = opened([CALL, finish("4"), finish("5 é\ud800")], "-T", "calculator")
    assert said(first, "one?", "two?", f"/save {path}").notes[-1] == f"saved: {path}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 or os.name == "nt"
    chat = opened([finish("6")])
    said(chat, f"/load {path}", "three?")
    assert [turn.question for turn in chat.session.turns] == ["one?", "two?", "three?"]
    assert chat.session.turns[0].steps == first.session.turns[0].steps
    kept = questions(chat.log.history, chat.log.session)
    assert kept == ["one?", "two?", "three?"]
    assert chat.log.session != first.log.session


def test_markdown_is_saved_and_nothing_is_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chat = opened([finish("12")])
    said(chat, "one two?", "/save talk.md", "/save talk.md", "/save")
    assert "> one two?" in Path("talk.md").read_text("utf-8")
    assert "talk.md is there already" in capsys.readouterr().err
    assert {path.name for path in tmp_path.glob("*.*")} == {"talk.md", "one-two.json"}


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "."])
def test_what_no_file_can_be_called_is_told(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    chat = opened([finish("12")])
    assert talk(chat, Typed("one?", f"/load {name}", f"/save {name}"), Shown(), typed=False) == 2
    assert "internal error" not in capsys.readouterr().err
    assert len(chat.session.turns) == 1


def test_where_nobody_reads_the_answers_it_ends() -> None:
    class Gone(Shown):
        def answer(self, text: str) -> None:
            raise BrokenPipeError

    chat = opened([finish("12")])
    with pytest.raises(BrokenPipeError):
        talk(chat, Typed("one?", "two?"), Gone(), typed=False)
    assert questions(chat.log.history, chat.log.session) == ["one?"]


@pytest.mark.parametrize("text", ["", "no json", "[1]", '{"runs": [{}]}', "\xff\xfe\x00"])
def test_a_file_that_holds_no_conversation_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("latin-1"))
    chat = opened([finish("12")])
    said(chat, "one?", f"/load {path}")
    told = capsys.readouterr().err
    assert "cannot be loaded" in told or not text
    assert [turn.question for turn in chat.session.turns] == (["one?"] if text else [])


def test_without_a_log_nothing_is_kept(tmp_path: Path) -> None:
    chat = opened([finish("12"), finish("13")], "-n")
    said(chat, "one?", "two?", "/undo", "/remember I live in Bern")
    assert chat.log.history.runs() == []
    assert [fact.text for fact in chat.log.history.facts()] == ["I live in Bern"]


def test_a_kept_session_stays_as_it_is_without_a_log() -> None:
    said(opened([finish("12")], "--session", "trip"), "one?")
    chat = opened([finish("13")], "--session", "trip", "-n")
    said(chat, "two?", "/undo", "/undo")
    assert questions(chat.log.history, "trip") == ["one?"]
    assert chat.session.turns == []


def test_in_private_nothing_at_all_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = opened([finish("12"), finish("13")], "--private")
    said(chat, "one?", "/remember I live in Bern", "/forget 1", "/retry", "/undo", "/clear")
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().err.count("nothing is written") == 2
    assert chat.wiring.network.offline


# What is known


def test_facts_are_remembered_told_with_a_question_and_forgotten() -> None:
    chat = opened([finish("12"), finish("13")])
    said(chat, "/remember I live in Bern.", "/remember My dog is Rex.", "Where do I live in?")
    [first, second] = [fact.number for fact in chat.log.history.facts()]
    model = chat.session.agent.model
    assert isinstance(model, ScriptedModel)
    assert "- I live in Bern." in model.seen[-1].content
    shown = said(chat, f"/forget {first}", "/memory")
    assert shown.notes == ["forgotten: I live in Bern.", f"{second:>4}  My dog is Rex."]


def test_what_fits_several_facts_forgets_none() -> None:
    chat = opened([])
    shown = said(chat, "/remember my cat is Tom", "/remember my dog is Rex", "/forget my")
    assert shown.notes[-1].startswith("these fit; /forget takes the number of one:\n")
    assert len(chat.log.history.facts()) == 2


def test_documents_are_listed_and_searched(tmp_path: Path) -> None:
    from local_react.documents import Library

    note = tmp_path / "lease.txt"
    note.write_text("The lease ends in May.")
    chat = opened([])
    assert "docs add" in said(chat, "/docs").notes[0]
    Library().add([note])
    listed, found, nothing = said(chat, "/docs", "/docs lease ends", "/docs zebra").notes
    assert listed == f"{note}: 1 file"
    assert found.startswith("[1] lease.txt, line 1\n")
    assert nothing.startswith("nothing found")


# Who answers


def test_another_model_answers_and_the_old_one_is_closed_last() -> None:
    chat = opened([finish("12")], other=[finish("13")])
    closed, loads = list[int](), _loads(chat)
    chat.session.agent.model.close = lambda: closed.append(len(loads))  # type: ignore[attr-defined]
    shown = said(chat, "one?", "/model other", "two?", "/model")
    assert (shown.answers, closed, loads) == (["12", "13"], [2], ["", "other"])
    assert shown.notes[-1].startswith("other: 100,000 tokens of context")
    assert len(chat.session.turns) == 2


def test_a_model_that_is_missing_leaves_the_old_one(capsys: pytest.CaptureFixture[str]) -> None:
    chat = opened([finish("12")])
    assert talk(chat, Typed("/model none", "one?"), Shown(), typed=False) == 3
    assert "there is no model none" in capsys.readouterr().err
    assert chat.session.turns[0].model == "first"


def test_where_both_have_no_room_the_old_one_goes_first_and_comes_back() -> None:
    chat = opened([finish("12")], other=[finish("13")])
    closed, loads = list[int](), _loads(chat)
    chat.session.agent.model.close = lambda: closed.append(len(loads))  # type: ignore[attr-defined]
    assert isinstance(chat.wiring, Scripted)
    chat.wiring.both_fit = False
    said(chat, "/model broken")
    assert (closed, loads) == ([1], ["", "broken", str(_path_of(chat))])
    assert said(chat, "one?", "/model other", "two?").answers == ["12", "13"]


def test_the_model_that_answers_is_not_loaded_again() -> None:
    chat = opened([finish("12")])
    assert said(chat, "/model first").notes[0].startswith("it answers already: first")
    assert _loads(chat) == [""]


def _path_of(chat: Chat) -> Path:
    assert isinstance(chat.wiring, Scripted)
    return chat.wiring.models[0].path


def _loads(chat: Chat) -> list[str]:
    assert isinstance(chat.wiring, Scripted)
    return chat.wiring.loads


def test_the_tools_are_listed_and_told_of() -> None:
    chat = opened([], "-T", "calculator")
    listed, one, offline = said(chat, "/tools", "/tools calculator", "/model").notes[:3]
    assert listed.startswith("calculator: ")
    assert '"expression"' in one
    assert said(opened([]), "/tools").notes == ["none: the model answers alone"]
    assert offline


def test_offline_leaves_out_what_needs_the_network_and_online_brings_it_back(
    capsys: pytest.CaptureFixture[str],
) -> None:
    chat = opened([finish("12")], "--network", "allow", "-s", "Be brief.")
    chat.wiring.options = {**chat.wiring.options, "no_tools": False}
    said(chat, "/offline off")
    names = [tool.name for tool in chat.session.agent.tools]
    shown = said(chat, "/offline", "/tools", "/offline off")
    assert "search" in names
    assert shown.notes[0].startswith("offline: ")
    assert "search" not in shown.notes[1]
    assert "without asking" in shown.notes[2]
    assert [tool.name for tool in chat.session.agent.tools] == names
    assert chat.session.agent.system == "Be brief."
    assert said(chat, "/offline perhaps").notes == []
    assert "on or off" in capsys.readouterr().err


def test_what_the_options_shut_is_not_opened(capsys: pytest.CaptureFixture[str]) -> None:
    for shut in ("--network=deny", "--private"):
        chat = opened([], shut)
        said(chat, "/offline off")
        assert "the network stays off" in capsys.readouterr().err
        assert chat.wiring.network.offline


def test_a_tool_that_was_asked_for_keeps_the_network_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    chat = opened([], "--network", "allow")
    chat.wiring.options = {**chat.wiring.options, "no_tools": False, "wanted": ("search",)}
    said(chat, "/offline on")
    assert "search needs the network" in capsys.readouterr().err
    assert not chat.wiring.network.offline


def test_ctrl_c_between_questions_says_how_to_leave() -> None:
    shown = said(opened([finish("12")]), KeyboardInterrupt, "one?")
    assert (shown.notes[0], shown.answers) == ("Ctrl-D or /exit leaves", ["12"])


def test_without_a_terminal_ctrl_c_ends_it() -> None:
    with pytest.raises(KeyboardInterrupt):
        said(opened([]), KeyboardInterrupt, typed=False)


def test_the_exit_code_is_that_of_what_could_not_be_answered() -> None:
    chat = opened([CALL, CALL, finish("4"), finish("5")], "-T", "calculator", "--max-steps", "1")
    assert talk(chat, Typed("one?"), Shown(), typed=True) == 0
    chat = opened([finish("4"), finish("5")], "-T", "calculator", "--max-steps", "1")
    assert talk(chat, Typed("one?", "two?"), Shown(), typed=False) == 4
    assert talk(opened([finish("4")]), Typed("one?"), Shown(), typed=False) == 0


def test_a_slash_alone_lists_the_commands() -> None:
    assert any("/help" in note for note in said(opened([finish("12")]), "/").notes)


@pytest.mark.parametrize("wrong", ['"seconds": "a"', '"model": null', '"answer": 12'])
def test_a_saved_file_that_was_changed_is_refused_and_the_conversation_stays(
    tmp_path: Path, wrong: str
) -> None:
    chat = opened([finish("12")])
    file = tmp_path / "saved.jsonl"
    said(chat, "one?", f"/save {file}")
    name = wrong.split(":")[0]
    lines = file.read_text("utf-8").splitlines()
    told = [json.loads(line) for line in lines]
    for one in told:
        one.update(json.loads(f"{{{wrong}}}"))
    file.write_text("".join(f"{json.dumps(one)}\n" for one in told), "utf-8")
    said(chat, f"/load {file}")
    assert [turn.question for turn in chat.session.turns] == ["one?"], name
    assert len(chat.log.history.runs()) == 1


def test_a_session_that_was_deleted_elsewhere_can_be_gone_on_with() -> None:
    chat = opened([finish("12"), finish("13")])
    said(chat, "one?")
    History().delete_session(chat.log.session)
    assert not any("no run" in note for note in said(chat, "/undo").notes)
    assert chat.session.turns == []
